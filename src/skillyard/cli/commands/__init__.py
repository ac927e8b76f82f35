"""The commands, each with its arguments and the function that runs it.

A run function imports its use case itself, so that a module is cheap to load.
"""

from __future__ import annotations

__all__ = ["GROUPS", "MODULES", "SUMMARIES"]

GROUPS = {
    "commands": {
        "list": "library",
        "select": "selection",
        "why": "selection",
        "check": "library",
        "scan": "library",
        "setup": "setup",
        "new": "library",
        "add": "remote",
        "sync": "installation",
        "serve": "service",
        "hook": "hooks",
        "doctor": "libraries",
        "eval": "evaluations",
    },
    "rank and show": {
        "rank": "selection",
        "show": "library",
        "inject": "selection",
        "summary": "selection",
        "search": "remote",
    },
    "installed skills": {
        "remove": "installation",
        "update": "installation",
        "outdated": "installation",
        "verify": "installation",
    },
    "libraries, rules and use": {
        "index": "libraries",
        "policy": "libraries",
        "trust": "hooks",
        "usage": "usage",
        "feedback": "usage",
        "store": "stores",
        "bench": "benchmarks",
    },
    "others": {"completion": "completion", "evaluate": "selection"},
}
"""The module of each command by its first word, in the groups and the order of the help page."""
MODULES = {word: module for group in GROUPS.values() for word, module in group.items()}

SUMMARIES = {
    "hook": "the prompt hooks of Claude Code and Codex",
    "index": "the on-disk index of a library",
    "store": "a catalog store that several machines share",
    "bench": "retrieval evaluation",
    "eval": "evaluation of skills with a model",
    "eval run": "run one layer of questions",
}
"""What the commands below the words are about."""
