"""File patterns, compiled once and matched in linear time. No regular expression is involved.

Semantics (rulings on the "Skill Evaluation System" document, which shows five examples):

* no slash: the file name is compared, at any depth; a folder's name never counts;
* a slash inside: the pattern may start at any folder boundary; a leading slash anchors it at the
  start of the given path; a trailing slash means everything below;
* ``*`` and ``?`` stay within a segment; ``**`` as a whole segment is any number of folders, and
  at the end needs something below; ``{a,b}`` are alternatives; ``[ab]`` is a class or that text;
* ``!pattern`` is never a match by itself, in a list it removes files;
* backslashes are slashes, a leading ``./`` is dropped, case is ignored unless asked.

A pattern that is empty, too long or has too many alternatives never matches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from skillyard.base.limits import DEFAULT_LIMITS

_KEY_CHARS = 8
"""Longest prefix or suffix of a file name, in characters, that is used as a lookup key
(``.test.ts``)."""


def fold(text: str, case_sensitive: bool) -> str:
    """Return the text in the form in which patterns and paths are compared."""
    # Lower-casing a capital sigma depends on its neighbours, which a pattern does not know.
    return text if case_sensitive else text.lower().replace("\u03c2", "\u03c3")


Token = str | Callable[[str], bool] | None
"""A character, "" for any character, the test of a class, or None for a star."""


class Segment:
    """One part of a pattern between two slashes, compiled.

    Brackets are compiled both as classes and as literal text, because folders of web frameworks
    have names such as ``[slug]``. A segment matches when either form does.
    """

    def __init__(self, text: str, case_sensitive: bool = False) -> None:
        tokens, has_class = _tokens(text, case_sensitive, classes=True)
        readings = [tokens]
        if has_class:
            readings.append(_tokens(text, case_sensitive, classes=False)[0])
        known = [] if has_class else tokens
        self.prefix = "".join(map(str, takewhile(bool, known)))
        """The folded text with which every match starts, as far as it is known."""
        self.suffix = "".join(map(str, takewhile(bool, reversed(known))))[::-1]
        """The folded text with which every match ends, as far as it is known."""
        wild = [token for token in known if not token]
        self.literal = None if has_class or wild else self.prefix
        """The folded text, when the segment matches only one text."""
        is_plain = known and wild == [None]
        self._readings = [] if is_plain else list(map(_Reading, readings))

    @property
    def steps_of_char(self) -> int:
        """Maximum number of steps per character of a text; 0 for plain text and one star."""
        return len(self._readings)

    def matches(self, text: str) -> bool:
        """Say whether the whole folded text matches."""
        if self._readings:
            return any(reading.matches(text) for reading in self._readings)
        is_long = len(text) >= len(self.prefix) + len(self.suffix)
        return is_long and text.startswith(self.prefix) and text.endswith(self.suffix)


class _Reading:
    """The tokens of a segment as a bit-parallel automaton.

    Bit i of an integer is set when the first i characters of the pattern can match the text so far.
    """

    def __init__(self, tokens: list[Token]) -> None:
        self._any = self._stars = 0
        self._chars: dict[str, int] = {}
        self._classes: list[tuple[Callable[[str], bool], int]] = []
        place = 1
        for token in tokens:
            if token is None:
                self._stars |= place
                continue
            if not isinstance(token, str):
                self._classes.append((token, place))
            elif token:
                self._chars[token] = self._chars.get(token, 0) | place
            else:
                self._any |= place
            place <<= 1
        self._end = place

    def matches(self, text: str) -> bool:
        states, stars = 1, self._stars
        known: dict[str, int] = {}
        for char in text:
            accepting = known.get(char)
            if accepting is None:
                accepting = known[char] = self._accepting(char)
            states = (states & accepting) << 1 | states & stars
        return bool(states & self._end)

    def _accepting(self, char: str) -> int:
        accepting = self._any | self._chars.get(char, 0)
        for accepts, place in self._classes:
            if accepts(char):
                accepting |= place
        return accepting


def _tokens(text: str, case_sensitive: bool, classes: bool) -> tuple[list[Token], bool]:
    """Return the tokens of a segment, and whether it contains a class."""
    tokens: list[Token] = []
    has_class = False
    last_close = text.rfind("]") if classes else -1
    at = 0
    while at < len(text):
        char = text[at]
        # A class has at least one member: a closing bracket that comes first is that.
        is_open = char == "[" and at + 1 < last_close
        end = text.find("]", at + (3 if text[at + 1] == "!" else 2)) if is_open else -1
        if end >= 0:
            tokens.append(_class_test(text[at + 1 : end], case_sensitive))
            has_class = True
            at = end
        elif char == "*":
            tokens += [None] if tokens[-1:] != [None] else []
        elif char == "?":
            tokens.append("")
        else:
            tokens.extend(fold(char, case_sensitive))
        at += 1
    return tokens, has_class


def _class_test(body: str, case_sensitive: bool) -> Callable[[str], bool]:
    """Return the test of a bracket expression for one character of a folded text."""
    negated = len(body) > 1 and body.startswith("!")
    ranges: list[tuple[str, str]] = []
    at = int(negated)
    while at < len(body):
        is_range = at + 2 < len(body) and body[at + 1] == "-"
        ranges.append((body[at], body[at + 2 if is_range else at]))
        at += 3 if is_range else 1

    def accepts(char: str) -> bool:
        forms = [char] if case_sensitive or len(char.upper()) > 1 else [char, char.upper()]
        inside = any(low <= form <= high for form in forms for low, high in ranges)
        return inside is not negated

    return accepts


class FilePath(NamedTuple):
    """A path prepared for matching: its folded segments, and whether it names a folder."""

    segments: tuple[str, ...]
    folder: bool

    def lookup_keys(self) -> set[str]:
        """Return the lookup keys of the path; see :meth:`GlobRoute.lookup_keys`."""
        name = self.segments[-1]
        keys = {"/" + segment for segment in self.segments[:-1]}
        keys.add("=" + name)
        for length in range(1, _KEY_CHARS + 1):
            keys.add("<" + name[:length])
            keys.add(">" + name[-length:])
        return keys


def split_path(path: str, case_sensitive: bool = False) -> FilePath:
    """Return the path's segments, without empty ones and ``.``. A trailing slash means a folder."""
    text = fold(path.replace("\\", "/"), case_sensitive)
    segments = tuple(part for part in text.split("/") if part and part != ".")
    return FilePath(segments, text.endswith("/"))


