"""A node: the skills of a catalog store in local segments, which follow the store.

The store is asked for what changed and never for an answer, so a node ranks as fast as a library
on disk, and goes on answering while the store is away.
"""
