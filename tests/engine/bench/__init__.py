"""Tests of the measures of rankings."""