class GlobRoute:
    """One brace-free alternative of a pattern: segments, with ``**`` between them.

    The match is a bit-parallel simulation: bit i of an integer is set when the first i segments of
    the pattern can match the path so far. Each segment of the path is processed once.
    """

    def __init__(self, segments: list[str], below: bool, case_sensitive: bool) -> None:
        self.below = below
        self.plain: dict[str, int] = {}
        tests: dict[str, int] = {}
        self.stars = 0
        for at, text in enumerate(segments):
            if text == "**":
                self.stars |= 1 << at
            else:
                tests[text] = tests.get(text, 0) | 1 << at
        self.tests: list[tuple[Segment, int]] = []
        for text, places in tests.items():
            segment = Segment(text, case_sensitive)
            if segment.literal is None:
                self.tests.append((segment, places))
            else:
                self.plain[segment.literal] = self.plain.get(segment.literal, 0) | places
        self._steps = 1 + len(self.tests)
        self._steps_of_char = sum(test.steps_of_char for test, _ in self.tests)
        self.last = Segment(segments[-1], case_sensitive)
        last_place = 1 << len(segments) - 1
        self._folders = [text for text, places in self.plain.items() if places & ~last_place]
        self.end = last_place << 1
        self.start = 1 | (self.stars & 1) << 1

    def matches(self, path: FilePath) -> bool:
        """Say whether the whole path matches."""
        if path.folder and not self.below:
            return False
        stars, states = self.stars, self.start
        for segment in path.segments:
            states = (states & self._accepting(segment, states)) << 1 | states & stars
            states |= (states & stars) << 1
            if not states:
                return False
        return bool(states & self.end)

    def _accepting(self, segment: str, states: int) -> int:
        accepting = self.plain.get(segment, 0)
        for test, places in self.tests:
            if places & states and test.matches(segment):
                accepting |= places
        return accepting

    def steps(self, segments: int, chars: int) -> int:
        """Return the maximum number of steps to match paths of these sizes."""
        return segments * self._steps + chars * self._steps_of_char

    def lookup_keys(self) -> list[str]:
        """Return lookup keys; a path that matches has at least one of them. May be empty.

        ``=name`` is a file name, ``<start`` and ``>end`` are its prefix and suffix, and ``/folder``
        is a folder above it.
        """
        literal = self.last.literal
        keys = [] if literal is None else ["=" + literal]
        keys += ["/" + folder for folder in self._folders]
        if literal is None:
            suffix, prefix = self.last.suffix, self.last.prefix
            keys += [">" + suffix[-_KEY_CHARS:]] if suffix else []
            keys += ["<" + prefix[:_KEY_CHARS]] if prefix else []
        return keys


class Glob(NamedTuple):
    """A compiled pattern; one without routes can never match."""

    pattern: str
    routes: tuple[GlobRoute, ...]
    negated: bool

    def covers(self, path: FilePath) -> bool:
        """Say whether the path matches the pattern without its ``!``."""
        return any(route.matches(path) for route in self.routes)

    def matches(self, path: FilePath) -> bool:
        """Say whether the path matches; always False for a ``!pattern``."""
        return not self.negated and self.covers(path)


def normalise(pattern: str) -> str:
    """Return the pattern with slashes, without ``!`` and a leading ``./``; ``x/`` as ``x/**``."""
    text = pattern.replace("\\", "/").removeprefix("!")
    while text.startswith("./"):
        text = text[2:]
    return text + "**" if text.endswith("/") and text.strip("/") else text


