"""Sets logs, stack traces, code and tables aside from the question that stands beside them.

The question says what is wanted. Of the rest only what tells its kind is kept: classes and codes
of errors, states, commands, the language of code. Its other words are about the user's program.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MIN_LINES = 2
"""Fewer lines are a quotation in a sentence, and stay part of the request."""


class RequestParts(NamedTuple):
    """A request, split into what a person wrote and what a machine did."""

    question: str
    signals: str
    """The words of the rest that tell its kind."""
    lines: int
    """The number of lines that were set aside; 0 for most requests."""


_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*([\w+#.-]*)", re.MULTILINE)
_MARK = re.compile(
    r"Traceback\b|Caused by:|\s+at \S|\s+File \"|goroutine \d"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b"  # a time
    r"|[\w.$]*(?:Error|Exception)(?: \w+)?: |(?:fatal|error|panic|warning|npm ERR!): ?"
    r"|diff --git |@@ |(?:---|\+\+\+) \S|[*|] [0-9a-f]{7,} |commit [0-9a-f]{7,}\b"
    r"|\$ \w|>>> |[\w./\\-]+(?:\(\d+,\d+\)|\.\w+:\d+(?::\d+)?):? "
    r"|[E>] {2,}\S|FAILED |[=_]{5,}|\S+(?: {2,}\S+){3,}"  # of pytest; a table
)
_SIGN = re.compile(r"[^\w\s.,;:!?'’\"()-]|\d")
_MAX_SIGNS = 0.3
"""Lines with a larger share of digits and signs are no sentences."""
_MIN_SENTENCE_WORDS = 4
_WORD = re.compile(r"(?<!\S)[^\W\d_]+[,.:;!?]*(?!\S)")
_SIGNALS = re.compile(
    r"\b\w*[a-z](?:Error|Exception|Warning)\b|\b[A-Z]{2,}\d{3,}\b|\bE[A-Z]{5,}\b"
    r"|(?<![.\w])(?:[A-Z][a-z]+){3,}\b(?![.(])"  # a state such as CrashLoopBackOff
    r"|^\$ .+|^diff\b|^Traceback\b|^(?:fatal|[Ee]rror|panic|npm ERR!): ?.{1,80}",
    re.MULTILINE,
)
_SUFFIX = re.compile(r"[\w)]\.([a-z]{1,8})\b(?=[\"'():,\s]|$)", re.MULTILINE)
_LANGUAGES = {
    "cpp": "c++",
    "cs": "c#",
    "go": "golang",
    "java": "java",
    "js": "javascript",
    "jsx": "react javascript",
    "kt": "kotlin",
    "php": "php",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sql": "sql",
    "swift": "swift",
    "text": "",
    "tf": "terraform",
    "tfstate": "terraform",
    "ts": "typescript",
    "tsx": "react typescript",
    "vue": "vue",
}
"""What the ending of a file or the name of a code block says."""


def set_aside(text: str) -> RequestParts:
    """Return the request without logs and code, and the signals in these."""
    question: list[str] = []
    aside: list[str] = []
    kinds: list[str] = []
    for paragraph, kind in _paragraphs(text):
        lines = paragraph.split("\n")
        machine = [True] * len(lines) if kind is not None else _machine_lines(lines)
        kinds += [kind] if kind else []
        for line, is_machine in zip(lines, machine, strict=True):
            (aside if is_machine else question).append(line)
    if len(aside) < MIN_LINES or not any(map(str.strip, question)):
        return RequestParts(text, "", 0)
    rest = "\n".join(aside)
    names = [_LANGUAGES.get(kind.lower(), kind) for kind in kinds]
    names += [_LANGUAGES.get(suffix, "") for suffix in _SUFFIX.findall(rest)]
    signals = " ".join([*_SIGNALS.findall(rest), *filter(None, dict.fromkeys(names))])
    return RequestParts("\n".join(question), signals, len(aside))


def _paragraphs(text: str) -> list[tuple[str, str | None]]:
    """Return the paragraphs, each with the name of its code block; None outside of one."""
    parts: list[tuple[str, str | None]] = []
    place, name = 0, None
    for fence in _FENCE.finditer(text):
        parts += _split(text[place : fence.start()], name)
        name = fence[1] if name is None else None
        place = fence.end()
    return parts + _split(text[place:], name)


def _split(text: str, name: str | None) -> list[tuple[str, str | None]]:
    parts = [text] if name is not None else re.split(r"\n\s*\n", text)
    return [(part.strip("\n"), name) for part in parts if part.strip()]


def _machine_lines(lines: list[str]) -> list[bool]:
    """Return which lines of a paragraph a machine wrote: the marked ones and their neighbours."""
    marked = [_is_marked(line) for line in lines]
    if not any(marked):
        return marked
    last = len(marked) - marked[::-1].index(True)
    machine, inside = [], False
    for place, line in enumerate(lines):
        is_last = place >= last and not line[:1].isspace()  # a sentence ends what a machine wrote
        ends = is_last and len(_WORD.findall(line)) >= _MIN_SENTENCE_WORDS
        inside = marked[place] or (inside and not ends)
        machine.append(inside)
    return machine


def _is_marked(line: str) -> bool:
    if _MARK.match(line):
        return True
    return len(line) > 20 and len(_SIGN.findall(line)) > _MAX_SIGNS * len(line)
