"""What a worker does: an item, and what stands in its place, to a row or to nothing."""

from __future__ import annotations

from collections.abc import Sequence

from skillyard.discovery import Candidate
from skillyard.errors import Diagnostic, InvalidInput, SkillError, StoreRefused
from skillyard.store.ingest import folders, objects
from skillyard.store.ingest.work_items import Item, Made, Making
from skillyard.store.rows import row_of
from skillyard.store.values import Standing, Submission

__all__ = ["build_rows", "refused"]


def build_rows(making: Making, work: Sequence[tuple[Item, Standing | None]]) -> list[Made]:
    """Return what became of each item, in order. A bad one has an error and does no harm."""
    return [_build_row(making, item, standing) for item, standing in work]


def _build_row(making: Making, item: Item, standing: Standing | None) -> Made:
    try:
        of_folder = isinstance(item.what, Candidate)
        if standing is not None and _unchanged(item, standing, making):
            file = (standing.hash or "") if of_folder else ""
            return Made(item, standing.key.place, standing.digest, file=file)
        given, diagnostics = _submission(item, making)
        if given is None:
            return Made(item, item.place or "", "", None, tuple(diagnostics))
        row = row_of(given, tenant=making.tenant, namespace=making.namespace, store=making.store)
    except SkillError as error:
        return refused(item, error.code, _message(error, item), error.hint)
    except InvalidInput as error:
        return refused(item, "line_field", str(error), "correct the line")
    except StoreRefused as error:
        return refused(item, "store_refused", error.what, error.hint)
    noticed = tuple(diagnostics)
    file = given.skill.hash if of_folder else ""
    if standing is not None and (standing.digest, standing.installs) == (row.digest, row.installs):
        return Made(item, row.place, row.digest, None, noticed, file)
    return Made(item, row.place, row.digest, row, noticed, file)


def _unchanged(item: Item, standing: Standing, making: Making) -> bool:
    if isinstance(item.what, Candidate):
        return folders.unchanged(item.what, standing, making.limits)
    return objects.unchanged(item.what, standing.key.place, standing)


def _submission(item: Item, making: Making) -> tuple[Submission | None, list[Diagnostic]]:
    if isinstance(item.what, Candidate):
        return folders.submission(item.what, item.source, item.place, making.limits)
    return objects.submission(item.what, item.source, item.place, making.limits)


def _message(error: SkillError, item: Item) -> str:
    """Return the message; of a line, also the line within its text."""
    inner = error.line if item.line is not None else None
    return f"line {inner} of the text: {error.message}" if inner is not None else error.message


def refused(item: Item, code: str, message: str, hint: str) -> Made:
    """Return an item as one that is not published, and why."""
    diagnostic = Diagnostic(code, "error", item.shown, message, hint, item.line)
    return Made(item, item.place or "", "", None, (diagnostic,))
