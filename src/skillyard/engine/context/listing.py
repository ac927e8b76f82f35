"""Computes a host's listing of a library: what its model reads of each skill, and what is lost."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillError
from skillyard.base.shapes import prompts as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.text import clean_line, xml_escape
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.context.hosts import (
    ALPHABETICAL,
    BLOCKS,
    LEAST_USED,
    PATHS,
    SHORTEN,
    ListingRule,
    listed_skills,
    order_of,
    short_paths,
)
from skillyard.engine.skill import Skill

WHOLE = "whole"
CUT = "cut"
NAME_ONLY = "name only"
LEFT_OUT = "left out"
NOT_READ = "not read"
"""The host does not list the file as a skill that its model can select."""


class ListingEntry:
    """One skill and how much of its description the host shows."""

    __slots__ = (
        "_path",
        "_rule",
        "chars",
        "description",
        "left_out",
        "most",
        "shown",
        "skill",
        "why",
    )

    def __init__(self, skill: Skill, rule: ListingRule, path: str = "", why: str = "") -> None:
        self.skill = skill
        self.description = _description(skill, rule)
        self.chars = len(self.description)
        """Characters of the complete description."""
        self.most = self.chars
        """Characters of it that the host shows at most."""
        if rule.description_chars is not None:
            self.most = min(self.chars, rule.description_chars)
        self.shown = self.most
        self.left_out = False
        self.why = why
        """The reason why the host does not read it; empty when it does."""
        self._rule = rule
        self._path = path

    @property
    def state(self) -> str:
        """How it is listed: one of the constants above."""
        if self.why or self.left_out:
            return NOT_READ if self.why else LEFT_OUT
        if self.shown >= self.chars:
            return WHOLE
        return CUT if self.shown else NAME_ONLY

    @property
    def text(self) -> str:
        """The description as listed; empty when only the name is listed."""
        is_listed = self.state in (WHOLE, CUT)
        return self.description[: self.shown].rstrip() if is_listed else ""

    def line(self, chars: int) -> str:
        """Return the entry as the host writes it, with so many characters of its description."""
        return _entry_text(self._rule, self.skill, self.description[:chars], self._path)

    def cost(self, chars: int) -> int:
        """Return the size of the entry in the budget's unit, with its line end."""
        return _cost(self._rule, self.line(chars))

    def document(self) -> shapes.ListedSkill:
        """Return the skill as a document shows it."""
        return from_attributes(
            shapes.ListedSkill,
            self,
            name=self.skill.name,
            id=self.skill.id,
            path=self.skill.path,
            shown=len(self.text),
        )


class HostListing(NamedTuple):
    """The listing of one host."""

    rule: ListingRule
    window: int
    budget: int | None
    """The budget in the rule's unit; None when unknown."""
    needed: int
    """The size of the complete listing."""
    used: int
    entries: tuple[ListingEntry, ...]
    """The listed skills in order, then the others."""
    text: str
    """The entries as the model reads them."""

    @property
    def own(self) -> int:
        """The part of the budget that the host's own skills use."""
        return self.rule.own

    def count(self, state: str) -> int:
        """Return the number of skills in a state."""
        return sum(entry.state == state for entry in self.entries)


def host_listing(
    catalog: Catalog,
    rule: ListingRule,
    *,
    window: int | None = None,
    budget: int | None = None,
) -> HostListing:
    """Return what the host lists of a catalog.

    ``window`` is the context in tokens, and ``budget`` replaces the host's own budget. The host's
    own skills reduce it. Where a host keeps what is used most, skills are ordered by name instead.
    Raises InvalidInput.
    """
    window = rule.window if window is None else window
    _check(window, budget)
    if budget is not None and rule.overflow not in _OVERFLOW:
        raise InvalidInput(f"no budget of {rule.title} is known that another one could replace")
    skills, unread = listed_skills(catalog, rule)
    short, table = short_paths(skills if rule.form == PATHS else (), catalog.roots)
    lines = [
        ListingEntry(skill, rule, short.get(skill.path, ""))
        for skill in sorted(skills, key=order_of(rule))
    ]
    limit = rule.budget(window) if budget is None else budget
    if limit is not None:
        extra = _cost(rule, "".join(f"{line}\n" for line in table)) - rule.table
        room = max(0, limit - rule.own - (max(0, extra) if rule.form == PATHS else 0))
        if sum(line.cost(line.most) for line in lines) > room:
            _OVERFLOW[rule.overflow](lines, room)
    lines.sort(key=lambda line: line.left_out)
    texts = [line.line(line.shown) for line in lines if not line.left_out]
    return HostListing(
        rule,
        window,
        limit,
        needed=sum(line.cost(line.most) for line in lines),
        used=sum(_cost(rule, text) for text in texts),
        entries=(*lines, *(ListingEntry(skill, rule, why=why) for skill, why in unread)),
        text="\n".join(texts),
    )


