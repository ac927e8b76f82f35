"""Compares results with a stored baseline."""
