"""The log of a service on standard error: JSON lines, or lines for a person.

No line contains a token. Bodies and queries are not written; only the message of an unexpected
exception may quote them.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, TextIO

from skillyard.base.errors import SkillyardError
from skillyard.base.invisible import clean
from skillyard.base.text import clean_line, plural, shorten, without_secrets
from skillyard.hosts.decisions.files import moment

MESSAGE_CHARS = 2_000
TRACE_CHARS = 16_000
STDIO = "standard input and output"
"""The address of a service on standard input and output."""
CAUSE_CHARS = 200
MAX_CHAIN = 5
"""Maximum number of exceptions of one chain that are logged."""
THROTTLE_S = 10.0
"""Seconds within which events of one cause are combined into one line with their number."""


class Log:
    """Writes one line per event. Errors of the stream are ignored.

    ``form`` is ``json``, ``text``, or ``none``: only errors, as text.
    """

    def __init__(
        self,
        form: str = "json",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.form = form
        self._clock = clock
        self._causes: dict[tuple[str, str], tuple[float, int]] = {}
        """When an event was last written, by its kind and cause, and how many came since."""
        self._stream = sys.stderr if stream is None else stream
        self._lock = Lock()
        self._secrets: tuple[str, ...] = ()
        self._url = ""

    def hide(self, *secrets: str) -> None:
        """Replace these texts by ``***`` from now on; empty ones are ignored."""
        self._secrets += tuple(filter(None, secrets))

    def write(self, event: str, level: str = "info", **facts: Any) -> None:
        """Write one event with its facts. ``level`` is info, warning or error."""
        if self.form == "none" and level != "error":
            return
        facts = {name: self._safe(value) for name, value in facts.items()}
        line = _json(event, level, facts) if self.form == "json" else self._text(event, facts)
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                pass  # nobody reads the log any more

    def write_throttled(
        self, event: str, code: str, level: str = "warning", /, **facts: Any
    ) -> None:
        """Write an event that may occur a thousand times a second: one line per cause and interval.

        Further ones within :data:`THROTTLE_S` are counted; the next line has their number with its
        own, ``times``.
        """
        now = self._clock()
        with self._lock:
            since, times = self._causes.get((event, code), (-THROTTLE_S, 0))
            if now - since < THROTTLE_S:
                self._causes[event, code] = since, times + 1
                return
            self._causes[event, code] = now, 0
        if times:
            facts["times"] = times + 1
        self.write(event, level, code=code, **facts)

    def flush(self) -> None:
        """Write the numbers of the events that were counted."""
        with self._lock:
            counted, self._causes = self._causes, {}
        for (event, code), (_, times) in counted.items():
            if times:
                self.write(event, "warning", code=code, times=times)

    def write_refusal(
        self,
        code: str,
        message: str,
        *,
        status: int,
        cause: BaseException | None = None,
        **facts: Any,
    ) -> None:
        """Write a refused request with its cause.

        The level is error from ``status`` 500 on, else warning.
        """
        facts |= {"status": status, "code": code, "message": shorten(message, MESSAGE_CHARS)}
        if cause is not None:
            facts |= _exception_facts(cause)
            if status >= 500 and not isinstance(cause, SkillyardError | OSError):
                facts["traceback"] = _trace(cause)
        self.write("refused", "error" if status >= 500 else "warning", **facts)

    def write_failure(self, error: BaseException, **facts: Any) -> None:
        """Write an unexpected exception with its traceback."""
        facts |= {**_exception_facts(error), "traceback": _trace(error)}
        self.write("failure", "error", **facts)

    def _safe(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for secret in self._secrets:
            value = value.replace(secret, "***")
        return without_secrets(value)

    def _text(self, event: str, facts: Mapping[str, Any]) -> str:
        """Return an event as text for a person; one with unexpected facts as their list."""
        try:
            return self._start(event, facts) or _lines(_SENTENCES[event](facts), facts)
        except (AttributeError, KeyError, TypeError, ValueError):
            names = [f"{name}={value}" for name, value in facts.items() if name != "traceback"]
            return _lines(" ".join((event, *names)), facts)

    def _start(self, event: str, facts: Mapping[str, Any]) -> str:
        """Return what a person reads when the service starts; empty for later events."""
        if event == "listening":
            # An address for all interfaces cannot be opened in a browser.
            self._url = re.sub(r"//(0\.0\.0\.0|\[::\]):", "//localhost:", facts["url"])
            return f"Reading the skills in {clean_line(facts['library'])} …"
        if event != "catalog" or not self._url:
            return ""
        url, self._url = self._url, ""
        if "skills" in facts:
            how = " over MCP" if url == STDIO or url.endswith("/mcp") else ""
            return f"Serving {plural(facts['skills'], 'skill')}{how} at {url} (Ctrl+C to stop)"
        what = f"The skills cannot be read: {clean_line(facts['error'])}"
        return f"{what}\nServing at {url}, without skills until they can (Ctrl+C to stop)"


def cause_of(error: BaseException) -> BaseException | None:
    """Return the cause of an exception, also a suppressed one."""
    return error.__cause__ or error.__context__


def _exception_facts(error: BaseException) -> dict[str, str]:
    """Return the type of an exception, and the messages of its chain, outermost first."""
    messages: list[str] = []
    each: BaseException | None = error
    while each is not None and len(messages) < MAX_CHAIN:
        name = type(each).__name__
        text = clean_line(str(each))
        messages.append(f"{name}: {text}" if text else name)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return {"error": type(error).__name__, "cause": shorten(" <- ".join(messages), MESSAGE_CHARS)}


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-TRACE_CHARS:].rstrip()


def _json(event: str, level: str, facts: Mapping[str, Any]) -> str:
    entry = {"time": moment(time.time()), "level": level, "event": event, **facts}
    return json.dumps(entry, default=str)


def _lines(sentence: str, facts: Mapping[str, Any]) -> str:
    """Return one line with the time, and further lines for an exception."""
    lines = [f"{time.strftime('%H:%M:%S')}  {clean_line(sentence)}"]
    if "cause" in facts and facts.get("status") not in range(500):
        lines.append(f"          {clean_line(str(facts['cause']))}")
    lines += [f"          {clean(line)}" for line in str(facts.get("traceback", "")).splitlines()]
    return "\n".join(lines)


def _refusal(facts: Mapping[str, Any]) -> str:
    what = facts.get("tool") or facts.get("method") or facts.get("route") or ""
    return f"refused {what} {facts['status']} {facts['code']}: {facts['message']}"


def _catalog(facts: Mapping[str, Any]) -> str:
    if "error" in facts:
        return f"the skills cannot be read: {facts['error']}"
    return f"{plural(facts['skills'], 'skill')} after a change"


def _index(facts: Mapping[str, Any]) -> str:
    left = facts["seconds_left"]
    about = "" if left is None else f", about {left:.0f} s left"
    return f"making the index: {facts['done']:,} of {facts['total']:,} files{about}"


_SENTENCES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "catalog": _catalog,
    "failure": lambda facts: (
        f"failed {facts.get('method') or facts.get('id', '')}: {facts['error']}"
    ),
    "index": _index,
    "refused": _refusal,
    "request": "{method} {route} {status} {ms:.0f} ms".format_map,
    "stopped": "stopped".format_map,
}


class ServerHandler(logging.Handler):
    """Passes records of server libraries to our log."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, with its exception."""
        facts: dict[str, Any] = {"message": record.getMessage()}
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            facts |= {**_exception_facts(error), "traceback": _trace(error)}
        level = "error" if record.levelno >= logging.ERROR else record.levelname.lower()
        # The template, not the message, so that messages with numbers have one cause; asyncio puts
        # times and descriptors into further lines of the template.
        template = str(record.msg).partition("\n")[0]
        cause = f"{record.name}: {shorten(template, CAUSE_CHARS)}"
        self._log.write_throttled("server", cause, level, **facts)


def redirect(log: Log, *names: str) -> None:
    """Send the warnings of libraries to our log only, so that no traceback reaches a terminal.

    Besides the named libraries these are asyncio, and all libraries without a handler.
    """
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, ServerHandler)]:
        root.removeHandler(handler)
    if not root.handlers:  # otherwise Python writes warnings to standard error
        root.addHandler(ServerHandler(log))
    for name in ("asyncio", *names):
        logger = logging.getLogger(name)
        logger.handlers = [ServerHandler(log)]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
