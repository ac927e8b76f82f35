"""Text that people do not see: hidden characters, comments, invisible elements, encoded texts."""

from __future__ import annotations

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Iterator

from skillyard.base.invisible import hidden_runs
from skillyard.base.unicode_tables import BIDI_CONTROL
from skillyard.check.scanning.document import SCRIPT, Document
from skillyard.check.scanning.rule import HIGH, LOW, MEDIUM, Pattern, RuleHit
from skillyard.check.scanning.words import group

_TAG = re.compile("[\U000e0001-\U000e007f\U000e0100-\U000e01ef]")
_BIDI = re.compile(f"[{BIDI_CONTROL}]")
_OVERRIDE = re.compile("[\u202d\u202e\u2066\u2067]")
_ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u3164\u115f\u1160]")
_MESSAGE = 8
"""Zero-width characters in one line that can hold a message. Typing errors leave one or two."""


def hidden_characters(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield one hit for each line with characters that are not seen."""
    if not document.disguised:
        return
    text = document.data.decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")
    by_line: dict[int, list[str]] = defaultdict(list)
    line, position = 1, 0
    for start, end in hidden_runs(text):
        line += text.count("\n", position, start)
        position = start
        by_line[line].append(text[start:end])
    for number, runs in by_line.items():
        severity, note = _grade("".join(runs), document.kind)
        if severity:
            start = document.start_of(number)
            yield RuleHit(start, start, severity, note)


def _grade(hidden: str, kind: str) -> tuple[str, str]:
    tags, zero = len(_TAG.findall(hidden)), len(_ZERO_WIDTH.findall(hidden))
    if tags > 2:
        return HIGH, f"{tags} tag characters or variation selectors spell a text"
    if zero >= _MESSAGE:
        return HIGH, f"{zero} zero-width characters stand in one line"
    if kind == SCRIPT and _OVERRIDE.search(hidden):
        return HIGH, "bidirectional controls reorder code"
    if _OVERRIDE.search(hidden):
        return MEDIUM, "bidirectional controls reorder text"
    return (LOW, "zero-width or direction marks") if zero or _BIDI.search(hidden) else ("", "")


_NOTE = re.compile(
    r"\[(?://|comment|_)\]:\s{1,4}(?:\#|<>)\s{0,4}[(\"']([^\n]{0,1000})[)\"']", re.IGNORECASE
)
"""A link definition that no link uses, at the start of a line."""
_UNSEEN = re.compile(
    r"<[^>\n]{0,200}(?:display\s{0,2}:\s{0,2}none|font-size\s{0,2}:\s{0,2}[01](?![\w.])|font-size\s{0,2}:\s{0,2}[01]p[xt]|color\s{0,2}:\s{0,2}(?:\#fff(?:fff)?|white)\b|visibility\s{0,2}:\s{0,2}hidden|\shidden(?=[\s>=])|opacity\s{0,2}:\s{0,2}0[;\"'\s])[^>\n]{0,200}>([^<]{1,1000})",
    re.IGNORECASE,
)
_COMMENT_CHARS = 4_000
"""Of a comment that are looked at, without the blanks around it."""
_STYLES = group("display font opacity visibility hidden color")
_AGENTS = (
    r"(?:(?:AI|coding)\s{1,2}(?:agents?|assistants?)|assistants?|agents?|LLMs?"
    r"|language\s{1,2}models?|(?:the|any)\s{1,2}model\s{1,2}(?:reading|that)|Claude|Copilot|Codex|GPT)\b"
)
_CALLS = r"(?:(?:the|all|any|every|dear|hey|note|attention|ai|only)[\s,:]{1,3}){0,3}"
_AGENT = re.compile(
    r"\A\s{0,9}(?:system|admin|developer)\s{0,2}:\s{0,3}(?!\w[\w.-]{0,60}/)\w|\bfrom\s{1,2}now\s{1,2}on\b"
    rf"|(?:\A|[.!?:;\n]|\b(?:to|for))[\s*-]{{0,9}}{_CALLS}{_AGENTS}[^.]{{0,60}}"
    r"(?:\b(?:must|should|shall|requires?|always|never|do\s{1,2}not|don't|n['’]informe)\b"
    r"|[:,]\s{1,3}(?:[^.]{0,60}\b)?(?:repeat|include|add|upload|append|also|before|ignore|run"
    r"|execute|read|send|fetch|call|exécute)\b)",
    re.IGNORECASE,
)
"""An order to an agent: it is named where a sentence begins, or the order is said to be for it.

What follows the mark of a role is no path of a file."""


def comments(document: Document) -> Iterator[tuple[RuleHit, str]]:
    """Yield the texts that a page does not show: comments, and elements with a hiding style."""
    if document.kind == SCRIPT:
        return
    text = document.lowered  # only to see whether there is anything
    if "<!--" in text:
        yield from _html_comments(document.text)
    if "]:" in text:
        for match in _NOTE.finditer(document.text):
            if match[1] and match.string[match.start() - 1 : match.start()] in ("", "\n"):
                yield RuleHit(match.start(), match.end()), match[1]
    if document.has(_STYLES) and "<" in text:
        for match in _UNSEEN.finditer(document.text):
            yield RuleHit(match.start(), match.end()), match[1]


def _html_comments(text: str) -> Iterator[tuple[RuleHit, str]]:
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        end = text.find("-->", start + 4)
        if end < 0:  # to the end of the document, as browsers read it
            end = len(text)
        comment = text[start + 4 : end].strip()[:_COMMENT_CHARS]
        if comment:
            yield RuleHit(start, min(end + 3, len(text))), comment


def addresses_agent(text: str) -> bool:
    """True for a text that tells an agent what to do."""
    return _AGENT.search(text) is not None


_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,20000}={0,2}")
_HEX = re.compile(r"(?:[0-9a-f]{2}){16,10000}", re.IGNORECASE)
_HARM = re.compile(
    r"""\b(?:(?:curl|wget)(?=\s)|powershell|Invoke-\w{3,20}|/bin/(?:ba)?sh|bash\s{1,2}-
    |(?:eval|exec)(?=\s{0,2}[(`$]|\s["'])|os\.system|subprocess|rm\s{1,2}-rf|nc\s{1,2}-|ssh\s{1,2}keys?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OBJECT = re.compile(r"""[/\\$@|;'"=]|\s-\w""")


def decoded_texts(document: Document) -> Iterator[tuple[RuleHit, str]]:
    """Yield the readable texts that are in the document as base64 or hexadecimal digits."""
    if not document.words.has_long_word:
        return
    for match in _BLOB.finditer(document.text):
        text = _decode(match[0])
        if text:
            yield RuleHit(match.start(), match.end()), text


def _decode(blob: str) -> str:
    """Return the text of a blob, empty where it is none."""
    try:
        if _HEX.fullmatch(blob):
            data = bytes.fromhex(blob)
        else:
            plain = blob.rstrip("=").replace("-", "+").replace("_", "/")
            data = base64.b64decode(
                plain[: len(plain) - (len(plain) % 4 == 1)] + "=" * (-len(plain) % 4)
            )
        if data[1::2] == bytes(len(data) // 2) and len(data) > 8:  # UTF-16, as PowerShell encodes
            data = data[::2]
        text = data.decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    visible = sum(char.isprintable() or char in "\n\t\r" for char in text)
    return text if visible >= 0.95 * len(text) and len(text) >= 12 else ""


def encoded_harm(text: str) -> bool:
    """True for decoded text with a command in it, and something that the command is used on."""
    return _HARM.search(text) is not None and _OBJECT.search(text) is not None
