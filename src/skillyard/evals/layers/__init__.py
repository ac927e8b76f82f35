"""The four layers of evaluation: activation, confusion, effectiveness and size impact."""
