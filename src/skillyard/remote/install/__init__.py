"""Installing skills, so that the common installer and skillyard can take turns on one project."""
