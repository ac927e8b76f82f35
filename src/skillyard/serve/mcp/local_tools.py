"""The tools of this library: list, load and read skills; choose, compare, explain, judge them."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput, SkillError
from skillyard.base.io.files import sha256
from skillyard.base.shapes import tools as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.shapes.library import File
from skillyard.base.text import clean_line, plural, shorten
from skillyard.engine.catalog import Catalog, has_tag
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.formats.frontmatter import unify_lines
from skillyard.engine.operations.skill_details import show_skill
from skillyard.engine.operations.skill_explanation import WhyResult
from skillyard.engine.operations.skill_explanation import why_skill as explain
from skillyard.engine.resources import Resource, list_resources, read_resource
from skillyard.engine.skill import Origin, Skill
from skillyard.hosts.operations.skill_feedback import judge_for_client
from skillyard.hosts.operations.skill_selection import SelectResult, select_skills
from skillyard.serve.mcp.call import Answer, cursor_of, place_in
from skillyard.serve.mcp.frames import FramedText, frame_file, frame_skill, safe_json, safe_text
from skillyard.serve.mcp.skill_uris import SKILL_FILE, uris_of
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.errors import Refused, problem_of
from skillyard.serve.runtime.snapshot import Ranking, Snapshot

MAX_RUNNERS_UP = 3
"""Number of runners-up that the text of an answer names."""
PERHAPS = (
    "Use one only where its description is what the request is about; else ask, or go on without a"
    " skill."
)
PROBLEMS = 50
"""Maximum number of invalid files that one answer names."""
MAX_LISTED_SKILLS = 50_000
"""A larger library is searched and not listed, because listing reads all skills."""


def offered_skills(snapshot: Snapshot, *, hidden: bool = False) -> list[Skill]:
    """Return the skills that a model may see, sorted by name, without convention documents.

    Shadowed skills are left out, and skills that only a user may call unless ``hidden`` is set.
    """
    return [
        skill
        for skill in snapshot.whole.candidates
        if skill.origin != Origin.CONVENTION and (hidden or not skill.hidden)
    ]


def list_skills(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """List the library's skills as cards, page by page."""
    count = len(snapshot.whole)
    if snapshot.whole.on_demand and count > MAX_LISTED_SKILLS:
        raise Refused(
            400,
            "library_too_large",
            f"{count:,} skills are too many to list: search_skills and skill_evaluate find them",
        )
    after = place_in(request.cursor)
    hidden: bool = request.include_hidden
    keyed = snapshot.cached(("in order", hidden), lambda: _in_order(snapshot, hidden))
    if request.tags:
        keyed = [each for each in keyed if has_tag(each[1], request.tags)]
    start = 0 if after is None else bisect_right(keyed, after, key=itemgetter(0))
    rows = keyed[start : start + request.limit]
    more = cursor_of(rows[-1][0]) if len(keyed) > start + len(rows) else None
    return _listing(snapshot, [skill for _, skill in rows], len(keyed), more)


def _in_order(snapshot: Snapshot, hidden: bool) -> list[tuple[str, Skill]]:
    """Return the offered skills with a unique sort key each, in that order."""
    keyed = [
        (f"{skill.name}\t{snapshot.path_below_root(skill.path)}\t{skill.id}\t{number}", skill)
        for number, skill in enumerate(offered_skills(snapshot, hidden=hidden))
    ]
    return sorted(keyed, key=itemgetter(0))


def _listing(snapshot: Snapshot, page: list[Skill], total: int, more: str | None) -> Answer:
    roots = uris_of(snapshot).roots
    cards = tuple(_card(snapshot, skill, roots.get(skill.path)) for skill in page)
    problems = snapshot.cached("problems", lambda: _problems(snapshot))
    counts = snapshot.whole.counts
    lines = [f"{counts.words} in this library, {total:,} listed here; load_skill(name) brings one."]
    lines += [f"- {each.name}: {each.description}" for each in cards]
    if more is not None:
        lines.append(f"More: list_skills(cursor={more!r})")
    if problems:
        lines.append(f"{plural(len(problems), 'file')} did not load:")
        lines += [f"- {each.path}: {each.message}" for each in problems[:5]]
    listing = shapes.LibraryPage(
        skills=cards, total=total, counts=counts.document(), next_cursor=more, problems=problems
    )
    return Answer("\n".join(lines), encode(listing))


def _card(snapshot: Snapshot, skill: Skill, root: str | None) -> shapes.LibraryCard:
    return from_attributes(
        shapes.LibraryCard,
        skill,
        description=safe_text(clean_line(skill.description)),
        tags=tuple(safe_text(tag) for tag in skill.tags),
        origin=snapshot.origin_of(skill),
        tokens=estimate_tokens(skill.body or ""),
        places=tuple(snapshot.path_below_root(path) for path in snapshot.whole.places(skill)),
        digest=f"sha256:{skill.hash}",
        uri=None if root is None else f"{root}/{SKILL_FILE}",
    )


