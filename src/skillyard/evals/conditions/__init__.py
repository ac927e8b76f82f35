"""What a model is given: the whole skill, its summary, its siblings, or nothing of it."""
