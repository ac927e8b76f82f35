"""Publishing folders: what is published, what is left alone, what is refused, what is pruned."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from skillyard.base.errors import StoreUnavailable
from skillyard.base.io.workers import WorkerLost
from skillyard.errors import InvalidInput
from skillyard.store.opening import open_store
from skillyard.store.operations import folder_publish
from skillyard.store.operations.folder_publish import PublishOptions, Step, publish_folders
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import FileDigest, Published
from tests.base.io import errands
from tests.cli.making import write
from tests.store.inputs import document, held, publish, tree
from tests.store.skills import current, key, skill
from tests.tables import for_each


@pytest.fixture(params=["sqlite_url", pytest.param("postgres_url", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest) -> Iterator[CatalogStore]:
    """An empty store. A publish knows only what the contract of stores promises."""
    with open_store(str(request.getfixturevalue(request.param)), migrate=True) as opened:
        yield opened


def test_every_skill_is_published_in_batches_and_the_next_run_has_nothing_to_do(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 25)
    done = publish(store, root, batch=10)
    assert (done.added, done.generations, done.generation) == (25, 3, 3)
    assert (done.complete, done.refused, done.pruned) == (True, 0, False)
    assert [each.added for each in store.generations()] == [5, 10, 10]
    before = held(store)
    again = publish(store, root, batch=10)
    assert (again.added, again.unchanged, again.generations) == (0, 25, 0)
    assert (again.generation, held(store)) == (3, before)


def test_bad_files_are_told_and_stop_no_other(tmp_path: Path, store: CatalogStore) -> None:
    root = tree(tmp_path / "root", 3)
    write(root, {"bad/SKILL.md": "no fences", "worse/SKILL.md": b"\0", "s001/SKILL.md": b"\xff"})
    done = publish(store, root)
    assert (done.added, done.refused) == (2, 3)
    told = {Path(each.path).parent.name: each.code for each in done.diagnostics}
    assert told == {
        "bad": "frontmatter_missing",
        "s001": "encoding_not_utf8",
        "worse": "binary_file",
    }


def test_of_two_skills_with_one_key_the_first_counts(tmp_path: Path, store: CatalogStore) -> None:
    one = tree(tmp_path / "one", 2)
    two = tree(tmp_path / "two", 3, "two")
    write(two, {"s001/SKILL.md": document("s001")})
    done = publish(store, one, two)
    assert (done.added, done.repeated, done.refused) == (3, 1, 1)
    assert [(each.code, each.path) for each in done.diagnostics] == [
        ("place_taken", str(two / "s000/SKILL.md"))
    ]
    assert current(store, key("s000")).skill.description == "Says one."
    assert current(store, key("s002")).skill.description == "Says two."


def test_what_went_is_withdrawn_under_the_namespace_and_source_of_the_run_alone(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 4)
    publish(store, root)
    publish(store, root, source="else/where")
    publish(store, root, namespace="below")
    store.publish([skill("theirs")], tenant="other", publisher="ci")
    for name in ("s001", "s002"):
        (root / name / "SKILL.md").unlink()
    assert publish(store, root).withdrawn == 0
    planned = publish(store, root, prune=True, dry_run=True)
    assert (planned.withdrawn, planned.pruned, store.places("acme")[1]) == (2, True, "s001")
    done = publish(store, root, prune=True)
    assert (done.withdrawn, done.pruned, done.unchanged) == (2, True, 2)
    assert store.places("acme") == ("s000", "s003")
    assert len(store.places("acme", source="else/where")) == 4
    assert len(store.places("acme", namespace="below")) == 4
    assert store.places("other") == ("theirs",)
    again = publish(store, root, prune=True)
    assert (again.withdrawn, again.pruned, again.generation) == (0, True, done.generation)


FAULTS: dict[str, Callable[[Path], object]] = {
    "a bad skill": lambda root: write(root, {"bad/SKILL.md": "no fences"}),
    "a broken link": lambda root: (root / "gone").symlink_to(root / "nowhere"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_pruned_where_not_everything_could_be_read(
    fault: str, tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 3)
    publish(store, root)
    (root / "s001" / "SKILL.md").unlink()
    FAULTS[fault](root)
    done = publish(store, root, prune=True)
    assert (done.withdrawn, done.pruned, done.complete) == (0, False, True)
    assert len(store.places("acme")) == 3


def test_a_dry_run_says_what_would_be_and_changes_nothing(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 5)
    publish(store, root)
    write(root, {"s003/SKILL.md": document("s003", "two"), "new/SKILL.md": document("new")})
    before = held(store)
    done = publish(store, root, dry_run=True)
    assert (done.added, done.changed, done.unchanged) == (1, 1, 4)
    assert (done.generation, done.generations, held(store)) == (1, 0, before)


def test_a_run_that_is_stopped_ends_with_what_was_acknowledged(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_publish, "QUERY_SIZE", 10)
    root = tree(tmp_path / "root", 100)
    stop = threading.Event()

    def tell(now: Step) -> None:
        if now.published >= 20:
            stop.set()

    options = PublishOptions("acme", "ci", batch=10, prune=True)
    done = publish_folders(store, [str(root)], options, stop=stop, tell=tell)
    assert (done.complete, done.pruned) == (False, False)
    assert 20 <= done.added < 100
    assert len(store.places("acme")) == done.added
    assert (store.generation(), done.generation) == (done.generations, done.generations)
    rest = publish(store, root)
    assert (rest.unchanged, rest.added) == (done.added, 100 - done.added)


def test_a_store_that_goes_away_ends_the_run_and_keeps_what_stands(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tries = type(store).publish, []

    def going(self: Any, rows: Any, **words: Any) -> Published:
        tries.append(1)
        if len(tries) == 3:
            raise StoreUnavailable("store", "the server is away")
        return real(self, rows, **words)

    root = tree(tmp_path / "root", 50)
    monkeypatch.setattr(type(store), "publish", going)
    with pytest.raises(StoreUnavailable):
        publish(store, root, batch=10)
    assert len(store.places("acme")) == 20
    monkeypatch.undo()
    done = publish(store, root, batch=10)
    assert (done.unchanged, done.added) == (20, 30)


def test_a_worker_that_is_killed_ends_the_run_with_an_error_and_another_run_goes_on(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "root", 600)
    monkeypatch.setattr(folder_publish, "build_rows", errands.dying)
    with pytest.raises(WorkerLost, match="run it again"):
        publish(store, root, jobs=2)
    assert store.generation() == 0
    monkeypatch.undo()
    assert publish(store, root, jobs=2).added == 600


WRONG: list[dict[str, Any]] = [
    *({"tenant": name} for name in ("", "A", "a/b")),
    {"namespace": "/"},
    {"publisher": ""},
    {"durability": "eventual"},
    *({"jobs": count} for count in (0, 257, True)),
    *({"batch": count} for count in (0, 100_001)),
]


@for_each("words", WRONG)
def test_wrong_options_are_refused_before_anything_is_done(
    words: dict[str, Any], tmp_path: Path, store: CatalogStore
) -> None:
    with pytest.raises(InvalidInput):
        publish(store, tree(tmp_path / "root", 1), **words)
    assert store.generation() == 0


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
    version = current(store, key("web/csv", namespace="eu", source="owner/repo"))
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
    assert current(store, key("csv")).version == 2
