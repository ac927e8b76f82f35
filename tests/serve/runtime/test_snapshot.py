"""One state of the catalog: which scorers have been bound to it, and what that costs a request."""

from __future__ import annotations

import pytest

from skillyard import Catalog, Skill, UnknownName, rank
from skillyard.engine.ranking.registry import resolve
from skillyard.serve.runtime import snapshot as room
from skillyard.serve.runtime.snapshot import Snapshot


def made() -> Snapshot:
    about = "Extract tables from PDF files."
    catalog = Catalog([Skill(name="pdf-tables", description=about, body=about)])
    return Snapshot(catalog, catalog, 1)


def test_a_scorer_is_bound_once_and_by_its_name_found_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To look a scorer up hashes all its constants, which each request would wait for."""
    asked: list[str] = []

    def noted(name: str) -> object:
        asked.append(name)
        return resolve(name)

    monkeypatch.setattr(room, "resolve", noted)
    snapshot = made()
    for scorer in ("hybrid", "overlap", "hybrid", "overlap", "hybrid"):
        assert [
            match.skill.name for match in rank(snapshot.ranking_for(scorer).catalog, "pdf tables")
        ] == ["pdf-tables"]
    assert asked == ["hybrid", "overlap"]
    assert snapshot.used == {"hybrid", "overlap"}


def test_the_default_scorer_is_one_to_make_ready_before_it_is_bound() -> None:
    snapshot = made()
    assert snapshot.used == {"hybrid"}
    assert not snapshot.whole.bound
    snapshot.make_ready(snapshot.used)
    assert snapshot.whole.bound


def test_a_name_that_no_scorer_has_is_refused_every_time_and_never_made_ready() -> None:
    snapshot = made()
    for _ in range(2):
        with pytest.raises(UnknownName):
            snapshot.ranking_for("best")
    assert snapshot.used == {"hybrid"}