def compile_glob(pattern: str, case_sensitive: bool = False) -> Glob:
    """Return the compiled pattern. Never raises: an invalid pattern matches nothing."""
    if len(pattern) > DEFAULT_LIMITS.glob_chars:
        return Glob(pattern, (), pattern.startswith("!"))
    return _compile(pattern, case_sensitive)


@lru_cache(maxsize=4096)
def _compile(pattern: str, case_sensitive: bool) -> Glob:
    alternatives = expand_braces(normalise(pattern), DEFAULT_LIMITS.brace_expansions)
    compiled = [_route(text, case_sensitive) for text in alternatives or ()]
    routes = tuple(route for route in compiled if route is not None)
    return Glob(pattern, routes, pattern.startswith("!"))


def _route(text: str, case_sensitive: bool) -> GlobRoute | None:
    """Compile one alternative; None when it contains no segment."""
    parts = [part for part in text.split("/") if part and part != "."]
    if not parts:
        return None
    if text.endswith("/"):
        parts.append("**")
    segments = [] if text.startswith("/") else ["**"]
    for part in parts:
        part = "**" if len(part) > 1 and not part.strip("*") else part
        if part != "**" or segments[-1:] != ["**"]:
            segments.append(part)
    below = segments[-1] == "**"
    if below:
        segments.append("*")
    return GlobRoute(segments, below, case_sensitive)


def expand_braces(pattern: str, cap: int) -> tuple[str, ...] | None:
    """Return the alternatives of a pattern, in order, without repeats; None for more than ``cap``.

    Groups nest. A group needs a comma: ``{a}``, an unclosed ``{`` and a lone ``}`` are ordinary
    text, as in a shell. The cap is checked during expansion, which bounds the memory.
    """
    if "{" not in pattern:
        return (pattern,)
    opens, closes, commas = _groups(pattern)
    waiting: list[tuple[list[str], list[str]]] = []
    alternatives: list[str] = []  # finished alternatives of the innermost group
    current = [""]
    start = 0
    for end, char in enumerate(pattern):
        if end not in opens and end not in closes and end not in commas:
            continue
        current = [text + pattern[start:end] for text in current]
        start = end + 1
        if char == "{":
            waiting.append((current, alternatives))
            current, alternatives = [""], []
            continue
        alternatives += current
        current = [""]
        if len(alternatives) > cap:
            return None
        if char == "}":
            before, outer = waiting.pop()
            if len(before) * len(alternatives) > cap:
                return None
            current = [head + tail for head in before for tail in alternatives]
            alternatives = outer
    return tuple(dict.fromkeys(text + pattern[start:] for text in current))


def _groups(pattern: str) -> tuple[set[int], set[int], set[int]]:
    """Return the positions of the opening and closing braces of groups, and of their commas."""
    opens: set[int] = set()
    closes: set[int] = set()
    commas: set[int] = set()
    open_at: list[tuple[int, list[int]]] = []
    for at, char in enumerate(pattern):
        if char == "{":
            open_at.append((at, []))
        elif char == "," and open_at:
            open_at[-1][1].append(at)
        elif char == "}" and open_at:
            start, inner = open_at.pop()
            if inner:
                opens.add(start)
                closes.add(at)
                commas.update(inner)
    return opens, closes, commas


class PatternClass(NamedTuple):
    """A class of patterns, and the weight of one match."""

    name: str
    weight: float


_EXACT = PatternClass("exact", 0.35)
_SIMPLE = PatternClass("simple_extension", 0.30)
_DIRECTORY = PatternClass("directory", 0.25)
_COMPOUND = PatternClass("compound_extension", 0.20)
_GENERIC = PatternClass("generic", 0.15)

PATTERN_CLASSES = (_EXACT, _SIMPLE, _DIRECTORY, _COMPOUND, _GENERIC)
"""Heaviest first."""


def classify(pattern: str) -> PatternClass:
    """Return the class of a pattern, without its ``!`` and leading ``./``.

    A pattern with braces has the lightest class of its alternatives. Brackets do not count as
    wildcards: ``app/[slug]/page.tsx`` is an exact path.
    """
    text = normalise(pattern)
    alternatives = expand_braces(text, DEFAULT_LIMITS.brace_expansions)
    classes = [_class_of(each) for each in alternatives or (text,)]
    return min(classes, key=lambda pattern_class: pattern_class.weight)


def _class_of(text: str) -> PatternClass:
    if "*" not in text and "?" not in text:
        return _EXACT
    folder, _, last = text.rpartition("/")
    suffixes = _suffixes(last)
    if suffixes > 1:
        return _COMPOUND
    if suffixes == 1 and "/" not in text:
        return _SIMPLE
    if "**" in text and folder and text.strip("*/"):
        return _DIRECTORY
    return _GENERIC


def _suffixes(name: str) -> int:
    """Return how many suffixes a name of the form ``*.x.y`` has; 0 for any other form."""
    star, *suffixes = name.split(".")
    plain = all(part and "*" not in part and "?" not in part for part in suffixes)
    return len(suffixes) if star == "*" and plain else 0
