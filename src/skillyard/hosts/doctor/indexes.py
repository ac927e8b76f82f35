"""Check the index of the library."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.base.errors import InvalidSkillsRoot, SkillError
from skillyard.base.shapes.indexes import IndexStatus
from skillyard.base.text import plural
from skillyard.hosts.doctor.finding import INFO, OK, WARNING, Finding, Request
from skillyard.hosts.operations.library_index import index_status

_STATES = {
    "current": (OK, "is current"),
    "stale": (INFO, "is stale: files changed since it was built; the next question updates it"),
    "missing": (INFO, "does not exist yet; the first question builds it"),
    "foreign": (INFO, "was built by another version; the next question builds it again"),
    "damaged": (WARNING, "is damaged; the next question builds it again"),
}


def index(request: Request) -> Iterator[Finding]:
    """Check the index that commands answer from."""
    try:
        status = index_status(request.library_roots, request.scopes, profile=request.profile)
    except InvalidSkillsRoot:
        return  # the root is reported with the library
    except SkillError as error:
        if error.code in ("policy_invalid", "profile_unknown"):
            return  # reported with the library
        message = f"the index cannot be read: {error.message}"
        remedy = "Give yourself the right to read it, or name another folder in SKILLYARD_CACHE."
        yield Finding("index", WARNING, message, remedy, path=error.path)
        return
    command = f"skillyard index build{request.options}"
    yield index_finding("index", "the index of the library", status, command)


def index_finding(name: str, what: str, index: IndexStatus, command: str) -> Finding:
    """Return the finding on an index; ``command`` builds it."""
    status, text = _STATES[index.state]
    message = f"{what} {text}"
    if index.state in ("current", "stale"):
        message += f" ({plural(index.skills, 'skill')})"
    if index.problem:
        message += f" ({index.problem})"
    details = {"state": index.state, "skills": index.skills, "bytes": index.bytes}
    finding = Finding(name, status, message, path=index.folder, details=details)
    return finding if status == OK else finding._replace(remedy="Build it now.", command=command)
