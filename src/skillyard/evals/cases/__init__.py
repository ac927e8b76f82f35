"""Readers of the evaluation files that people write.

``reading`` parses YAML and JSON, and checks them against dataclasses with pydantic. ``skill_cases``
has the cases of one skill, in each of the formats that are read; ``case_files`` finds the files and
recognizes their formats; ``activation`` and ``answers`` give each layer its cases.

A reader does not raise for a bad entry. It returns the valid entries, and one diagnostic for each
fault. An entry of ``evals.json`` that cannot be used is a warning, because the others still count.
"""
