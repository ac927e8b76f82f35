"""Repositories of the stand-in: their commits, who may see them, and what they are called now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from threading import Lock

from skillyard.errors import InvalidInput
from skillyard_testkit.github.snapshots import Snapshot

__all__ = ["Repositories", "Repository", "skill_folder"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_SHORTEST_SHA = 7


class Repository:
    """One repository and every commit of its default branch that it was given."""

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
        """Return what may stand for the newest commit."""
        branch = self.default_branch
        return "HEAD", branch, f"heads/{branch}", f"refs/heads/{branch}"

    def at(self, ref: str) -> Snapshot | None:
        """Return the commit of a branch, ``HEAD``, or a SHA-1 of at least seven digits."""
        if ref in self.head_names():
            return self.head
        if len(ref) < _SHORTEST_SHA:
            return None
        return next((one for one in self.history if one.commit.startswith(ref)), None)

    def tree_at(self, ref: str) -> tuple[Snapshot, str] | None:
        """Return a commit and the folder in it that ``ref`` names: as ``at``, or by a tree."""
        found = self.at(ref)
        if found is not None:
            return found, ""
        for one in reversed(self.history):
            folder = one.folder_of(ref)
            if folder is not None:
                return one, folder
        return None

    def split_ref(self, rest: tuple[str, ...]) -> tuple[Snapshot, str] | None:
        """Return the commit and the path that ``{ref}/{path}`` name; a ref may hold slashes."""
        for size in range(1, len(rest)):
            found = self.at("/".join(rest[:size]))
            if found is not None:
                return found, "/".join(rest[size:])
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
            known = self._by_name.get(full_name.lower())
            number = known.number if known else 1_000 + len(self._by_name)
            made = Repository(
                full_name, number, default_branch, private=private, renamed_to=renamed_to
            )
            made.history = known.history if known else ()
            if snapshot or symlinks or submodules:
                made.history += (Snapshot(snapshot, symlinks, submodules, made.head),)
            self._by_name[full_name.lower()] = made
        return made

    def named(self, full_name: str) -> Repository | None:
        """Return the repository that had or has this name, as it was added."""
        return self._by_name.get(full_name.lower())

    def numbered(self, number: str) -> Repository | None:
        """Return the repository with that number."""
        return next(
            (one for one in list(self._by_name.values()) if str(one.number) == number), None
        )

    def current(self, full_name: str) -> Repository | None:
        """Return the repository that a name leads to in the end, renamings followed."""
        seen: set[str] = set()
        found = self.named(full_name)
        while found is not None and found.renamed_to and found.full_name not in seen:
            seen.add(found.full_name)
            found = self.named(found.renamed_to)
        return found


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
