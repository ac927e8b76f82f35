"""The input and output of a tool."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.text import clean_line, shorten
from skillyard.engine.ranking.registry import default_scorer
from skillyard.engine.skill import Skill
from skillyard.serve.mcp.failures import ToolFailed
from skillyard.serve.mcp.view_worker import Progress, ViewWorker
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.local import LOCAL
from skillyard.serve.runtime.view import View


class SharedState(NamedTuple):
    """The state that all requests of one server share."""

    context: AppContext
    views: ViewWorker
    show_folders: bool
    """True when clients run on this machine and may see the folders of skills."""


class Call(NamedTuple):
    """One call of a tool."""

    shared: SharedState
    request: Any
    """The validated arguments: a value of the tool's class in :mod:`.requests`."""
    progress: Progress
    """Reports progress to the client: done, total, message."""


class Answer(NamedTuple):
    """The result of a tool."""

    text: str
    """For a model."""
    structured: dict[str, Any]
    """The same as JSON, for a program."""
    skills: Iterable[Skill] = ()
    """The skills of the library that it shows."""


def plain_scorer(name: str | None) -> str:
    """Return the name of a scorer, or of the default one. Raises ToolFailed for an embedder.

    Embedders may cost money, so clients cannot choose them; the default one may have one.
    """
    if name is not None and "+" in name:
        raise ToolFailed("invalid_argument", "scorer must be a plain name, without an embedder")
    return name or default_scorer()


def origin_of(view: View, skill: Skill) -> str:
    """Return the origin of a skill of the library as text, without the path of its root."""
    library = "catalog store" if skill.stored else "local library"
    where = f"{library}: {view.path_below_root(skill.path)}" if skill.path else library
    return f"{where} (from {skill.source})" if skill.source not in (None, "", LOCAL) else where


def notice_of(view: View, skill: Skill) -> str:
    """Return the notice for a skill that is served although its file is broken; else empty."""
    error = view.last_good.get(skill.path)
    if error is None:
        return ""
    what = problem_of(error)
    return f"The file does not load since its last edit ({what}); this is the version before it."


def problem_of(diagnostic: Diagnostic) -> str:
    """Return a diagnostic in one line, without a path."""
    where = f"line {diagnostic.line}: " if diagnostic.line is not None else ""
    return shorten(clean_line(where + diagnostic.message), 300)


def cursor_of(last: str) -> str:
    """Return the cursor of the page after an item. Opaque to clients."""
    return base64.urlsafe_b64encode(json.dumps({"after": last}).encode()).decode("ascii")


def place_in(cursor: str | None) -> str | None:
    """Return the item before a page; None for the first page. Raises ValueError."""
    if cursor is None:
        return None
    if not cursor.isascii() or len(cursor) > 4_000:
        raise ValueError("not a cursor of this server")
    try:
        decoded = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise ValueError("not a cursor of this server") from None
    if (
        not isinstance(decoded, dict)
        or not isinstance(decoded.get("after"), str)
        or len(decoded) != 1
    ):
        raise ValueError("not a cursor of this server")
    return str(decoded["after"])
