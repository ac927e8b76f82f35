"""Results against a baseline that was kept: what became worse, what better, by how much."""
