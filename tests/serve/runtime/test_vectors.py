"""A service computes vectors in the background, and says so as long as it answers without them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard import SkillIoError
from skillyard.base.configuration import cache_folder
from skillyard.engine.embedding import cache
from tests.configuration import configure
from tests.engine.embedding.letters import GatedLetters, Letters, install
from tests.serve.http.local_server import Running, running, until
from tests.shared_data import PACKAGES, REPOSITORY
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


def without(answer: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in names}


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
        for address in (
            f"/?q={TEXT}",
            f"/page/skills/local/deploy?q={TEXT}",
        ):
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


def test_a_restart_computes_only_what_is_missing(
    tmp_path: Path, gated: GatedLetters, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path / "skills", files()) as server:
        assert gated.waits.wait(30)
        assert vectors(server)["done"] == 1
    # It ended although the second batch had not.
    assert len(gated.asked) == 1
    again = Letters()
    install(monkeypatch, again)
    with running(tmp_path / "skills") as server:
        until(lambda: "note" not in select(server))
        assert len(again.asked) == 2
        assert not {*again.asked} & {*gated.asked}


def test_a_change_of_the_library_computes_the_new_text_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = Letters()
    install(monkeypatch, letters)
    with running(tmp_path / "skills", files()) as server:
        until(lambda: "note" not in select(server))
        (tmp_path / "skills" / "new").mkdir()
        text = document("new", "Brew tea.")
        (tmp_path / "skills" / "new" / "SKILL.md").write_text(text, encoding="utf-8")
        until(lambda: vectors(server)["total"] == 4 and "note" not in select(server))
        assert letters.asked[3:] == ["new. Brew tea."]


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


PROGRAM = """
import sys
from skillyard.engine.embedding import cache, protocol
from skillyard.serve.http.app import serve
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.install.sources.settings import Settings
from tests.engine.embedding.letters import GatedLetters

class Reporting(GatedLetters):
    def embed(self, texts, *, query=False):
        if self.free_batches <= 0:
            print("waits", flush=True)
        return super().embed(texts, query=query)

cache.BATCH_TEXTS = 1
letters = Reporting(free_batches=2)
protocol._entry_points = lambda: {"letters": lambda: letters}
serve(ServiceOptions(roots=(sys.argv[1],), port=0, local_only=True, log_format="none",
                     settings=Settings(enabled=(), shipped_registry=False)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_server_loses_no_finished_batch(tmp_path: Path) -> None:
    for name, text in files().items():
        path = tmp_path / "skills" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    paths = os.pathsep.join([str(REPOSITORY), str(PACKAGES)])
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "skills")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waits\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
    again = Letters()
    store = cache.VectorCache(os.path.join(cache_folder(), "vectors"), again.id)
    texts = [f"{name}. {about}" for name, about in SKILLS.items()]
    cache.embed_cached(again, texts, store)
    assert len(again.asked) == 1
