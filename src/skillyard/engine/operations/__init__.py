"""What several surfaces ask of the engine: list, show, explain."""
