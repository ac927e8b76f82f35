"""Finds invisible characters, and decides which of them hide something and which text needs.

Controls and bidirectional controls always count as hidden. So does every other character with
Unicode's property Default_Ignorable_Code_Point, except where text needs it:

* one variation selector after a character that has variants
* U+200D between two emoji, and the tags of the flags of England, Scotland and Wales
* one joiner beside a virama or between cursive letters (RFC 5892, UAX 31)
* a soft hyphen after two letters and before one, U+034F between combining marks, a filler in a
  Hangul syllable, U+180E between Mongolian letters

:func:`find_hidden`, :func:`clean` and :func:`hidden_in_body` share one scan, which takes linear
time: the context of a character ends at the next such character.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base import unicode_tables as tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_C0 = "\x00-\x08\x0b-\x1f"
_C1 = "\x7f-\x9f"
_SEPARATORS = "\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
_UNSEEN = f"{_SEPARATORS}{_SURROGATES}{tables.BIDI_CONTROL}{tables.DEFAULT_IGNORABLE}"
# Characters that text needs in some places. All others always count as hidden: no sequence uses
# the selectors U+FE07 to U+FE0D, and no sequence of ideographs those from U+E0120.
_DEPENDENT = (
    "\u00ad\u034f\u115f\u1160\u180b-\u180f\u200c\u200d\ufe00-\ufe06\ufe0e\ufe0f"
    "\U000e0020-\U000e007f\U000e0100-\U000e011f"
)
# A single character class, which the regular expression engine searches three times as fast.
_HIDDEN = f"[{_C0}{_C1}{_UNSEEN}]"
# The same without line ends, and without controls that occur in bodies only by mistake.
_HIDDEN_IN_BODY = f"[\x01-\x08\x0e-\x1f\x7f{_UNSEEN}]"
_VISIBLE = bytes([*b"\t\n", *range(0x20, 0x7F)])
_VISIBLE_IN_BODY = bytes([*_VISIBLE, *b"\0\x0b\x0c\r"])


class Hidden(NamedTuple):
    """One character that a reader cannot see: its offset in the text and its name."""

    offset: int
    label: str


def find_hidden(text: str) -> Hidden | None:
    """Return the first character that hides something, or None.

    Line feeds, tabs and the sequences in this module's docstring are not hidden.
    """
    for start, _ in hidden_runs(text):
        return Hidden(start, label_of(text[start]))
    return None


def clean(text: str) -> str:
    """Return the text with every hidden character replaced by an escape sequence.

    LF and TAB stay. Idempotent. The result is safe for a terminal, a log line and a prompt.
    """
    pieces = []
    position = 0
    for start, end in hidden_runs(text):
        pieces += [text[position:start], *map(_escape, text[start:end])]
        position = end
    return "".join([*pieces, text[position:]]) if pieces else text


def hidden_in_body(data: bytes) -> tuple[int, str] | None:
    """Return (1-based line, name) of the first hidden character in UTF-8 bytes, or None.

    A leading byte order mark, line ends and C1 controls do not count.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    rest = data.translate(None, _VISIBLE_IN_BODY)
    if not rest or re.search(_HIDDEN_IN_BODY, rest.decode("utf-8", "replace")) is None:
        return None
    text = data.decode("utf-8", "replace")
    for start, _ in _scan(text, _HIDDEN_IN_BODY):
        before = text.count("\n", 0, start)
        line = text.split("\n", before + 1)[before]
        hidden = find_hidden(line.removesuffix("\r"))
        return before + 1, label_of(text[start]) if hidden is None else hidden.label
    return None


def label_of(char: str) -> str:
    """Return the code point and the name, or the kind, of a character."""
    import unicodedata  # deferred here and below: rarely needed, and a tenth of the start-up time

    fallback = "CONTROL" if unicodedata.category(char) == "Cc" else "CHARACTER"
    return f"U+{ord(char):04X} {unicodedata.name(char, fallback)}"


@lru_cache(maxsize=4096)
def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def hidden_runs(text: str) -> Iterable[tuple[int, int]]:
    """Return the (start, end) of each run of hidden characters, in order.

    Most texts contain none, which is tested quickly on the text without its printable ASCII.
    """
    if text.isascii() and text.isprintable():
        return ()
    rest = text.encode("utf-8", "surrogatepass").translate(None, _VISIBLE)
    if not rest or re.search(_HIDDEN, rest.decode("utf-8", "surrogatepass")) is None:
        return ()
    return _scan(text, _HIDDEN)


def _scan(text: str, pattern: str) -> Iterator[tuple[int, int]]:
    character = re.compile(pattern)
    runs = re.compile(f"([{_DEPENDENT}]+)|(?:(?![{_DEPENDENT}]){pattern})+")
    end = 0
    while match := character.search(text, end):  # a class alone is searched faster than the runs
        run = runs.match(text, match.start())
        assert run is not None
        start, end = run.span()
        if run[1] is None or not _belongs(text, start, end):
            yield start, end


