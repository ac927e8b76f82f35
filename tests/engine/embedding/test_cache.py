"""Vectors are made once; the cache may be lost, damaged or locked without harm."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from skillyard.engine.embedding import cache as module
from skillyard.engine.embedding.cache import VectorCache, embed_cached
from skillyard.errors import EmbedderFailed
from tests.engine.embedding.letters import Letters

TEXTS = ["deploy", "test", "deploy", "", "日本"]


def cache_in(folder: Path, name: str = "letters") -> VectorCache:
    return VectorCache(str(folder / "vectors"), name)


def test_another_embedder_has_vectors_of_its_own(tmp_path: Path) -> None:
    embed_cached(Letters(), TEXTS, cache_in(tmp_path))
    other = Letters("other")
    embed_cached(other, TEXTS, cache_in(tmp_path, "other"))
    assert other.asked


def test_what_was_made_before_a_stop_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_TEXTS", 2)

    class Stops(Letters):
        def embed(self, texts, *, query=False):  # type: ignore[no-untyped-def]
            if len(self.asked) >= 4:
                raise EmbedderFailed("letters", "stopped")
            return super().embed(texts, query=query)

    texts = ["a", "b", "c", "d", "e", "f"]
    with pytest.raises(EmbedderFailed, match="stopped"):
        embed_cached(Stops(), texts, cache_in(tmp_path))
    again = Letters()
    embed_cached(again, texts, cache_in(tmp_path))
    assert again.asked == ["e", "f"]


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    made = embed_cached(Letters(), TEXTS, cache)
    for damage in (b"", b"no database at all" * 100, Path(cache.path).read_bytes()[:700]):
        Path(cache.path).write_bytes(damage)
        assert embed_cached(Letters(), TEXTS, cache) == made
    again = Letters()
    assert embed_cached(again, TEXTS, cache) == made
    assert again.asked == []


def test_a_model_that_changed_its_length_is_asked_anew(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    embed_cached(Letters(), TEXTS, cache)
    shorter = Letters(alphabet="depst")
    made = embed_cached(shorter, [*TEXTS, "steps"], cache)
    assert {len(vector) for vector in made if vector} == {5}
    again = Letters(alphabet="depst")
    assert embed_cached(again, TEXTS, cache) == made[: len(TEXTS)]
    assert again.asked == []


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("a file where the folder should be")
    assert embed_cached(Letters(), TEXTS, cache_in(tmp_path)) == embed_cached(Letters(), TEXTS)


def test_a_locked_cache_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCK_TIMEOUT_S", 0.01)
    cache = cache_in(tmp_path)
    made = embed_cached(Letters(), TEXTS, cache)
    holder = sqlite3.connect(cache.path)
    holder.execute("begin exclusive")
    try:
        assert embed_cached(Letters(), TEXTS, cache) == made
    finally:
        holder.close()
