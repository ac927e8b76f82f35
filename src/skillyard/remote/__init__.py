"""Skills from other places: remote sources, federated search over them, and installation."""
