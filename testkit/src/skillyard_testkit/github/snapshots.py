"""The content of a repository at one commit, with git's object names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from skillyard.base.errors import InvalidInput
from skillyard_testkit.github.git_objects import (
    FILE,
    FOLDER,
    LINK,
    SUBMODULE,
    Entry,
    blob_sha,
    commit_sha,
    order,
    tree_sha,
)

__all__ = ["FIRST_COMMIT_AT", "ManyFiles", "Snapshot", "as_bytes"]

FIRST_COMMIT_AT = 1_767_225_600
"""2026-01-01; each further commit of a repository is an hour later."""


def as_bytes(content: str | bytes) -> bytes:
    """Return a file's content as bytes; text is UTF-8."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")


class ManyFiles(Mapping[str, bytes]):
    """Any number of files whose contents are computed from their paths, not stored.

    Ten files make a skill: ``skills/skill-00000/SKILL.md`` and nine below its ``references/``.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return map(self._path, range(self.count))

    def __getitem__(self, path: str) -> bytes:
        parts = path.split("/")
        try:
            number = int(parts[1].removeprefix("skill-")) * 10
            if len(parts) == 4:
                number += int(parts[3].removeprefix("part-").removesuffix(".md"))
        except (IndexError, ValueError):
            raise KeyError(path) from None
        if not 0 <= number < self.count or path != self._path(number):
            raise KeyError(path)
        if number % 10:
            return f"# Part {number % 10} of {parts[1]}\n".encode()
        text = f"---\nname: {parts[1]}\ndescription: Skill number {number // 10} of a big tree.\n"
        return f"{text}---\n# {parts[1]}\n".encode()

    @staticmethod
    def _path(number: int) -> str:
        folder = f"skills/skill-{number // 10:05d}"
        part = number % 10
        return f"{folder}/references/part-{part}.md" if part else f"{folder}/SKILL.md"


class Snapshot:
    """The tree of one commit. Immutable."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        symlinks: Mapping[str, str],
        submodules: Mapping[str, str],
        parent: Snapshot | None = None,
    ) -> None:
        """Raises InvalidInput for paths that no tree can hold together."""
        self._files = files
        self._links = {path: as_bytes(target) for path, target in symlinks.items()}
        leaves = [Entry(path, FILE, blob_sha(data), len(data)) for path, data in files.items()]
        leaves += [
            Entry(path, LINK, blob_sha(data), len(data)) for path, data in self._links.items()
        ]
        leaves += [Entry(path, SUBMODULE, sha, None) for path, sha in submodules.items()]
        folders = _folders(leaves)
        self.tree_sha = folders.pop("").sha
        self.entries = tuple(sorted([*leaves, *folders.values()], key=order))
        """Everything below the root, folders too, in git's order."""
        self.number: int = parent.number + 1 if parent else 0
        self.at = FIRST_COMMIT_AT + 3600 * self.number
        self.message = f"Change {self.number + 1}"
        self.commit: str = commit_sha(
            self.tree_sha, parent.commit if parent else None, self.message, self.at
        )
        self._by_path = {entry.path: entry for entry in self.entries}

    def entry(self, path: str) -> Entry | None:
        """Return the entry of a path; the root has none."""
        return self._by_path.get(path)

    def content(self, path: str) -> bytes | None:
        """Return the bytes of a file, or a link's target; None for anything else."""
        data = self._links.get(path)
        return self._files.get(path) if data is None else data

    def folder_of(self, sha: str) -> str | None:
        """Return the path of the folder with that name; the root's is empty."""
        if sha == self.tree_sha:
            return ""
        return next((e.path for e in self.entries if e.sha == sha and e.mode == FOLDER), None)

    def path_of_blob(self, sha: str) -> str | None:
        """Return a path at which a blob of that name lies."""
        return next((e.path for e in self.entries if e.sha == sha and e.type == "blob"), None)

    def below(self, folder: str) -> list[Entry]:
        """Return the entries below a folder, with their whole paths."""
        if not folder:
            return list(self.entries)
        prefix = f"{folder}/"
        return [entry for entry in self.entries if entry.path.startswith(prefix)]


def _folders(leaves: list[Entry]) -> dict[str, Entry]:
    """Return an entry for every folder above the leaves, the root with an empty path included."""
    children: dict[str, list[Entry]] = defaultdict(list)
    children[""] = []
    paths: set[str] = set()
    for leaf in leaves:
        if leaf.path in paths or not all(leaf.path.split("/")):
            raise InvalidInput(
                f"{leaf.path!r} cannot be in a tree: give each path once, without empty parts"
            )
        paths.add(leaf.path)
        parent = leaf.path.rpartition("/")[0]
        children[parent].append(leaf)
        while parent and (parent := parent.rpartition("/")[0]) not in children:
            children[parent] = []
    if clash := paths & children.keys():
        raise InvalidInput(f"{min(clash)!r} is both a file and a folder: rename one of them")
    entries: dict[str, Entry] = {}
    for folder in sorted(children, key=lambda path: path.count("/") if path else -1, reverse=True):
        entry = Entry(folder, FOLDER, tree_sha(children[folder]), None)
        entries[folder] = entry
        if folder:
            children[folder.rpartition("/")[0]].append(entry)
    return entries
