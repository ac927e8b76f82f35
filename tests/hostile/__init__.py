"""Hostile inputs: a deterministic tree of them, and the tests that read it.

The inputs are built, never stored: many cannot be stored (a FIFO, a link to ``/``, 64 GiB), and
a file that attacks readers does not belong in a checkout.
"""
