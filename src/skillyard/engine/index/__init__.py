"""The search index: skills → documents → immutable segments → a searcher.

:mod:`.document_builder` makes a document of a skill, :mod:`.index_writer` and
:mod:`.segment_writer` write segments, and :mod:`.segment_searcher` opens them and answers queries.
:mod:`.kernel` is the optional C implementation.
"""
