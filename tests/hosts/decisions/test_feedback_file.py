"""The file of feedback is bounded, loses nothing to another process, and reads only itself."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import Query, SkillIoError
from skillyard.errors import InvalidInput
from skillyard.hosts.decisions import feedback_file as module
from skillyard.hosts.decisions import with_feedback
from skillyard.hosts.decisions.feedback_file import add_feedback, clear_feedback, list_feedback
from tests.tables import for_each

QUERY = Query("clean this csv file")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the file, which does not exist yet."""
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def stored() -> list[tuple[str, bool, str]]:
    return [(each.skill, each.right, each.request) for each in list_feedback().entries]


def test_the_oldest_go_and_a_client_never_drops_those_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_OWN", 3)
    monkeypatch.setattr(module, "MAX_CLIENTS", 2)
    for number in range(3):
        add_feedback("mine", f"request {number}", right=True)
    dropped = [
        each.request
        for number in range(9)
        for each in add_feedback("x", f"flood {number}", right=False, by="mcp").dropped
    ]
    assert dropped == [f"flood {number}" for number in range(7)]
    assert [each[0] for each in stored()] == ["mine"] * 3 + ["x"] * 2
    change = add_feedback("mine", "one more", right=True)
    assert [each.request for each in change.dropped] == ["request 0"]


@for_each(
    ("request_", "note", "word"),
    [
        (" ", "", "needs the request"),
        ("x" * 2_001, "", "the request has 2,001"),
        ("x", "n" * 501, "note"),
    ],
)
def test_texts_that_are_empty_or_too_long_are_refused(request_: str, note: str, word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        add_feedback("a", request_, right=True, note=note)
    assert stored() == []


@given(st.text(min_size=1).filter(str.strip), st.text(max_size=50))
def test_any_text_comes_back(request_: str, note: str) -> None:
    clear_feedback()
    add_feedback("a", request_, right=True, note=note)
    (entry,) = list_feedback().entries
    assert entry.request == request_.strip()
    assert entry.note == note.strip()


GOOD = {"number": 1, "time": "t", "skill": "a", "right": True, "request": "r"}
BAD_CHANGES: list[dict[str, object]] = [
    {"number": 1.0},
    {"skill": None},
    {"more": 1},
    {"note": 3},
    {"time": []},
]
BAD_LINES = [
    *(b"\xff", b"{", b"[]", b"3", b"null", b"[" * 99_999),
    *(json.dumps({**GOOD, **change}).encode() for change in BAD_CHANGES),
]


@for_each("line", BAD_LINES)
def test_a_line_that_is_no_judgement_is_named_and_nothing_is_used(
    line: bytes, state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state.mkdir(exist_ok=True)
    path = state / "feedback.jsonl"
    content = json.dumps(GOOD).encode() + b"\n" + line + b"\n"
    path.write_bytes(content)
    with pytest.raises(SkillIoError, match="no judgement") as caught:
        add_feedback("b", "r", right=True)
    assert caught.value.line == 2
    assert path.read_bytes() == content
    assert with_feedback(QUERY) is QUERY
    assert "feedback is not used" in caplog.text


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
@for_each("kind", ["link", "pipe", "folder", "open", "huge"])
def test_a_file_that_is_not_plain_and_private_is_not_used(
    kind: str, state: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import shutil

    shutil.rmtree(state, ignore_errors=True)
    state.mkdir()
    path = state / "feedback.jsonl"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(json.dumps(GOOD), encoding="utf-8")
    if kind == "link":
        path.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "open":
        path.write_text(json.dumps(GOOD), encoding="utf-8")
        path.chmod(0o666)
    else:
        with path.open("wb") as file:
            file.truncate(module.MAX_BYTES + 1)
    with caplog.at_level(logging.WARNING, "skillyard.hosts.decisions"):
        assert with_feedback(QUERY) is QUERY
    assert "feedback is not used" in caplog.text
    if kind == "link":
        assert "it is a link, and the file itself must lie there" in caplog.text
    with pytest.raises(SkillIoError):
        add_feedback("a", "r", right=True)
    assert elsewhere.read_text(encoding="utf-8") == json.dumps(GOOD)


def _add_many(first: int) -> None:
    for number in range(first, first + 20):
        add_feedback("a", f"request {number}", right=True)


def test_processes_that_write_at_once_lose_nothing() -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add_many, args=(100 * n,)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    entries = list_feedback().entries
    assert len(entries) == 60
    assert [each.number for each in entries] == list(range(1, 61))
