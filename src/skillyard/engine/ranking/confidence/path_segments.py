"""Compiles and matches one segment of a file pattern (the part between two slashes).

A segment is cut at its stars into chunks of fixed length. Each chunk takes the leftmost position
that fits, which leaves the most text for the other chunks, so matching never backtracks. A chunk of
plain text is found by ``str.find``, one with ``?`` or classes by a shift-and scan (one integer
holds all its partial matches), so the work is linear in the text whatever the pattern.
"""

from __future__ import annotations

from typing import NamedTuple


def fold(text: str, case_sensitive: bool) -> str:
    """Return the text in the form in which patterns and paths are compared."""
    # Lower-casing a capital sigma depends on its neighbours, which a pattern does not know.
    return text if case_sensitive else text.lower().replace("\u03c2", "\u03c3")


class _CharClass(NamedTuple):
    """A bracket expression: single characters and ranges, perhaps negated."""

    chars: frozenset[str]
    ranges: tuple[tuple[str, str], ...]
    negated: bool
    case_sensitive: bool

    def accepts(self, char: str) -> bool:
        """Say whether one character of a folded text is in the class."""
        contains = self._holds(char)
        if not contains and not self.case_sensitive:
            upper = char.upper()
            contains = len(upper) == 1 and self._holds(upper)
        return contains is not self.negated

    def _holds(self, char: str) -> bool:
        return char in self.chars or any(low <= char <= high for low, high in self.ranges)


_ANY_CHAR = _CharClass(frozenset(), (), True, True)


