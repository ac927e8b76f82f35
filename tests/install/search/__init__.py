"""Federated search against the stand-in."""
