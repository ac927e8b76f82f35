"""Results files and events: written whole, read as what may come from anywhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skillyard.errors import InvalidInput, SkillIoError
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.storage import (
    EVENTS,
    Events,
    latest_of_each,
    read_results,
    start_of_run,
    write_results,
)
from tests.tables import for_each


def envelope(run_id: str = "r1", eval_type: Any = "effectiveness", **meta: Any) -> dict[str, Any]:
    told = {"run_id": run_id, "eval_type": eval_type, "timestamp": "2026-11-20T10:00:00Z", **meta}
    return {"meta": told, "summary": {}, "cases": [], "artifacts": {}}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    whole = envelope()
    whole["cases"] = [{"text": "a\ud800 \u202e é"}]
    path = write_results(str(tmp_path / "new"), whole)
    assert os.path.basename(path) == "effectiveness_r1.json"
    assert read_results(path) == whole
    assert os.listdir(tmp_path / "new") == ["effectiveness_r1.json"]


@for_each(
    "data",
    [b"", b"{", b"[]", b"null", b'{"meta": 1}', b"\xff", b"[" * 100_000,
     json.dumps({**envelope(), "cases": {}}).encode(),
     json.dumps({**envelope(), "cases": [1]}).encode(),
     json.dumps({**envelope(), "summary": {"a": 1}}).encode(),
     json.dumps({**envelope(), "artifacts": []}).encode(),
     json.dumps(envelope(eval_type="other")).encode(),
     json.dumps(envelope(eval_type=["effectiveness"])).encode()],
)  # fmt: skip
def test_what_is_no_results_file_is_named(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "confusion_x.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match=r"confusion_x\.json"):
        read_results(str(path))


def test_the_latest_is_the_newest_by_its_own_word(tmp_path: Path) -> None:
    """Not by the file's time: a copy has another one."""
    for run_id, timestamp in (("b", "2026-11-20T10:00:00Z"), ("c", "2026-11-20T10:00:00Z"),
                              ("a", "2026-11-20T09:59:59Z")):  # fmt: skip
        path = write_results(str(tmp_path), envelope(run_id, timestamp=timestamp))
        os.utime(path, (1e9, 1e9) if run_id == "c" else None)
    (result,) = latest_of_each(str(tmp_path), "effectiveness")
    assert result.envelope["meta"]["run_id"] == "c"
    assert not [*latest_of_each(str(tmp_path), "activation")]


def test_a_stand_in_is_the_latest_only_where_there_is_no_real_result(tmp_path: Path) -> None:
    later = envelope("b", timestamp="2026-11-21T10:00:00Z", backend="fake")
    write_results(str(tmp_path), later)
    (result,) = latest_of_each(str(tmp_path), "effectiveness")
    assert result.envelope["meta"]["run_id"] == "b"
    write_results(str(tmp_path), envelope("a", timestamp="2026-11-20T10:00:00Z"))
    runs = [each.envelope["meta"]["run_id"] for each in latest_of_each(str(tmp_path))]
    assert runs == ["a"]


@for_each("part", [{"limit": 3}, {"skill": "tea"}, {"aborted": True}])
def test_a_part_of_a_run_never_replaces_a_whole_one(part: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / next(iter(part))
    newer = write_results(str(folder), envelope("b", timestamp="2026-11-21T10:00:00Z", **part))
    (result,) = latest_of_each(str(folder), "effectiveness")
    assert (result.path, result.note) == (newer, ""), "there is no whole one yet"
    whole = write_results(str(folder), envelope("a"))
    write_results(str(folder), envelope("0", timestamp="2026-11-19T10:00:00Z", **part))
    (result,) = latest_of_each(str(folder), "effectiveness")
    assert result.path == whole
    assert "1 newer result of effectiveness" in result.note


def test_results_are_listed_by_type(tmp_path: Path) -> None:
    for eval_type in LAYERS:
        write_results(str(tmp_path), envelope("1", eval_type))
    (tmp_path / "notes.json").write_text("")
    (tmp_path / "activation_1.json.tmp").write_text("")
    assert [each.eval_type for each in latest_of_each(str(tmp_path))] == [*LAYERS]
    assert not [*latest_of_each(str(tmp_path / "none"))]


def test_events_are_on_disk_before_the_next_thing(tmp_path: Path) -> None:
    events = Events(str(tmp_path), "r")
    for number in range(3):
        events.append("case", case=f"c{number}", text="é\n\u2028")
        lines = (tmp_path / EVENTS).read_bytes().splitlines(keepends=True)
        assert len(lines) == number + 1
        assert all(line.endswith(b"}\n") for line in lines)
    events.close()
    with Events(str(tmp_path), "r") as events:
        assert [event["case"] for event in events.unread()] == ["c0", "c1", "c2"]


@for_each(
    "torn", [b'{"event":"case"', b"\x00" * 9, b"{}garbage", b"[1]", b"\xff\xfe", b"[" * 90_000]
)
def test_a_torn_line_is_left_out_and_the_next_run_begins_on_its_own(
    torn: bytes, tmp_path: Path
) -> None:
    (tmp_path / EVENTS).write_bytes(torn)
    events = Events(str(tmp_path), "r")
    events.append("start", settings={"seed": 1})
    events.close()
    assert start_of_run(str(tmp_path), "effectiveness", "r")["settings"] == {"seed": 1}


def test_a_run_that_is_not_known_names_the_latest(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is none"):
        start_of_run(str(tmp_path), "effectiveness", "r")
    for name in ("r1", "r2"):
        events = Events(str(tmp_path), name)
        events.append("start", settings={})
        events.close()
    with pytest.raises(InvalidInput, match="the latest one is r2"):
        start_of_run(str(tmp_path), "effectiveness", "r3")
    (tmp_path / EVENTS).write_text('{"event":"start","run_id":"r1","settings":[]}\n')
    with pytest.raises(InvalidInput, match="there is none"):
        start_of_run(str(tmp_path), "effectiveness", "r1")


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = Events(str(tmp_path), "r")
    monkeypatch.setattr(os, "write", lambda descriptor, data: len(data) - 1)
    with pytest.raises(SkillIoError, match=r"events\.jsonl|cannot write the events"):
        events.append("case")
    events.close()
