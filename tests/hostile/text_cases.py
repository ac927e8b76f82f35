"""Hostile fences (16), bytes (12) and characters (19)."""

from __future__ import annotations

import itertools
import os
import string
from functools import partial
from pathlib import Path

from tests.hostile.case import (
    BODY,
    DESCRIPTION,
    LOAD,
    REJECT,
    Case,
    numbered,
    skill_bytes,
    skill_text,
)

_FENCE = "frontmatter_missing frontmatter_unclosed"
_ENCODING = "encoding_not_utf8 binary_file"
_SIZE = "file_too_large frontmatter_too_large"
_HIDDEN = "hidden_character name_bad_chars yaml_invalid"
_PLAIN = {"name": "pencil", "description": DESCRIPTION}


def _refused(word: str, why: str, content: bytes | str, codes: str = "") -> Case:
    data = content.encode() if isinstance(content, str) else content
    return Case(word, REJECT, why, data, codes=frozenset(codes.split()))


def _accepted(word: str, why: str, content: bytes | str, **values: object) -> Case:
    data = content.encode() if isinstance(content, str) else content
    return Case(word, LOAD, why, data, values={**_PLAIN, **values})


def _fences() -> list[Case]:
    good = skill_text()
    second = "---\nname: other\ndescription: Not this one.\n---\nText.\n"
    return [
        _refused("none", "no frontmatter at all", BODY, _FENCE),
        _refused("unclosed", "the second fence is missing", f"---\nname: pencil\n{BODY}", _FENCE),
        _refused("four-hyphens", "`----` is no fence", good.replace("---\n", "----\n"), _FENCE),
        _refused("indented", "the first fence is indented", "  " + good, _FENCE),
        _refused("toml", "TOML between plus signs", f'+++\nname = "pencil"\n+++\n{BODY}', _FENCE),
        _refused("comment-first", "a comment above the fence", f"<!-- note -->\n{good}", _FENCE),
        _refused("cr-only", "lines that end with CR alone", good.replace("\n", "\r"), _FENCE),
        _refused("newlines-20000", "a fence, then only newlines", "---" + "\n" * 20_000, _FENCE),
        _refused("no-bytes", "an empty file", b"", _FENCE),
        _accepted(
            "trailing-blanks", "blanks behind the fences", good.replace("---\n", "---  \t\n")
        ),
        _accepted("crlf", "lines that end with CRLF", good.replace("\n", "\r\n")),
        _accepted("byte-order-mark", "a byte order mark in front", b"\xef\xbb\xbf" + good.encode()),
        _accepted(
            "hyphens-in-value",
            "three hyphens inside a value close nothing",
            skill_text(description="description: Turns a --- rule into a heading."),
            description="Turns a --- rule into a heading.",
        ),
        _accepted("second-frontmatter", "another frontmatter in the body", skill_text(body=second)),
        _accepted(
            "rule-in-body", "a thematic break in the body", skill_text(body="One\n\n---\n\nTwo\n")
        ),
        _accepted(
            "no-body", "nothing after the second fence", skill_text(body="").rstrip(), body=""
        ),
    ]


def _sparse(size: int, root: Path) -> None:
    """Make the target a good beginning and then a hole up to ``size`` bytes."""
    path = root / "pencil/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(skill_bytes())
    os.truncate(path, size)


def _distinct_words(count: int) -> str:
    letters = itertools.product(string.ascii_lowercase, repeat=4)
    return " ".join("".join(word) for word in itertools.islice(letters, count))


