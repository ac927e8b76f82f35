"""The catalog store: one contract, two databases, real servers."""
