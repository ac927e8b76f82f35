"""Runs the command line in the process of a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

__all__ = ["Answer", "run_here"]


class Answer(NamedTuple):
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run_here(streams: pytest.CaptureFixture[str], arguments: Sequence[str]) -> Answer:
    """Run a command and return what it alone wrote."""
    from skillyard.cli import main

    streams.readouterr()
    code = main(arguments)
    left = streams.readouterr()
    return Answer(code, left.out, left.err)
