"""One run of the hook: bytes in, an answer or nothing out, and no error whatever comes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import monotonic

from skillyard.hook.answer import context_text, rendered
from skillyard.hook.budget import DEFAULT_MS, Breach, Budget
from skillyard.hook.choosing import Wishes, choose
from skillyard.hook.journal import note
from skillyard.hook.payload import MOST_BYTES, BadPayload, read_payload
from skillyard.io.pipes import read_within

__all__ = ["NO_WISHES", "Wishes", "answer", "read_input", "run", "write_output"]

NO_WISHES = Wishes()
_CHUNK = 1 << 16
_MOST_DRAINED = 64 * 1024 * 1024


def answer(
    host: str,
    read: Callable[[Budget], bytes],
    wishes: Wishes = NO_WISHES,
    *,
    budget_ms: int = DEFAULT_MS,
    clock: Callable[[], float] = monotonic,
) -> str:
    """Return what to print for what ``read`` brings. Never raises; a failure is logged.

    An answer that is ready too late is none.
    """
    try:
        budget = Budget(budget_ms, clock)
        prompt = read_payload(read(budget))
        chosen = choose(host, prompt, wishes, budget)
        if chosen is None:
            return ""
        text = rendered(context_text(chosen, wishes.max_chars))
        budget.check("writing the answer")
        return text
    except BadPayload as error:
        note(host, "bad_input", str(error))
    except Breach as error:
        note(host, "breach", str(error))
    except KeyboardInterrupt:
        pass
    except Exception as error:  # noqa: BLE001 - no bug of ours may hold up a prompt
        note(host, "error", _where(error))
    return ""


def _where(error: BaseException) -> str:
    """Name an error and its place; not its message, which may repeat the prompt."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    file = os.path.basename(trace.tb_frame.f_code.co_filename)
    return f"{type(error).__name__} in {file}:{trace.tb_lineno}"


def read_input(budget: Budget) -> bytes:
    """Return what stands on standard input, a little more than the most that is taken.

    Whoever does not close it in time is not waited for. Raises Breach, OSError.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or no real stream
        stream = getattr(sys.stdin, "buffer", sys.stdin)
        data = b"" if stream is None else stream.read()
        return data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogatepass")
    chunks: list[bytes] = []
    size = 0
    while size <= _MOST_DRAINED:
        chunk = read_within(descriptor, _CHUNK, budget.left_s())
        if chunk is None:
            raise Breach(f"standard input was not closed within {budget.milliseconds} ms")
        if not chunk:
            break
        size += len(chunk)
        if size - len(chunk) <= MOST_BYTES:  # the rest is read so that the host can write it
            chunks.append(chunk)
    return b"".join(chunks)


def write_output(text: str) -> None:
    """Print the answer. Never raises: a host that does not listen has no answer."""
    if not text:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        try:  # what is left in the buffer must not fail again when the process ends
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, sys.stdout.fileno())
            os.close(nothing)
        except (OSError, ValueError, AttributeError):
            pass


def run(host: str, wishes: Wishes = NO_WISHES, *, budget_ms: int = DEFAULT_MS) -> int:
    """Answer one prompt from standard input on standard output; the exit code is always 0."""
    try:
        write_output(answer(host, read_input, wishes, budget_ms=budget_ms))
    except KeyboardInterrupt:
        pass
    return 0
