"""The routes: :mod:`.table` lists them, and each other module handles one subject."""
