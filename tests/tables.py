"""Tests over a table: one test, one row after the other, each failure with its row.

``pytest.mark.parametrize`` makes a test of every row, with set-up, tear-down and a report of its
own; thousands of rows then cost more to collect than to check. Here the rows are subtests of one
test: all of them run, and each that fails is reported by its label.

The rows share the fixtures of the test, but each has a ``tmp_path`` and a ``monkeypatch`` of its
own. A test whose rows need more than that fresh keeps ``parametrize``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["for_each"]

Ids = Callable[[Any], object] | Iterable[object] | None


def for_each(
    names: str | Sequence[str], rows: Iterable[Any], ids: Ids = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that runs a test for each row, named as ``parametrize`` names them.

    A row is a value, or a tuple of values where there are several names, or a ``pytest.param``;
    of its marks only ``skip`` is known, which stands for a table whose data is not here. Raises
    ValueError for a table without rows (such a test would protect nothing), for a row of another
    width and for one with another mark.
    """
    keys = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    keys = [key for key in keys if key]
    single = isinstance(names, str) and "," not in names
    table = [_row(row, single, len(keys)) for row in rows]
    ids = ids if ids is None or callable(ids) else list(ids)
    if not table:
        raise ValueError(f"no rows for {names}")
    labels = [_label(name, values, ids, number) for number, (name, values, _) in enumerate(table)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        nested = "subtests" in signature.parameters  # another table below this one
        shared = [p for key, p in signature.parameters.items() if key not in (*keys, "subtests")]

        @functools.wraps(test)
        def run(*args: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for number, (label, (_, values, absent)) in enumerate(zip(labels, table, strict=True)):
                with subtests.test(label), _fresh(fixtures, number) as own:
                    if absent:
                        pytest.skip(absent)
                    if nested:
                        own["subtests"] = subtests
                    test(*args, **own, **dict(zip(keys, values, strict=True)))

        asked = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = signature.replace(parameters=[*shared, asked])  # type: ignore[attr-defined]
        return run

    return decorate


@contextmanager
def _fresh(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Yield the fixtures for one row: the folder and the patches are its own."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / f"row{number}"
        own["tmp_path"].mkdir()
    if "monkeypatch" not in own:
        yield own
        return
    with pytest.MonkeyPatch.context() as own["monkeypatch"]:
        yield own


def _row(row: Any, single: bool, width: int) -> tuple[str | None, tuple[Any, ...], str]:
    """Return (id, values, why it is skipped or nothing) of a row."""
    name, reason = None, ""
    if hasattr(row, "values") and hasattr(row, "marks"):  # a pytest.param
        for mark in row.marks:
            if mark.name != "skip":
                raise ValueError("a row with a mark needs pytest.mark.parametrize")
            reason = mark.kwargs["reason"]
        name, row = row.id, row.values[0] if single else row.values
    values = (row,) if single else tuple(row)
    if len(values) != width:
        raise ValueError(f"a row of {len(values)} values for {width} names: {row!r}")
    return name, values, reason


def _label(
    name: str | None,
    values: tuple[Any, ...],
    ids: Callable[[Any], object] | list[object] | None,
    number: int,
) -> str:
    if name is not None:
        return str(name)
    if callable(ids):
        return "-".join(str(ids(value)) for value in values)
    if ids is not None:
        return str(ids[number])
    return ", ".join(ascii(value)[:60] for value in values)
