"""The use cases that the command line, MCP and HTTP share: one function for each.

A surface parses its input, calls one of these functions and prints the result. A result is a shape
of :mod:`skillyard.shapes`, or has a ``document()`` that returns one. Each surface imports the
module of a use case where it needs it.
"""
