"""Read settings files of other programs as untrusted data: JSON, JSON with comments, TOML."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from skillyard.hook.settings_file import SettingsRefused, read_settings

__all__ = ["read_document"]

MAX_BYTES = 64 * 1024 * 1024
"""Claude Code keeps the history of its projects in the file that names its servers."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*.*?(?:\*/|\Z)|\s+|.', re.DOTALL)
"""A string, a comment, blanks, or one other character. No two alternatives share a beginning, so
the time is linear in the text."""
_TOML_LINE = re.compile(r"\(at line (\d+)")


def read_document(path: str, form: str) -> dict[str, Any] | None:
    """Return the content of a settings file, or None when it does not exist.

    ``form`` is ``json``, ``jsonc`` (with comments and trailing commas) or ``toml``. Raises
    SettingsRefused, with the line if known.
    """
    text = read_settings(path, to_change=False, max_bytes=MAX_BYTES).text
    if text is None:
        return None
    text = text.removeprefix("\ufeff")
    try:
        if form == "toml":
            return tomllib.loads(text)
        document = json.loads(_plain_json(text) if form == "jsonc" else text)
    except RecursionError:
        raise SettingsRefused("it is nested too deep", path=path) from None
    except ValueError as error:  # both parsers' errors; json's also for a number too long
        raise SettingsRefused(f"it is not {form.upper()}", path=path, line=_line(error)) from None
    if not isinstance(document, dict):
        raise SettingsRefused("it is not a JSON object", path=path)
    return document


def _plain_json(text: str) -> str:
    """Return JSON with comments as JSON, every value on the line where it was."""
    parts: list[str] = []
    comma: int | None = None
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith(("//", "/*")):
            token = "\n" * token.count("\n") or " "
        if token in ("}", "]") and comma is not None:
            parts[comma] = " "
        if not token.isspace():
            comma = len(parts) if token == "," else None
        parts.append(token)
    return "".join(parts)


def _line(error: ValueError) -> int | None:
    if isinstance(error, json.JSONDecodeError):
        return error.lineno
    named = _TOML_LINE.search(str(error))
    return int(named.group(1)) if named else None
