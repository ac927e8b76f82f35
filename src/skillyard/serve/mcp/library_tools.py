"""The tools that list and load the skills of the library: list, load, read a file."""

from __future__ import annotations

import os
from bisect import bisect_right
from operator import itemgetter

from skillyard.base.errors import InvalidInput, SkillError
from skillyard.base.io.sha256 import sha256
from skillyard.base.shapes import tools as shapes
from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.text import clean_line, plural
from skillyard.engine.catalog import has_tag
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.formats.frontmatter import unify_lines
from skillyard.engine.operations.skill_details import show_skill
from skillyard.engine.resources import Resource, list_resources, read_resource
from skillyard.engine.skill import Origin, Skill
from skillyard.serve.mcp.call import (
    Answer,
    Call,
    SharedState,
    cursor_of,
    notice_of,
    origin_of,
    place_in,
    problem_of,
)
from skillyard.serve.mcp.failures import ToolFailed
from skillyard.serve.mcp.frames import frame_file, frame_skill, safe_text
from skillyard.serve.mcp.skill_uris import SKILL_FILE, uris_of
from skillyard.serve.runtime.view import View

PROBLEMS = 50
"""Maximum number of invalid files that one answer names."""
MAX_LISTED_SKILLS = 50_000
"""A larger library is searched and not listed, because listing reads all skills."""


def offered_skills(view: View, *, hidden: bool = False) -> list[Skill]:
    """Return the skills that a model may see, sorted by name, without convention documents.

    Shadowed skills are left out, and skills that only a user may call unless ``hidden`` is set.
    """
    return [
        skill
        for skill in view.catalog.candidates
        if skill.origin != Origin.CONVENTION and (hidden or not skill.hidden)
    ]


def list_skills(call: Call, view: View) -> Answer:
    """List the library's skills as cards, page by page."""
    asked, count = call.request, len(view.catalog)
    if view.files.on_demand and count > MAX_LISTED_SKILLS:
        raise ToolFailed(
            "library_too_large",
            f"{count:,} skills are too many to list: search_skills and skill_evaluate find them",
        )
    try:
        after = place_in(asked.cursor)
    except ValueError as error:
        raise InvalidInput(f"cursor: {error}") from None
    hidden: bool = asked.include_hidden
    keyed = view.cached(("in order", hidden), lambda: _in_order(view, hidden))
    if asked.tags:
        keyed = [each for each in keyed if has_tag(each[1], asked.tags)]
    start = 0 if after is None else bisect_right(keyed, after, key=itemgetter(0))
    rows = keyed[start : start + asked.limit]
    more = cursor_of(rows[-1][0]) if len(keyed) > start + len(rows) else None
    return _listing(view, [skill for _, skill in rows], len(keyed), more)


def _in_order(view: View, hidden: bool) -> list[tuple[str, Skill]]:
    """Return the offered skills with a unique sort key each, in that order."""
    keyed = [
        (f"{skill.name}\t{view.path_below_root(skill.path)}\t{skill.id}\t{number}", skill)
        for number, skill in enumerate(offered_skills(view, hidden=hidden))
    ]
    return sorted(keyed, key=itemgetter(0))


def _listing(view: View, page: list[Skill], total: int, more: str | None) -> Answer:
    roots = uris_of(view).roots
    cards = tuple(_card(view, skill, roots.get(skill.path)) for skill in page)
    problems = view.cached("problems", lambda: _problems(view))
    counts = view.catalog.counts
    lines = [f"{counts.words} in this library, {total:,} listed here; load_skill(name) brings one."]
    lines += [f"- {each.name}: {each.description}" for each in cards]
    if more is not None:
        lines.append(f"More: list_skills(cursor={more!r})")
    if problems:
        lines.append(f"{plural(len(problems), 'file')} did not load:")
        lines += [f"- {each.path}: {each.message}" for each in problems[:5]]
    listing = shapes.Listing(
        skills=cards,
        total=total,
        counts=counts.document(),
        next_cursor=more,
        problems=problems,
    )
    return Answer("\n".join(lines), encode(listing), page)


def _card(view: View, skill: Skill, root: str | None) -> shapes.Card:
    return shapes.Card(
        name=skill.name,
        id=skill.id,
        slug=skill.slug,
        description=safe_text(clean_line(skill.description)),
        tags=tuple(safe_text(tag) for tag in skill.tags),
        origin=origin_of(view, skill),
        tokens=estimate_tokens(skill.body or ""),
        hidden=skill.hidden,
        places=tuple(view.path_below_root(path) for path in view.catalog.places(skill)),
        digest=f"sha256:{skill.hash}",
        uri=None if root is None else f"{root}/{SKILL_FILE}",
        notice=notice_of(view, skill),
    )


