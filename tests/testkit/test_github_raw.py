"""The fake raw-content host: bytes by path, percent-encoded as they must be."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard_testkit import FakeServers
from tests.property.strategies import few
from tests.tables import for_each
from tests.testkit.client import ask

ODD = {
    "bom.md": b"\xef\xbb\xbf---\nname: x\n---\n",
    "crlf.md": b"---\r\nname: x\r\n---\r\n",
    "latin.md": b"caf\xe9",
    "zero.bin": b"a\0b",
    "empty.md": b"",
}


@pytest.fixture
def raw(up: FakeServers) -> str:
    up.add_repository(
        "demo/skills", ODD, symlinks={"link.md": "bom.md"}, submodules={"module": "a" * 40}
    )
    return f"{up.github_raw}/demo/skills"


@for_each("name", ODD)
def test_a_file_is_served_byte_for_byte(raw: str, name: str) -> None:
    got = ask(f"{raw}/main/{name}")
    assert (got.status, got.body) == (200, ODD[name])
    kind = "application/octet-stream" if name[0] in "lz" else "text/plain; charset=utf-8"
    assert got.headers["content-type"] == kind
    assert got.headers["cache-control"] == "max-age=300"


@for_each(
    "path", ["/main/no.md", "/main", "/main/", "/other/bom.md", "/main/module", "", "/../x/main/y"]
)
def test_what_is_not_there_is_one_line(raw: str, path: str) -> None:
    got = ask(raw + path)
    assert (got.status, got.body) == (404, b"404: Not Found")
    assert got.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.fixture(scope="module")
def lasting() -> Iterator[FakeServers]:
    with FakeServers() as running:
        yield running


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=8
)


@few
@given(st.lists(names, min_size=1, max_size=3), st.binary(max_size=20))
def test_any_path_comes_back_when_it_is_encoded(
    lasting: FakeServers, parts: list[str], data: bytes
) -> None:
    path = "/".join(parts)
    lasting.add_repository("demo/any", {path: data})
    got = ask(f"{lasting.github_raw}/demo/any/HEAD/{quote(path)}")
    assert (got.status, got.body) == (200, data)
    tree = ask(f"{lasting.github_api}/repos/demo/any/git/trees/HEAD?recursive=1",
               authorization=f"Bearer {lasting.switches.github_token}").json  # fmt: skip
    assert path in [entry["path"] for entry in tree["tree"]]
