"""Registry files: one entry a line, nothing run together, and the registered path is the truth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard import SkillIoError
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.registry_file import (
    RegistryFile,
    parse_registry,
    shipped_registry,
)
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.transport import Transport
from tests.install.sources.clients import Network, skill, skill_path
from tests.tables import for_each

# --- the format ---

LINE = "- pdf | acme/skills | skills/pdf | Work with PDF files"


def ids(text: str) -> list[str]:
    return [hit.id for hit in parse_registry(text).hits]


def test_entries_come_in_order_with_their_categories() -> None:
    registry = parse_registry(
        f"# Title\n\n- a | o/r | | before any\n\n## First\n{LINE}\n\n### Deeper\n- b | o/r | | x\n"
        "## \u2728 Second one ##\n- c | o/r | | y\n"
    )
    assert [(hit.id, hit.category) for hit in registry.hits] == [
        ("a", ""), ("pdf", "First"), ("b", "First"), ("c", "Second one"),
    ]  # fmt: skip
    assert {hit.found_by for hit in registry.hits} == {"registry"}


def test_a_line_with_a_missing_field_does_not_swallow_the_next() -> None:
    registry = parse_registry(f"- broken | acme/skills | only three\n{LINE}\n- x | o/r\n- y\n")
    assert [hit.id for hit in registry.hits] == ["pdf"]
    assert registry.hits[0].description == "Work with PDF files"


def test_what_looks_like_an_entry_and_is_none_is_reported_with_its_line() -> None:
    registry = parse_registry(f"{LINE}\n- broken | acme/skills | only three\n", "list.md")
    (diagnostic,) = registry.diagnostics
    assert (diagnostic.path, diagnostic.line, diagnostic.severity) == ("list.md", 2, "warning")
    assert diagnostic.code
    assert diagnostic.hint


@for_each(
    "text",
    ["```\n{}\n```\n", "~~~\n{}\n~~~\n", "````\n```\n{}\n```\n````\n", "```md\n{}\n```\n",
     "   ```\n{}\n   ```\n", "```\n{}\n", "<!-- {} -->\n", "<!--\n{}\n-->\n", "<!--\n{}\n",
     "a <!-- b\n{}\nc --> d\n"],
)  # fmt: skip
def test_examples_are_no_entries(text: str) -> None:
    assert ids(text.format(LINE)) == []


ODD_ENTRIES = {
    "no repository": "- pdf | acme | skills/pdf | x",
    "three parts": "- pdf | acme/skills/more | skills/pdf | x",
    "an address": "- pdf | https://github.com/acme/skills | skills/pdf | x",
    "above": "- pdf | ../.. | skills/pdf | x",
    "no id": "- | acme/skills | skills/pdf | x",
    "path above": "- pdf | acme/skills | ../../etc | x",
    "absolute path": "- pdf | acme/skills | /etc | x",
    "backslashes": "- pdf | acme/skills | ..\\..\\etc | x",
    "id above": "- ../x | acme/skills | skills/pdf | x",
    "id with an escape": "- p\x1b[2Jdf | acme/skills | skills/pdf | x",
}


@for_each("name", ODD_ENTRIES)
def test_an_odd_entry_is_reported_or_harmless_and_costs_no_other(name: str) -> None:
    registry = parse_registry(f"{ODD_ENTRIES[name]}\n- good | a/b | skills/good | y\n")
    assert registry.hits[-1].id == "good"
    tree = ["etc/SKILL.md", "skills/pdf/SKILL.md", "skills/good/SKILL.md"]
    for hit in registry.hits[:-1]:
        assert is_repository(hit.source)
        assert skill_path(tree, hit.source, hit.id, hit.path) in (None, "etc", "skills/pdf")
    assert registry.diagnostics or len(registry.hits) == 2


# --- the list that comes with the package ---


def test_the_shipped_list_is_whole() -> None:
    path = shipped_registry()
    registry = parse_registry(Path(path).read_text(encoding="utf-8"), path)
    assert registry.diagnostics == ()
    assert registry.hits
    assert all(hit.category and hit.description for hit in registry.hits)
    keys = [(hit.source.lower(), hit.id.lower()) for hit in registry.hits]
    assert len(set(keys)) == len(keys)


# --- as a source ---


@pytest.fixture
def listed(net: Network, tmp_path: Path) -> Path:
    net.up.add_repository(
        "acme/skills",
        {
            "skills/finishing-a-development-branch/SKILL.md": skill("finishing-branch"),
            "skills/pdf/SKILL.md": skill("pdf"),
            "skills/other/SKILL.md": skill("other"),
        },
    )
    path = tmp_path / "SKILLS.md"
    path.write_text(
        "## Work\n\n"
        "- finishing-branch | acme/skills | skills/finishing-a-development-branch"
        " | Close a branch\n"
        f"{LINE}\n"
        "- rooted | acme/rooted | | A skill at the root of its repository\n",
        encoding="utf-8",
    )
    return path


def search(net: Network, query: str, *paths: Path, limit: int = 10) -> list[Hit]:
    return net.ask(lambda t: RegistryFile(GitHub(t), [str(p) for p in paths]).search(query, limit))


def fetched(net: Network, query: str, path: Path) -> Package:
    async def use(transport: Transport) -> Package:
        source = RegistryFile(GitHub(transport), [str(path)])
        (found, *_) = await source.search(query, 5)
        return await source.fetch(found)

    return net.ask(use)


def test_an_empty_path_means_the_root(net: Network, listed: Path) -> None:
    net.up.add_repository("acme/rooted", {"SKILL.md": skill("rooted"), "README.md": "r"})
    assert b"rooted" in fetched(net, "rooted", listed).files["SKILL.md"]


UNREADABLE = ["missing", "folder", "latin-1", "large"]


@for_each("kind", UNREADABLE)
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(
    net: Network, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "SKILLS.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "latin-1":
        path.write_bytes("- pdf | a/b | c | caf\u00e9\n".encode("latin-1"))
    elif kind == "large":
        path.touch()
        os.truncate(path, 8 * 2**30)
    with pytest.raises(SkillIoError) as caught:
        search(net, "pdf", path)
    assert "SKILLS.md" in str(caught.value)