class _Plain:
    """A chunk of literal text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.length = len(text)

    def fits(self, text: str, at: int) -> bool:
        """Say whether the chunk matches at this position."""
        return text.startswith(self.text, at)

    def find(self, text: str, start: int, stop: int) -> int:
        """Return the leftmost position of the chunk within the bounds, or -1."""
        return text.find(self.text, start, stop)


class _Wild:
    """A chunk with ``?`` or classes. Each token matches exactly one character."""

    text = ""

    def __init__(self, tokens: list[str | _CharClass]) -> None:
        self.length = len(tokens)
        self.literals: dict[str, int] = {}
        self.any_char = 0
        classes: dict[_CharClass, int] = {}
        for at, token in enumerate(tokens):
            if isinstance(token, str):
                self.literals[token] = self.literals.get(token, 0) | 1 << at
            elif token is _ANY_CHAR:
                self.any_char |= 1 << at
            else:
                classes[token] = classes.get(token, 0) | 1 << at
        self.classes = tuple(classes.items())

    def fits(self, text: str, at: int) -> bool:
        """Say whether the chunk matches at this position."""
        return self.find(text, at, at + self.length) == at

    def find(self, text: str, start: int, stop: int) -> int:
        """Return the leftmost position of the chunk within the bounds, or -1."""
        goal = 1 << self.length - 1
        known: dict[str, int] = {}
        states = 0
        for at in range(start, min(stop, len(text))):
            char = text[at]
            accepting = known.get(char)
            if accepting is None:
                accepting = known[char] = self._accepting(char)
            states = (states << 1 | 1) & accepting
            if states & goal:
                return at - self.length + 1
        return -1

    def _accepting(self, char: str) -> int:
        accepting = self.any_char | self.literals.get(char, 0)
        for char_class, places in self.classes:
            if char_class.accepts(char):
                accepting |= places
        return accepting


class Segment:
    """One compiled segment.

    Brackets are compiled both as classes and as literal text, because folders of web frameworks
    have names such as ``[slug]``. A segment matches when either form does.
    """

    def __init__(self, text: str, case_sensitive: bool = False) -> None:
        tokens, has_class = _tokens(text, case_sensitive, classes=True)
        self.readings = [_chunks(tokens)]
        if has_class:
            self.readings.append(_chunks(_tokens(text, case_sensitive, classes=False)[0]))

    @property
    def literal(self) -> str | None:
        """The folded text, when the segment matches only one text."""
        chunks = self.readings[0]
        single = len(self.readings) == 1 and len(chunks) == 1
        return chunks[0].text if single and isinstance(chunks[0], _Plain) else None

    @property
    def prefix(self) -> str:
        """The folded text with which every match starts, as far as it is known."""
        return self.readings[0][0].text if len(self.readings) == 1 else ""

    @property
    def suffix(self) -> str:
        """The folded text with which every match ends, as far as it is known."""
        return self.readings[0][-1].text if len(self.readings) == 1 else ""

    @property
    def steps(self) -> int:
        """Maximum number of steps to match one text, without the cost per character."""
        return sum(1 + len(chunks) for chunks in self.readings)

    @property
    def steps_of_char(self) -> int:
        """Maximum number of steps per character of a text; 0 for plain text and stars."""
        return sum(any(isinstance(c, _Wild) for c in chunks) for chunks in self.readings)

    def matches(self, text: str) -> bool:
        """Say whether the whole folded text matches."""
        return any(_fits(chunks, text) for chunks in self.readings)


def _fits(chunks: list[_Plain | _Wild], text: str) -> bool:
    first, last = chunks[0], chunks[-1]
    if len(chunks) == 1:
        return len(text) == first.length and first.fits(text, 0)
    stop = len(text) - last.length
    if first.length > stop or not first.fits(text, 0) or not last.fits(text, stop):
        return False
    at = first.length
    for chunk in chunks[1:-1]:
        at_chunk = chunk.find(text, at, stop)
        if at_chunk < 0:
            return False
        at = at_chunk + chunk.length
    return at <= stop


def _chunks(tokens: list[str | _CharClass | None]) -> list[_Plain | _Wild]:
    """Split the tokens at the stars (None). Adjacent stars count as one."""
    parts: list[list[str | _CharClass]] = [[]]
    for at, token in enumerate(tokens):
        if token is not None:
            parts[-1].append(token)
        elif at == 0 or tokens[at - 1] is not None:
            parts.append([])
    return [_chunk(part) for part in parts]


def _chunk(tokens: list[str | _CharClass]) -> _Plain | _Wild:
    texts = [token for token in tokens if isinstance(token, str)]
    return _Plain("".join(texts)) if len(texts) == len(tokens) else _Wild(tokens)


def _tokens(
    text: str, case_sensitive: bool, classes: bool
) -> tuple[list[str | _CharClass | None], bool]:
    """Return the tokens of a segment (None is a star), and whether it contains a class."""
    tokens: list[str | _CharClass | None] = []
    has_class = False
    last_close = text.rfind("]") if classes else -1
    at = 0
    while at < len(text):
        char = text[at]
        # A class has at least one member, so its closing bracket is at least two characters away.
        end = _class_end(text, at) if char == "[" and at + 1 < last_close else -1
        if end >= 0:
            tokens.append(_char_class(text[at + 1 : end], case_sensitive))
            has_class = True
            at = end + 1
            continue
        if char == "*":
            tokens.append(None)
        elif char == "?":
            tokens.append(_ANY_CHAR)
        else:
            tokens.extend(fold(char, case_sensitive))
        at += 1
    return tokens, has_class


def _class_end(text: str, start: int) -> int:
    """Return the position of the bracket that closes the class at ``start``, or -1.

    A closing bracket that comes first in the class is a member of it.
    """
    body = start + 2 if text.startswith("!", start + 1) else start + 1
    return text.find("]", body + 1)


def _char_class(body: str, case_sensitive: bool) -> _CharClass:
    negated = len(body) > 1 and body.startswith("!")
    body = body[1:] if negated else body
    chars: set[str] = set()
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(body):
        if at + 2 < len(body) and body[at + 1] == "-":
            ranges.append((body[at], body[at + 2]))
            at += 3
        else:
            chars.add(body[at])
            at += 1
    return _CharClass(frozenset(chars), tuple(ranges), negated, case_sensitive)
