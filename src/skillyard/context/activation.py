"""Tier 2: one skill's instructions as a framed block, and activation as Oasis asks for it.

The frame is adk-skill's: ``[skill:<name>]``, body, ``[/skill]``, unless the caller gives a random
fence that both tags carry (:mod:`skillyard.context.fence`). A body cannot close or open a
frame: frame text inside it is escaped in :mod:`skillyard.text`, before it is cut.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from skillyard.arguments import check_arguments
from skillyard.catalog import Catalog, refresh
from skillyard.context.budget import cut
from skillyard.context.fence import check_fence, closing_tag, opening_tag
from skillyard.context.scripts import Script, list_scripts
from skillyard.errors import InvalidInput, SkillError
from skillyard.ranking.match import Match
from skillyard.ranking.protocol import Scorer
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.selection import SelectionPolicy, survivors
from skillyard.skill import Skill
from skillyard.text import clean, clean_line, escape_frame

__all__ = [
    "Activation",
    "activate",
    "frame",
    "frame_name",
    "prompt_block",
    "safe_body",
    "with_body",
]

_log = logging.getLogger(__name__)


def frame_name(name: str) -> str:
    """Return a name that cannot end its own frame tag."""
    return clean_line(name).replace("[", "(").replace("]", ")")


def with_body(skill: Skill) -> Skill:
    """Return a skill with its instructions: an index knows where they are, and keeps them not.

    Raises SkillError where its file can no longer be read.
    """
    return refresh(skill) if skill.body is None else skill


def safe_body(skill: Skill, max_chars: int | None = None, max_tokens: int | None = None) -> str:
    """Return the body as it may stand in a frame, at most ``max_chars`` characters of it.

    Hidden characters are written out, frame text is escaped, then the result is cut: at the exact
    character for ``max_chars`` (adk-skill), at a boundary and with a mark for ``max_tokens``.
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
    """Return the block: opening tag, body, closing tag, a line each."""
    return f"{opening_tag(frame_name(name), fence)}\n{body}\n{closing_tag(fence)}"


@check_arguments
def prompt_block(
    skill: Skill,
    max_chars: int | None = None,
    *,
    max_tokens: int | None = None,
    fence: str | None = None,
) -> str:
    """Return one skill's block for a prompt. The frame's own lines are not counted.

    With a ``fence``, such as :func:`skillyard.random_fence` returns, the block opens with
    ``[skill:NAME fence=FENCE]`` and closes with ``[/skill:FENCE]``. Raises InvalidInput for a
    negative limit, and for a fence that is not 8 to 64 of the characters 0-9 and a-z.
    """
    check_fence(fence)
    return frame(skill.name, safe_body(skill, max_chars, max_tokens), fence)


@check_arguments
class Activation(NamedTuple):
    """A selected skill, loaded afresh, ready for a prompt."""

    skill: Skill
    block: str
    """Body only, framed: no more of the skill than the prompt needs."""
    scripts: tuple[Script, ...]
    """The skill's scripts, for running in preference to rewriting them; none was run."""
    match: Match


@check_arguments
def activate(
    catalog: Catalog | Iterable[Skill],
    query: str | Query,
    policy: SelectionPolicy | None = None,
    *,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    max_chars: int | None = None,
    fence: str | None = None,
) -> Activation | None:
    """Select a skill, read its file again and return it with its scripts listed (Oasis).

    A candidate whose file can no longer be read falls to the next one above the floor; None when
    no candidate is left. Never raises for a skill's file. ``fence`` is that of
    :func:`prompt_block`.
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
