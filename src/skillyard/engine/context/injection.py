"""Injection: the block of the best skill before the user's own text (adk-skill).

Rules of the document: only for the role ``user``; the query is the text parts joined by newlines;
only the top match; the body is cut to ``max_injected_chars``. The document's own injector is
``scorer="overlap"``. The given prompt is not modified. When it already contains a block, nothing is
added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from skillyard.base.errors import InvalidInput
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.activation import (
    check_fence,
    closing_tag,
    fence_of,
    prompt_block,
    with_body,
)
from skillyard.engine.ranking.match import Match
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.engine.selection import SelectionPolicy, policy_with, select
from skillyard.engine.skill import Skill

MAX_INJECTED_CHARS = 2_000
"""adk-skill's default."""
USER_ROLE = "user"

Message = Mapping[str, Any]
Prompt = str | Message | Sequence[Message]


class Injection(NamedTuple):
    """The prompt with the block, and the match of the block's skill (None: unchanged)."""

    prompt: Any
    """A new value of the same type as the input."""
    match: Match | None


def select_prompt_block(
    catalog: Catalog | Iterable[Skill],
    query: str | Query,
    policy: SelectionPolicy | None = None,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    max_chars: int | None = MAX_INJECTED_CHARS,
    *,
    min_score: float | None = None,
    top_k: int | None = None,
    fence: str | None = None,
) -> tuple[str, Match] | None:
    """Return (block of the best skill, its match), or None when no skill is selected.

    ``min_score`` and ``top_k`` are those of :func:`skillyard.select`; with a ``top_k`` of 0 no
    skill is selected. ``fence`` is that of :func:`skillyard.prompt_block`. Raises SkillError when
    the skill's file can no longer be read.
    """
    check_fence(fence)
    selection = select(catalog, query, policy, scorer, min_score=min_score, top_k=top_k)
    if not selection.selected:
        return None
    best = selection.selected[0]
    return prompt_block(with_body(best.skill), max_chars, fence=fence), best


def inject(
    prompt: Prompt | Catalog,
    catalog: Catalog | Iterable[Skill] | Prompt,
    policy: SelectionPolicy | None = None,
    max_chars: int | None = MAX_INJECTED_CHARS,
    scorer: str | Scorer | Any = DEFAULT_SCORER,
    *,
    min_score: float | None = None,
    top_k: int | None = None,
    fence: str | None = None,
) -> Injection:
    """Return the prompt with the block of the best skill before the user's text.

    ``prompt`` is a string, a message ``{"role", "content"}`` (content a string or a list of parts;
    ``parts`` is accepted in place of ``content``), or a list of messages, of which the last must be
    the user's. Other fields of the messages stay unchanged. ``min_score`` and ``top_k`` are those
    of :func:`skillyard.select`, ``fence`` is that of :func:`skillyard.prompt_block`. The catalog
    may come first, as in every other function. Raises InvalidInput for another shape.
    """
    check_fence(fence)
    if isinstance(prompt, Catalog):
        prompt, catalog = cast(Prompt, catalog), prompt
    elif isinstance(catalog, str | Mapping):
        raise InvalidInput("one of the first two arguments must be a catalog")
    skills = cast("Catalog | Iterable[Skill]", catalog)
    policy = policy_with(policy, min_score, top_k)

    def block_for(text: str) -> tuple[str, Match] | None:
        own = _own_words(text)
        if not own.strip():
            return None
        block = select_prompt_block(skills, own, policy, scorer, max_chars, fence=fence)
        if block is None or own is text or text.startswith(block[0]):
            return block
        return None  # another injector has already added a block

    if isinstance(prompt, str):
        return _before(prompt, block_for(prompt))
    if isinstance(prompt, Mapping):
        return _into_message(prompt, block_for)
    messages = list(prompt)
    if not messages:
        return Injection(messages, None)
    last = _into_message(messages[-1], block_for)
    return Injection([*messages[:-1], last.prompt], last.match)


def _own_words(text: str) -> str:
    """Return the text without a block at its start."""
    if not text.startswith("[skill:"):
        return text
    for fence in (fence_of(text), None):
        closing = f"\n{closing_tag(fence)}\n"
        end = text.find(closing)
        if end >= 0:
            return text[end + len(closing) :]
    return text


def _before(text: str, block: tuple[str, Match] | None) -> Injection:
    """Return the text with the block before it, unless it stands there."""
    if block is None:
        return Injection(text, None)
    return Injection(text if text.startswith(block[0]) else f"{block[0]}\n\n{text}", block[1])


def _into_message(
    message: Message, block_for: Callable[[str], tuple[str, Match] | None]
) -> Injection:
    unchanged = Injection(dict(message), None)
    if message.get("role") != USER_ROLE:
        return unchanged
    field = "content" if "content" in message else "parts"
    content = message.get(field)
    if content is None:
        return unchanged
    if isinstance(content, str):
        inner = _before(content, block_for(content))
        return Injection({**message, field: inner.prompt}, inner.match)
    if not isinstance(content, Sequence):
        raise InvalidInput(f"a message's {field} must be text or a list of parts")
    parts = list(content)
    texts = {number: text for number, part in enumerate(parts) if (text := _text(part)) is not None}
    block = block_for("\n".join(texts.values()))
    if block is None:
        return unchanged
    first = min(texts)
    joined, part = _before(texts[first], block), parts[first]
    parts[first] = joined.prompt if isinstance(part, str) else {**part, "text": joined.prompt}
    return Injection({**message, field: parts}, joined.match)


def _text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        text = part.get("text")
        if isinstance(text, str) and part.get("type", "text") in ("text", "input_text"):
            return text
    return None
