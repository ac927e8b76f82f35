"""Where a user's caches, settings and records lie, and what ``skillyard.toml`` says.

Linux and macOS have the places of the XDG base directory specification, Windows has those that
platformdirs knows (below ``%LOCALAPPDATA%``). The XDG variables hold on every system.

There is the user's own ``skillyard.toml`` and that of the project, read section by section.

The user's file is in the user's folder of configurations; ``SKILLYARD_CONFIG`` names another one.
The project's is the nearest with the section, up to the root of the repository. It may have been
written by a stranger, so it has only the sections that affect the work in that project. What it
says goes before the user's file; environment variables and options go before both. Hooks and
services read the user's file alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import read_regular, sha256

if TYPE_CHECKING:
    from skillyard.base.strict_toml import TomlFile

T = TypeVar("T")

_NAME = "skillyard"

CONFIG_FILE = "skillyard.toml"
FEEDBACK_FILE = "feedback.jsonl"
"""In :func:`state_folder`: what the user said of skills."""
CONFIG_VARIABLE = "SKILLYARD_CONFIG"
"""The environment variable with the path of the user's file."""
_MAX_BYTES = 256 * 1024
_PLACES = {"projects": True}


class Section(NamedTuple):
    """A section of the file."""

    record: str
    """Its class, as ``module:name``."""
    of_project: bool
    """Whether the file of a project may have it."""


SECTIONS = {
    "scopes": Section("skillyard.install.policy.library:ScopesSection", True),
    "scorer": Section("skillyard.engine.ranking.registry:ScorerSection", True),
    "check": Section("skillyard.check.validation.config:CheckConfig", True),
    "eval": Section("skillyard.evals.settings:Config", True),
    "sources": Section("skillyard.install.sources.settings:Settings", False),
    "log": Section("skillyard.hosts.decisions:LogSection", False),
    "store": Section("skillyard.store.opening:StoreSection", False),
}


def _folder(own: str, variable: str, below_home: str, kind: str) -> str:
    base = os.environ.get(own, "")
    if base:
        return base
    base = os.environ.get(variable, "")
    if os.path.isabs(base):  # a relative one means nothing, says the specification
        return os.path.join(base, _NAME)
    if sys.platform == "win32":
        return _of_windows(kind)
    # Three lines here instead of platformdirs, which takes longer to import than a hook to answer.
    return os.path.join(os.path.expanduser("~"), below_home, _NAME)


cache_folder = partial(_folder, "SKILLYARD_CACHE", "XDG_CACHE_HOME", ".cache", "cache")
"""Returns the folder for what can be made again: ``SKILLYARD_CACHE``, else the user's cache."""
state_folder = partial(
    _folder, "SKILLYARD_STATE", "XDG_STATE_HOME", os.path.join(".local", "state"), "state"
)
"""Returns the folder for what must outlive a cache: ``SKILLYARD_STATE``, else the user's own.

That is ``skillyard`` in ``XDG_STATE_HOME``, else in ``~/.local/state``."""
config_folder = partial(_folder, "", "XDG_CONFIG_HOME", ".config", "config")
"""Returns the folder of the user's settings: in ``XDG_CONFIG_HOME``, else in ``~/.config``."""


def _of_windows(kind: str) -> str:
    from platformdirs.windows import Windows

    folders = Windows(_NAME, appauthor=False)
    if kind == "cache":
        return folders.user_cache_dir
    return folders.user_config_dir if kind == "config" else folders.user_state_dir


def write_note(path: str, text: str) -> None:
    """Write a note, for the user alone; one that cannot be written is left out."""
    from skillyard.base.io.files import atomic_write  # deferred: a query only reads

    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        atomic_write(path, text.encode("ascii"), mode=0o600)


def note_path(folder: str, kind: str) -> str:
    """Return where the note of a kind on a folder lies."""
    name = sha256(os.fsencode(os.path.normcase(real_place(folder)))).hex()[:32]
    return os.path.join(state_folder(), kind, name)


def real_place(folder: str) -> str:
    """Return the real path of a folder, of which the last part may be a link itself."""
    return os.path.join(os.path.realpath(os.path.dirname(folder) or "."), os.path.basename(folder))


