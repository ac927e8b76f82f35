"""Tests of what each condition gives to a model."""
