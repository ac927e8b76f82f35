"""skillyard-testkit: the fake servers and their faults."""
