"""The conditions of an evaluation: the whole skill, its summary, its siblings, or no skill."""
