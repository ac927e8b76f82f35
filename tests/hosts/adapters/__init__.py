"""Tests of the adapters, each against its real framework with a model that is a script."""
