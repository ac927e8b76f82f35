"""Damage is met before it becomes an answer: every answer is right, or the damage is named."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from skillyard import IndexDamaged
from skillyard.engine.index.index_writer import verify
from skillyard.engine.index.segment_searcher import open_index
from tests.engine.index.random_documents import SOAK, Asker, document, write

MUTATIONS = 5_000 if SOAK else 600


def _answers(folder: Path, asker: Asker) -> list[object] | None:
    """Return the answers, or None when damage (or no index) was named."""
    try:
        searcher = open_index(str(folder))
        return None if searcher is None else asker.answers(searcher)
    except IndexDamaged:
        return None


def test_a_small_index_cut_off_at_every_byte(tmp_path: Path) -> None:
    rng = random.Random(11)
    write(tmp_path, [document(rng, f"k{number}") for number in range(4)])
    (path,) = (p for p in tmp_path.iterdir() if p.name.endswith(".skyidx"))
    whole = path.read_bytes()
    asker = Asker(3, questions=1)
    expected = _answers(tmp_path, asker)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert _answers(tmp_path, asker) is None, f"cut off at byte {length}"
    path.write_bytes(whole)
    assert _answers(tmp_path, asker) == expected


def test_thousands_of_mutations_never_change_an_answer(tmp_path: Path) -> None:
    rng = random.Random(12)
    documents = [document(rng, f"k{number:05}") for number in range(6_000)]
    write(tmp_path, documents[:5_000])
    write(tmp_path, documents[5_000:])
    asker = Asker(4, questions=2)
    expected = _answers(tmp_path, asker)
    files = sorted(path for path in tmp_path.iterdir() if path.suffix in (".seg", ".skyidx"))
    contents = {path: path.read_bytes() for path in files}
    named = 0
    for number in range(MUTATIONS):
        path = files[number % len(files)]
        data = bytearray(contents[path])
        kind = number % 4
        place = rng.randrange(len(data))
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place : place + 8] = rng.randbytes(8)
        elif kind == 2:
            del data[place:]
        else:
            end = min(len(data), place + 4_096)
            data[place:end] = bytes(end - place)
        path.write_bytes(data)
        found = _answers(tmp_path, asker)
        assert found is None or found == expected, f"mutation {number} of {path.name}"
        if number % 40 == 0 and bytes(data) != contents[path]:
            assert any(each.code == "index_damaged" for each in verify(str(tmp_path)))
        named += found is None
        path.write_bytes(contents[path])
    assert named > MUTATIONS // 4  # the questions do not touch every page


def test_a_segment_that_is_missing_or_another_ones_is_named(tmp_path: Path) -> None:
    rng = random.Random(13)
    write(tmp_path, [document(rng, f"k{number}") for number in range(3_000)])
    (segment,) = tmp_path.glob("*.seg")
    other = tmp_path / "other"
    write(other, [document(rng, f"o{number}") for number in range(3_000)])
    (foreign,) = other.glob("*.seg")
    segment.write_bytes(foreign.read_bytes())
    with pytest.raises(IndexDamaged):
        Asker(1).answers(open_index(str(tmp_path)))  # type: ignore[arg-type]
    segment.unlink()
    with pytest.raises(IndexDamaged, match="missing"):
        open_index(str(tmp_path))
