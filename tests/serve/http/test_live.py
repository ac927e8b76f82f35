"""The catalog follows its files, and no answer mixes two generations of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

import skillyard as sy
from skillyard.serve.http.routes.discovery import INDEX_PATH
from skillyard.serve.runtime.options import ServiceLimits
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, Running, running, until
from tests.worked_examples.making import document

AT_ONCE = ServiceLimits(look_s=0)


@pytest.fixture(params=["indexed", "in memory"])
def followed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Running, Path]]:
    if request.param == "in memory":
        monkeypatch.setenv("SKILLYARD_CACHE", os.devnull)
    root = write_tree(tmp_path / "skills", LIBRARY)
    with running(root, limits=AT_ONCE, local_only=True) as server:
        yield server, root


def names(server: Running) -> list[str]:
    return [skill["name"] for skill in server.get(INDEX_PATH).json()["skills"]]


def test_what_is_added_changed_and_removed_is_seen(followed: tuple[Running, Path]) -> None:
    server, root = followed
    before = server.get("/health").json()["catalog"]
    write_tree(root, {"brew/SKILL.md": document("brew", "Brew a pot of tea.")})
    until(lambda: "brew" in names(server))
    until(lambda: bool(server.get("/rank?q=brew+tea").json()["matches"]))
    write_tree(root, {"brew/SKILL.md": document("brew", "Brew a pot of coffee.", "Grind.")})
    until(lambda: server.get("/skill/brew").json().get("content") == "Grind.")
    (root / "brew/SKILL.md").unlink()
    until(lambda: server.get("/skill/brew").status_code == 404)
    after = server.get("/health").json()["catalog"]
    assert after["digest"] == before["digest"] == sy.load_catalog(root).digest
    assert after["generation"] > before["generation"]
    assert after["reloads"] >= 2


def test_a_root_that_vanishes_leaves_the_last_generation_and_says_so(
    followed: tuple[Running, Path],
) -> None:
    server, root = followed
    root.rename(root.with_name("away"))
    until(lambda: server.get("/health").json()["status"] == "degraded")
    answer = server.get("/rank?q=deploy+the+app")
    assert answer.json()["matches"][0]["name"] == "deploy"
    assert server.get("/health").json()["catalog"]["failure"]
    root.with_name("away").rename(root)
    until(lambda: server.get("/health").json()["status"] == "healthy")


def version(number: int) -> str:
    return document("report", f"Write the report, version {number}.", f"Body {number}.")


def replaced(path: Path, text: str) -> None:
    new = path.with_name("new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


@pytest.mark.parametrize("followed", ["indexed"], indirect=True)
def test_no_answer_mixes_two_generations(followed: tuple[Running, Path]) -> None:
    """Description, body and digest come from one reading, whatever is written meanwhile."""
    server, root = followed
    write_tree(root, {"report/SKILL.md": version(0)})
    until(lambda: "report" in names(server))
    done = threading.Event()
    written = [0]

    def write() -> None:
        while not done.is_set() and written[0] < 400:
            written[0] += 1
            replaced(root / "report/SKILL.md", version(written[0]))

    def ask(number: int) -> list[tuple[str, str]]:
        pairs = []
        with httpx2.Client(base_url=server.base, timeout=30, trust_env=False) as client:
            for _ in range(25):
                answer = client.get(("/skill/report", "/search?q=report")[number % 2])
                # A folder that is listed at the moment of a replacement may show neither file.
                assert answer.status_code in (200, 404)
                skill: Any = answer.json()
                skill = next(iter(skill["skills"]), {}) if "skills" in skill else skill
                if skill.get("name") != "report":
                    continue
                said = skill["description"].removeprefix("Write the report, version ").rstrip(".")
                # A body that is being replaced at this moment is left out, never taken from
                # another version.
                assert skill["content"] in (f"Body {said}.", None)
                pairs.append((answer.headers["skillyard-catalog"], said))
        return pairs

    with ExitStack() as stack:
        stack.callback(done.set)
        pool = stack.enter_context(ThreadPoolExecutor(5))
        writing = pool.submit(write)
        pairs = {pair for found in pool.map(ask, range(4)) for pair in found}
        done.set()
        writing.result()
    # A hundred quick answers may all be of the one reading that met a replacement.
    until(lambda: "report" in names(server))
    pairs |= {*ask(0)}
    assert pairs
    assert len(dict(pairs)) == len(pairs), "one digest stood for two contents"
