"""A view: one immutable state of a library, with the last good versions of broken files.

HTTP and the pages answer from the files alone. MCP also serves the last good version of a skill
whose file has been invalid since its last edit, marked with the error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from skillyard.base.errors import Diagnostic
from skillyard.base.io.paths import below
from skillyard.base.io.sha256 import sha256
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.collisions import without_paths
from skillyard.engine.skill import STORED, Skill
from skillyard.serve.runtime import freshness
from skillyard.serve.runtime.snapshot import Snapshot

T = TypeVar("T")


class View:
    """One state of the library. Each answer comes from one view."""

    def __init__(
        self,
        snapshot: Snapshot,
        generation: int = 1,
        last_good: Mapping[str, Skill] = MappingProxyType({}),
        ranked: Snapshot | None = None,
        files: Catalog | None = None,
    ) -> None:
        """``last_good`` contains skills by path; ``ranked`` is the snapshot that includes them."""
        self.snapshot = snapshot
        """The newest snapshot of the files alone, for HTTP and the pages."""
        self.files = files = snapshot.whole if files is None else files
        """The skills of the files alone: all, or those that are still there."""
        self.ranked = snapshot if ranked is None else ranked
        """The snapshot with the last good versions, for ranking and searching."""
        self.catalog = _with_skills(files, last_good.values())
        """The files with the last good versions, for listing and loading."""
        self.last_good = MappingProxyType(_errors(files, last_good) if last_good else {})
        """By path: the error of a file whose last good version is served."""
        self.generation = generation
        """1 for the first; increased by one with each change."""
        self.digest = _digest(files, self.catalog, self.last_good)
        self._cache: dict[Any, Any] = {}

    @property
    def lookup(self) -> Snapshot:
        """The catalog as a snapshot, for finding skills by name, not for ranking."""
        if self.ranked.whole is self.catalog:
            return self.ranked
        return self.cached("lookup", lambda: Snapshot(self.catalog, self.catalog, self.generation))

    def cached(self, name: Any, compute: Callable[[], T]) -> T:
        """Return the cached result of ``compute``. Two threads may both compute it."""
        if name not in self._cache:
            self._cache[name] = compute()
        value: T = self._cache[name]
        return value

    def path_below_root(self, path: str) -> str:
        """Return a path relative to its root, with ``/``; it never contains the root's own path.

        For a stored skill it is the whole place in the store.
        """
        if path.startswith(STORED):
            return path.removeprefix(STORED)
        for root in self.snapshot.whole.roots:
            relative = below(path, root)
            if relative is not None:
                return relative.replace("\\", "/")
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        return "/".join(parts[-3:])


class Change(NamedTuple):
    """The changes of a view. Skills are those of the new view; removed ones are of the old view."""

    added: tuple[Skill, ...]
    changed: tuple[Skill, ...]
    removed: tuple[Skill, ...]

    @classmethod
    def between(cls, before: View, after: View) -> Change:
        """Return the changes from the first view to the second."""
        return cls(*before.catalog.difference(after.catalog))


def next_view(before: View | None, snapshot: Snapshot) -> View:
    """Return the view of the newest snapshot, with the last good versions of broken files."""
    if before is None:
        return View(snapshot)
    if snapshot.whole.on_demand:  # a store only returns valid skills
        return View(snapshot, before.generation + 1)
    last_good = {skill.path: skill for skill in _broken_skills(before.catalog, snapshot.whole)}
    ranked = _ranking_snapshot(snapshot, last_good)
    view = View(snapshot, before.generation, last_good, ranked)
    if view.digest != before.digest:
        view.generation += 1  # nobody has the view yet
    return view


def without_skills(view: View, paths: frozenset[str]) -> View:
    """Return the view without the skills of those paths."""
    last_good = {
        skill.path: skill
        for skill in view.catalog
        if skill.path in view.last_good and skill.path not in paths
    }
    ranked = _new_snapshot(_without_paths(view.ranked.whole, paths), view.snapshot)
    files = _without_paths(view.files, paths)
    return View(view.snapshot, view.generation, last_good, ranked, files)


def _errors(files: Catalog, last_good: Mapping[str, Skill]) -> dict[str, Diagnostic]:
    broken = {each.path: each for each in files.diagnostics if each.severity == "error"}
    return {path: broken[path] for path in last_good if path in broken}


def _with_skills(files: Catalog, skills: Iterable[Skill]) -> Catalog:
    """Return the catalog with additional skills; unchanged without any."""
    more = tuple(skills)
    if not more:
        return files
    return Catalog((*files.skills, *more), files.diagnostics, files.shadowed, files.further)


def _digest(files: Catalog, catalog: Catalog, last_good: Mapping[str, Diagnostic]) -> str:
    if catalog is files:
        return files.digest
    lines = [files.digest, *(f"{path}\t{each.message}" for path, each in sorted(last_good.items()))]
    lines += sorted(f"{skill.path}\t{skill.hash}" for skill in catalog)
    return str(sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hex())


def _broken_skills(before: Catalog, files: Catalog) -> Iterator[Skill]:
    """Yield the skills whose files exist but no longer load; of copies the first one.

    A skill that still loads from a copy of its file is not lost.
    """
    loaded = {skill.path for skill in files}
    missing = [skill for skill in before if skill.path not in loaded]
    if not missing:
        return
    broken = {each.path for each in files.diagnostics if each.severity == "error"}
    contents = {(skill.name, skill.hash) for skill in files}
    shadowed = before.shadowed
    for skill in sorted(missing, key=lambda skill: skill in shadowed):
        content = (skill.name, skill.hash)
        if skill.path in broken and content not in contents and os.path.lexists(skill.path):
            contents.add(content)
            yield skill


def _ranking_snapshot(snapshot: Snapshot, last_good: Mapping[str, Skill]) -> Snapshot:
    """Return the snapshot for ranking, including the last good versions."""
    if not last_good or len(snapshot.whole) > freshness.LARGE_LIBRARY:
        return snapshot  # ranking it in memory would take longer than mending the file
    return _new_snapshot(_with_skills(snapshot.whole, last_good.values()), snapshot)


def _without_paths(catalog: Catalog, paths: frozenset[str]) -> Catalog:
    shadowed = without_paths(catalog.shadowed, catalog.further, paths)
    further = frozenset(skill.path for skill in shadowed if skill.path in catalog.further)
    skills = [skill for skill in catalog if skill.path not in paths]
    diagnostics = [each for each in catalog.diagnostics if each.path not in paths]
    return Catalog(skills, diagnostics, shadowed, further)


def _new_snapshot(catalog: Catalog, before: Snapshot) -> Snapshot:
    """Return a snapshot that is prepared for the scorers of the previous one."""
    snapshot = Snapshot(catalog, catalog, before.generation)
    if len(catalog) <= freshness.LARGE_LIBRARY:  # else only rankings wait
        snapshot.make_ready(before.used)
    return snapshot
