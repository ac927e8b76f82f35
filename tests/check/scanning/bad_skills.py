"""The labelled set: skills with a malicious technique, read from ``data``.

Parts 1 and 2 were written before the rules and are split by a seed. Parts 3 to 9 were written
later, each after the rules had been corrected with the parts before it, and scanned before any
rule was changed with it. The rules were also corrected with the first halves of parts 8 and 9. So
their second halves alone say how the rules do with what nobody corrected them with. Parts 10 and
11 have known techniques in the disguise of a quotation, a prohibition or documentation. Part 10 was
written before the scan told those apart, part 11 after it and against it. No rule was changed with
them but with `yaml-order` of part 11, an order in a code block.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from skillyard.check.scanning import SkillFile

SEED = "skillyard-scan-1"
_MACRO = re.compile(r"\{\{(\w+):(.*?)\}\}")
_ENCODERS: dict[str, Callable[[str], str]] = {
    "b64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "oct": lambda text: "".join(f"\\{ord(char):03o}" for char in text),
    "rot": lambda text: codecs.encode(text, "rot13"),
    "rev": lambda text: text[::-1],
    "tags": lambda text: "".join(chr(0xE0000 + ord(char)) for char in text),
    "zero": lambda text: "".join(
        "\u200b\u200c"[int(bit)] for char in text for bit in f"{ord(char):08b}"
    ),
    "u": lambda text: chr(int(text, 16)),
}


class BadSkill(NamedTuple):
    """One skill of the set."""

    name: str
    family: str
    files: tuple[SkillFile, ...]
    part: int
    """The number of its file."""

    @property
    def is_unseen(self) -> bool:
        """True for what no rule was changed with: parts 10, 11 and second halves of 8 and 9."""
        return self.is_disguised or (self.part >= 8 and half(self.name))

    @property
    def is_disguised(self) -> bool:
        """True for known techniques in a disguise."""
        return self.part >= 10


def half(name: str) -> bool:
    """Return to which half a name belongs: True for the held-out one."""
    return hashlib.sha256(f"{SEED}:{name}".encode()).digest()[0] % 2 == 1


def bad_skills() -> list[BadSkill]:
    """Return all skills of the set."""
    folder = Path(__file__).parent / "data"
    return [
        skill
        for path in sorted(folder.glob("bad_*.txt"))
        for skill in _skills(path.read_text(encoding="utf-8"), int(path.stem.partition("_")[2]))
    ]


def _skills(text: str, part: int) -> Iterator[BadSkill]:
    for entry in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        head, _, rest = entry.partition("\n")
        name, family, description = (_decoded(word.strip()) for word in head.split("|"))
        files = re.split(r"^--- (?=\S)", rest, flags=re.MULTILINE)[1:]
        content = tuple(_file(each, name, description) for each in files)
        yield BadSkill(name, family, content, part)


def _file(text: str, name: str, description: str) -> SkillFile:
    path, _, content = text.partition("\n")
    path, arrow, target = path.partition(" -> ")
    if arrow:
        return SkillFile(path, None, link=target)
    content = _decoded(content.rstrip("\n") + "\n")
    if path == "SKILL.md" and not content.startswith("---\n"):
        content = f"---\nname: {name}\ndescription: {description}\n---\n{content}"
    return SkillFile(path, content.encode())


def _decoded(text: str) -> str:
    return _MACRO.sub(lambda match: _ENCODERS[match[1]](match[2]), text)
