"""Laws of the catalog: a reload is a fresh load, and only the files below the root count."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from tests.parity.trees import relative, write_tree
from tests.property.strategies import few
from tests.worked_examples.making import document

PLACES = [
    "a/SKILL.md", "b/SKILL.md", "a/c/SKILL.md", "a/references/d.md", "a/skill.md",
    ".skills/a.md", ".skills/x/b.md", "key_skills/k/SKILL.md", "key_skills/l/SKILL.md",
    "AGENTS.md", "b/CLAUDE.md",
]  # fmt: skip
_OASIS = "id: {}\ntriggers: [t]\npriority: 1\n"
_TEXTS = [
    document("a"),
    document("a", "A good deal longer text."),
    document("b", extra="tags: [x, yy]\n"),
    document("c: d"),  # repaired, or refused below .skills
    document("k", extra=_OASIS.format("kk")),
    document("l", extra=_OASIS.format("kk") + "inputs: [i]\n"),
    "# Only a heading\n",
    "---\nname: broken\n",
    document("a", body="hidden \u200b text"),
]
# No two of one length: what a test may see as unchanged then is unchanged.
CONTENTS = [text + "\n" * (200 * number) for number, text in enumerate(_TEXTS)]

trees = st.dictionaries(st.sampled_from(PLACES), st.sampled_from(CONTENTS), max_size=6)
edits = st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from([None, *CONTENTS])), max_size=4)


@contextmanager
def folder(name: str = "root") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        yield Path(place) / name


def told(catalog: sy.Catalog) -> tuple[object, ...]:
    """Return all that a catalog says about its files."""
    return (catalog.skills, catalog.diagnostics, catalog.digest, catalog.shadowed)


def edit(root: Path, place: str, content: str | None) -> None:
    if content is not None:
        write_tree(root, {place: content})
    elif (root / place).exists():
        (root / place).unlink()


@few
@given(trees, st.lists(edits, max_size=3), st.booleans())
def test_a_reload_is_what_a_fresh_load_would_be(
    tree: dict[str, str], rounds: list[list[tuple[str, str | None]]], settled: bool
) -> None:
    later = 3_600_000_000_000 if settled else 0
    clock = SimpleNamespace(time_ns=lambda: time.time_ns() + later)
    with folder() as root, patch("skillyard.engine.catalog.entries.time", clock):
        catalog = sy.load_catalog(write_tree(root, tree), index=False)
        for round_ in rounds:
            for place, content in round_:
                edit(root, place, content)
            diff = catalog.reload()
            assert told(diff.catalog) == told(sy.load_catalog(root))
            before = {skill.path: skill for skill in catalog}
            after = {skill.path: skill for skill in diff.catalog}
            assert {skill.path for skill in diff.added} == after.keys() - before.keys()
            assert {skill.path for skill in diff.removed} == before.keys() - after.keys()
            changed = {
                path
                for path in after.keys() & before.keys()
                if (after[path].hash, after[path].references)
                != (before[path].hash, before[path].references)
            }
            assert {skill.path for skill in diff.changed} == changed
            assert diff.catalog.reload().catalog is diff.catalog
            catalog = diff.catalog


@few
@given(trees, st.randoms(use_true_random=False))
def test_neither_the_order_of_writing_nor_the_place_of_the_root_counts(
    tree: dict[str, str], random: Random
) -> None:
    names = list(tree)
    random.shuffle(names)
    shuffled = {name: tree[name] for name in names}
    with folder("one") as one, folder(".skills/other/place") as two:
        first = sy.load_catalog(write_tree(one, tree))
        second = sy.load_catalog(write_tree(two, shuffled))
        assert first.digest == second.digest
        assert [(s.id, relative(s.path, one), s.origin, s.slug) for s in first] == [
            (s.id, relative(s.path, two), s.origin, s.slug) for s in second
        ]
        assert [(d.code, relative(d.path, one), d.line) for d in first.diagnostics] == [
            (d.code, relative(d.path, two), d.line) for d in second.diagnostics
        ]


@few
@given(trees)
def test_every_file_is_a_skill_or_has_a_diagnostic_and_every_id_finds_its_skill(
    tree: dict[str, str],
) -> None:
    with folder() as root:
        catalog = sy.load_catalog(write_tree(root, tree))
        found = {path.as_posix() for path in sy.discover_instruction_files(root)}
        loaded = {skill.path for skill in catalog}
        refused = {d.path for d in catalog.diagnostics if d.severity == "error"}
        assert loaded <= found
        assert found - loaded == refused & found - loaded
        for skill in catalog:
            assert catalog.get(skill.id or "").hash == skill.hash
        assert list(catalog) == sorted(catalog, key=lambda skill: skill.key)
        assert not set(catalog.shadowed.values()) & set(catalog.shadowed)


@few
@given(trees, st.sampled_from(CONTENTS))
def test_one_more_file_costs_no_other(tree: dict[str, str], content: str) -> None:
    with folder() as root:
        before = sy.load_catalog(write_tree(root, tree))
        after = sy.load_catalog(write_tree(root, {"zz/SKILL.md": content}))
        kept = [skill for skill in after if not skill.path.endswith("zz/SKILL.md")]
        assert kept == list(before)
