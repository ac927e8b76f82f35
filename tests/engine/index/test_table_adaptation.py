"""Words that the bundled table does not know get a direction from the skills that use them."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import DEFAULT_LIMITS
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.index_update import build_index
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.engine.index.library_spec import ADAPTED, index_folder
from skillyard.engine.index.table_adaptation import adapt_table
from skillyard.engine.index.token_table import TokenTable, bundled_table
from skillyard.install.policy.library import open_catalog

SKILLS = [
    sy.Skill("zorblat-queries", "Tunes slow database queries on Zorblat.", "Index the tables."),
    sy.Skill("zorblat-backup", "Backs up a Zorblat database every night.", "Dump the tables."),
    sy.Skill("quuxify-bread", "Bakes sourdough bread in a Quuxify oven.", "Knead the dough."),
    sy.Skill("quuxify-cakes", "Bakes cakes in a Quuxify oven.", "Whip the cream."),
    sy.Skill("once-only", "Mentions Flibberty one time.", "Nothing else."),
]


@cache
def of_skills() -> TokenTable:
    """Return the table that knows the words of these skills; making it takes a second."""
    return adapt_table(bundled_table(), SKILLS)


def near(table: TokenTable, one: str, other: str) -> int:
    vectors = [memoryview(table.vector([(1.0, [(t, 1)])])).cast("b") for t in (one, other)]
    return sum(a * b for a, b in zip(*vectors, strict=True))


def test_a_new_word_lies_near_what_its_skills_are_about() -> None:
    table = of_skills()
    assert bundled_table().row("zorblat") < 0 <= table.row("zorblat")
    assert near(table, "zorblat", "databas") > near(table, "zorblat", "bread")
    assert near(table, "quuxifi", "bread") > near(table, "quuxifi", "databas")
    assert table.row("flibberti") < 0  # one skill says too little of it


def test_the_words_that_were_known_stay_as_they_were() -> None:
    table = of_skills()
    fields = [(1.0, [("databas", 1), ("bread", 2)])]
    assert table.vector(fields) == bundled_table().vector(fields)
    assert table.term_statistics("databas")[1] == bundled_table().term_statistics("databas")[1]
    assert len(table) > len(bundled_table())
    assert table.id == adapt_table(bundled_table(), reversed(SKILLS)).id


def test_a_library_without_new_words_keeps_the_table() -> None:
    assert adapt_table(bundled_table(), []) is bundled_table()
    plain = sy.Skill("bread", "Bakes bread.", "Knead.")
    assert adapt_table(bundled_table(), [plain, plain]) is bundled_table()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    for skill in SKILLS:
        folder = tmp_path / "skills" / skill.name
        folder.mkdir(parents=True)
        text = f"---\nname: {skill.name}\ndescription: {skill.description}\n---\n{skill.body}\n"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return tmp_path / "skills"


def test_an_adapted_index_stays_adapted_and_a_build_without_ends_it(root: Path) -> None:
    place = LibrarySpec((str(root),), (), DEFAULT_LIMITS)
    folder = index_folder(place)
    build_index(place, folder, adapt=True)
    catalog = open_catalog(root)
    assert isinstance(catalog, IndexedCatalog)
    assert catalog.library.table.row("zorblat") >= 0
    changed = root / "once-only" / "SKILL.md"
    changed.write_text(
        changed.read_text(encoding="utf-8") + f"{time.time_ns()}\n", encoding="utf-8"
    )
    again = open_catalog(root)
    assert isinstance(again, IndexedCatalog)
    assert again.library.searcher.settings[ADAPTED] == bundled_table().id
    assert again.library.table.row("zorblat") >= 0
    build_index(place, folder)
    plain = open_catalog(root)
    assert isinstance(plain, IndexedCatalog)
    assert plain.library.table is bundled_table()
    assert ADAPTED not in plain.library.searcher.settings
