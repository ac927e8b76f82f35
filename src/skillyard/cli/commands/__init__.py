"""The commands, each with its arguments and the function that runs it.

A module of ``MODULES`` has ``COMMANDS``: the first word of each of its commands and the function
that adds its parser. A run function imports its use case itself, so that a module is cheap to load.
"""

from __future__ import annotations

__all__ = ["MODULES"]

MODULES = (
    "library",
    "selection",
    "prompts",
    "remote",
    "service",
    "hooks",
    "trust",
    "logs",
    "cache",
    "benchmarks",
    "evaluations",
    "fake_llm",
    "indexes",
    "doctor",
    "stores",
    "completion",
    "help",
)
"""In the order of the help page."""
