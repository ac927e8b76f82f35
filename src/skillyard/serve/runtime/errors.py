"""Refusals: all error responses, with one shape and a code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from skillyard.base.errors import (
    AmbiguousName,
    Diagnostic,
    InvalidInput,
    SkillError,
    SkillNotFound,
    SkillyardError,
    SourceFailed,
    UnknownName,
)
from skillyard.base.shapes import service as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.shapes.service import Fault
from skillyard.base.text import clean_line, shorten
from skillyard.engine.index.library_spec import Progress

BUILDING = "index_building"
"""Code of refusals while the index of a library is built for the first time."""
ALLOW_REMOTES = (
    "its operator allows remote sources with `serve --remote`, or names them in [sources] of"
    " skillyard.toml"
)
MAX_WAIT_S = 30
"""Maximum seconds of Retry-After, because the estimate may be wrong."""

_NO_EXTRAS = {"near": None, "sources": None, "progress": None}


@dataclass(eq=False)
class Refused(Exception):
    """An error response."""

    status: int
    code: str
    message: str
    _: KW_ONLY
    hint: str = ""
    field: str | None = None
    faults: Sequence[Fault] = ()
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Additional members of ``error``: similar names, the sources that failed."""

    def __str__(self) -> str:
        return self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: Skyll's ``detail``, and skillyard's ``error``."""
        detail = tuple(self.faults) if self.status == 422 else self.message
        error = from_attributes(shapes.ErrorDetails, self, **{**_NO_EXTRAS, **self.extra})
        document: dict[str, Any] = encode(shapes.Error(detail=detail, error=error))
        return document


def wrong_field(faults: Sequence[Fault]) -> Refused:
    """Return the 422 for invalid fields; its message is that of the first."""
    first = faults[0]
    path = [str(part) for part in first.loc[1:]]
    return Refused(
        422,
        "invalid_field",
        first.msg,
        field=".".join(path) or None,
        hint="/docs describes every field",
        faults=faults,
    )


def refuse_field(name: str, message: str, place: str = "query") -> Refused:
    """Return the 422 for one field whose value only the use case could judge."""
    return wrong_field([Fault(loc=(place, name), msg=message, type="value_error")])


def changing(error: SourceFailed) -> Refused:
    """Return the 503 for a skill whose file has changed since the snapshot was made."""
    return Refused(503, "changing", str(error), hint="ask again", headers={"Retry-After": "1"})


def refusal_of(error: SkillyardError, place: str = "query") -> Refused:
    """Return the response for an error of the engine. No message contains a path.

    ``place`` is the part of the request with the fields: the query, or the body.
    """
    if isinstance(error, SkillNotFound):
        if error.unloaded is None:
            return not_found(error.name, error.near)
        what = f"{clean_line(error.name)[:200]} did not load: {problem_of(error.unloaded)}"
        return Refused(404, "skill_not_loaded", what, hint="correct its file")
    if isinstance(error, AmbiguousName):
        return Refused(
            409,
            "ambiguous_name",
            f"{clean_line(error.name)[:200]!r} names {len(error.ids)} skills",
            hint="ask for one of the ids",
            extra={"near": list(error.ids)},
        )
    if isinstance(error, UnknownName):
        return wrong_field([Fault(loc=(place, error.what), msg=str(error), type="enum")])
    if isinstance(error, InvalidInput):
        where = (place, error.field) if error.field else (place,)
        return wrong_field([Fault(loc=where, msg=str(error), type="value_error")])
    if isinstance(error, SourceFailed):
        failure = {"code": error.code, "message": str(error), "retry_after_s": error.retry_after_s}
        return sources_refusal([{"name": "", **failure}])
    if isinstance(error, SkillError):
        return unavailable()
    return Refused(500, "internal", "the service failed; the log says why, under this request's id")


def problem_of(diagnostic: Diagnostic) -> str:
    """Return a diagnostic in one line, without a path."""
    where = f"line {diagnostic.line}: " if diagnostic.line is not None else ""
    return shorten(clean_line(where + diagnostic.message), 300)


def not_found(name: str, near: Iterable[str] = (), *, with_remotes: bool = True) -> Refused:
    """Return the 404 for a skill, with similar names; False: no remote was asked."""
    elsewhere = (
        "" if with_remotes else f" here, and this service asks no remote source: {ALLOW_REMOTES}"
    )
    names = list(dict.fromkeys(near))
    hint = f"did you mean {' or '.join(names[:3])}?" if names else "GET /search?q= finds by words"
    return Refused(
        404,
        "skill_not_found",
        f"no skill is called {clean_line(name)[:200]!r}{elsewhere}",
        hint=hint,
        extra={"near": names},
    )


def unavailable() -> Refused:
    """Return the 503 of a service without a catalog. The log contains the cause."""
    return Refused(
        503,
        "catalog_unavailable",
        "the skills cannot be read at the moment",
        hint="ask again in a moment; the log of the service says what is wrong",
        headers={"Retry-After": "1"},
    )


def building(progress: Progress) -> Refused:
    """Return the 503 of a service whose library is being indexed for the first time."""
    left = progress.seconds_left
    wait = str(2 if left is None else min(max(round(left), 1), MAX_WAIT_S))
    total = "" if progress.total is None else f" of {progress.total:,}"
    return Refused(
        503,
        BUILDING,
        f"the index of this library is being made: {progress.done:,}{total} files are done",
        hint=f"ask again in {wait} s",
        headers={"Retry-After": wait},
        extra={"progress": from_attributes(shapes.Building, progress)},
    )


def sources_refusal(sources: Sequence[Mapping[str, Any]]) -> Refused:
    """Return the 502 when every source failed, with the reason of each."""
    waits = [source["retry_after_s"] for source in sources if source.get("retry_after_s")]
    message = "; ".join(f"{source['name']}: {source['message']}".lstrip(": ") for source in sources)
    return Refused(
        502,
        "sources_failed",
        f"every source failed: {message}" if message else "every source failed",
        hint="GET /health says how the sources are",
        headers={"Retry-After": str(max(1, round(min(waits))))} if waits else {},
        extra={"sources": [dict(source) for source in sources]},
    )
