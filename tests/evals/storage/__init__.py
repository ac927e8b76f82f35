"""What a run keeps on disk: entries, keys, events and results, whole or damaged."""
