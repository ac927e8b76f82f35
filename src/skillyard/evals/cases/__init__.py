"""The files that people write for an evaluation, as typed values and findings with their line.

``rubrics``, ``activation``, ``confusion`` and ``candidates`` read our own files, ``open_formats``
those that other tools write. A reader never raises for one bad entry: it returns the good ones in
a :class:`~skillyard.evals.cases.dataset.Dataset`, with a diagnostic for each thing that is wrong.
"""
