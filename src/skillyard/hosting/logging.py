"""One line for each request and each event on standard error: never a token, a body or a query."""

from __future__ import annotations

import json
import logging
import sys
import time
from threading import Lock
from typing import Any, TextIO

from skillyard.text import clean_line

__all__ = ["Log", "ServerHandler"]


class Log:
    """Writes lines. A stream that cannot be written any more is let be."""

    def __init__(self, form: str = "json", stream: TextIO | None = None) -> None:
        self.form = form
        self._stream = sys.stderr if stream is None else stream
        self._lock = Lock()

    def write(self, event: str, level: str = "info", **facts: Any) -> None:
        """Write one event with its facts."""
        if self.form == "none":
            return
        line = self._json(event, level, facts) if self.form == "json" else _text(event, facts)
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                pass  # nobody reads the log any more: that is no reason to stop answering

    def _json(self, event: str, level: str, facts: dict[str, Any]) -> str:
        now = time.time()
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
        return json.dumps({"time": when, "level": level, "event": event, **facts})


def _text(event: str, facts: dict[str, Any]) -> str:
    said = " ".join(f"{name}={clean_line(str(value))}" for name, value in facts.items())
    return f"skillyard {event} {said}".rstrip()


class ServerHandler(logging.Handler):
    """Hands what the server library says to our log."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; of an exception its kind only."""
        facts: dict[str, Any] = {"message": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            facts["error"] = record.exc_info[0].__name__
        self._log.write("server", record.levelname.lower(), **facts)
