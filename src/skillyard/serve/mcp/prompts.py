"""Prompts: one for each skill that a user may call by name."""

from __future__ import annotations

from collections import Counter

from mcp_types import (
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from skillyard.base.invisible import clean
from skillyard.base.text import clean_line, shorten
from skillyard.engine.skill import Skill
from skillyard.serve.mcp.call import SharedState, cursor_of, origin_of, place_in
from skillyard.serve.mcp.failures import invalid
from skillyard.serve.mcp.local_tools import load_answer, offered_skills
from skillyard.serve.runtime.snapshot import Snapshot

PAGE = 100
ARGUMENT_CHARS = 20_000
ARGUMENTS = "arguments"


def _skills_by_prompt(snapshot: Snapshot) -> dict[str, Skill]:
    """Return the skills that a user may call by prompt name, sorted.

    Skills that share a name have their id as prompt name.
    """
    skills = [skill for skill in offered_skills(snapshot, hidden=True) if skill.user_invocable]
    counts = Counter(skill.name for skill in skills)
    by_prompt = {(skill.id if counts[skill.name] > 1 else skill.name): skill for skill in skills}
    return dict(sorted(by_prompt.items()))


async def list_prompts(shared: SharedState, cursor: str | None) -> ListPromptsResult:
    """Return one page of the prompts."""
    after = place_in(cursor)

    def work(snapshot: Snapshot) -> ListPromptsResult:
        rest = [p for p in _skills_by_prompt(snapshot).items() if after is None or p[0] > after]
        page = rest[:PAGE]
        more = cursor_of(page[-1][0]) if len(rest) > PAGE else None
        prompts = [_prompt(snapshot, name, skill) for name, skill in page]
        return ListPromptsResult(prompts=prompts, next_cursor=more)

    return await shared.answer(work)


def _prompt(snapshot: Snapshot, name: str, skill: Skill) -> Prompt:
    hint = clean_line(skill.hint or "") or "What to do with it, in words."
    return Prompt(
        name=name,
        title=clean_line(skill.title or skill.name),
        description=clean_line(skill.description),
        arguments=[PromptArgument(name=ARGUMENTS, description=shorten(hint, 300), required=False)],
        _meta={"skillyard/origin": origin_of(snapshot, skill)},
    )


async def get_prompt(
    shared: SharedState, name: str, arguments: dict[str, str] | None
) -> GetPromptResult:
    """Return a skill's framed instructions, followed by the user's text. Raises MCPError."""
    values = dict(arguments or {})
    argument_text = values.pop(ARGUMENTS, "")
    if values:
        raise invalid(f"the prompt takes the one argument {ARGUMENTS!r}", "invalid_argument")
    if len(argument_text) > ARGUMENT_CHARS:
        raise invalid(f"{ARGUMENTS} must have at most {ARGUMENT_CHARS:,} characters")

    def work(snapshot: Snapshot) -> GetPromptResult:
        skill = _skills_by_prompt(snapshot).get(name)
        if skill is None:
            clean_name = clean_line(shorten(name, 200))
            raise invalid(f"No prompt is called {clean_name!r}", "unknown_prompt")
        text = load_answer(snapshot, shared, skill).text
        parts = [text, clean(argument_text)] if argument_text.strip() else [text]
        messages = [
            PromptMessage(role="user", content=TextContent(type="text", text=part))
            for part in parts
        ]
        about = clean_line(skill.description)
        return GetPromptResult(description=about, messages=messages)

    return await shared.answer(work)
