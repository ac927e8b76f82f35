"""Registry files: one entry a line, nothing run together, and the registered path is the truth."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import SkillIoError, SourceFailed
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.registry_file import (
    RegistryFile,
    parse_registry,
    shipped_registry,
)
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.transport import Transport
from skillyard_testkit import faults
from tests.install.sources.clients import Network, python, skill, skill_path
from tests.property.strategies import few, hostile_text, many
from tests.shared_data import MISSING, cases
from tests.tables import for_each

# --- the published cases ---


def published() -> list[Any]:
    """Return the registry's cases as parameters, or one that is skipped without the folder."""
    found = cases("search_pipeline")
    if found is None:
        return [pytest.param(None, id="no-shared-folder", marks=pytest.mark.skip(reason=MISSING))]
    return [
        pytest.param(case, id=case["name"]) for case in found if case["area"] == "registry_file"
    ]


@for_each("case", published())
def test_a_published_case(case: dict[str, Any]) -> None:
    text = case["given"]["text"]
    hits = parse_registry(text).hits
    expected = case["expected"]
    if "fetched_path" in expected:
        (one,) = hits
        folder = skill_path(case["given"]["tree"], one.source, one.id, one.path)
        assert f"{folder}/SKILL.md" == expected["fetched_path"]
        return
    assert len(hits) == len(expected["skills"])
    for hit, wanted in zip(hits, expected["skills"], strict=True):
        for field, value in wanted.items():
            found = getattr(hit, field)
            assert (found or None) == value if field == "path" else found == value
        assert hit.curated


def test_no_published_case_is_passed_over() -> None:
    found = cases("search_pipeline")
    if found is None:
        pytest.skip(MISSING)
    assert sum(case["area"] == "registry_file" for case in found) == 7


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


@for_each(
    ("heading", "category"),
    [("## \U0001f4c4 Documents", "Documents"), ("##  \u2728\ufe0f  AI & ML", "AI & ML"),
     ("## 3D printing", "3D printing"), ("## \u00c9tudes", "\u00c9tudes"),
     ("## \u6587\u6863", "\u6587\u6863"), ("## C++ #", "C++"),
     ("## \U0001f468\u200d\U0001f4bb Dev", "Dev"), ("## - Tools", "Tools")],
)  # fmt: skip
def test_symbols_before_a_heading_are_decoration(heading: str, category: str) -> None:
    (hit,) = parse_registry(f"{heading}\n\n{LINE}\n").hits
    assert hit.category == category


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


def test_prose_is_not_reported() -> None:
    text = f"# Skills\n\nSome words, a | pipe.\n\n{LINE}\n\n1. one\n\n> quoted\n"
    assert parse_registry(text).diagnostics == ()


@for_each(
    "text",
    ["```\n{}\n```\n", "~~~\n{}\n~~~\n", "````\n```\n{}\n```\n````\n", "```md\n{}\n```\n",
     "   ```\n{}\n   ```\n", "```\n{}\n", "<!-- {} -->\n", "<!--\n{}\n-->\n", "<!--\n{}\n",
     "a <!-- b\n{}\nc --> d\n"],
)  # fmt: skip
def test_examples_are_no_entries(text: str) -> None:
    assert ids(text.format(LINE)) == []


@for_each(
    "text",
    ["```\nx\n```\n{}\n", "<!-- x -->\n{}\n", "```\n<!--\n```\n{}\n", "~~~\n```\n~~~\n{}\n"],
)  # fmt: skip
def test_what_follows_an_example_is_an_entry(text: str) -> None:
    assert ids(text.format(LINE)) == ["pdf"]


@for_each("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_will_do(ending: str) -> None:
    text = f"## Documents\n\n{LINE}\n- x | o/r | | y\n".replace("\n", ending)
    registry = parse_registry(text)
    assert [(hit.id, hit.category) for hit in registry.hits] == [
        ("pdf", "Documents"), ("x", "Documents"),
    ]  # fmt: skip
    assert registry.hits[0].description == "Work with PDF files"


def test_a_byte_order_mark_hides_nothing(net: Network, tmp_path: Path) -> None:
    path = tmp_path / "SKILLS.md"
    path.write_text(f"\ufeff{LINE}\n", encoding="utf-8")
    assert [hit.id for hit in search(net, "pdf", path)] == ["pdf"]


@for_each(
    "line",
    ["-pdf|acme/skills|skills/pdf|Work", "*  pdf | acme/skills | skills/pdf | Work",
     "  - pdf | acme/skills | skills/pdf | Work", "-\tpdf\t|\tacme/skills\t|\tskills/pdf\t|\tWork"],
)  # fmt: skip
def test_spacing_is_free_or_the_line_is_no_entry(line: str) -> None:
    hits = parse_registry(line).hits
    assert [(hit.id, hit.source, hit.path, hit.description) for hit in hits] in (
        [], [("pdf", "acme/skills", "skills/pdf", "Work")],
    )  # fmt: skip


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


def test_an_entry_that_is_there_twice_keeps_its_first_place() -> None:
    hits = parse_registry(f"{LINE}\n{LINE}\n- PDF | Acme/Skills | | other\n").hits
    assert hits[0].description == "Work with PDF files"


@many
@given(hostile_text)
def test_any_text_is_a_registry(text: str) -> None:
    registry = parse_registry(text, "x.md")
    for hit in registry.hits:
        assert is_repository(hit.source)
        assert "\n" not in hit.id
    for diagnostic in registry.diagnostics:
        assert diagnostic.line is not None


_WORDS = st.text(st.sampled_from("abc-_."), min_size=1, max_size=6)


@few
@given(
    st.lists(st.tuples(st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True), _WORDS), max_size=6)
)
def test_what_is_written_is_read(entries: list[tuple[str, str]]) -> None:
    text = "".join(f"- {name} | acme/skills | skills/{name} | {about}\n" for name, about in entries)
    assert [(h.id, h.path, h.description) for h in parse_registry(text).hits] == [
        (name, f"skills/{name}", about) for name, about in entries
    ]


