"""Tier 2: the instructions of one skill as a framed block, and activation as in Oasis.

The frame is that of adk-skill: ``[skill:<name>]``, body, ``[/skill]``. With a fence both tags also
contain it. A body cannot open or close a frame, because
:mod:`skillyard.base.text` escapes frame text inside it before it is cut.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput, SkillError
from skillyard.base.invisible import clean
from skillyard.base.text import clean_line, escape_frame
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.entries import refresh
from skillyard.engine.context.budget import cut
from skillyard.engine.context.scripts import Script, list_scripts
from skillyard.engine.ranking.match import Match
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.selection import SelectionPolicy, survivors
from skillyard.engine.skill import Skill

_log = logging.getLogger(__name__)


def frame_name(name: str) -> str:
    """Return the name without characters that could end the frame tag."""
    return clean_line(name).replace("[", "(").replace("]", ")")


def with_body(skill: Skill) -> Skill:
    """Return the skill with its body, which an index does not store.

    Raises SkillError when its file can no longer be read.
    """
    return refresh(skill) if skill.body is None else skill


def safe_body(skill: Skill, max_chars: int | None = None, max_tokens: int | None = None) -> str:
    """Return the body made safe for a frame, and cut.

    Hidden characters are shown and frame text is escaped. Then ``max_chars`` cuts at that character
    (adk-skill), and ``max_tokens`` cuts at a boundary and adds a note.
    """
    for field, limit in (("max_chars", max_chars), ("max_tokens", max_tokens)):
        if limit is not None and (type(limit) is not int or limit < 0):
            raise InvalidInput(f"{field} must be None or an integer of at least 0")
    body = (skill.body or "").replace("\r\n", "\n").replace("\r", "\n")
    body = escape_frame(clean(body))
    if max_chars is not None:
        body = body[:max_chars]
    return body if max_tokens is None else cut(body, max_tokens)


def frame(name: str, body: str, fence: str | None = None) -> str:
    """Return the block: opening tag, body and closing tag on separate lines."""
    return f"{opening_tag(frame_name(name), fence)}\n{body}\n{closing_tag(fence)}"


def prompt_block(
    skill: Skill,
    max_chars: int | None = None,
    *,
    max_tokens: int | None = None,
    fence: str | None = None,
) -> str:
    """Return the block of one skill for a prompt. Limits apply to the body without the frame.

    With a ``fence``, such as :func:`skillyard.context.random_fence` returns, the block opens with
    ``[skill:NAME fence=FENCE]`` and closes with ``[/skill:FENCE]``. Raises InvalidInput for a
    negative limit, and for a fence that is not 8 to 64 of the characters 0-9 and a-z.
    """
    check_fence(fence)
    return frame(skill.name, safe_body(skill, max_chars, max_tokens), fence)


class Activation(NamedTuple):
    """A selected skill, reloaded from its file, with its block."""

    skill: Skill
    block: str
    """The framed body."""
    scripts: tuple[Script, ...]
    """The skill's scripts, which a model should run instead of rewriting them. None was run."""
    match: Match


def activate(
    catalog: Catalog | Iterable[Skill],
    query: str | Query,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    max_chars: int | None = None,
    fence: str | None = None,
) -> Activation | None:
    """Select a skill, reload its file, and return it with its scripts (Oasis).

    When a candidate's file cannot be read, the next one that passes is used. Returns None when none
    is left. Errors of skill files are not raised. ``fence`` is that of :func:`prompt_block`.
    """
    check_fence(fence)
    if not isinstance(catalog, Catalog):
        catalog = Catalog.from_skills(catalog)
    for match in survivors(catalog, query, policy, scorer=scorer):
        try:
            skill = refresh(match.skill)
        except SkillError as error:
            _log.warning("skill %s did not load again: %s", match.skill.name, error.message)
            continue
        block = prompt_block(skill, max_chars, fence=fence)
        return Activation(skill, block, list_scripts(skill), match)
    return None


_BYTES = 8
_FENCE = "[0-9a-z]{8,64}"


def random_fence() -> str:
    """Return 16 random hexadecimal digits, for one frame or for the frames of one prompt."""
    from secrets import token_hex  # deferred: slow to import

    return token_hex(_BYTES)


def check_fence(fence: str | None) -> None:
    """Raise InvalidInput unless the fence is None or 8 to 64 of the characters 0-9 and a-z."""
    if fence is not None and re.fullmatch(_FENCE, fence) is None:
        raise InvalidInput("fence must be None or 8 to 64 of the characters 0-9 and a-z")


def opening_tag(name: str, fence: str | None = None) -> str:
    """Return the first line of a frame. The name must already be safe."""
    return f"[skill:{name}]" if fence is None else f"[skill:{name} fence={fence}]"


def closing_tag(fence: str | None = None) -> str:
    """Return the last line of a frame."""
    return "[/skill]" if fence is None else f"[/skill:{fence}]"


def fence_of(text: str) -> str | None:
    """Return the fence of the frame at the start of a text, or None."""
    match = re.match(rf"\[skill:[^\n]* fence=({_FENCE})\]\n", text)
    return None if match is None else match.group(1)
