"""Finds prompts that contain the name of the skill under test.

A prompt with the name of the skill under test gives the answer away to the router, and tells the
model without the skill what to do. Such a case measures nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from skillyard.evals.cases.reading import Notes

_BEFORE = r"(?<![^\W_])(?<![-_])"
_AFTER = r"(?![^\W_])(?![-_][^\W_])"


def find_name(prompt: str, name: str) -> str | None:
    """Return the words by which the prompt names the skill, or None.

    Case is ignored, hyphens and underscores are equal, and the name must be a whole word: neither
    ``regex-building-blocks`` nor ``my-regex-building`` names ``regex-building``. A name of several
    hyphenated words counts anywhere. A name written with blanks, or one ordinary word (``pdf``),
    counts only in the forms ``@pdf``, ``/pdf``, ``[skill:pdf]``, *the pdf skill* and *the skill
    pdf*.
    """
    words = [part for part in re.split(r"[-_\s]+", name.strip()) if part]
    if not words or _lacks_one(prompt, words):
        return None
    parts = [re.escape(part) for part in words]
    hyphenated = r"[-_]".join(parts)
    spoken = r"[-_\s]+".join(parts)
    patterns = [
        rf"{_BEFORE}[@/]{hyphenated}{_AFTER}(?![/.][^\W_])",
        rf"skill:\s*{hyphenated}{_AFTER}",
        rf"{_BEFORE}{spoken}\s+skill{_AFTER}",
        rf"{_BEFORE}skill\s+(?:called\s+|named\s+)?[`\"'“‘«]?+{spoken}{_AFTER}",
    ]
    if len(parts) > 1:
        patterns.insert(0, rf"{_BEFORE}{hyphenated}{_AFTER}")
    match = re.search("|".join(patterns), prompt, re.IGNORECASE)
    return match.group() if match else None


def _lacks_one(prompt: str, words: list[str]) -> bool:
    """Tell that a name cannot be there, without a pattern compiled for it."""
    if not prompt.isascii() or not all(word.isascii() for word in words):
        return False  # the cases of other letters are for the pattern
    lowered = prompt.lower()
    return any(word.lower() not in lowered for word in words)


def check_prompt(
    prompt: str, names: Iterable[str], notes: Notes, line: int | None, *, severe: bool = True
) -> None:
    """Note a prompt that names one of the skills; an error, or a warning where not ``severe``."""
    for name in names:
        mention = find_name(prompt, name)
        if mention is None:
            continue
        note = notes.error if severe else notes.warning
        note(
            "case_names_skill",
            line,
            f"the prompt names the skill under test, {name}",
            "ask for what is wanted, as somebody would who does not know the skill",
            mention,
        )
