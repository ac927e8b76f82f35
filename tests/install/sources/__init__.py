"""Sources, and the one way out to the network."""