def _problems(view: View) -> tuple[shapes.Problem, ...]:
    """Return the invalid files, and whether an earlier version of each is served."""
    errors = [each for each in view.files.diagnostics if each.severity == "error"]
    return tuple(
        shapes.Problem(
            path=safe_text(clean_line(view.path_below_root(each.path))),
            message=safe_text(problem_of(each)),
            served=each.path in view.last_good,
        )
        for each in errors[:PROBLEMS]
    )


def skill_by_name(view: View, name: str) -> Skill:
    """Return the skill with that name, id or slug. Raises ToolFailed, with similar names."""
    try:
        return view.catalog.get(name.strip())
    except SkillError:
        for diagnostic in view.files.diagnostics:
            parts = view.path_below_root(diagnostic.path).split("/")
            if diagnostic.severity == "error" and name.strip() in parts:
                what = f"no skill is called {name.strip()[:200]!r}: {'/'.join(parts)} did not load"
                raise ToolFailed("skill_not_loaded", f"{what}: {problem_of(diagnostic)}") from None
        raise


def load_skill(call: Call, view: View) -> Answer:
    """Return one skill's framed instructions, with a list of its files."""
    asked = call.request
    skill = skill_by_name(view, asked.name)
    return load_answer(view, call.shared, skill, section=asked.section, max_tokens=asked.max_tokens)


def load_answer(
    view: View,
    shared: SharedState,
    skill: Skill,
    *,
    section: str | None = None,
    max_tokens: int | None = None,
) -> Answer:
    """Return a framed skill of the view. Raises ToolFailed for one without instructions."""
    if skill.body is None:
        raise ToolFailed("no_content", f"{skill.name} has no instructions")
    body = skill.body
    if section:
        body = show_skill(view.catalog, skill.id, section=section).body
    files = _files(skill)
    origin = origin_of(view, skill)
    notice = notice_of(view, skill)
    root = uris_of(view).roots.get(skill.path)
    framed = frame_skill(
        skill.name,
        body,
        origin=origin,
        directory=_directory(shared, skill, root),
        digest=skill.hash,
        files=[file.path for file in files],
        notice=notice,
        max_tokens=max_tokens,
    )
    result = shapes.Loaded(
        name=skill.name,
        id=skill.id,
        origin=origin,
        digest=f"sha256:{skill.hash}",
        uri=None if root is None else f"{root}/{SKILL_FILE}",
        content=framed.text,
        files=tuple(from_attributes(shapes.File, file) for file in files),
        tokens=framed.tokens,
        truncated=framed.truncated,
        notice=notice,
    )
    return Answer(framed.text, encode(result), [skill])


def _directory(shared: SharedState, skill: Skill, root: str | None) -> str:
    """Return the skill's folder for the client: its path, or its URI for remote clients."""
    if not shared.show_folders or not skill.path or skill.stored:
        return root or ""
    return os.path.abspath(os.path.dirname(skill.path) or ".")


def _files(skill: Skill) -> tuple[Resource, ...]:
    try:
        return list_resources(skill)
    except (SkillError, OSError):  # a single document, or a removed folder
        return ()


def read_skill_file(call: Call, view: View) -> Answer:
    """Return one text file of a skill's own folder in its frame."""
    asked = call.request
    skill, path = skill_by_name(view, asked.name), asked.path
    data = read_resource(skill, path)
    try:
        if b"\0" in data:
            raise UnicodeDecodeError("utf-8", data, 0, 1, "a NUL byte")
        text = unify_lines(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ToolFailed(
            "not_text", f"{path} is not text ({len(data):,} bytes); its resource has its bytes"
        ) from None
    origin, digest = origin_of(view, skill), sha256(data).hex()
    framed = frame_file(
        skill.name,
        path,
        text,
        origin=origin,
        digest=digest,
        size=len(data),
        max_tokens=asked.max_tokens,
    )
    result = shapes.LoadedFile(
        name=skill.name,
        path=safe_text(path),
        origin=origin,
        digest=f"sha256:{digest}",
        size=len(data),
        content=framed.text,
        tokens=framed.tokens,
        truncated=framed.truncated,
    )
    return Answer(framed.text, encode(result), [skill])
