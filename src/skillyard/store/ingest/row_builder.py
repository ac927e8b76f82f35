"""The work of a worker process: turns items that differ from the stored version into rows."""

from __future__ import annotations

from collections.abc import Sequence

from skillyard.base.errors import Diagnostic, InvalidInput, SkillError, StoreRefused
from skillyard.engine.discovery import Candidate
from skillyard.store.ingest import folders, objects
from skillyard.store.ingest.work_items import BuildSettings, BuiltRow, Item
from skillyard.store.rows import row_of
from skillyard.store.values import Standing, Submission


def build_rows(
    settings: BuildSettings, work: Sequence[tuple[Item, Standing | None]]
) -> list[BuiltRow]:
    """Return the result of each item, in order. An invalid item becomes a diagnostic."""
    return [_build_row(settings, item, standing) for item, standing in work]


def _build_row(settings: BuildSettings, item: Item, standing: Standing | None) -> BuiltRow:
    try:
        of_folder = isinstance(item.what, Candidate)
        if standing is not None and _is_unchanged(item, standing, settings):
            file = (standing.hash or "") if of_folder else ""
            return BuiltRow(item, standing.key.place, standing.digest, file=file)
        submission, diagnostics = _submission(item, settings)
        if submission is None:
            return BuiltRow(item, item.place or "", "", None, tuple(diagnostics))
        row = row_of(
            submission, tenant=settings.tenant, namespace=settings.namespace, store=settings.store
        )
    except SkillError as error:
        return refusal(item, error.code, _message(error, item), error.hint)
    except InvalidInput as error:
        return refusal(item, "line_field", str(error), "correct the line")
    except StoreRefused as error:
        return refusal(item, "store_refused", error.what, error.hint)
    noticed = tuple(diagnostics)
    file = submission.skill.hash if of_folder else ""
    if standing is not None and (standing.digest, standing.installs) == (row.digest, row.installs):
        return BuiltRow(item, row.place, row.digest, None, noticed, file)
    return BuiltRow(item, row.place, row.digest, row, noticed, file)


def _is_unchanged(item: Item, standing: Standing, settings: BuildSettings) -> bool:
    if isinstance(item.what, Candidate):
        return folders.is_unchanged(item.what, standing, settings.limits)
    return objects.is_unchanged(item.what, standing.key.place, standing)


def _submission(item: Item, settings: BuildSettings) -> tuple[Submission | None, list[Diagnostic]]:
    if isinstance(item.what, Candidate):
        return folders.submission(item.what, item.source, item.place, settings.limits)
    return objects.submission(item.what, item.source, item.place, settings.limits)


def _message(error: SkillError, item: Item) -> str:
    """Return the message of an error; for a JSON line, with the line number inside its text."""
    inner = error.line if item.line is not None else None
    return f"line {inner} of the text: {error.message}" if inner is not None else error.message


def refusal(item: Item, code: str, message: str, hint: str) -> BuiltRow:
    """Return the result of an item that is not published, with the reason."""
    diagnostic = Diagnostic(code, "error", item.display_path, message, hint, item.line)
    return BuiltRow(item, item.place or "", "", None, (diagnostic,))
