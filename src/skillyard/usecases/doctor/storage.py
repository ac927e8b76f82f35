"""Check the files of skillyard: the index of the library, the cache, the state, the log."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillyard.decisions import LOG
from skillyard.decisions.files import state_folder
from skillyard.errors import InvalidSkillsRoot, SkillError
from skillyard.index.indexed_catalog import indexing_is_off
from skillyard.index.library_spec import cache_folder
from skillyard.shapes.indexes import IndexStatus
from skillyard.text import plural
from skillyard.usecases.doctor.finding import INFO, OK, WARNING, Finding
from skillyard.usecases.doctor.programs import export_command, unset_command
from skillyard.usecases.doctor.request import Request, root_options
from skillyard.usecases.library_index import index_status

__all__ = ["index_finding", "storage", "writable"]

_MOST_FILES = 100_000
"""Files whose sizes are added up; a larger cache is shown as `at least`."""

_STATES = {
    "current": (OK, "is current"),
    "stale": (INFO, "is stale: files changed since it was built; the next question updates it"),
    "missing": (INFO, "does not exist yet; the first question builds it"),
    "foreign": (INFO, "was built by another version; the next question builds it again"),
    "damaged": (WARNING, "is damaged; the next question builds it again"),
}


def storage(request: Request) -> Iterator[Finding]:
    """Check the index, then the folders."""
    yield from _index(request)
    yield _folder("cache", "the cache folder", cache_folder(), "SKILLYARD_CACHE")
    yield _folder("state", "the folder for approvals and logs", state_folder(), "SKILLYARD_STATE")
    log = os.environ.get(LOG)
    if log:
        yield _log(log)


def _index(request: Request) -> Iterator[Finding]:
    if indexing_is_off():
        yield Finding(
            "index",
            INFO,
            "SKILLYARD_INDEX is off: every question reads all files, prompt hooks do not answer",
            "Remove the variable.",
            unset_command("SKILLYARD_INDEX"),
        )
        return
    try:
        status = index_status(request.library_roots, request.scopes, profile=request.profile)
    except InvalidSkillsRoot:
        return  # the root is reported with the library
    except SkillError as error:
        if error.code in ("policy_invalid", "profile_unknown"):
            return  # reported with the library
        yield Finding(
            "index",
            WARNING,
            f"the index cannot be read: {error.message}",
            "Give yourself the right to read it, or name another folder.",
            export_command("SKILLYARD_CACHE", "$HOME/.skillyard/cache"),
            path=error.path,
        )
        return
    yield index_finding(
        "index", "the index of the library", status, f"skillyard index build{root_options(request)}"
    )


def index_finding(name: str, what: str, index: IndexStatus, command: str) -> Finding:
    """Return the finding on an index; ``command`` builds it."""
    status, text = _STATES[index.state]
    message = f"{what} {text}"
    if index.state in ("current", "stale"):
        message += f" ({plural(index.skills, 'skill')}, {_megabytes(index.bytes)})"
    if index.problem:
        message += f" ({index.problem})"
    details = {
        "state": index.state,
        "generation": index.generation,
        "skills": index.skills,
        "bytes": index.bytes,
        "writable": writable(index.folder),
    }
    built = Finding(name, status, message, path=index.folder, details=details)
    if not details["writable"]:
        return built._replace(
            status=WARNING if index.state != "current" else INFO,
            message=f"{message}; its folder cannot be written, so it is not kept up to date",
            remedy="Give yourself the right to write the folder, or name another one.",
            command=export_command("SKILLYARD_CACHE", "$HOME/.skillyard/cache"),
        )
    if status == OK:
        return built
    return built._replace(remedy="Build it now.", command=command)


def _folder(name: str, what: str, folder: str, variable: str) -> Finding:
    can_write = writable(folder)
    size, is_whole = _size(folder)
    details = {"exists": os.path.isdir(folder), "bytes": size, "writable": can_write}
    finding = Finding(name, OK, "", path=folder, details=details)
    if not can_write:
        return finding._replace(
            status=WARNING,
            message=f"{what} cannot be written",
            remedy=f"Give yourself the right to write it, or name another one in {variable}.",
            command=export_command(variable, f"$HOME/.skillyard/{name}"),
        )
    if not details["exists"]:
        return finding._replace(message=f"{what} does not exist yet and can be made")
    least = "" if is_whole else "at least "
    return finding._replace(message=f"{what} holds {least}{_megabytes(size)} and can be written")


def _log(path: str) -> Finding:
    if os.path.exists(path) and not os.path.isdir(path):
        is_open = os.access(path, os.W_OK)
    else:
        is_open = not os.path.isdir(path) and writable(os.path.dirname(path) or ".")
    if is_open:
        return Finding("decision-log", OK, "the decision log can be written", path=path)
    return Finding(
        "decision-log",
        WARNING,
        f"the decision log named by {LOG} cannot be written, so nothing is logged",
        "Name a file that can be written.",
        export_command(LOG, "$HOME/skillyard.log"),
        path=path,
    )


def writable(folder: str) -> bool:
    """Return True when files can be written below a folder, which need not exist yet."""
    above = os.path.abspath(folder)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)


def _size(folder: str) -> tuple[int, bool]:
    """Return the bytes of the files below a folder, and whether all of them were counted."""
    total = files = 0
    for above, _, names in os.walk(folder):
        for name in names:
            files += 1
            if files > _MOST_FILES:
                return total, False
            try:
                total += os.lstat(os.path.join(above, name)).st_size
            except OSError:
                continue  # it was removed meanwhile
    return total, True


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
