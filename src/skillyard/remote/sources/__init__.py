"""Where skills that are not here come from: one protocol, many sources.

:mod:`.protocol` says what a source is, :mod:`.transport` is the one way out to the network,
:mod:`.responses` keeps what came back, and each other module is one source.
"""
