"""One ingest: what is published, what is left alone, what is refused, and what is pruned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard import DEFAULT_LIMITS, InvalidInput
from skillyard.base.errors import StoreRefused, StoreUnavailable
from skillyard.base.io.processes import processors
from skillyard.base.io.workers import WorkerLost
from skillyard.store.ingest import ingest_run, publisher
from skillyard.store.ingest.ingest_run import ingest
from skillyard.store.ingest.partition import Partition
from skillyard.store.ingest.work_items import Options, Step
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import Published
from tests.cli.making import write
from tests.store.ingest import errands
from tests.store.ingest.inputs import document, held, jsonl, publish, tree
from tests.store.skills import key, skill
from tests.tables import for_each

ANOTHER = {"content": document("x"), "path": "s001", "source": "else/where"}


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


def test_only_what_changed_is_sent(tmp_path: Path, store: CatalogStore) -> None:
    root = tree(tmp_path / "root", 5)
    publish(store, root)
    write(root, {"s003/SKILL.md": document("s003", "two"), "new/SKILL.md": document("new")})
    done = publish(store, root)
    assert (done.added, done.changed, done.unchanged, done.generations) == (1, 1, 4, 1)
    assert store.get(key("s003")).version == 2


def test_a_new_install_count_is_told_and_is_no_version(tmp_path: Path, store: CatalogStore) -> None:
    line = {"content": document("a"), "path": "a", "install_count": 1}
    for count in (1, 1, 9):
        publish(store, lines=[jsonl(tmp_path / "a", [{**line, "install_count": count}])])
    version = store.get(key("a"))
    assert (version.version, version.skill.install_count, store.generation()) == (1, 9, 2)


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
    assert store.get(key("s000")).skill.description == "Says one."
    assert store.get(key("s002")).skill.description == "Says two."


def test_lines_without_a_path_are_kept_under_their_slug(
    tmp_path: Path, store: CatalogStore
) -> None:
    lines = [{"content": document(name)} for name in ("a", "b", "a")]
    path = jsonl(tmp_path / "a.jsonl", [*lines, {"content": document("b", "two")}])
    done = publish(store, lines=[path])
    assert (done.added, done.repeated, done.refused) == (2, 1, 1)
    assert set(store.places("acme")) == {"a", "b"}
    assert publish(store, lines=[path]).unchanged == 2


def test_many_bad_lines_are_counted_and_the_first_are_kept(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_run, "MAX_DIAGNOSTICS", 5)
    path = jsonl(tmp_path / "a.jsonl", ["{"] * 12 + ["{}"] * 3)
    done = publish(store, lines=[path])
    assert (done.refused, len(done.diagnostics), done.left_out) == (15, 5, 10)
    assert [each.line for each in done.diagnostics] == [1, 2, 3, 4, 5]


def test_parts_make_a_whole_and_nothing_twice(tmp_path: Path, store: CatalogStore) -> None:
    root = tree(tmp_path / "root", 40)
    unplaced = [{"content": document(f"u{n}")} for n in range(20)]
    lines = [jsonl(tmp_path / "a.jsonl", [ANOTHER, *unplaced])]
    parts = [publish(store, root, lines=lines, partition=Partition(n, 3)) for n in (2, 3, 1)]
    assert sum(part.added for part in parts) == 61
    assert all(part.added > 5 and part.added + part.elsewhere == 61 for part in parts)
    assert {version for _, version, _ in held(store).values()} == {1}


def test_a_file_of_another_part_is_not_read(tmp_path: Path, store: CatalogStore) -> None:
    root = tree(tmp_path / "root", 40)
    part = Partition(1, 4)
    for place in (f"s{number:03}" for number in range(40)):
        if not part.holds(key(place)):
            (root / place / "SKILL.md").write_text("no skill")
    assert publish(store, root, partition=part).refused == 0


def test_what_went_is_withdrawn_under_the_namespace_and_source_of_the_run_alone(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 4)
    publish(store, root, lines=[jsonl(tmp_path / "a", [ANOTHER])])
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
    assert store.places("acme", source="else/where") == ("s001",)
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


def test_what_is_only_remarked_does_not_stand_against_pruning(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 3)
    large = b"x" * (DEFAULT_LIMITS.resource_bytes + 1)
    write(root, {"s000/large.bin": large, "odd/skill.md": document("odd")})
    publish(store, root)
    (root / "s001" / "SKILL.md").unlink()
    done = publish(store, root, prune=True)
    assert (done.withdrawn, done.pruned) == (1, True)


def test_pruning_a_part_leaves_the_others_alone(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillyard.store.ingest.pruning.PAGE_SIZE", 7)
    publish(store, tree(tmp_path / "root", 40))
    (tmp_path / "empty").mkdir()
    part = Partition(2, 3)
    kept = {place for place in store.places("acme") if not part.holds(key(place))}
    done = publish(store, tmp_path / "empty", prune=True, partition=part)
    assert done.withdrawn == 40 - len(kept)
    assert set(store.places("acme")) == kept


def test_a_dry_run_says_what_would_be_and_changes_nothing(
    tmp_path: Path, store: CatalogStore
) -> None:
    root = tree(tmp_path / "root", 5)
    publish(store, root)
    write(root, {"s003/SKILL.md": document("s003", "two"), "new/SKILL.md": document("new")})
    line = jsonl(tmp_path / "a.jsonl", [{"content": document("u")}, {"content": document("s004")}])
    before = held(store)
    done = publish(store, root, lines=[line], dry_run=True)
    assert (done.added, done.changed, done.unchanged, done.repeated) == (2, 1, 4, 1)
    assert (done.generation, done.generations, held(store)) == (1, 0, before)


def test_a_run_that_is_stopped_ends_with_what_was_acknowledged(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_run, "QUERY_ITEMS", 10)
    root = tree(tmp_path / "root", 100)
    stop = threading.Event()

    def tell(now: Step) -> None:
        if now.published >= 20:
            stop.set()

    options = Options("acme", "ci", batch=10, prune=True)
    done = ingest(store, options, roots=[str(root)], stop=stop, tell=tell)
    assert (done.complete, done.pruned) == (False, False)
    assert 20 <= done.added < 100
    assert len(store.places("acme")) == done.added
    assert (store.generation(), done.generation) == (done.generations, done.generations)
    rest = publish(store, root)
    assert (rest.unchanged, rest.added) == (done.added, 100 - done.added)


def test_progress_leads_from_nothing_to_everything(tmp_path: Path, store: CatalogStore) -> None:
    root = tree(tmp_path / "root", 30)
    write(root, {"bad/SKILL.md": "no fences"})
    made = [{"content": document(f"l{n}"), "path": f"l{n}"} for n in range(30)]
    steps: list[Step] = []
    lines = [jsonl(tmp_path / "a.jsonl.gz", made)]
    ingest(store, Options("acme", "ci", batch=7), roots=[str(root)], lines=lines, tell=steps.append)
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1] == Step(61, 61, 60, 0, 1, 9)


def test_a_row_that_the_store_refuses_is_left_out_and_named(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows every value that a database cannot hold."""
    real, tries = type(store).publish, []

    def refusing(self: Any, rows: Any, **words: Any) -> Published:
        rows = list(rows)
        tries.append(len(rows))
        if any(row.place == "s011" for row in rows):
            raise StoreRefused("store", "it cannot hold a value", hint="change it")
        return real(self, rows, **words)

    monkeypatch.setattr(type(store), "publish", refusing)
    done = publish(store, tree(tmp_path / "root", 20), prune=True)
    assert (done.added, done.refused, done.pruned) == (19, 1, False)
    assert [(each.code, each.path) for each in done.diagnostics] == [("store_refused", "acme/s011")]
    assert len(tries) < 20


