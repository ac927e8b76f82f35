"""The skills that a host lists to its model, with their order and paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from skillyard.base.errors import SkillError
from skillyard.base.io.paths import is_below
from skillyard.base.text import clean_line
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.hosts import SHORTEN, ListingRule
from skillyard.engine.discovery.hosts import user_folders
from skillyard.engine.skill import Origin, Skill

_READ = (Origin.AGENTSKILLS, None)
"""Origins that hosts read: folders with a SKILL.md, and skills built in code."""


def listed_skills(
    catalog: Catalog, rule: ListingRule
) -> tuple[list[Skill], list[tuple[Skill, str]]]:
    """Return (listed skills, unread skills with reasons) for the host."""
    skills: list[Skill] = []
    unread: list[tuple[Skill, str]] = []
    shadowed = catalog.shadowed
    for skill in catalog:
        why = _unread(skill, rule)
        winner = shadowed.get(skill)
        # A winner that this host does not find does not shadow the skill there.
        is_first = winner is None or winner.name != skill.name  # of a plugin, and listed as such
        if not why and winner is not None and not is_first and not _elsewhere(winner, rule):
            same = skill.path in catalog.further
            what = "a copy of" if same else "another skill of that name goes first:"
            why = f"{what} {winner.path}"
        if why:
            unread.append((skill, why))
        else:
            skills.append(skill)
    return skills, unread


def _unread(skill: Skill, rule: ListingRule) -> str:
    if elsewhere := _elsewhere(skill, rule):
        return elsewhere
    if rule.hides_manual and skill.disable_model_invocation:
        return "disable-model-invocation: only the user calls it"
    if rule.hidden_by and _is_hidden(skill, rule.hidden_by):
        return f"{rule.hidden_by}: only the user calls it"
    odd = [char for char in skill.name if char in rule.refused_in_names]
    if odd or (rule.refused_in_names and skill.name != skill.name.lower()):
        return f"the host passes over names with {repr(odd[0]) if odd else 'capitals'}"
    return ""


def _elsewhere(skill: Skill, rule: ListingRule) -> str:
    """Return why the host does not find a skill; empty when it does."""
    if skill.origin not in _READ:
        return f"layout {skill.origin}: hosts read folders with a SKILL.md"
    if not rule.host or skill.scope != "user" or not skill.path:
        return ""
    if any(is_below(skill.path, folder) for folder in user_folders([rule.host])):
        return ""
    return f"a folder of another agent, which {rule.title} does not look into"


def _is_hidden(skill: Skill, name: str) -> bool:
    """Return True when a file beside the skill disables its selection by the model."""
    if not skill.path or not os.path.isfile(os.path.join(os.path.dirname(skill.path), name)):
        return False
    from skillyard.engine.formats.yaml_guard import Scalar, read_mapping
    from skillyard.engine.resources import read_resource

    try:
        text = read_resource(skill, name).decode("utf-8", "replace")
        policy = read_mapping(text, name)[0].get("policy")
    except SkillError:  # an unreadable file disables nothing
        return False
    allowed = policy.get("allow_implicit_invocation") if isinstance(policy, dict) else None
    return isinstance(allowed, Scalar) and allowed.text == "false"


def order_of(rule: ListingRule) -> Callable[[Skill], tuple[int, str, str]]:
    """Return the key of the order in which the host lists skills."""
    if rule.overflow != SHORTEN:
        return lambda skill: (0, *skill.key)

    def place(skill: Skill) -> tuple[int, str, str]:
        """Skills of the repository first, then those of Codex, then those of the user."""
        theirs = 2 if skill.scope == "user" else 0
        return (1 if _is_systems(skill.path) else theirs, *skill.key)

    return place


class ShortPaths(NamedTuple):
    """Short paths of a host: folder number and path below that folder."""

    paths: dict[str, str]
    """``r0/name/SKILL.md`` by path."""
    folders: tuple[str, ...]
    """By number."""

    def table(self) -> list[str]:
        """Return the lines that list the folders by number."""
        return [f"- `r{number}` = `{folder}`" for number, folder in enumerate(self.folders)]


def short_paths(skills: Iterable[Skill], roots: Sequence[str]) -> ShortPaths:
    """Return the short paths of skills with a path, relative to the roots of the library."""
    known = sorted((os.path.abspath(root) for root in roots), key=len, reverse=True)
    numbers: dict[str, int] = {}
    short = {}
    paths = {skill.path for skill in skills if skill.path}
    for path in sorted(paths, key=lambda path: (_is_systems(path), path)):
        whole = os.path.abspath(path)
        holder = os.path.dirname(os.path.dirname(whole))
        above = [root for root in known if whole.startswith(root + os.sep)]
        folder = holder if _is_systems(path) or not above else above[0]
        inner = os.path.join(folder, "skills")
        if whole.startswith(inner + os.sep) and holder != folder:
            folder = inner
        below = os.path.relpath(whole, folder).replace(os.sep, "/")
        short[path] = clean_line(f"r{numbers.setdefault(folder, len(numbers))}/{below}")
    return ShortPaths(short, tuple(clean_line(folder) for folder in numbers))


def _is_systems(path: str) -> bool:
    """Return True for a skill that comes with the host."""
    return "/.system/" in path.replace("\\", "/")
