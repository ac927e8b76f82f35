"""The entity tag of a search of the catalog is that of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.serve.http.app import COMPRESSED_BYTES
from skillyard.serve.runtime.options import ServiceLimits
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, Running, running, until
from tests.worked_examples.making import document

EAGER = ServiceLimits(look_s=0)
CHANGED = {"deploy/SKILL.md": document("deploy", "Deploy the app.", "Changed.")}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "skills", LIBRARY, limits=EAGER) as served:
        yield served


def tag(server: Running, path: str) -> str:
    answer = server.get(path)
    assert answer.status_code == 200
    return str(answer.headers["etag"])


def known(server: Running, path: str, tags: str) -> int:
    answer = server.get(path, headers={"If-None-Match": tags})
    assert bool(answer.content) == (answer.status_code == 200)
    return answer.status_code


def test_who_has_the_answer_is_told_so(server: Running) -> None:
    first = tag(server, "/search?q=pdf")
    for tags in (first, first.removeprefix("W/"), f'"other", {first}', "*"):
        assert known(server, "/search?q=pdf", tags) == 304
    assert known(server, "/search?q=pdf", '"other"') == 200


def test_a_changed_file_gives_another_tag(server: Running, tmp_path: Path) -> None:
    first = tag(server, "/search?q=deploy")
    write_tree(tmp_path / "skills", CHANGED)
    until(lambda: known(server, "/search?q=deploy", first) == 200)


def test_what_is_compressed_is_the_very_answer(server: Running) -> None:
    path = "/search?q=pdf+deploy+unit+tests&explain=true"
    plain = server.get(path, headers={"Accept-Encoding": "identity"})
    packed = server.get(path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert packed.headers["etag"] == plain.headers["etag"]
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    small = server.get("/search?q=pdf&limit=1&cards=0", headers={"Accept-Encoding": "gzip"})
    assert ("content-encoding" in small.headers) == (len(small.content) >= COMPRESSED_BYTES)
