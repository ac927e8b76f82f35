"""A bug raises in a test, instead of being one line of the command line."""

from __future__ import annotations

from typing import NoReturn

import pytest


def raise_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line raise what it would report as an internal error."""

    def report(error: Exception) -> NoReturn:
        raise error

    monkeypatch.setattr("skillyard.cli.program._report_bug", report)
