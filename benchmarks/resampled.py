"""Any number of skills like real ones: sections of the corpus, put together anew.

A skill has the description of one real skill and sections of two, 3.4 KB on average: what a million
skills are taken to be in the specification (performance, section 7). A whole one is as long as the
real one, and one word in ten is another one of the second. Skill N is the same in every run.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.corpus import corpus_file, records, skill_md

__all__ = ["Resampler", "write_skills"]

SEED = 7
SHARE = 0.32
"""Of a real body's length: 8.5 KB on average become 3.4 KB, frontmatter included."""
EACH = 10
"""One word in so many of a whole skill is exchanged, so that no two have the same ones."""
_WORD = re.compile(r"([^\W\d_]{4,})")
_HEADING = re.compile(r"\n(?=#{1,3} )")


class Resampler:
    """Makes skills out of the corpus's."""

    def __init__(self, shared: Path, count: int = 10_476, *, whole: bool = False) -> None:
        self._whole = whole
        if not corpus_file(shared).is_file():
            raise SystemExit(f"there is no corpus below {shared}: set SKILLYARD_SHARED")
        self._real = list(records(shared, count))
        self._sections = [_HEADING.split(record["text"]) for record in self._real]
        self._words = [_WORD.findall(record["text"]) for record in self._real] if whole else []
        self._split = [[_split(part) for part in parts] for parts in self._sections if whole]

    def record(self, number: int) -> dict[str, Any]:
        """Return skill number ``number`` in the corpus's shape."""
        draw = random.Random(f"{SEED}:{number}")
        one, other = draw.randrange(len(self._real)), draw.randrange(len(self._real))
        base, second = self._real[one], self._real[other]
        text = self._mixed(one, other, draw) if self._whole else self._short(one, other, draw)
        topic = second["name"].replace("_", "-").split("-")[0]
        name = f"{base['name']}-{topic}-{number}"
        return {
            "name": name,
            "description": base["description"],
            "source": base["source"],
            "path": f"{base['source']}/{name}",
            "license": base.get("license"),
            "text": f"{text}\n\nEdition {number}.",
        }

    def _short(self, one: int, other: int, draw: random.Random) -> str:
        """Return sections of two skills, as long as :data:`SHARE` says."""
        length = SHARE * len(self._real[one]["text"])
        first, *rest = [*self._sections[one], *self._sections[other][:2]]
        draw.shuffle(rest)
        text: str = first
        for section in rest:
            if len(text) >= length:
                break
            text += "\n" + section
        return text[: max(200, round(length))].rstrip()

    def _mixed(self, one: int, other: int, draw: random.Random) -> str:
        """Return the sections of a skill in another order, one word in ten from the second."""
        first, *rest = self._split[one]
        draw.shuffle(rest)
        pieces = list(first)
        for section in rest:
            pieces += ["", "\n" + section[0], *section[1:]]  # words stay at the odd places
        words = self._words[other]
        places = range(1 + 2 * draw.randrange(EACH), len(pieces), 2 * EACH)
        if words:
            start = draw.randrange(len(words))
            enough = -(-(start + len(places)) // len(words))
            pieces[places.start :: places.step] = (words * enough)[start : start + len(places)]
        return "".join(pieces).rstrip()


def _split(text: str) -> list[str]:
    """Return what is between words at the even places, and words at the odd ones."""
    return [sys.intern(piece) for piece in _WORD.split(text)]


def write_skills(folder: Path, shared: Path, count: int, *, whole: bool = False) -> None:
    """Write so many skill folders, a thousand to a folder of the first level."""
    resampler = Resampler(shared, whole=whole)
    for number in range(count):
        record = resampler.record(number)
        place = folder / f"{number % 1_000:03}" / record["name"][:200]
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(skill_md(record), encoding="utf-8")
