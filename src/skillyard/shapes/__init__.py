"""Every JSON document as a frozen dataclass: its members, their types and what each one means.

A member that has a default is left out of the JSON when it holds the default; every other member
is always there. :func:`~skillyard.shapes.encoder.encode` makes JSON of a shape. The JSON Schemas of
the service, its OpenAPI components and the client's decoding are derived from these classes. The
classes import nothing, so every room can use them, and each surface loads only the modules of the
documents that it writes.
"""
