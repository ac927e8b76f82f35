"""Embedders beside the bundled table: text → vectors, cached.

:mod:`.protocol` defines an embedder, :mod:`.endpoint` asks an embeddings server over HTTP,
:mod:`.cache` stores the vectors.
"""
