"""The search index: skills → documents → immutable segments → a searcher.

:mod:`.document_builder` makes a document of a skill, :mod:`.index_writer` and
:mod:`.segment_writer` write segments, :mod:`.index_reader` opens them, and the searchers
(:mod:`.searcher`) answer queries. :mod:`.kernel` is the optional C implementation.
"""
