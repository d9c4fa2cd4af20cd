"""KataGo's JSON analysis protocol, for Go. Needs pydantic (extra ``cli``)."""
