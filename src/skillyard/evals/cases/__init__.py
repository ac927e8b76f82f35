"""Readers of the evaluation files that people write.

``rubrics``, ``activation``, ``confusion`` and ``candidates`` read skillyard's own files;
``open_formats`` reads files of other tools. A reader does not raise for a bad entry. It returns a
:class:`~skillyard.evals.cases.dataset.Dataset` with the valid entries and one diagnostic for each
fault.
"""
