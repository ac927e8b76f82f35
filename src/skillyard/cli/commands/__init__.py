"""The commands, each with its arguments and the function that runs it.

A module has ``COMMANDS``: the first word of each of its commands and the function that adds its
parser. A run function imports its use case itself, so that a module is cheap to load.
"""

from __future__ import annotations

__all__ = ["MODULES"]

MODULES = {
    "list": "library",
    "check": "library",
    "scan": "scans",
    "show": "library",
    "rank": "selection",
    "select": "selection",
    "evaluate": "selection",
    "why": "selection",
    "summary": "prompts",
    "inject": "prompts",
    "search": "remote",
    "add": "remote",
    "sync": "installation",
    "update": "installation",
    "outdated": "installation",
    "verify": "installation",
    "remove": "installation",
    "serve": "service",
    "hook": "hooks",
    "trust": "trust",
    "policy": "policies",
    "usage": "usage",
    "feedback": "feedback",
    "bench": "benchmarks",
    "eval": "evaluations",
    "fake-llm": "fake_llm",
    "index": "indexes",
    "doctor": "doctor",
    "store": "stores",
    "completion": "completion",
    "help": "help",
}
"""The module of each command by its first word, in the order of the help page."""
