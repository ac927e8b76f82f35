"""Skill folders as items, and what is noticed when one of them changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from skillyard import DEFAULT_LIMITS, Diagnostic, InvalidSkillsRoot
from skillyard.engine.discovery import Candidate
from skillyard.store.ingest import folders
from skillyard.store.ingest.work_items import Item
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import FileDigest
from tests.cli.making import write
from tests.store.ingest.inputs import document, held, publish, tree
from tests.store.skills import key

LIMITS = DEFAULT_LIMITS


def found(*roots: Path) -> list[Item]:
    every = list(folders.items([str(root) for root in roots], "", LIMITS))
    return [item for item in every if isinstance(item, Item)]


def test_a_place_is_the_path_below_the_root(tmp_path: Path) -> None:
    root = write(
        tmp_path / "root",
        {
            "a/SKILL.md": document("a"),
            "deep/er/b/SKILL.md": document("b"),
            ".skills/single.md": document("single"),
            "key_skills/c/SKILL.md": document("c"),
            "AGENTS.md": "# A project's own rules\n",
        },
    )
    places = [".skills/single.md", "a", "deep/er/b", "key_skills/c"]
    assert [item.place for item in found(root)] == places
    stop = threading.Event()
    assert folders.count([str(root)], LIMITS, stop) == 4
    stop.set()
    assert folders.count([str(root)], LIMITS, stop) == 1
    # Of a root that is a skill itself only the text tells.
    assert [item.place for item in found(root / "a")] == [None]


def test_roots_come_in_the_order_given_and_folders_by_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name, {f"{s}/SKILL.md": document(s) for s in ("b", "a")})
    places = [(item.display_path, item.place) for item in found(tmp_path / "two", tmp_path / "one")]
    assert [Path(shown).parts[-3] for shown, _ in places] == ["two", "two", "one", "one"]
    assert [place for _, place in places] == ["a", "b", "a", "b"]


def test_what_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    root = tree(tmp_path / "root", 1)
    (root / "gone").symlink_to(tmp_path / "nowhere")
    told = [each for each in folders.items([str(root)], "", LIMITS) if isinstance(each, Diagnostic)]
    assert [each.code for each in told] == ["link_broken"]
    with pytest.raises(InvalidSkillsRoot):
        found(tmp_path / "nowhere")


def test_a_skill_is_published_with_its_references_and_the_digests_of_its_files(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = write(
        tmp_path / "root",
        {
            "web/csv/SKILL.md": document("csv", fields="tags: [data]\n"),
            "web/csv/references/dates.md": "ISO 8601.\n",
            "web/csv/references/odd.md": b"\xff\xfe not UTF-8",
            "web/csv/scripts/run.py": "print()\n",
        },
    )
    publish(store, root, source="owner/repo", namespace="eu")
    version = store.get(key("web/csv", namespace="eu", source="owner/repo"))
    skill = version.skill
    assert (skill.slug, skill.source, skill.path) == ("csv", "owner/repo", "web/csv/SKILL.md")
    assert (skill.tags, skill.scope, skill.origin) == (("data",), "project", "agentskills")
    assert [(each.path, each.content) for each in skill.references] == [
        ("references/dates.md", "ISO 8601.\n"),
        ("references/odd.md", None),
    ]
    script = (root / "web/csv/scripts/run.py").read_bytes()
    assert FileDigest("scripts/run.py", sha256(script).hexdigest(), len(script)) in version.files
    assert len(version.files) == 3


CHANGES: dict[str, Callable[[Path], object]] = {
    "the file": lambda folder: (folder / "SKILL.md").write_text(document("csv", "two")),
    "a reference": lambda folder: (folder / "references/dates.md").write_text("RFC 3339.\n"),
    "a new reference": lambda folder: (folder / "notes.md").write_text("New.\n"),
    "a reference that went": lambda folder: (folder / "references/dates.md").unlink(),
    "a script": lambda folder: (folder / "run.py").write_text("print(2)\n"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_in_a_folder_is_a_new_version(
    what: str, tmp_path: Path, store: CatalogStore
) -> None:
    files = {
        "csv/SKILL.md": document("csv"),
        "csv/references/dates.md": "ISO 8601.\n",
        "csv/run.py": "print(1)\n",
    }
    root = write(tmp_path / "root", {**files, "other/SKILL.md": document("other")})
    publish(store, root)
    CHANGES[what](root / "csv")
    done = publish(store, root)
    assert (done.changed, done.unchanged) == (1, 1)
    assert store.get(key("csv")).version == 2


def test_what_stands_is_not_parsed_again(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(
        tmp_path / "root", {"a/SKILL.md": document("a"), "a/x.md": "x", "b/SKILL.md": document("b")}
    )
    publish(store, root)
    monkeypatch.setattr(folders, "read_one", None)  # calling it would be an error
    assert publish(store, root).unchanged == 2
    (root / "b/SKILL.md").write_text(document("b", "two"))
    with pytest.raises(TypeError):
        publish(store, root)


def test_a_skill_whose_slug_is_not_its_folder_is_read_and_found_unchanged(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = write(
        tmp_path / "root",
        {
            "a/SKILL.md": document("a", fields="id: other\n"),
            ".skills/single.md": document("single"),
            "top/SKILL.md": document("high"),
        },
    )
    publish(store, root / "top", root)
    assert store.get(key("top")).skill.name == "high"
    assert store.get(key("a")).skill.slug == "other"
    before = held(store)
    done = publish(store, root / "top", root)
    assert (done.unchanged, done.repeated, done.generations) == (3, 0, 0)
    assert held(store) == before


def test_where_the_root_lies_makes_no_difference(tmp_path: Path, store: CatalogStore) -> None:
    publish(store, tree(tmp_path / "one", 3))
    done = publish(store, tree(tmp_path / "else/where", 3))
    assert (done.unchanged, done.generations) == (3, 0)


def test_a_file_that_is_too_large_is_left_out_of_the_list_with_a_warning(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = write(
        tmp_path / "root",
        {"a/SKILL.md": document("a"), "a/data.bin": b"x" * (LIMITS.resource_bytes + 1)},
    )
    done = publish(store, root)
    assert (done.added, done.warnings, done.refused) == (1, 1, 0)
    assert store.get(key("a")).files == ()
    assert publish(store, root).unchanged == 1


def test_an_item_is_small_however_large_its_file_is(tmp_path: Path) -> None:
    """A million of them are handed to workers, one after another."""
    root = write(tmp_path / "root", {"a/SKILL.md": document("a", "x" * 100_000)})
    (item,) = found(root)
    assert isinstance(item.what, Candidate)
    assert item.size > 100_000
    assert len(repr(item)) < 2_000


def test_copies_below_the_roots_are_published_once_and_pruned_where_they_stand(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = write(tmp_path / "root", {"b/pdf/SKILL.md": document("pdf")})
    publish(store, root)
    write(root, {f"{at}/pdf/SKILL.md": document("pdf") for at in "ac"})
    done = publish(store, root, prune=True)
    assert (done.added, done.repeated, done.withdrawn) == (1, 2, 1)
    assert list(held(store)) == [("", "", "a/pdf")]
    again = publish(store, root, prune=True)
    assert (again.unchanged, again.repeated, again.generations) == (1, 2, 0)
