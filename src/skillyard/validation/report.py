"""Renders diagnostics as text, JSON, SARIF and GitHub workflow commands.

Messages quote untrusted files. In text and GitHub output control characters are escaped, and each
finding is one line. JSON and SARIF escape everything beyond ASCII.
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
from skillyard.shapes.checks import Report
from skillyard.shapes.encoder import encode
from skillyard.text import clean_line, plural
from skillyard.validation.codes import RULES, RuleText

__all__ = ["FORMATS", "as_sarif", "counts", "render"]

_SEVERITIES = ("error", "warning", "info")
_COLORS = {"error": "31", "warning": "33", "info": "36"}
_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_Rules = Mapping[str, RuleText]


def render(
    diagnostics: Iterable[Diagnostic],
    format: str,
    *,
    color: bool = False,
    rules: Mapping[str, RuleText] = RULES,
) -> str:
    """Return the diagnostics as one text that ends with a line feed. The order is unchanged.

    ``format`` is ``text``, ``json``, ``sarif`` (2.1.0) or ``github`` (workflow commands, empty
    without diagnostics). ``color`` adds terminal colours to ``text``. ``rules`` describes the
    codes, for SARIF. Raises UnknownName.
    """
    if format not in FORMATS:
        raise UnknownName("report format", format, FORMATS)
    return FORMATS[format](list(diagnostics), color, rules)


def counts(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """Return the number of findings of each severity, and the number of files."""
    diagnostics_list = list(diagnostics)
    diagnostic = Counter(each.severity for each in diagnostics_list)
    number = {severity: diagnostic[severity] for severity in _SEVERITIES}
    return number | {"files": len({each.path for each in diagnostics_list})}


def _as_text(diagnostics: Sequence[Diagnostic], color: bool, rules: _Rules) -> str:
    if not diagnostics:
        return "no findings\n"
    blocks = [
        "\n".join(_text_lines(each, color) for each in group)
        for _, group in groupby(diagnostics, key=lambda each: each.path)
    ]
    return "\n\n".join(blocks) + f"\n\n{_summary(diagnostics)}\n"


def _text_lines(diagnostic: Diagnostic, color: bool) -> str:
    place = clean_line(diagnostic.path)
    if diagnostic.line is not None:
        place += f":{diagnostic.line}"
        if diagnostic.column is not None:
            place += f":{diagnostic.column}"
    severity = _paint(diagnostic.severity, _COLORS.get(diagnostic.severity, "0"), color)
    line = f"{place}: {severity} {diagnostic.code} {clean_line(diagnostic.message)}"
    hint = clean_line(diagnostic.hint)
    return f"{line}\n    hint: {hint}" if hint else line


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def _summary(diagnostics: Sequence[Diagnostic]) -> str:
    number = counts(diagnostics)
    parts = [plural(number["error"], "error"), plural(number["warning"], "warning")]
    if number["info"]:
        parts.append(plural(number["info"], "note"))
    return f"{', '.join(parts)} in {plural(number['files'], 'file')}"


def _as_json(diagnostics: Sequence[Diagnostic], color: bool, rules: _Rules) -> str:
    documents = tuple(each.document() for each in diagnostics)
    return _json(encode(Report(diagnostics=documents, counts=counts(diagnostics))))


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _as_sarif(diagnostics: Sequence[Diagnostic], color: bool, rules: _Rules) -> str:
    return as_sarif(diagnostics, rules)


def as_sarif(
    diagnostics: Sequence[Diagnostic],
    rules: _Rules,
    suppressed: Sequence[tuple[Diagnostic, str]] = (),
) -> str:
    """Return the diagnostics as SARIF 2.1.0, then those that are accepted, with their reasons.

    The latter have a member ``suppressions`` (§3.35), which is empty in the others then: in one run
    all results have it or none (§3.27.23).
    """
    codes = sorted({each.code for each in [*diagnostics, *(each for each, _ in suppressed)]})
    index = {code: number for number, code in enumerate(codes)}
    results = [_sarif_result(each, index[each.code]) for each in diagnostics]
    if suppressed:
        results = [result | {"suppressions": []} for result in results]
    for each, reason in suppressed:
        suppression = {
            "kind": "external",
            "status": "accepted",
            "justification": clean_line(reason),
        }
        results.append(_sarif_result(each, index[each.code]) | {"suppressions": [suppression]})
    driver = {"name": "skillyard", "rules": [_sarif_rule(code, rules) for code in codes]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return _json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(code: str, rules: _Rules) -> dict[str, Any]:
    rule_text = rules.get(code)
    if rule_text is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": rule_text.title},
        "help": {"text": rule_text.hint},
        "properties": {"source": rule_text.source},
    }


def _sarif_result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    # A region is optional in the format, but code-scanning services want one: the first line.
    region = {"startLine": max(1, diagnostic.line or 1)}
    if diagnostic.column is not None:
        region["startColumn"] = max(1, diagnostic.column)
    text = f"{diagnostic.message} ({diagnostic.hint})" if diagnostic.hint else diagnostic.message
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVELS.get(diagnostic.severity, "none"),
        "message": {"text": clean_line(text)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": file_uri(diagnostic.path)},
                    "region": region,
                }
            }
        ],
    }


def _as_github(diagnostics: Sequence[Diagnostic], color: bool, rules: _Rules) -> str:
    return "".join(f"{_github_command(each)}\n" for each in diagnostics)


def _github_command(diagnostic: Diagnostic) -> str:
    properties = {"file": clean_line(diagnostic.path)}
    if diagnostic.line is not None:
        properties["line"] = str(diagnostic.line)
        if diagnostic.column is not None:
            properties["col"] = str(diagnostic.column)
    properties["title"] = diagnostic.code
    properties_text = ",".join(
        f"{key}={_github_property(value)}" for key, value in properties.items()
    )
    text = f"{diagnostic.message} ({diagnostic.hint})" if diagnostic.hint else diagnostic.message
    command = _GITHUB_COMMANDS.get(diagnostic.severity, "notice")
    return f"::{command} {properties_text}::{_github_data(clean_line(text))}"


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Sequence[Diagnostic], bool, _Rules], str]] = MappingProxyType(
    {"text": _as_text, "json": _as_json, "sarif": _as_sarif, "github": _as_github}
)
"""Format name -> function of (diagnostics, color, rules)."""
