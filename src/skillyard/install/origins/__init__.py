"""Where a skill that is to be installed comes from: a target → the skill → its files."""
