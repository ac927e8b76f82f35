"""Repositories that are read with the user's own ``git``: addresses, commands, a cache."""
