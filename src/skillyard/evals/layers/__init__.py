"""The three layers of evaluation: activation, effectiveness and size impact."""
