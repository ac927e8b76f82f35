"""Stronger embedders than the bundled table, for who has one: text → vectors, kept.

:mod:`.protocol` says what an embedder is, :mod:`.minilm` is a small model that runs here,
:mod:`.endpoint` asks a server, :mod:`.cache` keeps what they said.
"""
