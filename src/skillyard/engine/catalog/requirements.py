"""Whether the requirements of skills are met: by the catalog, the machine and the caller's tools.

Programs are looked up on PATH and never executed. Required skills must meet their own requirements,
and a skill in a cycle of requirements cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.text import clean_line

if TYPE_CHECKING:
    from skillyard.engine.skill import Skill

_NAMES_SHOWN = 5
_NAME_CHARS = 80
_VERSION_PARTS = 8
_PLAIN_PROGRAM = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,99}")
_NUMBERS = re.compile(r"[vV]?([0-9]{1,9}(?:\.[0-9]{1,9})*)(.*)", re.DOTALL)
_PRE_RELEASE = re.compile(r"[-._]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)", re.IGNORECASE)

_Key = tuple[str, str]


class _Verdict(NamedTuple):
    """The result for one skill: empty texts when all its requirements are met."""

    because: str = ""
    root: str = ""
    """The requirement that started it, in a skill that this one requires or in itself."""
    cycle: tuple[str, ...] = ()
    """The names of the skills that require one another, sorted."""


class _Edge(NamedTuple):
    """One requirement of a skill: what it lacks directly, and the skill that it names."""

    lack: str
    skill: Skill | None


class RequirementChecker:
    """Checks skills of one catalog. Each skill and program is checked once.

    ``named`` returns the skills of a name. ``tools`` are the names of the caller's tools; when
    there are none, tools are not checked.
    """

    def __init__(
        self, named: Callable[[str], tuple[Skill, ...]], tools: Iterable[str] = ()
    ) -> None:
        self._named = named
        self._tools = frozenset(tools)
        self._programs: dict[str, bool] = {}
        self._edges: dict[_Key, tuple[_Edge, ...]] = {}
        self._verdicts: dict[_Key, _Verdict] = {}

    def lack(self, skill: Skill) -> str:
        """Return in one line why a skill cannot be used; ``""`` when all requirements are met."""
        return self._verdict(skill).because if skill.requires else ""

    def cycle(self, skill: Skill) -> tuple[str, ...]:
        """Return the names of the cycle that the skill is part of, sorted; empty without one."""
        return self._verdict(skill).cycle if skill.requires else ()

    def required(self, skill: Skill) -> tuple[Skill, ...]:
        """Return the skills that a skill requires, also through others, each after its own."""
        self._verdict(skill)
        skills_by_key: dict[_Key, Skill] = {}
        seen = {_key(skill)}
        work = [(skill, self._targets(skill))]
        while work:
            current, targets = work[-1]
            for target in targets:
                if _key(target) not in seen:
                    seen.add(_key(target))
                    work.append((target, self._targets(target)))
                    break
            else:
                work.pop()
                if work:
                    skills_by_key[_key(current)] = current
        return tuple(skills_by_key.values())

    def unchecked_tools(self, skill: Skill) -> tuple[str, ...]:
        """Return the tools that a skill and its required ones need; empty for known tools.

        ``A|B`` stands for one of two.
        """
        if self._tools:
            return ()
        needs = [entry for each in (skill, *self.required(skill)) for entry in each.requires]
        tools = [need.removeprefix("tool:") for need in needs if need.startswith("tool:")]
        return tuple(dict.fromkeys(clean_line(name)[:_NAME_CHARS] for name in tools))

    def _targets(self, skill: Skill) -> Iterator[Skill]:
        return iter([edge.skill for edge in self._edges_of(skill) if edge.skill is not None])

    def _edges_of(self, skill: Skill) -> tuple[_Edge, ...]:
        key = _key(skill)
        if key not in self._edges:
            self._edges[key] = tuple(self._edge(entry) for entry in skill.requires)
        return self._edges[key]

    def _edge(self, entry: str) -> _Edge:
        kind, _, name = entry.partition(":")
        shown = clean_line(name)[:_NAME_CHARS]
        if kind == "skill" and name:
            return self._skill_edge(name, shown)
        if kind == "tool" and name:
            missing = self._tools and self._tools.isdisjoint([name, *name.split("|")])
            return _Edge(
                f"the tool {shown} is not among the caller's tools" if missing else "", None
            )
        if kind == "program" and _PLAIN_PROGRAM.fullmatch(name):
            return _Edge("" if self._has(name) else f"the program {shown} is not on PATH", None)
        if kind == "program":
            return _Edge(f"{shown or 'an empty text'} is not the plain name of a program", None)
        return _Edge(f"the requirement {clean_line(entry)[:_NAME_CHARS]} cannot be read", None)

    def _skill_edge(self, wanted: str, shown: str) -> _Edge:
        name, sign, least = wanted.partition(">=")
        shown_name = clean_line(name)[:_NAME_CHARS]
        candidates = self._named(name)
        if not candidates:
            return _Edge(f"the skill {shown_name} is not in the catalog", None)
        if len(candidates) > 1:
            return _Edge(f"the name {shown_name} belongs to {len(candidates):,} skills", None)
        (skill,) = candidates
        if not sign:
            return _Edge("", skill)
        lowest = _version(least)
        if lowest is None:
            return _Edge(f"{shown} does not end with a version such as 1.2", skill)
        text = _version_of(skill)
        version = _version(text)
        if version is None:
            return _Edge(
                f"the skill {shown_name} has no version to compare with {least[:20]}", skill
            )
        if version < lowest:
            has = clean_line(text)[:20]
            return _Edge(f"the skill {shown_name} has version {has}, below {least[:20]}", skill)
        return _Edge("", skill)

    def _has(self, program: str) -> bool:
        if program not in self._programs:
            from shutil import which  # deferred: few skills require a program

            self._programs[program] = which(program) is not None
        return self._programs[program]

    def _verdict(self, skill: Skill) -> _Verdict:
        """Return the verdict of a skill.

        Tarjan's algorithm without recursion: it completes groups of skills that require one
        another, and each group after those that it requires. So a verdict does not depend on where
        the search starts.
        """
        if _key(skill) in self._verdicts:
            return self._verdicts[_key(skill)]
        number: dict[_Key, int] = {}
        low: dict[_Key, int] = {}
        open_skills: list[Skill] = []
        work: list[tuple[Skill, Iterator[Skill]]] = []

        def enter(entered: Skill) -> None:
            number[_key(entered)] = low[_key(entered)] = len(number)
            open_skills.append(entered)
            work.append((entered, self._targets(entered)))

        enter(skill)
        while work:
            current, targets = work[-1]
            here = _key(current)
            for target in targets:
                there = _key(target)
                if there in self._verdicts:
                    continue
                if there not in number:
                    enter(target)
                    break
                low[here] = min(low[here], number[there])
            else:
                work.pop()
                if work:
                    above = _key(work[-1][0])
                    low[above] = min(low[above], low[here])
                if low[here] == number[here]:
                    start = next(i for i in range(len(open_skills)) if open_skills[~i] is current)
                    group = open_skills[-start - 1 :]
                    del open_skills[-start - 1 :]
                    self._complete(group)
        return self._verdicts[_key(skill)]

    def _complete(self, group: list[Skill]) -> None:
        keys = {_key(skill) for skill in group}
        edges = self._edges_of(group[0])
        if len(group) > 1 or any(e.skill and _key(e.skill) in keys for e in edges):
            names = tuple(sorted(skill.name for skill in group))
            more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
            shown = ", ".join(clean_line(name)[:_NAME_CHARS] for name in names[:_NAMES_SHOWN])
            text = f"its requirements lead back to itself: {shown}{more}"
            root = f"the requirements of {shown}{more} form a cycle"
            self._verdicts.update(dict.fromkeys(keys, _Verdict(text, root, names)))
        else:
            self._verdicts[_key(group[0])] = self._single(edges)

    def _single(self, edges: Iterable[_Edge]) -> _Verdict:
        for edge in edges:
            if edge.lack:
                return _Verdict(f"a requirement is not met: {edge.lack}", edge.lack)
            if edge.skill is not None:
                root = self._verdicts[_key(edge.skill)].root
                if root:
                    name = clean_line(edge.skill.name)[:_NAME_CHARS]
                    text = f"it requires the skill {name}, which cannot be used: {root}"
                    return _Verdict(text, root)
        return _Verdict()


def _key(skill: Skill) -> _Key:
    return (skill.id, skill.path)


def _version_of(skill: Skill) -> str:
    text = skill.version or skill.metadata.get("version")
    return str(text) if isinstance(text, str | int | float) else ""


def _version(text: str) -> tuple[tuple[int, ...], bool] | None:
    """Return a version as a value to compare; None when it starts with no number.

    Zeros at the end do not count, and a pre-release comes before its release.
    """
    match = _NUMBERS.fullmatch(text.strip())
    if match is None:
        return None
    numbers = [int(part) for part in match[1].split(".")[:_VERSION_PARTS]]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), _PRE_RELEASE.match(match[2]) is None
