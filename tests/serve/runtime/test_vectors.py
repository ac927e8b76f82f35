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
from skillyard.base.io.user_folders import cache_folder
from skillyard.engine.embedding import cache
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.install.policy.library import open_catalog
from skillyard.serve.client import Client
from skillyard.serve.runtime.snapshot import snapshot_of
from tests.configuration import configure
from tests.engine.embedding.letters import GatedLetters, Letters, install
from tests.parity.trees import write_tree
from tests.serve.http.local_server import Running, running, until
from tests.serve.mcp.local_servers import serving, shows
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


def test_a_search_of_the_catalog_alone_does_so_as_well(tmp_path: Path, gated: GatedLetters) -> None:
    def search(**more: str) -> dict[str, Any]:
        answer: dict[str, Any] = server.get("/search", params={"q": TEXT, **more}).json()
        return answer

    with running(tmp_path / "skills", files(), local_only=True) as server:
        assert gated.waits.wait(30)
        plain = search(scorer="hybrid")
        assert search() == {**plain, "note": COMPUTING}
        assert (plain["ranker"], plain["skills"]) == ("hybrid", [])
        gated.gate.set()
        until(lambda: "note" not in search())
        found = search()
        ranked = server.get("/rank", params={"q": TEXT}).json()["matches"]
        assert found["ranker"] == NAME
        assert [(s["title"], s["relevance_score"]) for s in found["skills"]] == [
            (match["name"], match["score"]) for match in ranked
        ]
        assert found["skills"][0]["title"] == "zebra-quiz"
        assert search(scorer="hybrid") == plain


def test_the_python_client_sees_the_default_of_the_service_and_the_note(
    tmp_path: Path, gated: GatedLetters
) -> None:
    with (
        running(tmp_path / "skills", files(), local_only=True) as server,
        Client(server.base) as client,
    ):
        assert gated.waits.wait(30)
        state = client.health().vectors
        assert state is not None
        assert (state.done, state.total) == (1, 3)
        for answer in (
            client.select(TEXT),
            client.rank(TEXT),
            client.why("deploy", TEXT),
            client.search(TEXT),
        ):
            assert answer.note == COMPUTING
        assert client.select(TEXT, scorer="hybrid").note is None
        gated.gate.set()
        until(lambda: client.select(TEXT).scorer == NAME)


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


def test_a_restart_with_all_vectors_answers_by_them_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Letters())
    with running(tmp_path / "skills", files()) as server:
        until(lambda: "note" not in select(server))
    install(monkeypatch, GatedLetters())
    with running(tmp_path / "skills") as server:
        assert select(server)["scorer"] == NAME
        assert vectors(server) == {"scorer": NAME, "done": 3, "total": 3, "failure": None}


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


def test_the_background_uses_one_thread_of_the_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = Letters()
    letters.threads = None
    install(monkeypatch, letters)
    with running(tmp_path / "skills", files()) as server:
        until(lambda: "note" not in select(server))
    assert letters.threads == 1


def test_an_mcp_server_says_so_as_well(tmp_path: Path, gated: GatedLetters) -> None:
    with serving(tmp_path / "skills", files()) as server:
        assert gated.waits.wait(30)
        for tool, values in (
            ("select_skill", {"text": TEXT}),
            ("why_skill", {"name": "deploy", "query": TEXT}),
        ):
            result = server.call(tool, values)
            assert COMPUTING in shows(result)
            assert result.structured_content is not None
            assert result.structured_content["note"] == COMPUTING
        found = server.call("search_skills", {"query": TEXT})
        assert COMPUTING in shows(found)
        gated.gate.set()
        until(lambda: COMPUTING not in shows(server.call("select_skill", {"text": TEXT})))
        result = server.call("select_skill", {"text": TEXT})
        assert result.structured_content is not None
        assert result.structured_content["scorer"] == NAME


def test_a_service_without_an_embedder_says_nothing_of_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SKILLYARD_CONFIG")
    with running(tmp_path / "skills", files()) as server:
        assert "vectors" not in server.get("/health").json()
        assert "note" not in select(server)


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


def test_the_index_on_disk_ranks_with_vectors_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Letters())
    more = {f"filler-{n}": f"Filler number {n}." for n in range(100)}
    write_tree(tmp_path / "skills", files(**more))

    def opened() -> sy.Catalog:
        return open_catalog([str(tmp_path / "skills")], force_scan=True, in_parts=False)

    snapshot = snapshot_of(opened(), 1, opened)
    snapshot.bind_embedder(NAME, lambda done, total: None)
    ranking = snapshot.ranking_for(NAME)
    assert isinstance(ranking.catalog, IndexedCatalog)
    in_memory = sy.Catalog.from_skills(snapshot.whole.skills)
    indexed, plain = (
        [(m.skill.name, m.score) for m in sy.rank(catalog, TEXT, scorer=NAME, limit=10)]
        for catalog in (ranking.catalog, in_memory)
    )
    assert indexed == plain
    assert indexed[0][0] == "zebra-quiz"
    again = snapshot_of(opened(), 2, opened)
    again.bind_embedder(NAME, lambda done, total: None)
    assert [
        (match.skill.name, match.score)
        for match in sy.rank(again.ranking_for(NAME).catalog, TEXT, scorer=NAME, limit=10)
    ] == indexed
