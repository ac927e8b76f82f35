"""Tests of the prompt hook: payloads, trust, answers, settings files."""
