"""The hook's own log: why an answer was empty. It never holds what the user has typed."""

from __future__ import annotations

import os
import sys
import time
from json import dumps

from skillyard.decisions.entry import moment
from skillyard.decisions.files import append_line
from skillyard.io.files import create_exclusive
from skillyard.io.sha256 import sha256
from skillyard.io.user_folders import state_folder
from skillyard.text import clean

__all__ = ["first_time", "forget", "journal_path", "note", "say"]

MOST_BYTES = 256 * 1024
_TOLD = "told"


def journal_path() -> str:
    """Return the path of the log."""
    return os.path.join(state_folder(), "hook.log")


def note(host: str, event: str, message: str) -> None:
    """Write one event to the log. Never raises.

    ``event`` is ``bad_input``, ``breach``, ``changed``, ``error``, ``no_index`` or ``untrusted``.
    """
    shape = {
        "schema": "skillyard.hook-event/1",
        "time": moment(time.time()),
        "host": host,
        "event": event,
        "message": message,
    }
    try:
        append_line(journal_path(), dumps(shape, separators=(",", ":")), MOST_BYTES)
    except OSError:
        pass  # a hook that cannot say why it is silent is silent all the same


def say(message: str) -> None:
    """Say something on standard error, where hosts show it on request. Never raises."""
    try:
        sys.stderr.write(f"skillyard: {clean(message)}\n")
    except (OSError, ValueError, AttributeError):
        pass


def _project_key(project: str) -> str:
    return sha256(os.fsencode(project)).hex()[:16]


def first_time(project: str, what: str) -> bool:
    """Return True when this has not been said of this project before; it is from now on.

    Where nothing can be kept, nothing is said: a remark at every prompt is worse than none.
    """
    folder = os.path.join(state_folder(), _TOLD)
    thing = sha256(what.encode("utf-8", "surrogatepass")).hex()[:16]
    path = os.path.join(folder, f"{_project_key(project)}-{thing}")
    if os.path.lexists(path):
        return False
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(create_exclusive(path, 0o600))
    except OSError:
        return False
    return True


def forget(project: str) -> None:
    """Make everything about a project worth saying again. Never raises."""
    folder = os.path.join(state_folder(), _TOLD)
    key = f"{_project_key(project)}-"
    try:
        for name in os.listdir(folder):
            if name.startswith(key):
                os.unlink(os.path.join(folder, name))
    except OSError:
        pass
