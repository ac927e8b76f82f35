"""The hook's log: the reasons for empty answers. It never contains the user's prompt."""

from __future__ import annotations

import os
import sys
import time
from json import dumps

from skillyard.base.configuration import state_folder
from skillyard.base.invisible import clean
from skillyard.base.io.files import create_exclusive, sha256
from skillyard.hosts.decisions.files import append_line, moment

MAX_BYTES = 256 * 1024
_REPORTS_FOLDER = "told"


def journal_path() -> str:
    """Return the path of the log."""
    return os.path.join(state_folder(), "hook.log")


def log_event(host: str, event: str, message: str) -> None:
    """Write one event to the log. Never raises.

    ``event`` is ``bad_input``, ``breach``, ``changed``, ``error``, ``no_index``, ``scorer`` or
    ``untrusted``.
    """
    from skillyard.base.shapes.encoder import encode  # only where something is logged
    from skillyard.base.shapes.logs import HookEvent

    record = HookEvent(time=moment(time.time()), host=host, event=event, message=message)
    try:
        append_line(journal_path(), dumps(encode(record), separators=(",", ":")), MAX_BYTES)
    except OSError:
        pass  # a failing log must not fail the hook


def print_message(message: str) -> None:
    """Print a message to standard error, which hosts show on request. Never raises."""
    try:
        sys.stderr.write(f"skillyard: {clean(message)}\n")
    except (OSError, ValueError, AttributeError):
        pass


def _project_key(project: str) -> str:
    return sha256(os.fsencode(project)).hex()[:16]


def report_once(project: str, what: str) -> bool:
    """Return True the first time it is called for a message about a project, else False.

    Returns False when the call cannot be recorded: repeating a message at every prompt is worse
    than omitting it.
    """
    folder = os.path.join(state_folder(), _REPORTS_FOLDER)
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


def forget_reports(project: str) -> None:
    """Forget which messages about a project were reported. Never raises."""
    folder = os.path.join(state_folder(), _REPORTS_FOLDER)
    key = f"{_project_key(project)}-"
    try:
        for name in os.listdir(folder):
            if name.startswith(key):
                os.unlink(os.path.join(folder, name))
    except OSError:
        pass
