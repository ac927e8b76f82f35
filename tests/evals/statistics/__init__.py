"""Tests of the statistics of evaluations: against other formulas, and against planted truth."""
