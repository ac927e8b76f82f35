"""Whatever happened to an index on disk, it answers like one made in memory of what is left."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.index.index_writer import IndexWriter, verify
from skillyard.engine.index.segment_reader import IndexedDocument
from skillyard.engine.index.segment_searcher import open_index
from tests.engine.index.memory_searcher import MemorySearcher
from tests.engine.index.random_documents import DIMENSIONS, SOAK, Asker, document, in_memory, write
from tests.worked_examples.making import skill


@settings(max_examples=400 if SOAK else settings().max_examples)
@given(seed=st.integers(0, 2**32), commits=st.integers(1, 12), each=st.integers(1, 60))
def test_any_history_of_changes_answers_like_the_oracle(seed: int, commits: int, each: int) -> None:
    rng = random.Random(seed)
    live: dict[str, IndexedDocument] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(commits):
            with IndexWriter(folder, dimensions=DIMENSIONS, settings={}) as writer:
                for _ in range(rng.randint(1, each)):
                    key = f"k{rng.randint(0, 80)}"
                    if rng.random() < 0.3:
                        assert writer.delete(key) == (live.pop(key, None) is not None)
                    else:
                        live[key] = document(rng, key)
                        writer.add(live[key])
                writer.commit()
        searcher = open_index(folder)
        assert searcher is not None
        assert verify(folder) == []
        asker = Asker(seed)
        assert asker.answers(searcher) == asker.answers(in_memory(live.values()))
        assert {searcher.key(o) for o in searcher.ordinals()} == set(live)


def test_many_small_changes_are_merged_and_nothing_is_left_behind(tmp_path: Path) -> None:
    rng = random.Random(7)
    documents = [document(rng, f"k{number}") for number in range(300)]
    for start in range(0, 300, 10):
        write(tmp_path, documents[start : start + 10])
    searcher = open_index(str(tmp_path))
    assert searcher is not None
    assert len(searcher.segments) <= 10
    assert verify(str(tmp_path)) == []
    asker = Asker(1)
    assert asker.answers(searcher) == asker.answers(in_memory(documents))


def test_a_reader_keeps_its_generation_while_the_index_moves_on(tmp_path: Path) -> None:
    rng = random.Random(3)
    first = [document(rng, f"k{number}") for number in range(200)]
    write(tmp_path, first)
    before = open_index(str(tmp_path))
    assert before is not None
    asker = Asker(2)
    expected = asker.answers(before)
    for round_number in range(12):
        write(tmp_path, [document(rng, f"n{round_number}-{n}") for n in range(100)])
    assert before.stale()
    assert asker.answers(before) == expected
    after = open_index(str(tmp_path))
    assert after is not None
    assert not after.stale()
    assert after.generation == before.generation + 12


def test_other_settings_or_dimensions_start_anew(tmp_path: Path) -> None:
    write(tmp_path, [document(random.Random(1), "old")])
    with IndexWriter(str(tmp_path), dimensions=DIMENSIONS, settings={"of": "others"}) as writer:
        assert list(writer.keys()) == []
        writer.commit()
    searcher = open_index(str(tmp_path))
    assert searcher is not None
    assert (searcher.size, searcher.generation) == (0, 2)


def test_without_a_commit_nothing_happened(tmp_path: Path) -> None:
    write(tmp_path, [document(random.Random(1), "kept")])
    with IndexWriter(str(tmp_path), dimensions=DIMENSIONS, settings={"of": "tests"}) as writer:
        writer.add(document(random.Random(2), "forgotten"))
        writer.delete("kept")
    searcher = open_index(str(tmp_path))
    assert searcher is not None
    assert [searcher.key(o) for o in searcher.ordinals()] == ["kept"]


def test_segments_in_memory_rank_like_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("build", "commit", "csv", "deploy", "query", "release", "table", "test")
    rng = random.Random(9)
    skills = [
        skill(f"s{number:03}", " ".join(rng.sample(words, 3)), trigger=number % 29 == 0)
        for number in range(200)
    ]
    found = [sy.rank(skills, " ".join(words[n : n + 3]), limit=None) for n in range(6)]
    monkeypatch.setattr("skillyard.engine.index.library.memory_searcher", MemorySearcher)
    expected = [sy.rank(skills, " ".join(words[n : n + 3]), limit=None) for n in range(6)]
    assert [[(m.skill.name, m.score) for m in each] for each in found] == [
        [(m.skill.name, m.score) for m in each] for each in expected
    ]
    assert sy.rank(skills, "@s029 build")[0].skill.name == "s029"
