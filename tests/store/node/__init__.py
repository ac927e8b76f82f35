"""A node holds what its store says, answers like a catalog in memory, and survives its end."""
