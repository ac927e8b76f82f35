"""Readers of the evaluation files that people write.

A reader does not raise for a bad entry. It returns the valid entries, and one diagnostic for each
fault. An entry of ``evals.json`` that cannot be used is a warning, because the others still count.
"""
