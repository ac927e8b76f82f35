"""Entries: whole, of the right key, made once by however many; anything else counts as missing."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import SkillIoError
from skillyard.evals.storage import ENTRY_BYTES, GENERATIONS, Entries
from tests.tables import for_each

KEY = "a" * 63 + "1"


def entry(**more: Any) -> Any:
    usage = {"input_tokens": 1, "output_tokens": None}
    fields = {"cost": 0.1, "usage": usage, "fake": False, "stop_reason": "end"}
    return {"key": KEY, "text": "tea", **fields, **more}


def entries(folder: Path) -> tuple[Entries, list[str], str]:
    warnings: list[str] = []
    values = Entries(str(folder), warnings.append)
    return values, warnings, values.path(GENERATIONS, "tea", KEY)


def put(folder: Path, path: str, data: bytes) -> Path:
    full = folder / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(data)
    return full


HOSTILE = {
    "empty": b"",
    "torn": json.dumps(entry()).encode()[:20],
    "no object": b"[]",
    "null": b"null",
    "another key": json.dumps({**entry(), "key": "b" * 64}).encode(),
    "no key": b"{}",
    "key of another type": b'{"key": 1}',
    "no UTF-8": b'{"key": "\xff"}',
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 50_000,
    "long number": b'{"key": ' + b"1" * 10_000 + b"}",
    "huge": b" " * (ENTRY_BYTES + 1),
    "NUL": b"\x00" * 100,
}


@for_each("name", HOSTILE)
def test_what_cannot_be_used_is_missing_and_named_once(name: str, tmp_path: Path) -> None:
    values, warnings, path = entries(tmp_path)
    put(tmp_path, path, HOSTILE[name])
    assert values.read(path) is None
    assert values.read(path) is None
    assert len(warnings) == 1
    assert warnings[0].startswith(path)
    values.write(path, entry())
    assert values.read(path) == entry()


def test_a_folder_in_the_place_of_an_entry_is_missing_and_cannot_be_written(
    tmp_path: Path,
) -> None:
    values, warnings, path = entries(tmp_path)
    (tmp_path / path).mkdir(parents=True)
    assert values.read(path) is None
    assert len(warnings) == 1
    with pytest.raises(SkillIoError, match="cannot write the entry"):
        values.write(path, entry())


def test_nothing_there_is_no_news(tmp_path: Path) -> None:
    values, warnings, path = entries(tmp_path)
    assert values.read(path) is None
    assert not warnings


@given(text=st.text())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    values, warnings, path = entries(tmp_path_factory.mktemp("entries"))
    values.write(path, {**entry(text=text), "latency_s": 0.5})
    assert values.read(path) == entry(text=text)
    assert not warnings


def test_half_of_a_surrogate_pair_is_no_reason_to_ask_again(tmp_path: Path) -> None:
    values, _, path = entries(tmp_path)
    values.write(path, entry(text="a\ud800b"))
    assert values.read(path) == entry(text="a?b")


@for_each(
    "path",
    ["../x.json", "generations/../x.json", "generations/tea/../x.json", "/etc/passwd", "",
     "generations/a/b/c.json", "notes/tea/x.json", "generations/tea/x\\y.json"],
)  # fmt: skip
def test_a_path_from_elsewhere_leads_to_no_file(path: str, tmp_path: Path) -> None:
    values, warnings, _ = entries(tmp_path)
    put(tmp_path, "x.json", json.dumps(entry(key="x")).encode())
    assert values.read(path) is None
    assert not warnings


@given(skill=st.text())
def test_any_name_becomes_one_safe_folder(skill: str) -> None:
    path = Entries("results").path(GENERATIONS, skill, KEY)
    kind, folder, name = path.split("/")
    assert (kind, name) == (GENERATIONS, f"{KEY}.json")
    assert 0 < len(folder) <= 100
    assert folder not in (".", "..")
    assert folder.isascii()
    assert folder == folder.lower()
    assert not {*folder} & {*'/\\:*?"<>|\0 '}


def test_threads_that_want_one_entry_make_it_once(tmp_path: Path) -> None:
    values, _, path = entries(tmp_path)
    paid: list[int] = []
    barrier = threading.Barrier(8)

    def want() -> None:
        barrier.wait()
        with values.lock(path):
            if values.read(path) is None:
                paid.append(1)
                values.write(path, entry())

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert paid == [1]


def test_a_place_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    values = Entries(str(tmp_path / "file"))
    path = values.path(GENERATIONS, "tea", KEY)
    with pytest.raises(SkillIoError, match="cannot lock the results"), values.lock(path):
        pass
    with pytest.raises(SkillIoError, match="--output-dir"):
        values.write(path, entry())
