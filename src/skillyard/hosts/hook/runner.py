"""Runs the hook once: reads the payload, and prints the answer. Errors are logged, never raised."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import monotonic

from skillyard.base.io.platforms import read_within
from skillyard.hosts.hook.answer import context_text, render_output
from skillyard.hosts.hook.budget import Budget, BudgetExceeded
from skillyard.hosts.hook.choice import HookOptions, choose
from skillyard.hosts.hook.journal import log_event
from skillyard.hosts.hook.payload import MAX_BYTES, BadPayload, read_payload

DEFAULT_OPTIONS = HookOptions()
_CHUNK = 1 << 16
_MAX_DRAINED = 64 * 1024 * 1024


def answer(
    host: str,
    read: Callable[[Budget], bytes],
    options: HookOptions = DEFAULT_OPTIONS,
    *,
    clock: Callable[[], float] = monotonic,
) -> str:
    """Return the output for the payload from ``read``. Never raises; errors are logged.

    An answer that exceeds the time limit is discarded.
    """
    try:
        budget = Budget(options.budget_ms, clock)
        prompt = read_payload(read(budget))
        offer = choose(host, prompt, options, budget)
        if offer is None:
            return ""
        text = render_output(context_text(offer, options.max_chars))
        budget.check("writing the answer")
        return text
    except BadPayload as error:
        log_event(host, "bad_input", str(error))
    except BudgetExceeded as error:
        log_event(host, "breach", str(error))
    except KeyboardInterrupt:
        pass
    except Exception as error:  # noqa: BLE001 - a bug must not block a prompt
        log_event(host, "error", _where(error))
    return ""


def _where(error: BaseException) -> str:
    """Return the type and place of an error. Its message is left out: it may quote the prompt."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    file = os.path.basename(trace.tb_frame.f_code.co_filename)
    return f"{type(error).__name__} in {file}:{trace.tb_lineno}"


def read_input(budget: Budget) -> bytes:
    """Return the bytes from standard input, up to slightly more than the accepted size.

    Raises BudgetExceeded when standard input is not closed in time, and OSError.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or not a file
        stream = getattr(sys.stdin, "buffer", sys.stdin)
        data = b"" if stream is None else stream.read()
        return data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogatepass")
    chunks: list[bytes] = []
    size = 0
    while size <= _MAX_DRAINED:
        chunk = read_within(descriptor, _CHUNK, budget.remaining_s())
        if chunk is None:
            raise BudgetExceeded(f"standard input was not closed within {budget.milliseconds} ms")
        if not chunk:
            break
        size += len(chunk)
        if size - len(chunk) <= MAX_BYTES:  # the rest is read too, so that the host is not blocked
            chunks.append(chunk)
    return b"".join(chunks)


def write_output(text: str) -> None:
    """Print the answer. Never raises, even when the host has closed the pipe."""
    if not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        try:  # so that flushing the buffer at exit does not fail again
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, sys.stdout.fileno())
            os.close(nothing)
        except (OSError, ValueError, AttributeError):
            pass


def run(host: str, options: HookOptions = DEFAULT_OPTIONS) -> int:
    """Read one prompt from standard input and print the answer. Always returns exit code 0."""
    try:
        write_output(answer(host, read_input, options))
        if "skillyard.hosts.hook.timed_selection" in sys.modules:
            from skillyard.hosts.hook.timed_selection import end_process_beside_thread

            end_process_beside_thread()
    except KeyboardInterrupt:
        pass
    return 0
