"""Links lead somewhere, and no page tells on the machine that it was written on."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from skillyard import PatternMatcher
from tests.docs.pages import headings, links, pages
from tests.requirements import requirement
from tests.shared_data import REPOSITORY
from tests.tables import for_each

BESIDE = sorted(REPOSITORY.glob("*.md"))


def _name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


@for_each("page", sorted({*pages(), *BESIDE}), ids=_name)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    for link in links(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{_name(page)}: {link}"
        if anchor:
            found = headings(target.read_text(encoding="utf-8"))
            assert anchor in found, f"{_name(page)}: {link}: the headings are {sorted(found)}"


def test_every_page_of_the_documentation_is_on_its_map() -> None:
    docs = REPOSITORY / "docs"
    listed = set(links((docs / "README.md").read_text(encoding="utf-8")))
    found = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")} - {"README.md"}
    assert found - listed == set()


@for_each("page", pages(), ids=_name)
def test_no_page_names_a_path_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    places = (REPOSITORY, REPOSITORY.parent, Path.home(), tempfile.gettempdir(), sys.prefix)
    here = [str(place) for place in places if len(str(place)) > 3]
    assert [place for place in here if re.search(rf"{re.escape(place)}(?![\w-])", text)] == []
    assert re.findall(r"(?<![\w.])/(?:home|Users|private|var|mnt)/\S+", text) == []


def test_the_table_of_file_patterns_is_right() -> None:
    page = (REPOSITORY / "docs" / "guides" / "write-a-skill.md").read_text(encoding="utf-8")
    table = page.partition("## File patterns")[2].partition("\n\nCase")[0]
    rows = [
        [re.findall("`([^`]+)`", cell) for cell in row.split("|")[1:4]] for row in table.split("\n")
    ]
    rows = [row for row in rows if len(row) == 3 and row[0]]
    assert len(rows) >= 8
    matcher = PatternMatcher()
    for (pattern,), matching, others in rows:
        examples = [path for path in matching if path != pattern.rstrip("/")]
        assert all(matcher.match_file_pattern(path, pattern) for path in examples), pattern
        assert not any(matcher.match_file_pattern(path, pattern) for path in others), pattern


@requirement("packages:installation-pages")
def test_no_page_installs_by_name_what_is_not_published() -> None:
    # These say what changes once it is.
    allowed = {"README.md", "docs/guides/install.md", "testkit/README.md"}
    by_name = re.compile(r"(?:pip|pipx|tool) install [^\n`]*(?<![\w./])skillyard\b")
    texts = {_name(page): page.read_text(encoding="utf-8") for page in {*pages(), *BESIDE}}
    assert {name for name, text in texts.items() if by_name.search(text)} <= allowed
    readme = texts["README.md"]
    first = re.search(r"^(?:pip|uv|pipx) [^\n]*install[^\n]*", readme, re.MULTILINE)
    assert first is not None
    assert first.group().startswith("uv tool install '.[all]'")
