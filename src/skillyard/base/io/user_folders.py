"""Where a user's caches, settings and records lie.

Linux and macOS have the places of the XDG base directory specification, Windows has those that
platformdirs knows (below ``%LOCALAPPDATA%``). The XDG variables hold on every system.
"""

from __future__ import annotations

import os
import sys

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
