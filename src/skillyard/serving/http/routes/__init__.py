"""The routes: :mod:`.table` lists them, each of the others holds the answers of one subject."""
