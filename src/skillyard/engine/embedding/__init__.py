"""Embedders beside the bundled table: text → vectors, cached.

:mod:`.protocol` defines an embedder, :mod:`.cache` stores the vectors.
"""
