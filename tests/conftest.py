"""Fixtures of the whole suite, and the count of parity cases at its end."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shared_data import MISSING, shared_folder

# Indexes that the tests make, their child processes too, never touch the user's own.
_CACHE = tempfile.mkdtemp(prefix="skillyard-tests-")
os.environ["SKILLYARD_CACHE"] = _CACHE
atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)

_RAN: Counter[tuple[str, bool]] = Counter()
_PARITY_ITEMS: set[str] = set()
_SKIPPED: set[str] = set()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with cases, queries and corpus; skips where it is absent."""
    folder = shared_folder()
    if folder is None:
        pytest.skip(MISSING)
    return folder


@pytest.fixture
def parity() -> Callable[[str, str, bool], None]:
    """Register one conformance case as run: ``parity(suite, case_id, ambiguous)``."""

    def register(suite: str, case_id: str, ambiguous: bool) -> None:
        _RAN[suite, ambiguous] += 1

    return register


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _PARITY_ITEMS.update(item.nodeid for item in items if "tests/parity/" in item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and report.nodeid in _PARITY_ITEMS:
        _SKIPPED.add(report.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _PARITY_ITEMS:
        return
    terminalreporter.section("parity with the documents")
    for suite in sorted({suite for suite, _ in _RAN}):
        plain, ambiguous = _RAN[suite, False], _RAN[suite, True]
        terminalreporter.write_line(
            f"{suite}: {plain + ambiguous} cases run ({ambiguous} of them ambiguous)"
        )
    total = sum(_RAN.values())
    terminalreporter.write_line(f"parity cases: {total} run, {len(_SKIPPED)} skipped")
