"""The entity tag of a search of the catalog is that of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.serve.http.app import COMPRESSED_BYTES
from skillyard.serve.runtime.local import CatalogSource, hit_of
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


def test_the_head_of_a_304_says_what_the_answer_would(server: Running) -> None:
    answer = server.get("/search?q=pdf")
    again = server.get("/search?q=pdf", headers={"If-None-Match": answer.headers["etag"]})
    for name in ("etag", "cache-control", "skillyard-catalog"):
        assert again.headers[name] == answer.headers[name]


def test_another_answer_has_another_tag(server: Running) -> None:
    first = tag(server, "/search?q=pdf")
    for other in ("q=pdfs", "q=pdf&explain=true", "q=pdf&cards=0", "q=pdf&include_raw=true"):
        assert known(server, f"/search?{other}", first) == 200
    for same in ("q=pdf&limit=10", "q=pdf&source=local", "q=pdf&scorer=hybrid"):
        assert tag(server, f"/search?{same}") == first, same


def test_a_changed_file_gives_another_tag(server: Running, tmp_path: Path) -> None:
    first = tag(server, "/search?q=deploy")
    write_tree(tmp_path / "skills", CHANGED)
    until(lambda: known(server, "/search?q=deploy", first) == 200)


def test_the_skill_that_wins_a_name_is_part_of_the_tag(tmp_path: Path) -> None:
    """The same files in the other order are the same digest and another answer."""
    roots = [write_tree(tmp_path / n, {"x/SKILL.md": document("x", "d", n)}) for n in "ab"]
    seen = []
    for order in (roots, roots[::-1]):
        with running(roots[0], roots=tuple(map(str, order))) as server:
            answer = server.get("/search?q=x")
            seen.append((answer.headers["etag"], answer.headers["skillyard-catalog"]))
    assert seen[0][1] == seen[1][1]
    assert seen[0][0] != seen[1][0]


def test_what_is_wrong_is_refused_whatever_the_client_has(server: Running) -> None:
    for path in ("/search?q=", "/search?q=pdf&scorer=hybrid%2Bx", "/search?q=pdf&scorer=none"):
        assert server.get(path, headers={"If-None-Match": "*"}).status_code == 422


class TestHits:
    def test_a_skill_is_a_hit_by_its_slug(self, server: Running) -> None:
        held = server.context.follower.snapshot
        assert held is not None
        for skill in held.whole.skills:
            hit = hit_of(held, skill)
            assert (hit.skill, hit.id) == (skill.replace(references=(), source="local"), skill.slug)

    def test_a_search_of_the_catalog_alone_starts_no_thread_for_remotes(
        self, server: Running
    ) -> None:
        assert server.get("/search?q=pdf").json()["count"]
        searching = server.context.searches
        assert searching._portal is None

    def test_without_threads_of_its_own_it_answers_in_the_thread_that_asks(
        self, server: Running
    ) -> None:
        held = server.context.follower.snapshot
        assert held is not None
        hits = CatalogSource(held, None)._rank("pdf", 10)
        assert [hit.id for hit in hits][:1] == ["pdf-tables"]


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
