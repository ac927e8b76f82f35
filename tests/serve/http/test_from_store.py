"""A service that follows a store answers as one that reads the same skills from files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from skillyard import Skill
from skillyard.install.copies.archives import read_archive
from skillyard.serve.http.routes.discovery import INDEX_PATH
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant, Submission
from skillyard.types import Reference
from tests.configuration import configure
from tests.serve.http.local_server import LIBRARY, Running, raw, request, running, until
from tests.serve.http.shapes import conforms
from tests.store.node.nodes import Node, publish_tree, store_in
from tests.store.skills import skill
from tests.tables import for_each
from tests.worked_examples.making import document

FILES: dict[str, str | bytes] = {
    **LIBRARY,
    "pdf-tables/scripts/cut.py": "print('cut')\n",
    "pdf-tables/assets/page.png": b"\x89PNG\xff",
    "AGENTS.md": "Always on.\n",
    ".skills/single.md": document("single", "A single document."),
    "tight/SKILL.md": "---\nname: tight\ndescription: No line end.\n---\nBody.",
    "gap/SKILL.md": "---\nname: gap\ndescription: Blank lines.\n---\n\nBody.\n\n",
    "secret/SKILL.md": document("secret", "Hidden.", extra="metadata:\n  internal: true\n"),
}
SECRET = "the-secret-of-this-machine"
SHARED = ("name", "id", "slug", "score", "level", "reason", "signals")


def serving(folder: Path, **changes: Any) -> Any:
    return running(
        folder / "nowhere", {}, store=f"sqlite:///{folder}/store.db",
        state_dir=str(folder / "node"), **changes,
    )  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Running]]:
    """A service of a store, and one of the files that were published to it."""
    folder = tmp_path_factory.mktemp("both")
    with store_in(folder) as store:
        publish_tree(store, folder / "skills", FILES, tenant="acme")
    with serving(folder) as stored, running(folder / "skills") as filed:
        yield stored, filed


@for_each("query", ["tables in a pdf", "deploy", "pytest", "nothing of the kind"])
def test_it_ranks_and_selects_as_from_files(both: tuple[Running, Running], query: str) -> None:
    one, other = (server.get("/rank", params={"q": query}).json() for server in both)
    conforms(one, "Ranked")
    for found, expected in zip(one["matches"], other["matches"], strict=True):
        assert [found[name] for name in SHARED] == [expected[name] for name in SHARED]
        assert found["path"].startswith("store://acme/")
    chosen = [server.post("/select", {"text": query}).json()["selected"] for server in both]
    assert [m["id"] for m in chosen[0]] == [m["id"] for m in chosen[1]]


def test_the_raw_text_is_the_file_that_was_published_byte_for_byte(
    both: tuple[Running, Running],
) -> None:
    for path, data in FILES.items():
        if path.endswith("SKILL.md"):
            name = path.split("/")[0]
            assert both[0].get(f"/skill/{name}?include_raw=true").json()["raw_content"] == data


def test_answers_say_of_which_generation_they_are(both: tuple[Running, Running]) -> None:
    stored, filed = both
    found = stored.get("/rank?q=deploy")
    assert found.headers["skillyard-generation"] == "1"
    missing = stored.get("/skill/nobody")
    assert (missing.status_code, missing.headers["skillyard-generation"]) == (404, "1")
    assert float(found.headers["skillyard-age"]) < 60
    assert "skillyard-generation" not in filed.get("/rank?q=deploy").headers
    health = stored.get("/health").json()
    conforms(health, "Health")
    assert health["catalog"]["generation"] == 1
    assert {**health["store"], "age_s": None} == {
        "generation": 1, "head": 1, "behind": 0, "age_s": None, "failure": None, "taken": 0,
        "ready": True,
    }  # fmt: skip
    assert filed.get("/health").json()["store"] is None


def test_the_well_known_index_gives_stored_skills_with_the_digests_of_what_is_served(
    both: tuple[Running, Running],
) -> None:
    one, other = (server.get(INDEX_PATH).json() for server in both)
    conforms(one, "WellKnownIndex")
    packed = [each["skills"].pop(2) for each in (one, other)]
    assert one == other
    # A store holds the texts of a skill, and not its images.
    assert {**packed[0], "digest": ""} == {**packed[1], "digest": ""}
    archive = both[0].get(f"/.well-known/agent-skills/{packed[0]['url']}").content
    files = [file.path for file in read_archive(archive, "zip")]
    assert files == ["SKILL.md", "references/layout.md", "scripts/cut.py"]
    one["skills"].insert(2, packed[0])
    assert [entry["name"] for entry in one["skills"]] == [
        "deploy", "gap", "pdf-tables", "tight", "unit-tests",
    ]  # fmt: skip
    for entry in one["skills"]:
        found = both[0].get(f"/.well-known/agent-skills/{entry['url']}")
        assert f"sha256:{sha256(found.content).hexdigest()}" == entry["digest"]
    for name in ("secret", "single", "AGENTS"):
        assert both[0].get(f"/.well-known/agent-skills/{name}/SKILL.md").status_code == 404


class TestProbes:
    """Orchestrators ask without a token and under any name."""

    def test_they_answer_whoever_asks(self, tmp_path: Path) -> None:
        with store_in(tmp_path), serving(tmp_path, token="secret") as server:
            for path, said in (("/livez", b"alive\n"), ("/readyz", b"ready\n")):
                for host in ("10.0.0.7:8765", "evil.example", "["):
                    for method in ("GET", "HEAD"):
                        asked = request(method, path, "Connection: close", host=host)
                        found = raw(server.port, asked)
                        assert (found.status, found.body) == (
                            200, said if method == "GET" else b"",
                        )  # fmt: skip
                        assert "server:" not in found.head
                assert server.client.post(path).status_code in (401, 405)
            assert server.get("/rank?q=x").status_code == 401
            assert server.get("/livez/x").status_code == 401
            assert [line for line in server.lines() if line.get("route") == "/livez"] == []

    def test_a_node_that_heard_nothing_for_too_long_is_not_ready_and_answers(
        self, tmp_path: Path
    ) -> None:
        with store_in(tmp_path) as store:
            store.publish([skill("a")], tenant="acme", publisher="ci")
            Node(store, tmp_path / "node").take()
        (tmp_path / "store.db").rename(tmp_path / "away.db")
        with serving(tmp_path, max_stale_s=900) as server:
            until(lambda: server.get("/health").json()["store"]["failure"] is not None)
            assert (server.get("/readyz").status_code, server.get("/readyz").text) == (
                503, "stale\n",
            )  # fmt: skip
            found = server.get("/rank?q=says")
            assert (found.status_code, found.headers["skillyard-age"]) == (200, "unknown")
            health = server.get("/health").json()
            assert health["catalog"]["failure"] == "store_not_followed"
            assert (health["store"]["ready"], health["store"]["age_s"]) == (False, None)
            (tmp_path / "away.db").rename(tmp_path / "store.db")
            until(lambda: server.get("/readyz").status_code == 200)
            assert server.get("/health").json()["store"]["failure"] is None


def test_a_caller_gets_what_it_was_granted_and_is_named_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    configure(monkeypatch, tmp_path, log={"file": str(log)})
    with store_in(tmp_path) as store:
        for tenant in ("acme", "beta"):
            store.publish([skill(f"of-{tenant}")], tenant=tenant, publisher="ci")
        store.grant(Grant("team", "beta"))
        with serving(tmp_path, caller="team") as server:
            assert server.get("/skill/of-beta").status_code == 200
            assert server.get("/skill/of-acme").status_code == 404
            assert "of-acme" not in server.get("/rank?q=of acme").text
            server.post("/select", {"text": "of beta"})
            page = server.get("/?q=of+beta&source=local", headers={"Accept": "text/html"})
            assert page.status_code == 200
            lines = log.read_text(encoding="utf-8").splitlines()
            assert [json.loads(line)["caller"] for line in lines] == ["team"] * 2
            store.revoke(Grant("team", "beta"))
            until(lambda: server.get("/skill/of-beta").status_code == 404)
        with serving(tmp_path) as server:  # the same folder, everybody's view
            until(lambda: server.get("/skill/of-acme").status_code == 200)


def lying(store: CatalogStore) -> None:
    """Publish skills whose paths and places look like files of this machine."""
    secrets = [Reference(p, p, None) for p in ("references/a.md", "../secret.md")]
    evil = [Reference(p, p, "theirs") for p in ("../up.md", "/etc/x.md", "./a.md", "SKILL.md")]
    store.publish(
        [
            Submission(Skill("passwd", "Reads it.", "theirs", "/etc/passwd", origin="agentskills")),
            Submission(
                skill(
                    "folder", path="/etc/SKILL.md", origin="agentskills",
                    references=[*secrets, *evil], declared_references=["references/a.md"],
                    frontmatter="name: folder\ndescription: Says one.\n",
                ),
                place="etc/SKILL.md",
            ),
            Submission(skill("up"), place="../../../../../../etc/passwd"),
        ],
        tenant="acme",
        publisher="ci",
    )  # fmt: skip


def test_no_file_of_this_machine_is_read_for_a_stored_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a stored skill looks like one below the current folder, where one lies here."""
    for place in ("acme/etc/SKILL.md", "acme/etc/references/a.md", "acme/passwd", "acme/secret.md"):
        path = tmp_path / "store:" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert Path("store://acme/etc/SKILL.md").read_text(encoding="utf-8") == SECRET
    touched: list[str] = []
    for name in ("open", "stat", "lstat", "scandir", "readlink"):
        call = getattr(os, name)

        def noting(path: Any, *args: Any, _call: Any = call, **options: Any) -> Any:
            touched.append(str(path))
            return _call(path, *args, **options)

        monkeypatch.setattr(os, name, noting)
    with store_in(tmp_path) as store:
        lying(store)
        with serving(tmp_path) as server:
            for name in ("passwd", "folder", "up"):
                for asked in (
                    f"/skill/{name}?include_raw=true&include_references=true",
                    f"/search?q={name}&include_raw=true&include_references=true",
                    f"/rank?q={name}", f"/page/skills/local/{name}", f"/why?name={name}&q={name}",
                    INDEX_PATH, f"/.well-known/agent-skills/{name}/SKILL.md",
                ):  # fmt: skip
                    found = server.get(asked)
                    assert SECRET not in found.text
                    assert "root:" not in found.text
            one = server.get("/skill/folder?include_raw=true&include_references=true").json()
            assert one["references"] == []
            assert one["raw_content"].startswith("---\nname: folder\n")
    assert [path for path in touched if "store:/" in path or "passwd" in path] == []
