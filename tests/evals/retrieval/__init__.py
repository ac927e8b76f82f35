"""Tests of the retrieval measures, and of what is read and written for them."""
