"""A node: a local index of the skills of a catalog store, which follows the store.

The store is only asked for changes, so a node ranks as fast as a local library and keeps serving
while the store is down.
"""
