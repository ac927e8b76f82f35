"""Embedders: the protocol, the model, the cache."""
