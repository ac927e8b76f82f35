"""The arms of an evaluation: the system text of each condition.

All arms have the same role sentence. They differ only in the framed block after it, so a difference
between two arms is caused by the disclosed text (spec/evals.md §1.5, §1.7).
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skillyard.base.text import clean_line
from skillyard.evals.conditions.siblings import MAX_SIBLING_BYTES, Sibling, Siblings, read_siblings
from skillyard.evals.conditions.sizes import CHARS_PER_TOKEN, Size, size_of, tier
from skillyard.evals.conditions.summaries import extract_summary, split_document

DEFAULT_ROLE = (
    "You are an experienced professional. Answer the request completely and correctly, "
    "in a form that can be used as it is."
)
"""The sentence that every arm starts with; the configuration may replace it."""

_CONDITIONS = ("full", "summary", "baseline", "full_siblings")
"""The arms of the size-impact document."""
CONTENT = "SKILL CONTENT"
SUMMARY = "SKILL SUMMARY"
SIBLING = "SIBLING FILE"
_HYPHENS = 3
_MAX_COUNTED_RUN = 80
# Possessive and anchored at the start of a run, so that a long run of hyphens is passed once.
_DELIMITER_LIKE = re.compile(r"(?<!-)(-{3,}+)[ \t]*+(?:BEGIN|END)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Arm:
    """The system text of one condition, and its size."""

    condition: str
    system: str
    """The whole system text."""
    injected: str
    """The framed block in it; empty for the baseline."""
    size: Size
    """Of the injected block, delimiters included."""
    raw: Size
    """Of the skill's own text in it, without delimiters."""

    def sizes(self) -> dict[str, Any]:
        """Return the sizes as results have them."""
        return {**asdict(self.size), "raw_bytes": self.raw.bytes}


@dataclass(frozen=True, slots=True)
class Arms:
    """The arms of one skill, and what could not become part of one."""

    arms: dict[str, Arm]
    """By condition, in the documented order."""
    body_bytes: int
    """Of the body, stripped, in UTF-8."""
    tier: str
    """``small``, ``medium`` or ``large``, by the body's bytes."""
    summary_error: str | None = None
    """``empty`` where the skill has neither description nor scope, so no summary arm."""
    missing_siblings: tuple[str, ...] = ()
    refused_siblings: tuple[tuple[str, str], ...] = ()
    """Names and reasons."""
    left_out_siblings: tuple[str, ...] = ()
    """Names that ``max_sibling_bytes`` did not reach."""


def frame(what: str, text: str) -> str:
    """Return the text between ``--- BEGIN <what> ---`` and ``--- END <what> ---`` lines.

    If the text contains a similar line, the frame uses more hyphens than the text, so no line of
    the text equals a line of the frame. Against runs longer than 80 hyphens the frame uses a length
    that does not occur in the text.
    """
    runs = {len(length) for length in _DELIMITER_LIKE.findall(text)}
    count = max((length + 1 for length in runs if length <= _MAX_COUNTED_RUN), default=_HYPHENS)
    while count in runs:
        count += 1
    hyphens = "-" * count
    return f"{hyphens} BEGIN {what} {hyphens}\n{text}\n{hyphens} END {what} {hyphens}"


def skill_arms(
    skill_md: str,
    folder: str | None,
    *,
    conditions: Container[str] = _CONDITIONS,
    role: str = DEFAULT_ROLE,
    siblings: Sequence[str] = (),
    max_sibling_bytes: int = MAX_SIBLING_BYTES,
    chars_per_token: float = CHARS_PER_TOKEN,
    old_md: str | None = None,
) -> Arms:
    """Return those of the arms of a skill that ``conditions`` names.

    ``full`` (in L5: ``enhanced``) is the whole body, ``summary`` an extract, ``baseline`` nothing,
    ``full_siblings`` the body with files beside it, and ``old`` the body of ``old_md``.
    ``skill_md`` is the text of its SKILL.md, ``folder`` the folder of its siblings. There is no
    ``summary`` arm without a summary (``summary_error`` says so) and no ``full_siblings`` arm
    unless at least one sibling could be read. Raises InvalidInput for a budget below 0 or
    characters per token that are not above 0.
    """
    body = split_document(skill_md).body.strip()
    block = frame(CONTENT, body)
    summary = extract_summary(skill_md) if "summary" in conditions else None
    beside = _siblings(folder, siblings if "full_siblings" in conditions else (), max_sibling_bytes)
    texts = {"enhanced": (block, body), "full": (block, body)}
    if summary is not None:
        texts["summary"] = (frame(SUMMARY, summary), summary)
    if old_md is not None:
        old_body = split_document(old_md).body.strip()
        texts["old"] = (frame(CONTENT, old_body), old_body)
    texts["baseline"] = ("", "")
    if beside.files:
        together = "\n\n".join([block, *map(_framed_sibling, beside.files)])
        texts["full_siblings"] = (together, body + "".join(each.text for each in beside.files))
    arms = {
        name: _arm(name, role, injected, raw, chars_per_token)
        for name, (injected, raw) in texts.items()
        if name in conditions
    }
    body_bytes = size_of(body, chars_per_token).bytes
    return Arms(
        arms,
        body_bytes,
        tier(body_bytes),
        summary_error="empty" if "summary" in conditions and summary is None else None,
        missing_siblings=beside.missing,
        refused_siblings=beside.refused,
        left_out_siblings=beside.left_out,
    )


def _siblings(folder: str | None, names: Sequence[str], max_bytes: int) -> Siblings:
    if folder is None:  # a skill that comes from no folder has nothing beside it
        return Siblings((), tuple(dict.fromkeys(names)), ())
    return read_siblings(folder, names, max_bytes)


def _framed_sibling(sibling: Sibling) -> str:
    return frame(f"{SIBLING} {clean_line(sibling.name)}", sibling.text)


def _arm(condition: str, role: str, block: str, raw: str, chars_per_token: float) -> Arm:
    return Arm(
        condition,
        f"{role}\n\n{block}" if block else role,
        block,
        size_of(block, chars_per_token),
        size_of(raw, chars_per_token),
    )
