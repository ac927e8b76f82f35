"""Remote sources of skills behind one protocol.

:mod:`.protocol` defines a source, :mod:`.transport` makes every network request,
:mod:`.responses` caches the responses, and each other module is one source.
"""
