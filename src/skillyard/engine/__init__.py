"""From files to a choice: skills, catalog, index, ranking, selection, context."""