@for_each("piece", ["<!--", "```\n", "- | ", "|", "- a | b/c | d | e\n", "<!-- -->", "## ", "-->"])
def test_no_pattern_takes_more_than_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        best = 9.0
        for _ in range(3):
            started = time.process_time()
            parse_registry(text)
            best = min(best, time.process_time() - started)
        return best

    small, large = seconds(50_000), seconds(800_000)
    assert large < 48 * small + 0.05  # sixteen times the text; a square would be 256 times


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


def test_searching_a_file_asks_nobody(net: Network, listed: Path) -> None:
    found = search(net, "close branch", listed)
    assert [(hit.id, hit.curated, hit.description) for hit in found] == [
        ("finishing-branch", True, "Close a branch")
    ]
    assert net.up.requests == []


@for_each("query", ["a", "", " ", "unrelated", "|", "skill-that-is-not-there"])
def test_a_letter_inside_a_word_finds_nothing(net: Network, listed: Path, query: str) -> None:
    found = {hit.id for hit in search(net, query, listed)}
    assert found <= {"rooted"}  # "a" is a word of its description


def test_an_exact_name_comes_first(net: Network, listed: Path) -> None:
    assert search(net, "pdf", listed)[0].id == "pdf"
    assert search(net, "finishing branch", listed)[0].id == "finishing-branch"


def test_the_limit_is_kept(net: Network, listed: Path) -> None:
    assert len(search(net, "pdf branch root", listed)) == 3
    assert len(search(net, "pdf branch root", listed, limit=2)) == 2


def test_a_skill_is_fetched_from_where_it_is_registered(net: Network, listed: Path) -> None:
    found = fetched(net, "finishing branch", listed)
    assert found.path == "skills/finishing-a-development-branch"
    assert b"finishing-branch" in found.files["SKILL.md"]


def test_an_empty_path_means_the_root(net: Network, listed: Path) -> None:
    net.up.add_repository("acme/rooted", {"SKILL.md": skill("rooted"), "README.md": "r"})
    assert b"rooted" in fetched(net, "rooted", listed).files["SKILL.md"]


def test_a_root_whose_repository_is_called_otherwise_is_found_by_its_empty_path(
    net: Network, tmp_path: Path
) -> None:
    net.up.add_repository("acme/some-kit", {"SKILL.md": skill("kit"), "README.md": "r"})
    path = tmp_path / "SKILLS.md"
    path.write_text("- kit | acme/some-kit | | Does it\n")
    assert b"name: kit" in fetched(net, "kit", path).files["SKILL.md"]


def test_githubs_failure_is_not_a_missing_skill(net: Network, listed: Path) -> None:
    net.up.faults.add("github_api", "*", faults.rate_limited(), times=None)
    with pytest.raises(SourceFailed) as caught:
        fetched(net, "pdf", listed)
    assert caught.value.code == "rate_limited"


def test_several_files_are_one_source(net: Network, listed: Path, tmp_path: Path) -> None:
    second = tmp_path / "MORE.md"
    second.write_text("- pdf-forms | acme/forms | | Fill PDF forms\n")
    assert {hit.id for hit in search(net, "pdf", listed, second)} == {"pdf", "pdf-forms"}


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


READS_A_FILE = """
import sys
from skillyard.base.errors import SkillIoError
from skillyard.install.sources.registry_file import RegistryFile
try:
    RegistryFile(None, [sys.argv[1]])
except SkillIoError as error:
    print("refused")
"""


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "SKILLS.md"
    os.mkfifo(path)
    process = python(READS_A_FILE, str(path))
    try:
        out, error = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        out, error = "", "a FIFO was opened and waited for"
    assert (out.strip(), error) == ("refused", "")