def test_a_store_that_refuses_everything_says_so_once(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def refusing(self: Any, rows: Any, **words: Any) -> Published:
        tries.append(1)
        raise StoreRefused("store", "the login lacks a right")

    monkeypatch.setattr(type(store), "publish", refusing)
    with pytest.raises(StoreRefused, match="lacks a right"):
        publish(store, tree(tmp_path / "root", 20))
    assert len(tries) == 2


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


def test_batches_are_bounded_by_their_size_too(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "MAX_BATCH_CHARS", 9_000)
    monkeypatch.setattr(ingest_run, "BATCH_BYTES", 3_000)
    monkeypatch.setattr(ingest_run, "MAX_QUERY_BYTES", 3_000)
    done = publish(store, tree(tmp_path / "root", 9, "x" * 2_000))
    assert (done.added, done.generations) == (9, 5)


def test_worker_processes_make_the_same_of_it(tmp_path: Path, store: CatalogStore) -> None:
    root = tree(tmp_path / "root", 600)
    write(root, {"bad/SKILL.md": "no fences", "a/SKILL.md": document("a"), "a/x.md": "x"})
    alone = publish(store, root, namespace="alone")
    many = publish(store, root, namespace="many", jobs=2)
    assert alone._replace(generation=0, seconds=0) == many._replace(generation=0, seconds=0)
    found = held(store)
    assert len(found) == 1_202
    for (namespace, *rest), stands in found.items():
        other = "many" if namespace == "alone" else "alone"
        assert found[(other, *rest)] == stands  # type: ignore[index]


def test_a_worker_that_is_killed_ends_the_run_with_an_error_and_another_run_goes_on(
    tmp_path: Path, store: CatalogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "root", 600)
    monkeypatch.setattr(ingest_run, "build_rows", errands.dying)
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


def test_this_process_knows_how_many_processors_it_may_use() -> None:
    assert processors() >= 1
