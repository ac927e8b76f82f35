"""Where a user's caches, settings and records lie.

Linux and macOS have the places of the XDG base directory specification, Windows has those that
platformdirs knows (below ``%LOCALAPPDATA%``). The XDG variables hold on every system.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from skillyard.base.io.sha256 import sha256

_NAME = "skillyard"


def cache_folder() -> str:
    """Return the folder for what can be made again: ``SKILLYARD_CACHE``, else the user's cache."""
    return os.environ.get("SKILLYARD_CACHE") or _folder("XDG_CACHE_HOME", ".cache", "cache")


def state_folder() -> str:
    """Return the folder for what must outlive a cache: ``SKILLYARD_STATE``, else the user's own.

    That is ``skillyard`` in ``XDG_STATE_HOME``, else in ``~/.local/state``.
    """
    own = os.environ.get("SKILLYARD_STATE")
    return own or _folder("XDG_STATE_HOME", os.path.join(".local", "state"), "state")


def config_folder() -> str:
    """Return the folder of the user's settings: in ``XDG_CONFIG_HOME``, else in ``~/.config``."""
    return _folder("XDG_CONFIG_HOME", ".config", "config")


def _folder(variable: str, below_home: str, kind: str) -> str:
    base = os.environ.get(variable, "")
    if os.path.isabs(base):  # a relative one means nothing, says the specification
        return os.path.join(base, _NAME)
    if sys.platform == "win32":
        return _of_windows(kind)
    # Three lines here instead of platformdirs, which takes longer to import than a hook to answer.
    return os.path.join(os.path.expanduser("~"), below_home, _NAME)


def _of_windows(kind: str) -> str:
    from platformdirs.windows import Windows

    folders = Windows(_NAME, appauthor=False)
    if kind == "cache":
        return folders.user_cache_dir
    return folders.user_config_dir if kind == "config" else folders.user_state_dir


def write_note(path: str, text: str) -> None:
    """Write a note, for the user alone; one that cannot be written is left out."""
    from skillyard.base.io.atomic_write import atomic_write  # deferred: a query only reads

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
