"""What was fetched becomes a skill: a body is never lost, and nothing raises."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from skillyard.install.search.result import FoundSkill, found_skill
from skillyard.install.sources.protocol import Hit, Package
from tests.install.search.fake_search import skill_text
from tests.tables import for_each

HIT = Hit("acme/skills", "pdf", "memory", name="pdf", description="Said by the listing")
FIRST, LAST = "First words of the body.", "Last words of the body."
BODY = f"# Heading\n\n{FIRST}\n\n---\n\n{LAST}"
GOOD = skill_text("pdf", "Extract tables", BODY)


def read(data: str | bytes, hit: Hit = HIT, **more: bytes) -> FoundSkill:
    data = data.encode() if isinstance(data, str) else data
    return found_skill(hit, Package({"SKILL.md": data, **more}, hit.source), ())


def plain(text: str | None) -> str:
    """Return the text without what a wide encoding leaves between the letters."""
    return re.sub("[\0\ufffd]", "", text or "")


def lines(text: str | None) -> list[str]:
    return [line for line in (text or "").splitlines() if line.strip()]


class TestGoodFiles:
    def test_a_reference_that_is_no_text_costs_nothing_else(self) -> None:
        package = Package(
            {
                "SKILL.md": GOOD.encode(),
                "references/a.md": b"\xff\xfe\x00",
                "references/b.md": b"B",
            },
            "acme/skills",
        )
        skill = found_skill(HIT, package, ()).skill
        assert lines(skill.body) == lines(BODY)
        assert "references/b.md" in [reference.path for reference in skill.references]


ODD: dict[str, bytes] = {
    "byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "CRLF": GOOD.replace("\n", "\r\n").encode(),
    "CR alone": GOOD.replace("\n", "\r").encode(),
    "no frontmatter": f"{BODY}\n".encode(),
    "an unclosed fence": f"---\nname: pdf\ndescription: d\n\n{BODY.replace('---', '')}\n".encode(),
    "an empty block": f"---\n---\n{BODY}\n".encode(),
    "a number as version": GOOD.replace("---\n\n#", "version: 1.0\n---\n\n#", 1).encode(),
    "a number as name": GOOD.replace("name: pdf", "name: 7").encode(),
    "a list as description": GOOD.replace("Extract tables", "[Extract, tables]").encode(),
    "a map as description": GOOD.replace("Extract tables", "{en: Extract}").encode(),
    "no description": GOOD.replace("description: Extract tables\n", "").encode(),
    "no name": GOOD.replace("name: pdf\n", "").encode(),
    "an unquoted colon": GOOD.replace("Extract", "Use when: extract").encode(),
    "invalid YAML": GOOD.replace("Extract tables", "[Extract: {").encode(),
    "a tab": GOOD.replace("name: pdf", "name:\tpdf\n\tx: y").encode(),
    "an alias": GOOD.replace("Extract tables", "&a Extract\nother: *a").encode(),
    "a tag": GOOD.replace("Extract tables", "!!python/object:os.system x").encode(),
    "a duplicate name": GOOD.replace("name: pdf", "name: pdf\nname: other").encode(),
    "a date": GOOD.replace("name: pdf", "name: pdf\ndate: 2026-01-01").encode(),
    "NUL in the body": GOOD.replace("# Heading", "# Head\0ing").encode(),
    "NUL in the block": GOOD.replace("Extract", "Ex\0tract").encode(),
    "Latin-1": GOOD.replace("Heading", "Über").encode("latin-1"),
    "UTF-16": GOOD.encode("utf-16"),
    "a hidden character in the name": GOOD.replace("name: pdf", "name: p\u200bdf").encode(),
    "an override in the description": GOOD.replace("Extract", "Ex\u202etract").encode(),
    "tag characters in the body": GOOD.replace("Heading", "Head\U000e0041ing").encode(),
    "an escape in the body": GOOD.replace("Heading", "Head\x1b[2Jing").encode(),
    "10,000 letters as name": GOOD.replace("name: pdf", "name: " + "a" * 10_000).encode(),
    "a name with a path": GOOD.replace("name: pdf", "name: ../../evil").encode(),
    "a long description": GOOD.replace("Extract tables", "word " * 10_000).encode(),
    "2 MiB": GOOD.replace("\n---\n\nLast", "x\n" * (1 << 20) + "\n---\n\nLast").encode(),
}


class TestOddFiles:
    @for_each("what", ODD)
    def test_the_body_is_kept(self, what: str) -> None:
        content = read(ODD[what])
        assert FIRST in plain(content.skill.body)
        # what is longer than a skill may be is cut, never without a word
        assert LAST in plain(content.skill.body) or (what == "2 MiB" and content.diagnostics)

    @for_each(
        "what", ["an unclosed fence", "invalid YAML", "a tag", "an alias", "a duplicate name",
                 "NUL in the block", "a map as description", "UTF-16"],
    )  # fmt: skip
    def test_what_could_not_be_read_is_said(self, what: str) -> None:
        assert read(ODD[what]).diagnostics

    def test_a_hidden_character_never_reaches_the_name(self) -> None:
        assert "\u200b" not in read(ODD["a hidden character in the name"]).skill.name


class TestLaws:
    @given(st.text(max_size=120), st.text(max_size=120))
    def test_whatever_the_block_says_the_body_is_there(self, block: str, body: str) -> None:
        text = f"---\nname: pdf\n{block}\n---\n\nbegin {body} end\n"
        kept = read(text.encode("utf-8", "replace")).skill.body
        assert kept is not None
        wanted = f"begin {body} end".encode("utf-8", "replace").decode()
        assert words(kept)[-len(words(wanted)) :] == words(wanted)


def words(text: str) -> list[str]:
    """Return the words: no reading may lose one, whatever it does to the space between."""
    return plain(text).replace("\ufeff", "").split()
