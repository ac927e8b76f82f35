"""The fake model server."""
