"""``python -m skillyard_testkit.fake_llm``: both APIs as a process of their own, to try things."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from threading import Event
from typing import TextIO

from skillyard.errors import InvalidInput
from skillyard_testkit.fake_llm.faults import NAMED
from skillyard_testkit.fake_llm.judge import BEHAVIOURS
from skillyard_testkit.fake_llm.server import FakeLlm

__all__ = ["serve"]


def serve(
    arguments: Sequence[str],
    out: TextIO,
    error: TextIO,
    stop: Event,
    prog: str = "python -m skillyard_testkit.fake_llm",
) -> int:
    """Serve until ``stop`` is set, and return the exit code: 0, or 2 for a wrong argument.

    ``ANTHROPIC_BASE_URL`` and ``OPENAI_BASE_URL`` are written to ``out``, one ``KEY=VALUE`` a line.
    """
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Stands in for model providers, on this machine only. Its replies are made up:"
        " they say nothing about any model or skill. Any text will do as a key.",
        epilog=f"faults: {', '.join(NAMED)}",
    )
    parser.add_argument(
        "--behaviour",
        choices=list(BEHAVIOURS),
        default="honest",
        help="how it judges (default: honest)",
    )
    parser.add_argument(
        "--latency-ms", metavar="MS", type=float, default=0.0, help="wait before every answer"
    )
    parser.add_argument(
        "--fault",
        metavar="NAME[=TIMES]",
        action="append",
        default=[],
        help="fail the next request so, or the next TIMES, 'always' for all; may be repeated",
    )
    options = parser.parse_args(arguments)
    try:
        fake = FakeLlm(behaviour=options.behaviour, latency_s=options.latency_ms / 1000)
    except InvalidInput as wrong:
        error.write(f"{wrong}\n")
        return 2
    try:
        for text in options.fault:
            _add(fake, text)
    except InvalidInput as wrong:
        fake.close()
        error.write(f"{wrong}\n")
        return 2
    with fake:
        out.write(f"ANTHROPIC_BASE_URL={fake.url}\nOPENAI_BASE_URL={fake.openai_url}\n")
        out.flush()
        stop.wait()
    return 0


def _add(fake: FakeLlm, text: str) -> None:
    """Add a fault as it was written on the command line. Raises InvalidInput."""
    name, _, count = text.partition("=")
    if name not in NAMED:
        raise InvalidInput(f"no fault {name!r}; known: {', '.join(NAMED)}")
    if count == "always":
        fake.faults.add(NAMED[name](), times=None)
    elif not count or count.isdecimal():
        fake.faults.add(NAMED[name](), times=int(count or 1))
    else:
        raise InvalidInput(f"{text}: write {name}, {name}=3 or {name}=always")


def main() -> int:
    """Serve with this process's arguments until it is interrupted or told to end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return serve(sys.argv[1:], sys.stdout, sys.stderr, Event())
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
