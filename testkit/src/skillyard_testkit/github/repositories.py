"""Repositories: their commits, who may see them, and their current names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from threading import Lock

from skillyard.base.errors import InvalidInput
from skillyard_testkit.github.snapshots import Snapshot

__all__ = ["Repositories", "Repository", "skill_folder"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_SHORTEST_SHA = 7


class Repository:
    """One repository with the commits of its default branch."""

    def __init__(
        self,
        full_name: str,
        number: int,
        default_branch: str,
        *,
        private: bool = False,
        renamed_to: str | None = None,
    ) -> None:
        self.full_name = full_name
        self.number = number
        self.default_branch = default_branch
        self.private = private
        self.renamed_to = renamed_to
        self.history: tuple[Snapshot, ...] = ()
        """From the first commit to the newest; empty for an empty repository."""

    @property
    def head(self) -> Snapshot | None:
        """The newest commit."""
        return self.history[-1] if self.history else None

    @property
    def commit(self) -> str:
        """The SHA-1 of the newest commit; empty for an empty repository."""
        return self.head.commit if self.head else ""

    @property
    def tree_sha(self) -> str:
        """The SHA-1 of the newest commit's tree; empty for an empty repository."""
        return self.head.tree_sha if self.head else ""

    def head_names(self) -> tuple[str, ...]:
        """Return the refs that mean the newest commit."""
        branch = self.default_branch
        return "HEAD", branch, f"heads/{branch}", f"refs/heads/{branch}"

    def at(self, ref: str) -> Snapshot | None:
        """Return the commit of a branch, ``HEAD``, or a SHA-1 of at least seven digits."""
        if ref in self.head_names():
            return self.head
        if len(ref) < _SHORTEST_SHA:
            return None
        return next((commit for commit in self.history if commit.commit.startswith(ref)), None)

    def tree_at(self, ref: str) -> tuple[Snapshot, str] | None:
        """Return a commit and the folder in it that ``ref`` names: as ``at``, or by a tree."""
        snapshot = self.at(ref)
        if snapshot is not None:
            return snapshot, ""
        for snapshot in reversed(self.history):
            folder = snapshot.folder_of(ref)
            if folder is not None:
                return snapshot, folder
        return None

    def split_ref(self, rest: tuple[str, ...]) -> tuple[Snapshot, str] | None:
        """Return the commit and the path that ``{ref}/{path}`` name; a ref may hold slashes."""
        for size in range(1, len(rest)):
            snapshot = self.at("/".join(rest[:size]))
            if snapshot is not None:
                return snapshot, "/".join(rest[size:])
        return None


class Repositories:
    """All repositories by name, whatever its case, and by number."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_name: dict[str, Repository] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def add(
        self,
        full_name: str,
        snapshot: Mapping[str, bytes],
        symlinks: Mapping[str, str],
        submodules: Mapping[str, str],
        default_branch: str,
        *,
        private: bool,
        renamed_to: str | None,
    ) -> Repository:
        """Add a repository, or one more commit to one that is there. Raises InvalidInput."""
        for name in (full_name, *([renamed_to] if renamed_to else [])):
            if not _NAME.fullmatch(name):
                raise InvalidInput(f"{name!r} is no repository: give owner/name")
        with self._lock:
            previous = self._by_name.get(full_name.lower())
            number = previous.number if previous else 1_000 + len(self._by_name)
            repository = Repository(
                full_name, number, default_branch, private=private, renamed_to=renamed_to
            )
            repository.history = previous.history if previous else ()
            if snapshot or symlinks or submodules:
                repository.history += (Snapshot(snapshot, symlinks, submodules, repository.head),)
            self._by_name[full_name.lower()] = repository
        return repository

    def named(self, full_name: str) -> Repository | None:
        """Return the repository that had or has this name, as it was added."""
        return self._by_name.get(full_name.lower())

    def numbered(self, number: str) -> Repository | None:
        """Return the repository with that number."""
        return next(
            (each for each in list(self._by_name.values()) if str(each.number) == number), None
        )

    def current(self, full_name: str) -> Repository | None:
        """Return the repository that a name leads to in the end, renamings followed."""
        visited: set[str] = set()
        repository = self.named(full_name)
        while repository and repository.renamed_to and repository.full_name not in visited:
            visited.add(repository.full_name)
            repository = self.named(repository.renamed_to)
        return repository


def skill_folder(paths: Iterable[str], slug: str) -> str | None:
    """Return the folder of the skill called ``slug`` among a repository's files.

    That is the shallowest folder of this name with a SKILL.md, or the root when the only SKILL.md
    lies there.
    """
    folders = [path.rpartition("/")[0] for path in paths if path.rsplit("/", 1)[-1] == "SKILL.md"]
    named = [folder for folder in folders if folder.rsplit("/", 1)[-1] == slug and folder]
    if named:
        return min(named, key=lambda folder: (folder.count("/"), folder))
    return "" if folders == [""] else None
