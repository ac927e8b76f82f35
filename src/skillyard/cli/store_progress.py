"""Progress of a publish: skills, rate and the time that is left.

On a terminal that is one line that changes; elsewhere a line now and then, or with ``--json`` a
JSON document. All of it goes to standard error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillyard.cli.console import Console, complain, is_terminal
from skillyard.cli.pace import Rate, duration
from skillyard.cli.progress import progress
from skillyard.shapes.encoder import encode, from_attributes
from skillyard.shapes.store import StoreProgress

if TYPE_CHECKING:
    from skillyard.store.ingest.work_items import Step

__all__ = ["store_progress"]

INTERVAL_S = 10.0
"""Seconds between two lines without a terminal."""


@contextmanager
def store_progress(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Step], None] | None]:
    """Yield a function that shows the progress of a publish; None with --quiet."""
    if console.quiet or sys.stderr is None:
        yield None
        return
    if is_terminal(sys.stderr):
        with progress("publishing", console, clock) as bar:
            rate = Rate(clock())

            def show(now: Step) -> None:
                if bar is not None:
                    bar(now.done, now.total, _remark(now, rate.update(clock(), now.done)))

            yield show
        return
    yield _lines(console, clock)


def _lines(console: Console, clock: Callable[[], float]) -> Callable[[Step], None]:
    began = clock()
    rate = Rate(began)
    due = began + INTERVAL_S

    def write(now: Step) -> None:
        nonlocal due
        at = clock()
        speed = rate.update(at, now.done)
        if at < due:
            return
        due = at + INTERVAL_S
        if console.json:
            complain(json.dumps(encode(_document(now, speed))))
        else:
            total = "" if now.total is None else f" of {now.total:,}"
            complain(f"{now.done:,}{total} skills, {_remark(now, speed)}")

    return write


def _left_s(now: Step, rate: float) -> float | None:
    if now.total is None or rate <= 0:
        return None
    return max(0, now.total - now.done) / rate


def _remark(now: Step, rate: float) -> str:
    left = _left_s(now, rate)
    parts = [f"{rate:,.0f}/s"]
    parts += [f"{duration(left)} left"] if left is not None else []
    parts += [f"{now.refused:,} refused"] if now.refused else []
    parts += [f"generation {now.generation}"] if now.generation else []
    return ", ".join(parts)


def _document(now: Step, rate: float) -> StoreProgress:
    left = _left_s(now, rate)
    return from_attributes(
        StoreProgress,
        now,
        rate=round(rate, 1),
        seconds_left=None if left is None else round(left, 1),
    )
