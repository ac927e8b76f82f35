"""How far a publish is: on a terminal, in a log, and as JSON lines."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable

import pytest

from skillyard.cli.console import Console
from skillyard.cli.pace import Rate
from skillyard.cli.store_progress import store_progress
from skillyard.store.ingest.work_items import Step
from tests.cli.test_console import Terminal


def shown(
    stream: io.StringIO,
    steps: Iterable[tuple[float, Step]],
    monkeypatch: pytest.MonkeyPatch,
    *,
    as_json: bool = False,
    quiet: bool = False,
) -> str:
    """Return what steps at these times leave on standard error."""
    monkeypatch.setattr(sys, "stderr", stream)
    now = [0.0]
    with store_progress(Console(json=as_json, quiet=quiet), lambda: now[0]) as tell:
        for at, step in steps:
            now[0] = at
            if tell is not None:
                tell(step)
    return stream.getvalue()


def step(done: int, total: int | None = 10_000, refused: int = 0) -> Step:
    return Step(done, total, done, 0, refused, done // 1_000)


def test_a_terminal_gets_a_bar_with_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    said = shown(Terminal(), [(1.0, step(0)), (10.0, step(2_000, refused=3))], monkeypatch)
    assert "publishing [####" in said
    assert "2,000 of 10,000  200/s, 40 s left, 3 refused, generation 2" in said
    assert said.rsplit("\r", 2)[1].strip() == ""


def test_without_a_total_there_is_a_rate_and_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    said = shown(Terminal(), [(10.0, step(2_000, None))], monkeypatch)
    assert "publishing 2,000  200/s, generation 2" in said
    assert "left" not in said


def test_elsewhere_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [(float(second), step(second * 100)) for second in range(1, 31)]
    said = shown(io.StringIO(), steps, monkeypatch).splitlines()
    assert said == [
        "1,000 of 10,000 skills, 100/s, 1 min 30 s left, generation 1",
        "2,000 of 10,000 skills, 100/s, 1 min 20 s left, generation 2",
        "3,000 of 10,000 skills, 100/s, 1 min 10 s left, generation 3",
    ]


def test_with_json_each_line_is_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    said = shown(io.StringIO(), [(20.0, step(1_000))], monkeypatch, as_json=True)
    assert json.loads(said) == {
        "schema": "skillyard.store-progress/1",
        **step(1_000)._asdict(),
        "rate": 50.0,
        "seconds_left": 180.0,
    }
    unknown = shown(io.StringIO(), [(20.0, step(0, None))], monkeypatch, as_json=True)
    assert json.loads(unknown)["seconds_left"] is None


def test_nobody_is_told_who_asked_for_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(Terminal(), [(50.0, step(1))], monkeypatch, quiet=True) == ""


def test_the_rate_is_that_of_late() -> None:
    """What a resumed run skips in its first seconds says nothing of how long the rest takes."""
    rate = Rate(0.0)
    rate.update(1.0, 100_000)
    for second in range(2, 100):
        late = rate.update(float(second), 100_000 + second * 10)
    assert late == pytest.approx(10, rel=0.1)
    assert Rate(0.0).update(0.0, 0) == 0.0
