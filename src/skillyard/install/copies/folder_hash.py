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
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from skillyard.base.io.folder_manifest import FileEntry, FolderManifest
from skillyard.engine.resources import read_file

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
_TREE_DIGITS = 40


def folder_hash(files: Mapping[str, bytes]) -> str:
    """Return the 64 hexadecimal digits for files by relative path with ``/``.

    Files below a folder named ``.git`` or ``node_modules`` are ignored.
    """
    return _hash(files, lambda path: files[path])


def is_folder_hash_of(expected: str, path: str, there: FolderManifest) -> bool:
    """True where an existing folder with that manifest has that folder hash.

    Raises SkillIoError when a file cannot be read.
    """
    files = {entry.path: entry for entry in there.of_kind("file")}
    if not all(map(str.isascii, files)):
        return False
    return _hash(files, lambda each: _data(path, files[each])) == expected


def _hash(paths: Iterable[str], data: Callable[[str], bytes]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda path: _order(_hashed_path(path))):
        if _counts(path):
            digest.update(_encoded(_hashed_path(path)))
            digest.update(data(path))
    return digest.hexdigest()


def is_tree_hash(text: str) -> bool:
    """True for the name of a tree of git, which has another length than a folder hash."""
    return len(text) == _TREE_DIGITS


def tree_hash(files: Mapping[str, bytes], executable: Collection[str] = ()) -> str:
    """Return the 40 hexadecimal digits that git gives a folder with these files."""
    blobs = {
        path: _Blob(path in executable, _git_object(b"blob", data))
        for path, data in files.items()
        if _counts(path)
    }
    return _tree(blobs).hex()


def is_tree_of(tree: str, path: str, there: FolderManifest) -> bool:
    """True where git gives that name to an existing folder with that manifest.

    The installer and some systems lose which files are executable: those with ``#!`` may be, too.
    Raises SkillIoError when a file cannot be read.
    """
    blobs, scripts = {}, {}
    for entry in there.of_kind("file"):
        if _counts(entry.path):
            data = _data(path, entry)
            name = _git_object(b"blob", data)
            blobs[entry.path] = _Blob(entry.executable, name)
            scripts[entry.path] = _Blob(data.startswith(b"#!"), name)
    return tree in (_tree(blobs).hex(), _tree(scripts).hex())


def _counts(path: str) -> bool:
    return FOLDERS_LEFT_OUT.isdisjoint(path.split("/")[:-1])


class _Blob(NamedTuple):
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
    return _git_object(b"tree", b"".join(listed))


def _git_object(kind: bytes, data: bytes) -> bytes:
    head = b"%s %d\0" % (kind, len(data))
    return hashlib.sha1(head + data, usedforsecurity=False).digest()


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


def _data(folder: str, entry: FileEntry) -> bytes:
    return read_file(os.path.join(folder, *entry.path.split("/")), entry.size).data
