"""Language models, asked through their makers' own libraries: one protocol, one call at a time."""
