"""Scans the files of a skill with all rules.

The work is linear in the size of the files: the words of a file are collected once, a rule's
patterns run only where their words occur, and every pattern has bounded repetitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import NamedTuple

from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes.details import ScanFinding
from skillyard.base.text import clean_line, plural, shorten
from skillyard.check.scanning import hidden
from skillyard.check.scanning.commands import secrets_sent_later
from skillyard.check.scanning.context import is_negated, is_quoted, subject_of
from skillyard.check.scanning.document import DATA, Document
from skillyard.check.scanning.files import SkillFile, is_compiled, text_of, unscanned_severity
from skillyard.check.scanning.rule import HIGH, LOW, MEDIUM, SEVERITIES, Rule, RuleHit
from skillyard.check.scanning.rules import RULES, RULES_BY_ID


class Accepted(NamedTuple):
    """One rule that does not apply to files of one content."""

    rule: str
    digest: str
    """``sha256:…`` of the file."""
    reason: str


def without_accepted(
    findings: Iterable[ScanFinding],
    accepted: Iterable[Accepted],
    reasons: Mapping[str, str] | None = None,
) -> tuple[list[ScanFinding], list[tuple[ScanFinding, Accepted]]]:
    """Return the findings that are not accepted, and those that are with their entries.

    ``reasons`` accept all findings of a rule from now on.
    """
    entries = {(each.rule, each.digest): each for each in accepted}
    left: list[ScanFinding] = []
    taken: list[tuple[ScanFinding, Accepted]] = []
    for finding in findings:
        rule, digest = finding.rule, finding.digest
        entry = entries.get((rule, digest))
        if entry is None and reasons and rule in reasons:
            entry = Accepted(rule, digest, reasons[rule])
        if entry is None:
            left.append(finding)
        else:
            taken.append((finding, entry))
    return left, taken


_COMPILED = RULES_BY_ID["compiled_program"]
_LINK = RULES_BY_ID["link_outside"]
_NOT_SCANNED = RULES_BY_ID["not_scanned"]
_ENCODED = RULES_BY_ID["encoded_command"]
_SENT = RULES_BY_ID["secrets_sent"]
_COMMENT = RULES_BY_ID["hidden_instruction"]
_MAX_PER_RULE = 20
"""Findings of one rule in one file that are reported. The number of others is in the last one."""
_MAX_ENCODED = 2_000
"""Encoded texts of one document that are scanned."""
_MAX_QUOTED = 1_000
"""Places of one script that send what another one read, and may be quoted."""
_SHOWN_CHARS = 120


def scan_files(files: Iterable[SkillFile], publisher: str = "") -> list[ScanFinding]:
    """Return the findings in the files of one skill, sorted by path, line and rule.

    ``publisher`` is the owner of the repository that it comes from, or the host of its site. His
    own installers are medium.
    """
    # Two files may have one path here: names are shown without control characters.
    listed = sorted(files, key=lambda each: (each.path, each.link, each.problem, each.data or b""))
    documents = [_document(each, publisher) for each in listed]
    skill = next((d for d in documents if d is not None and d.path.lower() == "skill.md"), None)
    findings: list[ScanFinding] = []
    read = [d for d in documents if d is not None]
    later = {id(of): hits for of, hits in secrets_sent_later(read, _SENT.patterns)}
    for each, document in zip(listed, documents, strict=True):
        if document is None:
            graded = _hits_of_file(each)
        else:
            sinks = later.get(id(document), ())
            graded = chain(_hits(document, skill), _sent_later(sinks, document, skill))
        findings += _findings(each, document, graded)
    return sorted(findings, key=lambda each: (each.path, each.line, each.rule))


def _document(file: SkillFile, publisher: str) -> Document | None:
    text = None if file.data is None else text_of(file.path, file.data)
    return None if text is None else Document(file.path, text, publisher)


class _Graded(NamedTuple):
    rule: Rule
    hit: RuleHit
    severity: str


def _hits_of_file(file: SkillFile) -> Iterator[_Graded]:
    """Yield what is said of a file that is not scanned as text."""
    if file.link:
        note = file.problem or f"it leads to {file.link}"
        yield _Graded(_LINK, RuleHit(0, 0, note=note), LOW if file.problem else _LINK.severity)
    elif is_compiled(file.start if file.data is None else file.data):
        yield _Graded(_COMPILED, RuleHit(0, 0), _COMPILED.severity)
    elif file.data is None:
        yield _Graded(_NOT_SCANNED, RuleHit(0, 0, note=file.problem), unscanned_severity(file))


def _hits(document: Document, skill: Document | None) -> Iterator[_Graded]:
    """Yield the hits of all rules in a document, and in what is encoded or hidden in it."""
    for rule in RULES:
        for hit in rule.hits(document):
            if rule.quotable and is_negated(document, hit.start):
                continue
            yield _Graded(rule, hit, _severity(rule, hit, document, skill))
    for number, (hit, text) in enumerate(hidden.decoded_texts(document)):
        if number == _MAX_ENCODED:
            note = f"it has more than {_MAX_ENCODED:,} encoded texts"
            yield _Graded(_NOT_SCANNED, hit._replace(note=note), MEDIUM)
            break
        inner = _worst(text)
        if inner is not None or hidden.encoded_harm(text):
            note = f"it says: {shorten(clean_line(text), _SHOWN_CHARS)}"
            severity = HIGH if inner == HIGH or hidden.encoded_harm(text) else MEDIUM
            yield _graded(_ENCODED, hit._replace(severity=severity, note=note), document, skill)
    for hit, text in hidden.comments(document):
        inner = _worst(text)
        if inner is not None or hidden.addresses_agent(text):
            # A template's comments are read where they are written; in prose they are out of sight.
            is_note = document.kind == DATA and document.text.startswith("<!--", hit.start)
            severity = HIGH if inner == HIGH or not (inner or is_note) else MEDIUM
            yield _graded(_COMMENT, hit._replace(severity=severity), document, skill)


def _sent_later(
    hits: Iterable[RuleHit], document: Document, skill: Document | None
) -> Iterator[_Graded]:
    """Yield graded hits until more lines are high than are reported: scripts may have any number.

    Lower ones do not count, so that quoted ones in front hide nothing; no text is believed to quote
    more than :data:`_MAX_QUOTED`.
    """
    lines = set()
    for number, hit in enumerate(hits):
        is_believed = number < _MAX_QUOTED
        severity = _severity(_SENT, hit, document, skill) if is_believed else _SENT.severity
        graded = _Graded(_SENT, hit, severity)
        yield graded
        if graded.severity == HIGH:
            lines.add(document.line(hit.start))
            if len(lines) > _MAX_PER_RULE:
                break


def _graded(rule: Rule, hit: RuleHit, document: Document, skill: Document | None) -> _Graded:
    return _Graded(rule, hit, _severity(rule, hit, document, skill))


def _worst(text: str) -> str | None:
    """Return the highest severity of the patterns' hits in a text that was encoded or hidden."""
    document = Document("text.md", text.encode("utf-8", "replace"))
    severities = {hit.severity or rule.severity for rule in RULES for hit in rule.hits(document)}
    return next((severity for severity in SEVERITIES[:2] if severity in severities), None)