def _bytes() -> list[Case]:
    good = skill_bytes()
    elf = b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 8
    front = "x-note: |\n" + "  a line of padding that says nothing\n" * 2_000
    return [
        _refused("utf-16", "UTF-16 with its mark", good.decode().encode("utf-16"), _ENCODING),
        _refused("latin-1", "a lone E9", good.replace(b"pencils.", b"caf\xe9s."), _ENCODING),
        _refused(
            "overlong", "a slash in two bytes", good.replace(b"pencils.", b"\xc0\xaf."), _ENCODING
        ),
        _refused(
            "surrogate",
            "a surrogate in three bytes",
            good.replace(b"pencils.", b"\xed\xa0\x80."),
            _ENCODING,
        ),
        _refused(
            "nul-front", "NUL in the frontmatter", good.replace(b"pencils.", b"\x00."), _ENCODING
        ),
        _refused("nul-body", "NUL in the body", good + b"a\x00b\n", _ENCODING),
        _refused("elf", "a program, not a text", elf, _ENCODING),
        _refused("two-mebibytes", "twice the cap", good + b"word " * (2 * 1024 * 1024 // 5), _SIZE),
        _refused("front-70k", "frontmatter four times its cap", skill_text(extra=front), _SIZE),
        Case(
            "sparse-8g",
            REJECT,
            "eight gibibytes on paper",
            make=partial(_sparse, 8 << 30),
            codes=frozenset(_SIZE.split()),
        ),
        _accepted("one-line-900k", "one line of 900,000 characters", good + b"a" * 900_000),
        _accepted(
            "words-150000", "150,000 distinct words", skill_text(body=_distinct_words(150_000))
        ),
    ]


_TAGGED = "".join(chr(0xE0000 + ord(char)) for char in "run rm")
_ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
_FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


def _described(word: str, why: str, text: str) -> Case:
    content = skill_text(description=f"description: {text}")
    return _accepted(word, why, content, description=text)


def _misdescribed(word: str, why: str, text: str) -> Case:
    return _refused(word, why, skill_text(description=f"description: {text}"), _HIDDEN)


def _misnamed(word: str, why: str, name: str) -> Case:
    return _refused(word, why, skill_text(name=f"name: {name}"), _HIDDEN)


def _characters() -> list[Case]:
    return [
        _misdescribed(
            "tags-in-description", "text written in tag characters", f"Sharpens.{_TAGGED}"
        ),
        _misdescribed("rlo-in-description", "a right-to-left override", "Sharpens \u202eslicnep"),
        _misdescribed("zwsp-in-description", "a zero-width space", "Shar\u200bpens pencils"),
        _misdescribed("bom-inside", "a byte order mark inside", "Sharpens\ufeff pencils"),
        _misnamed("cyrillic-canary", "canary with a Cyrillic letter", "c\u0430nary"),
        _misnamed("full-width-canary", "canary in full-width letters", "ｃａｎａｒｙ"),
        _misnamed("zwj-in-name", "a joiner that shows nothing", "pen\u200dcil"),
        _misnamed("rlo-in-name", "a name that reads backwards", "\u202elicnep"),
        _refused(
            "lone-surrogate",
            "half a character, by a YAML escape",
            skill_text(description='description: "Sharpens \\ud800 pencils."'),
            _HIDDEN,
        ),
        _accepted(
            "tags-in-body", "tag characters in the body", skill_text(body=f"Hello.{_TAGGED}\n")
        ),
        _described(
            "flag-of-england", "a flag made with tag characters", f"Knows the flag {_ENGLAND}."
        ),
        _described("joined-emoji", "a family joined by U+200D", f"For the family {_FAMILY}."),
        _accepted(
            "isolates-in-body", "bidi isolates in the body", skill_text(body="a \u2067b\u2069 c\n")
        ),
        _described("arabic", "a description in Arabic", "يبري أقلام الرصاص"),
        _described("chinese", "a description in Chinese", "把铅笔削尖"),
        _described("soft-hyphens", "soft hyphens", "Blei\u00adstift\u00adspit\u00adzer"),
        Case(
            "chinese-name",
            LOAD,
            "one script, so it loads with a warning",
            skill_bytes(name="name: 铅笔刀"),
            target="铅笔刀/SKILL.md",
            values={"name": "铅笔刀", "description": DESCRIPTION},
        ),
        _described(
            "marks-400", "400 combining marks on one letter", "Sharpens" + "\u0301" * 400 + " it"
        ),
        _accepted(
            "noncharacters-in-body",
            "code points that are no characters",
            skill_text(body="a\ufdd0b\ufffec\uffffd\U0001fffee\n"),
        ),
    ]


FENCE = numbered("fence", _fences())
BYTES = numbered("bytes", _bytes())
UNI = numbered("uni", _characters())
CASES = FENCE + BYTES + UNI
