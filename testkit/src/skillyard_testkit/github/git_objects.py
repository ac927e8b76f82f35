"""Names of git objects: the SHA-1 that git gives a file, a folder and a commit.

https://git-scm.com/book/en/v2/Git-Internals-Git-Objects describes the three forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha1
from typing import NamedTuple

__all__ = ["BLOB", "FILE", "FOLDER", "LINK", "SUBMODULE", "Entry", "blob_sha", "commit_sha"]
__all__ += ["COMMITTER", "COMMITTER_EMAIL", "order", "tree_sha"]

COMMITTER, COMMITTER_EMAIL = "skillyard testkit", "testkit@example.com"

FILE, LINK, SUBMODULE, FOLDER = "100644", "120000", "160000", "040000"
BLOB = {FILE: "blob", LINK: "blob", SUBMODULE: "commit", FOLDER: "tree"}
"""The type that the trees route gives for each mode."""


class Entry(NamedTuple):
    """One entry of a tree, named by its whole path."""

    path: str
    mode: str
    sha: str
    size: int | None
    """Bytes of a blob; folders and submodules have none."""

    @property
    def type(self) -> str:
        """``blob``, ``tree`` or ``commit``."""
        return BLOB[self.mode]


def _object_name(kind: bytes, data: bytes) -> str:
    return sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).hexdigest()


def blob_sha(data: bytes) -> str:
    """Return the name of a file with these bytes."""
    return _object_name(b"blob", data)


def order(entry: Entry) -> bytes:
    """Return the key of git's order: bytes of the path, a folder's with a slash behind it."""
    path = entry.path.encode("utf-8", "surrogateescape")
    return path + b"/" if entry.mode == FOLDER else path


def tree_sha(children: Iterable[Entry]) -> str:
    """Return the name of the folder that holds these entries, and nothing else."""
    rows = [
        b"%s %s\0%s"
        % (
            child.mode.lstrip("0").encode(),
            child.path.rsplit("/", 1)[-1].encode("utf-8", "surrogateescape"),
            bytes.fromhex(child.sha),
        )
        for child in sorted(children, key=order)
    ]
    return _object_name(b"tree", b"".join(rows))


def commit_sha(tree: str, parent: str | None, message: str, at: int) -> str:
    """Return the name of a commit of that tree, made at a time in seconds since 1970."""
    by = f"{COMMITTER} <{COMMITTER_EMAIL}> {at} +0000"
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    text = "\n".join([*lines, f"author {by}", f"committer {by}", "", message])
    return _object_name(b"commit", f"{text}\n".encode())
