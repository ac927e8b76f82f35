"""The entries of a log are read; whatever else stands in the file is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillyard import InvalidInput
from skillyard.hosts.decisions.files import iter_entries
from tests.tables import for_each


def lines(*numbers: int) -> str:
    return "".join(
        json.dumps({"schema": "skillyard.decision/1", "n": number}) + "\n" for number in numbers
    )


def test_the_entries_of_the_file_before_come_first(tmp_path: Path) -> None:
    path = tmp_path / "log"
    (tmp_path / "log.1").write_text(lines(*range(3_000)), encoding="utf-8")
    path.write_text(lines(3_000, 3_001), encoding="utf-8")
    assert [each["n"] for each in iter_entries(str(path)) if each] == list(range(3_002))


@for_each("line", [b"x", b"{", b"[]", b'{"schema": 3}', b'{"a": 1}', b"\xff", b"[" * 99_999])
def test_lines_that_are_no_entries_are_passed_over(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(lines(1).encode() + line + b"\n\n" + lines(2).encode())
    assert [each and each["n"] for each in iter_entries(str(path))] == [1, None, 2]


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing"):
        list(iter_entries(str(tmp_path / "nothing")))
