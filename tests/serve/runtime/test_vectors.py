"""A service computes vectors in the background, and says so as long as it answers without them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard import SkillIoError
from skillyard.engine.embedding import cache
from tests.configuration import configure
from tests.engine.embedding.letters import BrokenLetters, GatedLetters, Letters, install
from tests.serve.http.local_server import Running, running, until
from tests.worked_examples.making import document

NAME = "hybrid+letters"
TEXT = "zzqq zjaz"
"""Shares letters with one skill and no word with any."""
SKILLS = {
    "zebra-quiz": "Zigzag jazz quiz.",
    "deploy": "Ship a release.",
    "unit-tests": "Prove that code works.",
}
BATCH = 1
COMPUTING = f"Ranked by hybrid, not by {NAME}: its vectors are still being computed."
FAILED = f"Ranked by hybrid, not by {NAME}: its embedder failed."


def files(**more: str) -> dict[str, str | bytes]:
    skills = {**SKILLS, **more}
    return {f"{name}/SKILL.md": document(name, about) for name, about in skills.items()}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    configure(monkeypatch, tmp_path, scorer={"name": NAME})
    monkeypatch.setattr(cache, "BATCH_TEXTS", BATCH)


@pytest.fixture
def gated(monkeypatch: pytest.MonkeyPatch) -> Iterator[GatedLetters]:
    """An embedder that waits before its second batch."""
    embedder = GatedLetters(free_batches=1)
    install(monkeypatch, embedder)
    yield embedder
    embedder.gate.set()


def select(server: Running) -> dict[str, Any]:
    answer: dict[str, Any] = server.post("/select", {"text": TEXT}).json()
    return answer


def vectors(server: Running) -> dict[str, Any]:
    state: dict[str, Any] = server.get("/health").json()["vectors"]
    return state


def test_questions_are_answered_by_hybrid_until_all_vectors_are_there(
    tmp_path: Path, gated: GatedLetters
) -> None:
    with running(tmp_path / "skills", files()) as server:
        assert gated.waits.wait(30)
        before = select(server)
        assert vectors(server) == {"scorer": NAME, "done": 1, "total": 3, "failure": None}
        plain = server.post("/select", {"text": TEXT, "scorer": "hybrid"}).json()
        assert before == {**plain, "note": COMPUTING}
        assert (before["scorer"], before["rejected"]) == ("hybrid", [])
        for path in (f"/rank?q={TEXT}", f"/why?q={TEXT}&name=deploy"):
            assert server.get(path).json()["note"] == COMPUTING
        for address in (f"/?q={TEXT}", f"/page/skills/local/deploy?q={TEXT}"):
            page = server.get(address, headers={"Accept": "text/html"})
            assert page.status_code == 200
            assert COMPUTING in page.text

        gated.gate.set()
        until(lambda: vectors(server)["done"] == 3 and "note" not in select(server))
        after = select(server)
        catalog = sy.load_catalog(tmp_path / "skills")
        wanted = sy.select(catalog, TEXT, scorer=NAME)
        assert after["scorer"] == NAME
        near = (*wanted.selected, *wanted.maybe, *wanted.rejected)
        listed = (*after["selected"], *after["maybe"], *after["rejected"])
        assert [(m["name"], m["score"]) for m in listed] == [(m.skill.name, m.score) for m in near]
        assert {m["name"] for m in listed} >= {"zebra-quiz"}


def test_a_failure_is_logged_shown_and_answered_by_hybrid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillyard.serve.runtime.vectors.RETRY_S", 0.01)
    letters = BrokenLetters()
    install(monkeypatch, letters)
    with running(tmp_path / "skills", files()) as server:
        until(lambda: vectors(server)["failure"] == "EmbedderFailed")
        assert server.get("/health").json()["status"] == "degraded"
        assert select(server)["note"] == COMPUTING
        (logged, *_) = (line for line in server.lines() if line["event"] == "vectors")
        assert "it is broken" in logged["error"]
        letters.is_broken = False
        until(lambda: "note" not in select(server))
        until(lambda: vectors(server)["failure"] is None)
        letters.is_broken = True
        plain = server.post("/select", {"text": TEXT, "scorer": "hybrid"}).json()
        assert select(server) == {**plain, "note": FAILED}


def test_clients_do_not_choose_the_embedder_but_see_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Letters())
    with running(tmp_path / "skills", files()) as server:
        until(lambda: "note" not in select(server))
        assert server.post("/select", {"text": TEXT, "scorer": NAME}).status_code == 422
        page = server.get(f"/?q={TEXT}&scorer=hybrid%2Bletters", headers={"Accept": "text/html"})
        assert page.status_code == 200
        assert 'value="hybrid+letters" selected' in page.text


def test_a_service_does_not_start_with_a_default_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+nosuch"})
    with (
        pytest.raises(SkillIoError, match=r"scorer\.name is hybrid\+nosuch"),
        running(tmp_path / "skills", files()),
    ):
        pass
