"""Progress of an evaluation: cases, requests, rate, money and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.pace import duration
from skillyard.cli.progress import progress

if TYPE_CHECKING:
    from skillyard.evals.layers.runner import Step

__all__ = ["eval_progress", "remark"]


@contextmanager
def eval_progress(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[Step], None]]:
    """Yield a function that keeps the line up to date; it does nothing without a terminal."""
    began = clock()
    with progress("evaluating", console, clock) as step:

        def tell(now: Step) -> None:
            if step is not None:
                step(now.done, now.total, remark(now, clock() - began))

        yield tell


def remark(now: Step, elapsed_s: float) -> str:
    """Return the text after the bar: rate, money if any was spent, time left."""
    if elapsed_s <= 0 or not now.done:
        return ""
    rate = now.done / elapsed_s
    left = (now.total - now.done) / rate
    money = f", ${now.cost:.2f}" if now.cost else ""
    calls = f", {now.calls:,} requests" if now.calls else ""
    return f"{rate:.1f} cases/s{calls}{money}, {duration(left)} left"
