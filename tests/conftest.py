"""Fixtures of the whole suite, and the count of parity cases at its end."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.guardian import end_servers_with_this_process
from tests.long import LONG
from tests.shared_data import MISSING, shared_folder

_FOLDER = Path(tempfile.mkdtemp(prefix="skillyard-tests-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)

# Indexes and records that the tests make, their child processes too, never touch the user's own.
os.environ["SKILLYARD_CACHE"] = str(_FOLDER / "cache")
os.environ["SKILLYARD_STATE"] = str(_FOLDER / "state")

# No test leaves loopback, where nothing is encrypted: reading the certificates of the system
# would only take 50 ms for each client that is made.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(_FOLDER / "certificates")
for _name in ("cache", "certificates"):
    (_FOLDER / _name).mkdir()

# Byte code is kept: without it each run, and each of hundreds of child processes, compiles anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

end_servers_with_this_process()

_RAN: Counter[tuple[str, bool]] = Counter()
_SKIPPED: set[str] = set()
_PARITY = "tests/parity/"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="run the long tests too: long folders, marked slow"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set Hypothesis up, where it is installed: clients and linters are tested without it.

    It may not judge by the clock, as the machine that runs the suite does other work beside it.
    What it draws is the same in every run, so that a change is judged by itself; the soak draws
    anew, and more.
    """
    try:
        from hypothesis import HealthCheck, settings
    except ModuleNotFoundError:
        return
    settings.register_profile(
        "suite",
        deadline=None,
        derandomize=not (soak := bool(os.environ.get("SKILLYARD_SOAK"))),
        max_examples=100 if soak else 40 if config.getoption("--all") else 25,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("suite")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over a long folder or file, unless it or the whole suite was asked for."""
    if config.getoption("--all") or collection_path not in LONG:
        return None
    given = [Path(argument.partition("::")[0]).absolute() for argument in config.args]
    return None if any(path.is_relative_to(collection_path) for path in given) else True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked slow, unless the whole suite or one single file was asked for."""
    if config.getoption("--all") or all(Path(path).is_file() for path in map(_file, config.args)):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def _file(argument: str) -> str:
    return argument.partition("::")[0]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with queries and corpus; skips where it is absent."""
    folder = shared_folder()
    if folder is None:
        pytest.skip(MISSING)
    return folder


@pytest.fixture
def parity(record_property: Callable[[str, object], None]) -> Callable[[str, str, bool], None]:
    """Register one conformance case as run: ``parity(suite, case_id, ambiguous)``."""

    def register(suite: str, case_id: str, ambiguous: bool) -> None:
        record_property("parity", (suite, ambiguous))

    return register


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    # The reports, not the tests: with several workers this is the one place that sees them all.
    if not report.nodeid.startswith(_PARITY):
        return
    if report.skipped:
        _SKIPPED.add(report.nodeid)
    if report.when == "teardown":
        cases: list[Any] = [case for name, case in report.user_properties if name == "parity"]
        _RAN.update(map(tuple, cases))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _RAN and not _SKIPPED:
        return
    terminalreporter.section("parity with the documents")
    for suite in sorted({suite for suite, _ in _RAN}):
        plain, ambiguous = _RAN[suite, False], _RAN[suite, True]
        terminalreporter.write_line(
            f"{suite}: {plain + ambiguous} cases run ({ambiguous} of them ambiguous)"
        )
    total = sum(_RAN.values())
    terminalreporter.write_line(f"parity cases: {total} run, {len(_SKIPPED)} skipped")