def _severity(rule: Rule, hit: RuleHit, document: Document, skill: Document | None) -> str:
    severity = hit.severity or rule.severity
    if severity != HIGH or not rule.quotable:
        return severity
    subject = subject_of(skill)
    quoted = is_quoted(document, hit.start, hit.end, subject=subject, phrase=rule.phrase)
    return MEDIUM if quoted else HIGH


def _findings(
    file: SkillFile, document: Document | None, graded: Iterable[_Graded]
) -> Iterator[ScanFinding]:
    """Yield one finding for each rule and line, the severest one, and a bounded number a rule."""
    # Without content the path stands for it, so that one accepted file does not stand for others.
    unread = f"{file.path}\n{file.digest or file.link or file.problem}".encode()
    content = unread if file.data is None else file.data
    digest = ""
    places: dict[tuple[str, int], ScanFinding] = {}
    for rule, hit, severity in graded:
        digest = digest or f"sha256:{sha256(content).hex()}"
        line = 1 if document is None else document.line(hit.start)
        quote = "" if document is None else document.text[hit.start : hit.end]
        message = f"{rule.title}: {hit.note}" if hit.note else rule.title
        finding = ScanFinding(
            rule=rule.id,
            severity=severity,
            path=file.path,
            line=line,
            message=clean_line(message),
            quote=shorten(clean_line(quote), _SHOWN_CHARS),
            fix=rule.fix,
            digest=digest,
        )
        other = places.get((rule.id, line))
        if other is None or SEVERITIES.index(severity) < SEVERITIES.index(other.severity):
            places[rule.id, line] = finding
    for _, of_rule in groupby(sorted(places.values(), key=_by_rule), key=lambda each: each.rule):
        yield from _bounded(list(of_rule))


def _by_rule(finding: ScanFinding) -> tuple[str, int, int]:
    return finding.rule, SEVERITIES.index(finding.severity), finding.line


def _bounded(findings: Sequence[ScanFinding]) -> Sequence[ScanFinding]:
    """Return the severest findings of a rule; the last one says how many more there are."""
    more = len(findings) - _MAX_PER_RULE
    if more <= 0:
        return findings
    shown = list(findings[:_MAX_PER_RULE])
    last = shown[-1]
    shown[-1] = replace(
        last, message=f"{last.message} ({plural(more, 'more finding')} of this rule)"
    )
    return shown
