"""Embedders: the protocol, the model, the endpoint, the cache."""
