"""The four questions about a skill: activation, confusion, effectiveness, size impact."""