def record_of(name: str) -> type[Any]:
    """Return the class of a section."""
    module, _, attribute = SECTIONS[name].record.partition(":")
    record: type[Any] = getattr(import_module(module), attribute)
    return record


def user_file() -> str:
    """Return the path of the user's file, which need not exist."""
    return os.environ.get(CONFIG_VARIABLE) or os.path.join(config_folder(), CONFIG_FILE)


def project_folders(folder: str) -> list[str]:
    """Return the folders of a project's files for the work in a folder, nearest first.

    They end at the root of the repository, and without one at the working folder. Below neither it
    is that folder alone: what lies above belongs to somebody else.
    """
    try:
        each, here = os.path.abspath(folder), os.path.realpath(".")
    except FileNotFoundError:  # the working folder is gone
        return []
    folders = [each]
    while not os.path.lexists(os.path.join(each, ".git")):
        above = os.path.dirname(each)
        if above == each:
            real = map(os.path.realpath, folders)
            end = next((number for number, one in enumerate(real) if one == here), 0)
            return folders[: end + 1]
        each = above
        folders.append(each)
    return folders


@contextmanager
def own_file_only() -> Iterator[None]:
    """Read no project's file in this process meanwhile: what a hook or a service does.

    They work in whatever folder a host starts them in, which a stranger may have written.
    """
    before = _PLACES["projects"]
    _PLACES["projects"] = False
    try:
        yield
    finally:
        _PLACES["projects"] = before


def project_toml(name: str, folders: Iterable[str]) -> TomlFile | None:
    """Return the first file of a project that has a section, or None.

    Raises SkillIoError.
    """
    if not _PLACES["projects"]:
        return None
    for folder in folders:
        path = os.path.join(folder, CONFIG_FILE)
        if os.path.lexists(path) and not _is_same(path, user_file()):
            file = named_toml(path)
            if name in file.tables:
                return file
    return None


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def read_section(name: str, record: type[T], folder: str = ".") -> T:
    """Return a section as the files of the user and of the project in a folder say.

    Raises SkillIoError for a fault, and for a file that cannot be read.
    """
    layers = [read_user_file()]
    if SECTIONS[name].of_project:
        layers.append(project_toml(name, project_folders(folder)))
    given = [(each, each.tables[name]) for each in layers if each and name in each.tables]
    if not given:
        return record()
    from skillyard.base.strict_toml import read_record

    return read_record(record, given, (name,))


def read_user_file() -> TomlFile | None:
    """Return the user's file, or None. Raises SkillIoError."""
    path = user_file()
    if not os.environ.get(CONFIG_VARIABLE) and not os.path.lexists(path):
        return None
    try:
        return _read(path, "")
    except FileNotFoundError:
        if os.environ.get(CONFIG_VARIABLE):
            raise SkillIoError("there is no configuration here", path=path) from None
        return None


def named_toml(path: str) -> TomlFile:
    """Return a file that may be a stranger's. Raises SkillIoError."""
    try:
        return _read(path, user_file())
    except FileNotFoundError:
        raise SkillIoError("no such file", path=path) from None


def _read(path: str, own_file: str) -> TomlFile:
    """Return a file with known sections; ``own_file`` is the user's for one of a project."""
    try:
        status = os.stat(path)
        return _parsed(path, own_file, status.st_mtime_ns, status.st_size, status.st_ino)
    except FileNotFoundError:
        raise
    except OSError as error:
        what = f"the configuration cannot be read: {error.strerror or error}"
        hint = "make it a regular file that you can read"
        raise SkillIoError(what, path=path, hint=hint) from None


@lru_cache(maxsize=16)
def _parsed(path: str, own_file: str, *_stamp: int) -> TomlFile:
    from skillyard.base.strict_toml import not_theirs, parse_toml, unknown_key

    data, _ = read_regular(path, _MAX_BYTES, follow=True)
    file = parse_toml(data, path)._replace(own_file=own_file)
    for name in file.tables:
        if name not in SECTIONS:
            raise unknown_key(file, (name,), SECTIONS)
        if own_file and not SECTIONS[name].of_project:
            raise not_theirs(file, (name,))
    return file