def _check(window: int, budget: int | None) -> None:
    if type(window) is not int or window < 1:
        raise InvalidInput("window must be an integer of at least 1")
    if budget is not None and (type(budget) is not int or budget < 0):
        raise InvalidInput("budget must be None or an integer of at least 0")


def _description(skill: Skill, rule: ListingRule) -> str:
    line = clean_line(skill.description)
    extra = _when_to_use(skill) if rule.when_to_use else ""
    return f"{line} - {extra}" if extra else line


def _when_to_use(skill: Skill) -> str:
    block = skill.frontmatter or ""
    if "when_to_use" not in block:
        return ""
    from skillyard.engine.formats.yaml_guard import Scalar, read_mapping

    try:
        node = read_mapping(block, skill.path)[0].get("when_to_use")
    except SkillError:  # it was read with repairs
        return ""
    return clean_line(node.text) if isinstance(node, Scalar) else ""


def _entry_text(rule: ListingRule, skill: Skill, description: str, path: str) -> str:
    """Return an entry in the form of the host."""
    name = clean_line(skill.name)
    if rule.form == PATHS:
        text = f" {description}" if description else ""
        return f"- {name}:{text} (file: {path})"
    if rule.form == BLOCKS and description:
        return (
            f"<skill>\n  <name>{xml_escape(name)}</name>\n"
            f"  <description>{xml_escape(description)}</description>\n"
            f"  <location>{clean_line(skill.scope)}</location>\n</skill>"
        )
    return f"- {name}: {description}" if description else f"- {name}"


def _cost(rule: ListingRule, line: str) -> int:
    return estimate_tokens(f"{line}\n") if rule.unit == "tokens" else len(line) + 1


def _least_used(lines: list[ListingEntry], limit: int) -> None:
    """Keep every name, and those descriptions that fit."""
    room = limit - sum(line.cost(0) for line in lines)
    for line in lines:
        more = line.cost(line.most) - line.cost(0)
        if more > room:
            line.shown = 0
        else:
            room -= more


def _shorten(lines: list[ListingEntry], limit: int) -> None:
    """Extend all descriptions by one character at a time, in turns, until the budget is used up."""
    for line in lines:
        line.shown = 0
    room = limit - sum(line.cost(0) for line in lines)
    if room < 0:
        _names_that_fit(lines, limit)
        return
    growing = list(lines)
    spent = {id(line): line.cost(0) for line in lines}
    while growing:
        grown = []
        for line in growing:
            cost = line.cost(line.shown + 1)
            more = cost - spent[id(line)]
            if more <= room:
                line.shown += 1
                room -= more
                spent[id(line)] = cost
                if line.shown < line.most:
                    grown.append(line)
        growing = grown


def _names_that_fit(lines: list[ListingEntry], limit: int) -> None:
    room = limit
    for line in lines:
        cost = line.cost(0)
        line.left_out = cost > room
        if not line.left_out:
            room -= cost


def _alphabetical(lines: list[ListingEntry], limit: int) -> None:
    """Keep whole entries until one does not fit; from there on, names only."""
    room = limit
    for number, line in enumerate(lines):
        room -= line.cost(line.most)
        if room < 0:
            for rest in lines[number:]:
                rest.shown = 0
            return


_OVERFLOW = {LEAST_USED: _least_used, SHORTEN: _shorten, ALPHABETICAL: _alphabetical}