_EMOJI = tables.PICTOGRAPHIC + tables.EMOJI_MODIFIER
_EMOJI_STYLE = "\ufe0f"
_STYLES = "\ufe0e\ufe0f"
_JOINERS = "\u200c\u200d"
_ZWJ = "\u200d"
_KEYS = "0123456789#*"
_KEYCAP = "\u20e3"
_BLACK_FLAG = "\U0001f3f4"
_FLAGS = frozenset(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
"""The flag tag sequences recommended for general interchange (emoji-sequences.txt)."""

# Base characters in StandardizedVariants.txt, except mathematical symbols: Han characters,
# quotation marks, full-width punctuation, Myanmar and its extensions, Phags-pa, Manichaean,
# hieroglyphs.
_HIEROGLYPHS = "\U00013000-\U000143fa"
_VARIED = (
    f"{tables.IDEOGRAPH}\u2018\u2019\u201c\u201d\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
    f"\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f\ua840-\ua877\U00010ac0-\U00010af6{_HIEROGLYPHS}"
)


@lru_cache(maxsize=4096)
def _is(char: str, characters: str) -> bool:
    """Return True for a character of the table. False for an empty text."""
    return re.fullmatch(f"[{characters}]", char) is not None


def _belongs(text: str, start: int, end: int) -> bool:
    """Return True when a run of dependent characters is used as Unicode specifies."""
    run = text[start:end]
    before, after = text[start - 1 : start], text[end : end + 1]
    if len(run) > 2:
        return before == _BLACK_FLAG and run in _FLAGS
    if run == "\u115f\u1160":
        return _is(after, tables.HANGUL_TRAILING)
    if len(run) == 2:  # a selector may come between a character and its joiner
        if run[1] not in "\u200c\u200d\u180e" or not _selects(before, run[0], after):
            return False
        run = run[1]
    if run in _JOINERS:
        return _joins(text, start, end, run)
    if run == "\u00ad":
        # Used inside words. It also results from U+00ED when UTF-8 is decoded as Latin-1.
        return all(map(_is_letter, (text[start - 2 : start - 1], before, after)))
    if run == "\u034f":
        return _class(before) > 0 and _class(after) > 0
    if run == "\u115f":
        return _is(after, tables.HANGUL_VOWEL)
    if run == "\u1160":
        return _is(before, tables.HANGUL_LEADING)
    if run == "\u180e":
        return _is(before, tables.MONGOLIAN_LETTER) and _is(after, tables.MONGOLIAN_LETTER)
    return _selects(before, run, after)


def _selects(before: str, selector: str, after: str) -> bool:
    """Return True for a variation selector after a character that has such a variant."""
    if selector in _STYLES:
        if _is(before, _EMOJI) or _is_symbol(before):
            return True
        return selector == _EMOJI_STYLE and after == _KEYCAP and before in _KEYS and before != ""
    if "\u180b" <= selector <= "\u180f":
        return _is(before, tables.MONGOLIAN_LETTER)
    if "\ufe00" <= selector <= "\ufe02":
        return _is(before, _VARIED) or _is_symbol(before, "Sm")
    if "\ufe03" <= selector <= "\ufe06":
        return _is(before, _HIEROGLYPHS)
    return selector >= "\U000e0100" and _is(before, tables.IDEOGRAPH)


def _joins(text: str, start: int, end: int, joiner: str) -> bool:
    """Return True for a joiner between emoji, beside a virama, or that changes how letters join.

    This follows RFC 5892, appendix A, and Unicode Standard Annex 31, section 2.3, extended by real
    use: a virama may follow the joiner (Bengali, Sinhala), and U+200C may follow a letter that does
    not join the next one (Persian, before suffixes).
    """
    before, after = text[start - 1 : start], text[end : end + 1]
    if joiner == _ZWJ and _is(after, tables.PICTOGRAPHIC):
        if _is(before, tables.EMOJI_MODIFIER):
            before = text[start - 2 : start - 1]
        return _is(before, tables.PICTOGRAPHIC)
    if _class(before) == _VIRAMA or (_class(after) == _VIRAMA and _is_letter(before)):
        return True
    left, right = _beyond_marks(text, start, end)
    joins = _is(left, tables.JOINS_NEXT)
    if joiner == _ZWJ:
        return joins != _is(right, tables.JOINS_PREVIOUS)
    joins = joins or _is(left, tables.JOINS_PREVIOUS)
    return joins and _is(right, tables.JOINS_PREVIOUS)


_VIRAMA = 9  # Canonical_Combining_Class


def _class(char: str) -> int:
    import unicodedata

    return unicodedata.combining(char) if char else 0


def _is_symbol(char: str, kind: str = "S") -> bool:
    import unicodedata

    return not char.isascii() and unicodedata.category(char).startswith(kind)


def _is_letter(char: str) -> bool:
    import unicodedata

    if not char:
        return False
    return unicodedata.category(char)[0] in "LM" and not _is(char, tables.DEFAULT_IGNORABLE)


def _beyond_marks(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the characters before and after the run, skipping combining marks."""
    while start and _is_mark(text[start - 1]):
        start -= 1
    while end < len(text) and _is_mark(text[end]):
        end += 1
    return text[start - 1 : start] if start else "", text[end : end + 1]


def _is_mark(char: str) -> bool:
    import unicodedata

    category = unicodedata.category(char)
    return category in ("Mn", "Me") and not _is(char, tables.DEFAULT_IGNORABLE)
