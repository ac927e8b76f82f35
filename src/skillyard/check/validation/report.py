"""Renders diagnostics as SARIF and as GitHub workflow commands.

Messages quote untrusted files. In GitHub output control characters are escaped, and each finding is
one line. SARIF escapes everything beyond ASCII.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillyard.base.errors import Diagnostic
from skillyard.base.io.files import file_uri
from skillyard.base.text import clean_line
from skillyard.check.validation.codes import RULES, RuleText

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(
    diagnostics: Sequence[Diagnostic],
    rules: Mapping[str, RuleText] = RULES,
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
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _sarif_rule(code: str, rules: Mapping[str, RuleText]) -> dict[str, Any]:
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


def as_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the diagnostics as workflow commands, one a line; empty without any."""
    return "".join(f"{_github_command(each)}\n" for each in diagnostics)


def _github_command(diagnostic: Diagnostic) -> str:
    place = {"file": clean_line(diagnostic.path), "line": diagnostic.line, "col": diagnostic.column}
    properties = ",".join(
        f"{key}={_github_property(str(value))}"
        for key, value in {**place, "title": diagnostic.code}.items()
        if value is not None
    )
    text = f"{diagnostic.message} ({diagnostic.hint})" if diagnostic.hint else diagnostic.message
    command = _GITHUB_COMMANDS.get(diagnostic.severity, "notice")
    return f"::{command} {properties}::{_github_data(clean_line(text))}"


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")