def _problems(snapshot: Snapshot) -> tuple[shapes.Problem, ...]:
    errors = [each for each in snapshot.whole.diagnostics if each.severity == "error"]
    return tuple(
        shapes.Problem(
            path=safe_text(clean_line(snapshot.path_below_root(each.path))),
            message=safe_text(problem_of(each)),
        )
        for each in errors[:PROBLEMS]
    )


def load_skill(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Return one skill's framed instructions, with a list of its files."""
    skill = snapshot.whole.get(request.name.strip())
    loaded = framed_skill(context, snapshot, skill, request.max_tokens, request.section)
    framed, root = loaded.framed, loaded.root
    result = shapes.Loaded(
        name=skill.name,
        id=skill.id,
        origin=snapshot.origin_of(skill),
        digest=f"sha256:{skill.hash}",
        uri=None if root is None else f"{root}/{SKILL_FILE}",
        content=framed.text,
        files=tuple(from_attributes(File, file) for file in loaded.files),
        tokens=estimate_tokens(framed.content),
        truncated=framed.truncated,
    )
    return Answer(framed.text, encode(result))


class _FramedSkill(NamedTuple):
    framed: FramedText
    files: tuple[Resource, ...]
    root: str | None
    """The URI of its folder."""


def framed_skill(
    context: AppContext,
    snapshot: Snapshot,
    skill: Skill,
    max_tokens: int | None = None,
    section: str | None = None,
) -> _FramedSkill:
    """Return the instructions of a skill for a model. Raises Refused for one without any."""
    if skill.body is None:
        raise Refused(400, "no_content", f"{skill.name} has no instructions")
    body = skill.body
    if section:
        body = show_skill(snapshot.whole, skill.id, section=section).body
    files: tuple[Resource, ...] = ()
    with suppress(SkillError, OSError):  # a single document, or a removed folder
        files = list_resources(skill)
    root = uris_of(snapshot).roots.get(skill.path)
    folder = root or ""  # for clients on other machines, the URI
    if context.show_folders and skill.path and not skill.stored:
        folder = os.path.abspath(os.path.dirname(skill.path) or ".")
    framed = frame_skill(
        skill.name,
        body,
        origin=snapshot.origin_of(skill),
        directory=folder,
        digest=skill.hash,
        files=[file.path for file in files],
        max_tokens=max_tokens,
    )
    return _FramedSkill(framed, files, root)


def read_skill_file(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Return one text file of a skill's own folder in its frame."""
    skill, path = snapshot.whole.get(request.name.strip()), request.path
    data = read_resource(skill, path)
    try:
        if b"\0" in data:
            raise UnicodeDecodeError("utf-8", data, 0, 1, "a NUL byte")
        text = unify_lines(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise Refused(
            400, "not_text", f"{path} is not text ({len(data):,} bytes); its resource has its bytes"
        ) from None
    origin, digest = snapshot.origin_of(skill), sha256(data).hex()
    framed = frame_file(
        skill.name,
        path,
        text,
        origin=origin,
        digest=digest,
        size=len(data),
        max_tokens=request.max_tokens,
    )
    result = shapes.LoadedFile(
        name=skill.name,
        path=safe_text(path),
        origin=origin,
        digest=f"sha256:{digest}",
        size=len(data),
        content=framed.text,
        tokens=estimate_tokens(framed.content),
        truncated=framed.truncated,
    )
    return Answer(framed.text, encode(result))


def select_skill(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Select skills for a request and return the instructions of the best one, or abstain."""
    if not request.query.strip() and not request.files:
        raise InvalidInput("select_skill needs query or files: give at least one of them")

    def choose(ranking: Ranking) -> SelectResult:
        selected = select_skills(
            ranking.catalog,
            context.with_feedback(request.as_query()),
            request.as_policy(),
            scorer=ranking.scorer,
            caller=context.options.caller,
        )
        return selected._replace(note=ranking.note)

    selected = snapshot.answer(context.scorer_of(request.scorer) or context.scorer, choose)
    chosen = selected.selection.selected
    block = None
    if chosen and request.max_tokens != 0:
        block = framed_skill(context, snapshot, chosen[0].skill, request.max_tokens).framed.text
    shape = encode(selected.document())
    for kind in ("selected", "maybe", "rejected"):
        for match in shape[kind]:
            for place in (match, *match.get("variants", ())):
                place["path"] = snapshot.path_below_root(place["path"])
    if selected.selection.abstained and not shape["maybe"]:
        # Most turns need no skill, and each pays for this answer: it names no others.
        shape |= {"query": {"text": request.query}, "rejected": []}
    text = safe_text("\n".join(_choice_lines(selected)))
    return Answer(
        text if block is None else f"{text}\n\n{block}", {**safe_json(shape), "block": block}
    )


def _choice_lines(selected: SelectResult) -> list[str]:
    """Return a selection as text: the skills with their scores, or the runners-up."""
    selection = selected.selection
    lines = [
        f"{match.skill.name} ({match.score:.2f}): {match.reason}" for match in selection.selected
    ]
    lines += [
        f"{match.skill.name} needs these skills first: {', '.join(s.name for s in match.required)}"
        for match in selection.selected
        if match.required
    ]
    lines += [
        f"{match.skill.name} needs the tools {', '.join(match.unchecked_tools)}: if you lack one,"
        " go on without it, and name your tools in `tools`."
        for match in selection.selected
        if match.unchecked_tools
    ]
    if not lines and selection.maybe:
        near = ", ".join(
            f"{match.skill.name} ({match.score:.2f}): {shorten(match.skill.description, 200)}"
            for match in selection.maybe[:MAX_RUNNERS_UP]
        )
        lines = [f"No skill surely fits. Perhaps: {near}", PERHAPS]
    if not lines and selection.left_to_user is not None:
        lines = ["What fits best is a skill that only the user calls; go on without one."]
    lines = lines or ["No skill of this library fits; go on without one."]
    return [*lines, *filter(None, (selected.question, selected.note))]


def skill_feedback(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Store a judgement about a skill of the library."""
    skill = snapshot.whole.get(request.name.strip())
    receipt = judge_for_client(
        snapshot.whole,
        skill.id,
        right=request.right,
        request=request.request,
        note=request.note or "",
        by="mcp",
    )
    word = "right" if receipt.right else "wrong"
    text = f"Stored: {skill.name} was {word}. It counts a little for similar requests."
    return Answer(safe_text(text), encode(receipt))


def skill_evaluate(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Return the documented skill_evaluate answer."""
    if request.text is None and request.files is None and not request.recent_activity:
        raise InvalidInput("skill_evaluate needs files or text: give at least one of them")

    evaluated = snapshot.evaluate(request)
    results = [replace(each, reason=safe_text(each.reason)) for each in evaluated.results]
    message = safe_text(evaluated.message)
    return Answer(message, {"results": encode(results), "message": message})


def why_skill(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Explain one skill's score and place for a request."""
    if not request.query.strip() and not request.files:
        raise InvalidInput("why_skill needs query or files: give at least one of them")

    def reasons(ranking: Ranking) -> tuple[Catalog, WhyResult]:
        judged = context.with_feedback(request.as_query())
        why = explain(
            ranking.catalog, request.name, judged, scorer=ranking.scorer, limit=request.limit
        )
        return ranking.catalog, why._replace(note=ranking.note)

    why = _below_roots(
        snapshot, *snapshot.answer(context.scorer_of(request.scorer) or context.scorer, reasons)
    )
    shape = encode(why.document())
    for match in (shape["match"], *(ahead["match"] for ahead in shape["ahead"])):
        match["path"] = snapshot.path_below_root(match["path"])
    text = _explanation_text(why, shape["match"]["signals"])
    return Answer(text, safe_json(shape))


def _below_roots(snapshot: Snapshot, catalog: Catalog, why: WhyResult) -> WhyResult:
    """Return the explanation with paths in its texts relative to their root."""
    winner = catalog.shadowed.get(why.match.skill)
    if winner is None:
        return why

    def relative(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            text.replace(winner.path, snapshot.path_below_root(winner.path)) for text in texts
        )

    return why._replace(
        hints=relative(why.hints), left_out=relative(why.left_out), advice=relative(why.advice)
    )


def _explanation_text(why: WhyResult, signals: Mapping[str, float]) -> str:
    would = "would" if why.chosen else "would not"
    lines = [*why.sentences, f"A selection {would} take {why.match.skill.name}."]
    lines += [f"- {label}: {value:.4g}" for label, value in signals.items()]
    if why.ahead:
        lines.append("Before it:")
    for ahead in why.ahead:
        by = ", ".join(f"{signal.signal} {signal.lead:+.4g}" for signal in ahead.signals[:3])
        because = ahead.because or by
        lines.append(f"{ahead.rank}. {ahead.match.skill.name} ({ahead.match.score:.4g}): {because}")
    lines += [f"Hint: {hint}" for hint in why.advice]
    if why.note:
        lines.append(why.note)
    return safe_text("\n".join(lines))
