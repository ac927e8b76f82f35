"""Diagnostics as text for people, and as JSON, SARIF and GitHub commands for programs.

Messages quote untrusted files. Text and GitHub output hold no control character of theirs, and
each finding stays on its own line; JSON and SARIF escape everything beyond ASCII.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

from skillyard.errors import Diagnostic, UnknownName
from skillyard.io.paths import file_uri
from skillyard.text import clean_line, plural
from skillyard.validation.catalogue import RULES

__all__ = ["FORMATS", "counts", "render"]

_SEVERITIES = ("error", "warning", "info")
_COLORS = {"error": "31", "warning": "33", "info": "36"}
_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(diagnostics: Iterable[Diagnostic], format: str, *, color: bool = False) -> str:
    """Return the diagnostics as one text that ends with a line feed, in the order given.

    ``format``: ``text``, ``json``, ``sarif`` (2.1.0) or ``github`` (workflow commands; empty when
    there is nothing to say). ``color`` puts terminal colours into ``text``. Raises UnknownName.
    """
    if format not in FORMATS:
        raise UnknownName("report format", format, FORMATS)
    return FORMATS[format](list(diagnostics), color)


def counts(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """Return how many findings there are of each severity, and in how many files."""
    listed = list(diagnostics)
    found = Counter(each.severity for each in listed)
    number = {severity: found[severity] for severity in _SEVERITIES}
    return number | {"files": len({each.path for each in listed})}


def _as_text(diagnostics: Sequence[Diagnostic], color: bool) -> str:
    if not diagnostics:
        return "no findings\n"
    blocks = [
        "\n".join(_text_lines(each, color) for each in group)
        for _, group in groupby(diagnostics, key=lambda each: each.path)
    ]
    return "\n\n".join(blocks) + f"\n\n{_summary(diagnostics)}\n"


def _text_lines(found: Diagnostic, color: bool) -> str:
    place = clean_line(found.path)
    if found.line is not None:
        place += f":{found.line}"
        if found.column is not None:
            place += f":{found.column}"
    severity = _colored(found.severity, _COLORS.get(found.severity, "0"), color)
    line = f"{place}: {severity} {found.code} {clean_line(found.message)}"
    hint = clean_line(found.hint)
    return f"{line}\n    hint: {hint}" if hint else line


def _colored(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def _summary(diagnostics: Sequence[Diagnostic]) -> str:
    number = counts(diagnostics)
    parts = [plural(number["error"], "error"), plural(number["warning"], "warning")]
    if number["info"]:
        parts.append(plural(number["info"], "note"))
    return f"{', '.join(parts)} in {plural(number['files'], 'file')}"


def _as_json(diagnostics: Sequence[Diagnostic], color: bool) -> str:
    return _json(
        {
            "schema": "skillyard.check/1",
            "diagnostics": [each.to_dict() for each in diagnostics],
            "counts": counts(diagnostics),
        }
    )


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _as_sarif(diagnostics: Sequence[Diagnostic], color: bool) -> str:
    codes = sorted({each.code for each in diagnostics})
    index = {code: number for number, code in enumerate(codes)}
    run = {
        "tool": {"driver": {"name": "skillyard", "rules": [_sarif_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, index[each.code]) for each in diagnostics],
    }
    return _json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(code: str) -> dict[str, Any]:
    known = RULES.get(code)
    if known is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": known.title},
        "help": {"text": known.hint},
        "properties": {"source": known.source},
    }


def _sarif_result(found: Diagnostic, rule: int) -> dict[str, Any]:
    # A region is optional in the format, but code-scanning services want one: the first line.
    region = {"startLine": max(1, found.line or 1)}
    if found.column is not None:
        region["startColumn"] = max(1, found.column)
    text = f"{found.message} ({found.hint})" if found.hint else found.message
    return {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVELS.get(found.severity, "none"),
        "message": {"text": clean_line(text)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": file_uri(found.path)},
                    "region": region,
                }
            }
        ],
    }


def _as_github(diagnostics: Sequence[Diagnostic], color: bool) -> str:
    return "".join(f"{_github_command(each)}\n" for each in diagnostics)


def _github_command(found: Diagnostic) -> str:
    properties = {"file": clean_line(found.path)}
    if found.line is not None:
        properties["line"] = str(found.line)
        if found.column is not None:
            properties["col"] = str(found.column)
    properties["title"] = found.code
    listed = ",".join(f"{key}={_github_property(value)}" for key, value in properties.items())
    text = f"{found.message} ({found.hint})" if found.hint else found.message
    command = _GITHUB_COMMANDS.get(found.severity, "notice")
    return f"::{command} {listed}::{_github_data(clean_line(text))}"


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Sequence[Diagnostic], bool], str]] = MappingProxyType(
    {"text": _as_text, "json": _as_json, "sarif": _as_sarif, "github": _as_github}
)
"""Format name -> function of the diagnostics and of whether colours are wanted."""
