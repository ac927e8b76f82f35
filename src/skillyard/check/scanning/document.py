"""One file as the rules see it: its text without tricks, its words, its fences, its kind."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property

from skillyard.base.errors import SkillError
from skillyard.base.invisible import hidden_runs
from skillyard.base.lookalikes import latin_shape
from skillyard.check.markdown import Fence, fences
from skillyard.check.scanning.words import Words, group
from skillyard.engine.formats.frontmatter import split, unify_lines

PROSE, SCRIPT, DATA = "prose", "script", "data"
EVERY = frozenset([PROSE, SCRIPT, DATA])
_PROSE = frozenset(["md", "mdx", "markdown", "txt", "rst", "adoc", "org"])
_DATA_ENDINGS = """
    json jsonc jsonl yaml yml toml ini cfg conf csv tsv xml svg html htm plist lock
"""
_DATA = frozenset(_DATA_ENDINGS.split())
_HIDDEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e01ff"
    "\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff]"
)
"""Hidden characters, and Latin letters in other forms."""
_MIX = re.compile("[\u0370-\u052f][A-Za-z]|[A-Za-z][\u0370-\u052f]")
"""A Greek or Cyrillic letter beside a Latin one."""
_FOLD = str.maketrans(
    {
        **dict.fromkeys("\x85\xa0\u1680\u202f\u205f\u3000", " "),
        **{chr(code): " " for code in range(0x2000, 0x200B)},
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
    }
)
"""Blanks and quotes beside ASCII ones, each for one character: words end at them."""
_FOLDED = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2018\u2019\u201c\u201d\u202f\u205f\u3000]")
_ASCII = re.compile("[\0-\x7f]+")
_OTHER_FORM = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff]")
_OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0400-\u052f]")
_MIXED = re.compile("[a-zA-Z\u0370-\u03ff\u0400-\u052f]{2,200}")
SPACED = re.compile(r"(?<![^\W\d_])(?:[^\W\d_][ \t]{1,4}){7,400}[^\W\d_](?![^\W\d_])")
_LATIN = str.maketrans("İıſ\u212a", "IisK")
"""Letters that are Latin ones to a search without case. The first becomes longer in lower case."""
_LETTERS = [group(letter) for letter in "ignore"]
"""Words of a document that may hide a word by blanks between its letters."""


class Document:
    """One text file of a skill. Expensive values are computed on first access."""

    def __init__(self, path: str, data: bytes, publisher: str = "") -> None:
        self.path = path
        """Relative to the skill's folder, with ``/``."""
        self.publisher = publisher
        """Who publishes the skill: the owner of its repository or its host. Empty: not known."""
        self.data = data
        self.kind = kind_of(path, data)
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        if path.lower().endswith(".ipynb"):  # its code is in strings, as escape sequences
            text = text.replace("\\n", "  ").replace('\\"', ' "')
        self.disguised = not text.isascii() and (
            _HIDDEN.search(text) is not None or _MIX.search(text) is not None
        )
        """True when the file may contain hidden characters or letters in the shape of others."""
        text = _plain(text) if self.disguised else text
        is_latin = text.isascii() or not any(letter in text for letter in "İıſ\u212a")
        self.text = text if is_latin else text.translate(_LATIN)
        """The text without hidden characters and with Latin letters for their look-alikes.

        Lines are those of the file, columns may differ.
        """
        if all(map(self.has, _LETTERS)):
            self.text = SPACED.sub(lambda match: _joined(match[0]), self.text)
            del self.lowered, self.words

    @cached_property
    def lowered(self) -> str:
        """The text in lower case with ASCII blanks and quotes, with the same offsets."""
        lowered = self.text.lower()
        if lowered.isascii() or _FOLDED.search(lowered) is None:
            return lowered
        return lowered.translate(_FOLD)

    @cached_property
    def words(self) -> Words:
        """The words of patterns in :attr:`lowered`."""
        foreign = "" if self.lowered.isascii() else _ASCII.sub("", self.lowered)
        return Words(self.lowered, foreign)

    def has(self, group: int) -> bool:
        """True when a word of the group occurs."""
        return group in self.words.groups

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect_right(self._starts, offset)

    def start_of(self, line: int) -> int:
        """Return the offset at which a 1-based line begins; that of the last one beyond it."""
        return self._starts[min(line, len(self._starts)) - 1]

    def end_of(self, line: int) -> int:
        """Return the offset behind a 1-based line."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def lines(self, first: int, last: int) -> str:
        """Return the text of some 1-based lines; those outside of the document are left out."""
        return self.text[self.start_of(max(first, 1)) : self.end_of(last)]

    @cached_property
    def fences(self) -> list[Fence]:
        """The code blocks of prose, in order. A block that is never closed ends with the file."""
        return fences(self.text) if self.kind == PROSE else []

    def fence_at(self, offset: int) -> Fence | None:
        """Return the code block around an offset."""
        at = bisect_right(self.fences, offset, key=lambda fence: fence.start) - 1
        return self.fences[at] if at >= 0 and offset < self.fences[at].end else None

    @cached_property
    def parts(self) -> tuple[str, str]:
        """The frontmatter without its fences, and the body. Of a broken file all is body."""
        try:
            fenced = split(unify_lines(self.text), self.path)
        except SkillError:
            return "", self.text
        return fenced.block, fenced.body


def kind_of(path: str, data: bytes) -> str:
    """Return ``PROSE``, ``SCRIPT`` or ``DATA`` for a file, by its name and first bytes."""
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2] if "." in name else ""
    if extension in _PROSE or (not extension and name in ("readme", "license", "notice")):
        return PROSE
    if extension in _DATA and not data.startswith(b"#!"):
        return DATA
    return SCRIPT


def _joined(spaced: str) -> str:
    """Return letters with one blank between them as words; wider gaps separate words."""
    words = re.split(r"[ \t]{2,}", spaced)
    return " ".join(re.sub("[ \t]", "", word) for word in words)


def _plain(text: str) -> str:
    """Return the text as it is read: nothing invisible, one form and one script for each letter."""
    pieces, position = [], 0
    for start, end in hidden_runs(text):
        pieces.append(text[position:start])
        position = end
    text = "".join([*pieces, text[position:]])
    text = _OTHER_FORM.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    if _OTHER_SCRIPT.search(text) is None:
        return text
    return _MIXED.sub(lambda match: _one_script(match[0]), text)


def _one_script(word: str) -> str:
    if word.isascii() or not re.search("[a-zA-Z]", word):
        return word
    return "".join(map(latin_shape, word))
