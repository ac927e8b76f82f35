"""Readers of the evaluation files that people write.

Each format has a reader that returns :class:`~skillyard.evals.cases.skill_cases.SkillCases`:
``skill_cases`` reads skillyard's own YAML, and ``open_formats`` the ``evals.json`` of skill-creator
and trigger sets. ``case_files`` recognizes each format. ``activation``, ``confusion`` and
``labels`` read files with one JSON object a line. ``layer_cases`` gives each layer its cases.

All readers rest on :class:`~skillyard.evals.cases.records.Record`, which reads the fields of a
mapping into a dataclass by its type hints.

A reader does not raise for a bad entry. It returns a
:class:`~skillyard.evals.cases.dataset.Dataset` with the valid entries and one diagnostic for each
fault. An entry of ``evals.json`` that cannot be used is a warning, because the others still count.
"""
