"""Addresses lead where they say, and a copied command runs nothing but what it shows."""

from __future__ import annotations

import shlex
from urllib.parse import parse_qsl, unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from skillyard.install.sources.protocol import Hit
from skillyard.serve.web.addresses import (
    install_line,
    local_address,
    place_of,
    search_address,
    skill_address,
)
from tests.serve.web.page_parser import harm, read
from tests.serve.web.page_values import macro
from tests.tables import for_each

names = st.text(min_size=1, max_size=30)


@given(names, names, st.text(max_size=30))
def test_a_skill_s_address_names_it_and_can_stand_in_a_link(
    source: str, skill_id: str, query: str
) -> None:
    address = skill_address(source, skill_id, q=query)
    if address is None:
        return
    assert harm(read(macro("linked", "x", address))) == []
    parts = urlsplit(address)
    assert not parts.netloc
    path = unquote(parts.path.removeprefix("/page/skills/"))
    said = f"{source}/{skill_id}".encode("utf-8", "replace").decode()
    assert path == said
    kept = query.encode("utf-8", "replace").decode()
    assert parse_qsl(parts.query, keep_blank_values=True) == ([("q", kept)] if query else [])


@for_each(
    ("source", "skill_id"),
    [("local", ".."), ("local", ""), ("local", "a/b"), ("", "a"), ("a/../b", "c"), ("//x", "c")],
)
def test_what_no_address_can_name_has_none(source: str, skill_id: str) -> None:
    assert skill_address(source, skill_id) is None


def test_addresses_hold_no_more_than_what_was_asked() -> None:
    assert search_address("a b&c") == "/?q=a+b%26c"
    assert search_address("a", sources=("x", "y"), scorer="overlap", limit=5) == (
        "/?q=a&source=x&source=y&scorer=overlap&limit=5"
    )
    assert local_address("a b", "") == "/page/skills/local/a%20b"
    assert place_of(Hit("acme/skills", "a", "local")) == "local"
    assert place_of(Hit("acme/skills", "a", "github")) == "acme/skills"


@for_each(
    ("source", "skill_id", "line"),
    [
        ("acme/skills", "pdf", "skillyard add acme/skills/pdf"),
        ("docs.example", "pdf", "skillyard add 'https://docs.example#pdf'"),
        ("local", "pdf", ""),
        ("acme/skills", "a b", "skillyard add 'acme/skills/a b'"),
        ("acme/skills", "a\u202eb", ""),
        ("acme/skills", "a\nb", ""),
        ("acme/skills", "..", ""),
        ("acme/skills", "a/b", ""),
        ("not a source", "a", ""),
        ("acme/skills/x", "a", ""),
    ],
)
def test_the_install_line_is_the_command_for_it(source: str, skill_id: str, line: str) -> None:
    assert install_line(Hit(source, skill_id, "x")) == line


@given(names | st.sampled_from(["$(reboot)", "`reboot`", "a;reboot", "a' b", "-rf", "a|b", "&& x"]))
def test_no_id_can_put_a_second_word_or_command_into_the_line(skill_id: str) -> None:
    line = install_line(Hit("acme/skills", skill_id, "x"))
    assert not line or shlex.split(line) == ["skillyard", "add", f"acme/skills/{skill_id}"]
