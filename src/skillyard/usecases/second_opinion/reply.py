"""Reads the reply of a second reader, which is as little trusted as the files that it read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from skillyard.evals.judgement.replies import sole_object
from skillyard.scanning import SEVERITIES, Finding
from skillyard.scanning.rules import RULES_BY_ID
from skillyard.text import clean_line, plural, shorten
from skillyard.usecases.second_opinion.prompt import KINDS, OTHER, SkillText

__all__ = ["ReaderReply", "read_reply"]

MAX_REPLY_CHARS = 200_000
MAX_FINDINGS = 50
"""Findings of one reply that are read."""
MIN_QUOTE_CHARS = 4
"""A shorter quote stands in nearly every file."""
_MAX_QUOTE_CHARS = 4_000
_SHOWN_CHARS = 120
_REASON_CHARS = 240
_MEMBERS = ("kind", "severity", "file", "quote", "reason")
_FIX = "read the place yourself: a model says this, no rule"


class ReaderReply(NamedTuple):
    """What one reply says."""

    findings: tuple[Finding, ...] = ()
    dropped: tuple[str, ...] = ()
    """Why findings in it do not count."""
    fault: str = ""
    """Why nothing in it can be used."""


def read_reply(model: str, reply: str, files: Iterable[SkillText]) -> ReaderReply:
    """Return the findings in a reply whose quotes stand in the files. Raises nothing."""
    if len(reply) > MAX_REPLY_CHARS:
        return ReaderReply(fault=f"the reply has more than {MAX_REPLY_CHARS:,} characters")
    value = sole_object(reply)
    listed = value.get("findings") if value is not None and value.keys() == {"findings"} else None
    if not isinstance(listed, list):
        return ReaderReply(fault="the reply is no JSON object with findings and nothing else")
    findings: dict[tuple[str, str, int, str], Finding] = {}
    dropped = []
    by_path: dict[str, list[SkillText]] = {}
    for each in files:
        by_path.setdefault(each.path, []).append(each)
    for number, item in enumerate(listed[:MAX_FINDINGS], 1):
        try:
            finding = _finding(model, item, by_path)
        except ValueError as error:
            dropped.append(f"finding {number}: {error}")
            continue
        place = (finding.path, finding.rule, finding.line, _unified(item["quote"]))
        other = findings.setdefault(place, finding)
        if SEVERITIES.index(finding.severity) < SEVERITIES.index(other.severity):
            findings[place] = finding
    if len(listed) > MAX_FINDINGS:
        more = plural(len(listed) - MAX_FINDINGS, "finding")
        dropped.append(f"{more} beyond the first {MAX_FINDINGS}")
    return ReaderReply(tuple(findings.values()), tuple(dropped))


def _finding(model: str, item: Any, files: dict[str, list[SkillText]]) -> Finding:
    """Return one finding. Raises ValueError with the reason why it does not count."""
    is_whole = isinstance(item, dict) and item.keys() == set(_MEMBERS)
    if not is_whole or not all(isinstance(each, str) for each in item.values()):
        raise ValueError(f"it is no object with the texts {', '.join(_MEMBERS)}")
    kind, severity, path, quote, reason = (item[name] for name in _MEMBERS)
    if kind not in KINDS:
        raise ValueError(f"there is no kind {_quoted(kind)}")
    if severity not in SEVERITIES:
        raise ValueError(f"there is no severity {_quoted(severity)}")
    if path not in files:
        raise ValueError(f"there is no file {_quoted(path)}")
    quote = _unified(quote)
    if not MIN_QUOTE_CHARS <= len(quote) <= _MAX_QUOTE_CHARS:
        raise ValueError(f"a quote has {MIN_QUOTE_CHARS} to {_MAX_QUOTE_CHARS:,} characters")
    file = next((each for each in files[path] if quote in each.text), None)
    if file is None:
        raise ValueError(f"its quote does not stand in {_quoted(path)}")
    text = shorten(clean_line(reason), _REASON_CHARS)
    rule = None if kind == OTHER else RULES_BY_ID[kind]
    return Finding(
        kind,
        severity,
        path,
        file.text.count("\n", 0, file.text.index(quote)) + 1,
        ": ".join(filter(None, (KINDS[kind] if rule or not text else "", text))),
        shorten(clean_line(quote), _SHOWN_CHARS),
        _FIX if rule is None else f"{rule.fix}; {_FIX}",
        file.digest,
        clean_line(model),
    )


def _unified(quote: str) -> str:
    return quote.replace("\r\n", "\n").strip()


def _quoted(text: str) -> str:
    return f"`{shorten(clean_line(text), _SHOWN_CHARS)}`"
