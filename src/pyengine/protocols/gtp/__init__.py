"""The Go Text Protocol (GTP 2) with the extensions that GUIs use, for every game."""
