"""The index: what is worked out of skills once, so that a request costs next to nothing."""
