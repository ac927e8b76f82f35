"""The installed skills of a project: one module for each operation on its lock file."""
