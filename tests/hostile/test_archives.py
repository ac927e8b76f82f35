"""Each hostile archive is refused by its own code, in little memory, and nothing else happens."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import skillyard
from skillyard.base.invisible import find_hidden
from skillyard.install.copies.archives import ArchiveRefused, read_archive
from tests.hostile.archive_cases import (
    CASES,
    MEBIBYTE,
    ArchiveCase,
    ZipEntry,
    bomb_entry,
    zip_bytes,
)
from tests.hostile.case import REJECT, skill_bytes
from tests.hostile.hang_bound import assert_helpful
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each


def _refusal(case: ArchiveCase) -> ArchiveRefused:
    data = case.make()
    with hang_bound(), pytest.raises(ArchiveRefused) as caught:
        read_archive(data, case.kind)
    return caught.value


@for_each("case", [case for case in CASES if case.verdict == REJECT], ids=lambda case: case.id)
def test_a_hostile_archive_is_refused_by_its_code_and_names_the_entry(case: ArchiveCase) -> None:
    error = _refusal(case)
    assert error.code == case.code
    assert case.entry[:40] in error.message
    assert ("entry `" in error.message) == bool(case.entry)
    assert_helpful(error)
    assert find_hidden(str(error)) is None
    assert len(str(error)) < 1_500
    assert "\n" not in error.message + error.hint
    assert _refusal(case).__dict__ == error.__dict__


@for_each("said", [256 * MEBIBYTE, 1_000], ids=["honest size", "false size"])
def test_a_bomb_takes_little_memory_whatever_size_it_says(said: int) -> None:
    data = zip_bytes([ZipEntry(b"SKILL.md", skill_bytes()), bomb_entry(said)])
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveRefused) as caught:
            read_archive(data, "zip")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.code == ("archive_bomb" if said > 1_000 else "archive_damaged")
    assert peak < 4 * MEBIBYTE


_SPY = r"""
import base64, json, sys
import skillyard.install.copies.archives  # loaded before anybody watches
from skillyard.install.copies.archives import ArchiveRefused, read_archive
cases = [(kind, base64.b64decode(data)) for kind, data in json.load(sys.stdin)]
events, watching = [], []
def spy(event, arguments):
    if watching:
        events.append([event, repr(arguments)[:200]])
sys.addaudithook(spy)
codes = []
for kind, data in cases:
    watching.append(True)
    try:
        read_archive(data, kind)
        code = "read"
    except ArchiveRefused as error:
        code = error.code
    watching.clear()
    codes.append(code)
if "--provoke" in sys.argv:
    watching.append(True)
    open("/dev/null").close()
    watching.clear()
print(json.dumps({"events": events, "codes": codes}))
"""


def _spied(*arguments: str) -> dict[str, Any]:
    (package,) = skillyard.__path__
    payload = [(case.kind, base64.b64encode(case.make()).decode("ascii")) for case in CASES]
    done = subprocess.run(
        [sys.executable, "-c", _SPY, *arguments],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ, PYTHONPATH=str(Path(package).parent)),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_reading_archives_opens_writes_runs_and_imports_nothing() -> None:
    answer = _spied()
    assert answer["codes"] == [case.code or "read" for case in CASES]
    assert answer["events"] == []


def test_the_spy_sees_what_it_is_there_to_see() -> None:
    assert [event for event, _ in _spied("--provoke")["events"]] == ["open"]
