"""Nodes for tests: a store on disk, folders that follow it, and the same skills in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from skillyard import Catalog, Skill, Triggers, rank
from skillyard.engine.catalog import read_catalog
from skillyard.engine.catalog.roots import Admission
from skillyard.engine.index.token_table import bundled_table
from skillyard.errors import ResourceRefused, SkillyardError
from skillyard.files import list_resources, read_resource
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.follower import Follower
from skillyard.store.node.generation_builder import MAX_CHANGES, apply, catch_up, is_little
from skillyard.store.node.library import NodeLibrary
from skillyard.store.node.records import key_at, key_text, path_of
from skillyard.store.node.state import NodeState, position_in
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import START, Changes, Submission
from skillyard.types import Origin, Reference
from tests.parity.trees import write_tree
from tests.store.skills import seen_by, standing

__all__ = [
    "LIBRARY", "REQUESTS", "Node", "answers", "found", "in_memory", "publish_tree", "store_in",
    "synced", "touched_by",
]  # fmt: skip

REQUESTS = ("find the commit that broke the build", "@wipe-disk please", "repair a csv", "agents")

LIBRARY = (
    Skill("git-bisect", "Finds the commit that broke the build.", "Halve the commits."),
    Skill("git-revert", "Takes back a commit.", "Revert it.", tags=["git"]),
    Skill(
        "csv-cleaning",
        "Repairs messy CSV files.",
        "Look at the delimiter.",
        triggers=Triggers(files=("*.csv",), keywords=("delimiter",)),
    ),
    Skill("wipe-disk", "Erases a disk.", "Ask twice.", trigger=True),
    Skill("quiet", "Says nothing by itself.", "Hush.", disable_model_invocation=True),
    Skill("AGENTS", "How to work here.", "Be kind.", slug="agents-file", origin=Origin.CONVENTION),
    Skill("long-name", "Goes by another slug.", "Short.", slug="short"),
)
"""One of each kind that an index treats in its own way."""


def store_in(folder: Path | str) -> CatalogStore:
    """Return an empty store in a folder."""
    return open_store(f"sqlite:///{folder}/store.db", migrate=True)


class Node:
    """A node's folder, brought up to date when it is told to."""

    def __init__(self, store: CatalogStore, folder: Path | str, caller: str | None = None) -> None:
        self.store = store if caller is None else seen_by(store, caller)
        self.state = NodeState(str(folder), caller)
        self.catalog: NodeCatalog | None = None

    def take(self, *, few: bool = True) -> NodeCatalog:
        """Take the store's last generation over and return it."""
        before = self.catalog
        position = START if before is None else before.position
        page = self.store.changes(position, MAX_CHANGES)
        if not few or not is_little(page):
            catch_up(self.store, self.state)
        elif page.position != position or before is None:
            apply(self.store, self.state, page)
        touched = None if page.whole or not few else touched_by(page)
        self.catalog = self.open(before, touched)
        return self.catalog

    def open(
        self, before: NodeCatalog | None = None, touched: frozenset[str] | None = None
    ) -> NodeCatalog:
        """Open what the folder holds, over the generation before where there is one."""
        library = None if before is None else before.library
        searcher = self.state.open(None if library is None else library.searcher)
        assert searcher is not None
        made = NodeLibrary(searcher, bundled_table(), library)
        follows = None if before is None else before.position
        return NodeCatalog(made, position_in(searcher), follows, touched)


def synced(
    url: str, folder: Path | str, policy_now: Callable[[], Admission | None] = lambda: None
) -> NodeCatalog:
    """Bring a node's folder to the store's last generation, by one step of its follower."""
    with closing(Follower(url, str(folder), policy_now=policy_now)) as follower:
        follower._step()
        assert follower.catalog is not None
        return follower.catalog


def touched_by(page: Changes) -> frozenset[str]:
    """Return the paths that a page names."""
    return frozenset(map(path_of, (*page.withdrawals, *(v.key for v in page.upserts))))


class _Stored(Catalog):
    """Skills of a store in memory. Equal scores go by the key in the store, as on a node."""

    __slots__ = ()

    def below(self, skill: Skill) -> str | None:
        return key_text(key_at(skill.path))


def in_memory(store: CatalogStore) -> Catalog:
    """Return the store's skills as a catalog in memory, with the paths that a node gives them."""
    return _Stored.from_skills(v.skill.replace(path=path_of(v.key)) for v in standing(store))


def found(catalog: Catalog, name: str) -> object:
    """Return what asking for a name gives: the skill, or the error in its words."""
    try:
        return catalog.get(name)
    except SkillyardError as error:
        return type(error).__name__, getattr(error, "code", "")


def answers(catalog: Catalog, *, scorers: Iterable[str] = ("hybrid",), limit: int = 50) -> bytes:
    """Return what a catalog answers, as bytes: every skill, every ranking, every name.

    Conventions are asked for by name in tests of their own.
    """
    shapes: list[Any] = [[_shape(skill) for skill in catalog]]
    for scorer in scorers:
        for request in REQUESTS:
            for files in ((), ("data/a.csv",)):
                matches = rank(catalog, request, files=files, scorer=scorer, limit=limit)
                shapes.append([match.to_dict(explain=True) for match in matches])
    asked = [skill for skill in catalog if skill.origin != Origin.CONVENTION]
    names = {name for s in asked for name in (s.name, s.id, s.slug)} | {"", "nothing", "git"}
    shapes.append([repr(found(catalog, name)) for name in sorted(names)])
    return json.dumps(shapes, default=str, sort_keys=True).encode()


def _shape(skill: Skill) -> dict[str, Any]:
    return {**skill.fields(), "metadata": dict(skill.metadata), "hidden": skill.hidden}


def publish_tree(
    store: CatalogStore, root: Path, files: Mapping[str, str | bytes], **options: Any
) -> None:
    """Publish a library of files as an ingest does: with the texts that lie beside each skill."""
    write_tree(root, files)
    store.publish(
        [_submission(each) for each in read_catalog(str(root))], publisher="ci", **options
    )


def _submission(each: Skill) -> Submission:
    try:
        paths = [item.path for item in list_resources(each)]
    except ResourceRefused:
        paths = []
    texts = [Reference(p.rpartition("/")[2], p, _text(read_resource(each, p))) for p in paths]
    return Submission(each.replace(references=texts))


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
