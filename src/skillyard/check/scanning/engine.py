"""Scans the files of a skill with all rules.

The work is linear in the size of the files: the words of a file are collected once, a rule's
patterns run only where their words occur, and every pattern has bounded repetitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import NamedTuple

from skillyard.base.io.files import sha256
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
_SENT_UNQUOTED = replace(_SENT, quotable=False)
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
    read = [each for each in documents if each is not None]
    skill = next((each for each in read if each.path.lower() == "skill.md"), None)
    later = {id(of): hits for of, hits in secrets_sent_later(read, _SENT.patterns)}
    findings: list[ScanFinding] = []
    for each, document in zip(listed, documents, strict=True):
        if document is None:
            hits = _hits_of_file(each)
        else:
            hits = chain(_hits(document), _sent_later(later.get(id(document), ())))
        findings += _findings(each, document, hits, skill)
    return sorted(findings, key=lambda each: (each.path, each.line, each.rule))


def _document(file: SkillFile, publisher: str) -> Document | None:
    text = None if file.data is None else text_of(file.path, file.data)
    return None if text is None else Document(file.path, text, publisher)


_Hits = Iterator[tuple[Rule, RuleHit]]


def _hits_of_file(file: SkillFile) -> _Hits:
    """Yield what is said of a file that is not scanned as text."""
    if file.link:
        note = file.problem or f"it leads to {file.link}"
        yield _LINK, RuleHit(0, 0, LOW if file.problem else "", note)
    elif is_compiled(file.start if file.data is None else file.data):
        yield _COMPILED, RuleHit(0, 0)
    elif file.data is None:
        yield _NOT_SCANNED, RuleHit(0, 0, unscanned_severity(file), file.problem)


def _hits(document: Document) -> _Hits:
    """Yield the hits of all rules in a document, and in what is encoded or hidden in it."""
    for rule in RULES:
        for hit in rule.find(document, rule.patterns):
            if not (rule.quotable and is_negated(document, hit.start)):
                yield rule, hit
    for number, (hit, text) in enumerate(hidden.decoded_texts(document)):
        if number == _MAX_ENCODED:
            note = f"it has more than {_MAX_ENCODED:,} encoded texts"
            yield _NOT_SCANNED, hit._replace(severity=MEDIUM, note=note)
            break
        inner, is_harm = _worst(text), hidden.encoded_harm(text)
        if inner is not None or is_harm:
            note = f"it says: {shorten(clean_line(text), _SHOWN_CHARS)}"
            severity = HIGH if inner == HIGH or is_harm else MEDIUM
            yield _ENCODED, hit._replace(severity=severity, note=note)
    for hit, text in hidden.comments(document):
        inner = _worst(text)
        if inner is not None or hidden.addresses_agent(text):
            # A template's comments are read where they are written; in prose they are out of sight.
            is_note = document.kind == DATA and document.text.startswith("<!--", hit.start)
            severity = HIGH if inner == HIGH or not (inner or is_note) else MEDIUM
            yield _COMMENT, hit._replace(severity=severity)


def _sent_later(hits: Iterable[RuleHit]) -> _Hits:
    """Yield hits until more are high than are reported: scripts may have any number.

    No text is believed to quote more than :data:`_MAX_QUOTED`, so quoted ones in front hide none.
    """
    for number, hit in enumerate(islice(hits, _MAX_QUOTED + _MAX_PER_RULE + 1)):
        yield (_SENT if number < _MAX_QUOTED else _SENT_UNQUOTED), hit


def _worst(text: str) -> str | None:
    """Return the highest severity of the patterns' hits in a text that was encoded or hidden."""
    document = Document("text.md", text.encode("utf-8", "replace"))
    severities = {
        hit.severity or rule.severity
        for rule in RULES
        for hit in rule.find(document, rule.patterns)
    }
    return next((severity for severity in SEVERITIES[:2] if severity in severities), None)


def _severity(rule: Rule, hit: RuleHit, document: Document | None, skill: Document | None) -> str:
    severity = hit.severity or rule.severity
    if severity != HIGH or not rule.quotable or document is None:
        return severity
    subject = subject_of("" if skill is None else skill.parts[0])
    quoted = is_quoted(document, hit.start, hit.end, subject=subject, phrase=rule.phrase)
    return MEDIUM if quoted else HIGH


def _findings(
    file: SkillFile, document: Document | None, hits: _Hits, skill: Document | None
) -> Iterator[ScanFinding]:
    """Yield one finding for each rule and line, the severest one, and a bounded number a rule."""
    # Without content the path stands for it, so that one accepted file does not stand for others.
    unread = f"{file.path}\n{file.digest or file.link or file.problem}".encode()
    content = unread if file.data is None else file.data
    digest = ""
    places: dict[tuple[str, int], ScanFinding] = {}
    for rule, hit in hits:
        severity = _severity(rule, hit, document, skill)
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
    ordered = sorted(
        places.values(), key=lambda each: (each.rule, SEVERITIES.index(each.severity), each.line)
    )
    for _, of_rule in groupby(ordered, key=lambda each: each.rule):
        yield from _bounded(list(of_rule))


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
