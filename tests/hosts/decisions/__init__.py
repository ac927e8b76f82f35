"""Tests of the decision log: lines, spans, reading back."""
