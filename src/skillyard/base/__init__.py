"""What every wing stands on: errors, limits, safe text, files, shapes of documents."""
