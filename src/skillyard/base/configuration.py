"""``skillyard.toml``: the user's own file and that of the project, section by section.

The user's file is in the user's folder of configurations; ``SKILLYARD_CONFIG`` names another one.
The project's is the nearest at or above the working folder, up to the root of the repository. It
was written by a stranger, so it has only the sections that affect the work in that project. What it
says goes before the user's file; environment variables and options go before both.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import read_regular
from skillyard.base.io.user_folders import config_folder

if TYPE_CHECKING:
    from skillyard.base.strict_toml import TomlFile

T = TypeVar("T")

CONFIG_FILE = "skillyard.toml"
CONFIG_VARIABLE = "SKILLYARD_CONFIG"
"""The environment variable with the path of the user's file."""
_MAX_BYTES = 256 * 1024


class Section(NamedTuple):
    """A section of the file."""

    record: str
    """Its class, as ``module:name``."""
    of_project: bool
    """Whether the file of a project may have it."""


SECTIONS = {
    "scopes": Section("skillyard.install.policy.library:ScopesSection", True),
    "scorer": Section("skillyard.engine.ranking.registry:ScorerSection", True),
    "check": Section("skillyard.check.validation.config:CheckSection", True),
    "embeddings": Section("skillyard.engine.embedding.endpoint:EmbeddingsSection", False),
    "sources": Section("skillyard.install.sources.settings:Settings", False),
    "log": Section("skillyard.hosts.decisions:LogSection", False),
    "store": Section("skillyard.cli.commands.store_options:StoreSection", False),
}


def record_of(name: str) -> type[Any]:
    """Return the class of a section."""
    module, _, attribute = SECTIONS[name].record.partition(":")
    record: type[Any] = getattr(import_module(module), attribute)
    return record


def user_file() -> str:
    """Return the path of the user's file, which need not exist."""
    return os.environ.get(CONFIG_VARIABLE) or os.path.join(config_folder(), CONFIG_FILE)


def project_file(folder: str = ".") -> str | None:
    """Return the path of the nearest file of a project for the work in a folder, or None."""
    paths = (os.path.join(each, CONFIG_FILE) for each in project_folders(folder))
    found = next(filter(os.path.lexists, paths), None)
    return None if found is None or _is_same(found, user_file()) else found


def project_folders(folder: str, end: str = "") -> list[str]:
    """Return a folder and those above it up to the root of its repository, or ``end``.

    Below neither it is that folder alone: what lies above belongs to somebody else.
    """
    try:
        each = os.path.abspath(folder)
    except FileNotFoundError:  # the working folder is gone
        return []
    folders = []
    while True:
        folders.append(each)
        if os.path.lexists(os.path.join(each, ".git")) or (end and _is_same(each, end)):
            return folders
        above = os.path.dirname(each)
        if above == each:
            return folders[:1]
        each = above


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def read_section(name: str, record: type[T], folder: str = ".") -> T:
    """Return a section as the files of the user and of the project in a folder say.

    Raises ConfigurationFault for a fault, SkillIoError for a file that cannot be read.
    """
    files = [each for each in (read_user_file(), _project_file(folder)) if each is not None]
    if not files:
        return record()
    from skillyard.base.strict_toml import read_record

    for file in files:
        check_sections(file)
    layers = [(file, file.tables[name]) for file in files if name in file.tables]
    return read_record(record, layers, (name,)) if layers else record()


def check_sections(file: TomlFile) -> None:
    """Raise ConfigurationFault for a section that does not exist, or that is not for that file."""
    from skillyard.base.strict_toml import not_theirs, unknown_key

    for name in file.tables:
        if name not in SECTIONS:
            raise unknown_key(file, (name,), SECTIONS)
        if file.own_file and not SECTIONS[name].of_project:
            raise not_theirs(file, (name,))


def read_user_file() -> TomlFile | None:
    """Return the user's file, or None. Raises ConfigurationFault and SkillIoError."""
    path = user_file()
    try:
        return read_file(path)
    except FileNotFoundError:
        if os.environ.get(CONFIG_VARIABLE):
            raise SkillIoError("there is no configuration here", path=path) from None
        return None


def _project_file(folder: str) -> TomlFile | None:
    path = project_file(folder)
    return None if path is None else project_toml(path)


def project_toml(path: str) -> TomlFile:
    """Return the file of a project. Raises ConfigurationFault and SkillIoError."""
    try:
        return read_file(path)._replace(own_file=user_file())
    except FileNotFoundError:
        raise SkillIoError("the link leads nowhere", path=path, hint="remove it") from None


def read_file(path: str) -> TomlFile:
    """Return a parsed file. Raises FileNotFoundError, ConfigurationFault and SkillIoError."""
    try:
        status = os.stat(path)
        return _parsed(path, status.st_mtime_ns, status.st_size, status.st_ino)
    except FileNotFoundError:
        raise
    except OSError as error:
        what = f"the configuration cannot be read: {error.strerror or error}"
        hint = "make it a regular file that you can read"
        raise SkillIoError(what, path=path, hint=hint) from None


@lru_cache(maxsize=16)
def _parsed(path: str, *_stamp: int) -> TomlFile:
    from skillyard.base.strict_toml import parse_toml

    data, _ = read_regular(path, _MAX_BYTES, follow=True)
    return parse_toml(data, path)
