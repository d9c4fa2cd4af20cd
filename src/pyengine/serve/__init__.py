"""A board in the browser: the server of ``pyengine serve``. Needs the extra ``serve``."""
