"""Tests of judging: prompts, replies, slots and scores."""
