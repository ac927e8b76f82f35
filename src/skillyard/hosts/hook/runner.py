"""Runs the hook once: reads the payload, and prints the answer. Errors are logged, never raised."""

from __future__ import annotations

import os
import sys

from skillyard.hosts.hook.answer import context_text, render_output
from skillyard.hosts.hook.choice import HookOptions, choose
from skillyard.hosts.hook.journal import log_event
from skillyard.hosts.hook.prompt import (
    BadPayload,
    BudgetExceeded,
    PromptBudget,
    parse_payload,
    read_input,
)
from skillyard.hosts.hook.session import recall, remember


def run(host: str, options: HookOptions) -> int:
    """Read one prompt from standard input and print the answer. Always returns exit code 0."""
    try:
        budget = PromptBudget(options.budget_ms)
        _print(answer(host, options, budget))
        if "skillyard.hosts.hook.timed_selection" in sys.modules:
            from skillyard.hosts.hook.timed_selection import end_process_beside_thread

            end_process_beside_thread()
    except KeyboardInterrupt:
        pass
    return 0


def answer(host: str, options: HookOptions, budget: PromptBudget, data: bytes | None = None) -> str:
    """Return the output for a payload, that of standard input if None. Errors are logged.

    An answer that exceeds the time limit is discarded.
    """
    try:
        prompt = parse_payload(read_input(budget) if data is None else data)
        before = recall(prompt.session)
        offer, memory = choose(host, prompt, options, budget, before)
        text = "" if offer is None else render_output(context_text(offer, options.max_chars))
        if prompt.session and memory != before:
            remember(prompt.session, memory)
        return text
    except BadPayload as error:
        log_event(host, "bad_input", str(error))
    except BudgetExceeded as error:
        log_event(host, "breach", str(error))
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


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):  # the host has closed the pipe
        os._exit(0)  # the interpreter would flush it again, and fail
