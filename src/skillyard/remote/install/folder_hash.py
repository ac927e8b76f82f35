"""The hash of a skill's folder, compatible with the common installer.

SHA-256 over each file's path relative to the folder, with ``/``, and its bytes, files in the order
of JavaScript's ``localeCompare``. Folders named ``.git`` and ``node_modules`` are left out at any
depth, and so is everything that is neither a plain file nor a folder; links are not followed.

Paths and contents are concatenated without separators, so two different folders can have one hash
(``a`` with ``bc``, ``ab`` with ``c``). The hash detects changes and is no protection against an
attacker. The field ``digest`` of a lock entry is.

The installer hashes the source before it copies it. The copy omits ``metadata.json`` and
``__pycache__`` and replaces links by their targets, so for some skills the hash of the installed
folder differs from the lock's. The order is exact for ASCII only: no hash says anything about a
folder with another name in it.

The user's lock has another hash for skills of GitHub: the name that git gives the folder, a SHA-1
over names, modes and contents. It counts neither what is left out above nor links.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from skillyard.errors import SkillIoError
from skillyard.io.folder_manifest import Manifest
from skillyard.io.folders import Folder, open_folder

__all__ = ["FOLDERS_LEFT_OUT", "MAX_BYTES", "MAX_DEPTH", "MAX_FILES", "folder_hash"]
__all__ += ["is_folder_hash_of", "is_tree_hash", "is_tree_of", "tree_hash"]

FOLDERS_LEFT_OUT = frozenset({".git", "node_modules"})
MAX_FILES = 20_000
"""Maximum number of files and folders. The most in a real skill is 1,104."""
MAX_BYTES = 1 << 30
"""Maximum size of all files, which are read in a few seconds."""
MAX_DEPTH = 64
"""Maximum depth of folders. The deepest real skill has 12."""

_ASCII = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
"""ASCII in the order of ICU's root locale, which ``en`` shares; the rest of it counts nothing."""
_PLACES = {letter: place for place, letter in enumerate(_ASCII)}
_PIECE = 1 << 20
_TREE_DIGITS = 40


def folder_hash(files: Mapping[str, bytes]) -> str:
    """Return the 64 hexadecimal digits for files by relative path with ``/``.

    Files below a folder named ``.git`` or ``node_modules`` are ignored.
    """
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: _order(_hashed_path(path))):
        if FOLDERS_LEFT_OUT.isdisjoint(path.split("/")[:-1]):
            digest.update(_encoded(_hashed_path(path)))
            digest.update(files[path])
    return digest.hexdigest()


def is_folder_hash_of(expected: str, path: str, there: Manifest) -> bool:
    """True where an existing folder with that manifest has that folder hash.

    Raises SkillIoError when a file cannot be read.
    """
    paths = [entry.path for entry in there.of_kind("file")]
    if not all(map(str.isascii, paths)):
        return False
    digest = hashlib.sha256()
    with _opened(path) as root:
        for each in sorted(paths, key=lambda each: _order(_hashed_path(each))):
            parts = tuple(each.split("/"))
            if FOLDERS_LEFT_OUT.isdisjoint(parts[:-1]):
                digest.update(_encoded(_hashed_path(each)))
                for piece in _pieces(root, parts, path):
                    digest.update(piece)
    return digest.hexdigest() == expected


def is_tree_hash(text: str) -> bool:
    """True for the name of a tree of git, which has another length than a folder hash."""
    return len(text) == _TREE_DIGITS


def tree_hash(files: Mapping[str, bytes], executable: Collection[str] = ()) -> str:
    """Return the 40 hexadecimal digits that git gives a folder with these files."""
    blobs = {
        path: _Blob(path in executable, _git_object(b"blob", len(data), [data]))
        for path, data in files.items()
        if FOLDERS_LEFT_OUT.isdisjoint(path.split("/")[:-1])
    }
    return _tree(blobs).hex()


def is_tree_of(tree: str, path: str, there: Manifest) -> bool:
    """True where git gives that name to an existing folder with that manifest.

    The installer and some systems lose which files are executable: those with ``#!`` may be, too.
    Raises SkillIoError when a file cannot be read.
    """
    blobs, scripts = {}, {}
    with _opened(path) as root:
        for entry in there.of_kind("file"):
            parts = tuple(entry.path.split("/"))
            if FOLDERS_LEFT_OUT.isdisjoint(parts[:-1]):
                pieces = _pieces(root, parts, path)
                first = next(pieces, b"")
                name = _git_object(b"blob", entry.size, chain([first], pieces))
                blobs[entry.path] = _Blob(entry.executable, name)
                scripts[entry.path] = _Blob(first.startswith(b"#!"), name)
    return tree in (_tree(blobs).hex(), _tree(scripts).hex())


class _Blob(NamedTuple):
    """One file of a tree."""

    executable: bool
    name: bytes
    """The SHA-1 of its content, as git computes it."""


def _tree(blobs: Mapping[str, _Blob]) -> bytes:
    """Return git's name of a folder. Folders are sorted as if their names ended in a slash."""
    folders: dict[str, dict[str, _Blob]] = {}
    rows: list[tuple[bytes, bytes, bytes]] = []
    for path, blob in blobs.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = blob
        else:
            mode = b"100755" if blob.executable else b"100644"
            rows.append((_encoded(name), mode, blob.name))
    rows += [(_encoded(f"{name}/"), b"40000", _tree(each)) for name, each in folders.items()]
    listed = [
        b"%s %s\0%s" % (mode, name.rstrip(b"/"), digest) for name, mode, digest in sorted(rows)
    ]
    return _git_object(b"tree", sum(map(len, listed)), listed)


def _git_object(kind: bytes, size: int, pieces: Iterable[bytes]) -> bytes:
    digest = hashlib.sha1(b"%s %d\0" % (kind, size), usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


def _order(path: str) -> tuple[list[int], list[bool], str]:
    """Return the place of a path: without regard to case first, then lower case first."""
    letters = [letter for letter in path if letter.lower() in _PLACES or not letter.isascii()]
    return (
        [_PLACES.get(letter.lower(), len(_PLACES) + ord(letter)) for letter in letters],
        [letter.isupper() for letter in letters],
        path,
    )


def _hashed_path(path: str) -> str:
    """Return the path as the installer hashes it, with every backslash as a separator."""
    return path.replace("\\", "/")


def _encoded(path: str) -> bytes:
    """Return UTF-8 as Node writes it: unpaired surrogates become U+FFFD."""
    return path.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _opened(path: str) -> Folder:
    try:
        return open_folder(os.path.realpath(path), follow=True)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _pieces(root: Folder, parts: tuple[str, ...], shown: str) -> Iterator[bytes]:
    shown = os.path.join(shown, *parts)
    try:
        with _descend(root, parts[:-1]) as folder:
            descriptor = folder.file(parts[-1])
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError("it is no longer a plain file")
            while piece := os.read(descriptor, _PIECE):
                yield piece
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unreadable(shown, error) from None


def _descend(root: Folder, parts: tuple[str, ...]) -> Folder:
    """Open a nested folder one name at a time. A name that became a link raises OSError."""
    folder = root.again()
    for name in parts:
        with folder:
            below = folder.folder(name)
        folder = below
    return folder


def _unreadable(path: str, error: OSError | ValueError) -> SkillIoError:
    reason = getattr(error, "strerror", None) or str(error)
    return SkillIoError(
        f"cannot hash: {reason}",
        path=path,
        code="folder_unreadable",
        hint="check that the folder exists and that its files may be read",
    )
