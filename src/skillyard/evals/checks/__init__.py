"""Checks of an answer that need no judge: texts, patterns and scripts, and their pass rates."""
