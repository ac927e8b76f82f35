"""The second reader of ``scan``."""
