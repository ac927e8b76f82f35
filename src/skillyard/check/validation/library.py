"""Rules over a whole library: conflicts between its skills.

Sources: the advice of the documents to authors (specific patterns, mutually exclusive descriptions,
unique triggers and tags, existing tools), and the threat model for look-alike names. None of these
findings prevents a skill from loading.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice

from skillyard.base.errors import Diagnostic, InvalidInput, ResourceRefused
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.lookalikes import look_alike_pairs
from skillyard.base.text import plural
from skillyard.check.validation.codes import DEFAULT_PROFILE, RULES
from skillyard.check.validation.descriptions import words
from skillyard.check.validation.view import quote, view_of
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.requirements import RequirementChecker
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Origin, Skill

MAX_COMPARED_BYTES = 16 * 1024 * 1024
"""Bytes read of the folder of each copy, the same limit as for approval. Beyond it only sizes are
compared."""
_MIN_SKILLS_FOR_TAGS = 3
_GENERIC = frozenset("*?./!")
_WORD = re.compile(r"[^\W_]+")
_THRESHOLD = 0.8
"""From this similarity on, two descriptions are too similar for readers and scorers."""
_MIN_WORDS = 4
"""Shorter descriptions are only compared for equality: a single word would decide."""
_MAX_COMPARED = 64


def library_rules(catalog: Catalog, *, tools: Iterable[str] | None = None) -> list[Diagnostic]:
    """Return the conflicts between the skills of a catalog, sorted by path, line and code.

    ``tools`` are the names of the existing tools; with None tools are not checked. Convention
    documents and shadowed skills are left out. Raises InvalidInput when ``tools`` is not a list of
    texts.
    """
    skills = [skill for skill in catalog.candidates if skill.origin != Origin.CONVENTION]
    diagnostics = [
        *_differing_copies(catalog, skills),
        *_generic_patterns(skills),
        *_shared_triggers(skills),
        *_confusable(skills),
        *_lookalike_names(skills),
        *_useless_tags(skills),
        *_unknown_tools(skills, tools),
        *_requirements(catalog, skills, tools),
    ]
    return sorted(diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.message))


def _finding(
    code: str, skill: Skill, message: str, field: str, text: str = "", hint: str = ""
) -> Diagnostic:
    return Diagnostic(
        code,
        RULES[code].severities[DEFAULT_PROFILE],
        skill.path or skill.name,
        message,
        hint or RULES[code].hint,
        view_of(skill).line(field),
        None,
        text[:80],
    )


def _describe(skill: Skill) -> str:
    where = f" ({skill.path})" if skill.path else ""
    return f"{quote(skill.name)}{where}"


def _differing_copies(catalog: Catalog, skills: Sequence[Skill]) -> Iterator[Diagnostic]:
    for skill in skills:
        for copy in catalog.copies(skill):
            path, what = _differing_file(skill, copy)
            if path:
                used = f"the skill and its files are used from {skill.path}"
                message = f"the file {quote(path)} {what}; {used}"
                yield _finding("copies_differ", copy, message, "name", path)


def _differing_file(skill: Skill, copy: Skill) -> tuple[str, str]:
    """Return the first file by path that differs between two folders, and how it does in the copy.

    Empty when there is none, or when one of them is a single document without a folder. Names and
    sizes are compared first, then bytes. A file that cannot be read is skipped.
    """
    try:
        own = {file.path: file.size for file in list_resources(skill, DEFAULT_LIMITS)}
        other = {file.path: file.size for file in list_resources(copy, DEFAULT_LIMITS)}
    except ResourceRefused:
        return "", ""
    remaining_bytes = MAX_COMPARED_BYTES
    for path in sorted(own.keys() | other.keys()):
        if path not in own:
            return path, "is only here"
        if path not in other:
            return path, "is missing here"
        remaining_bytes -= own[path]
        if own[path] != other[path] or (remaining_bytes >= 0 and _differ(skill, copy, path)):
            return path, "is another one here"
    return "", ""


def _differ(skill: Skill, copy: Skill, path: str) -> bool:
    try:
        texts = (read_resource(each, path, DEFAULT_LIMITS) for each in (skill, copy))
        return len(set(texts)) > 1
    except ResourceRefused:
        return False


def _generic_patterns(skills: Sequence[Skill]) -> Iterator[Diagnostic]:
    for skill in skills:
        broad = [pattern for pattern in skill.triggers.files if _generic(pattern)]
        if broad:
            message = f"the file pattern {quote(broad[0])} matches every file"
            yield _finding("pattern_generic", skill, message, "triggers", broad[0])


def _generic(pattern: str) -> bool:
    """True for ``*``, ``**``, ``**/*``, ``*.*`` and other patterns that match every file."""
    text = pattern.strip()
    hidden_files_only = text.rsplit("/", 1)[-1].startswith(".")
    return "*" in text and _GENERIC.issuperset(text) and not hidden_files_only


def _shared_triggers(skills: Sequence[Skill]) -> Iterator[Diagnostic]:
    owners: dict[str, list[Skill]] = defaultdict(list)
    for skill in skills:
        for trigger in _triggers(skill):
            owners[trigger].append(skill)
    for skill in skills:
        shared = [trigger for trigger in _triggers(skill) if len(owners[trigger]) > 1]
        if shared:
            other = next(each for each in owners[shared[0]] if each is not skill)
            message = f"the trigger {quote(shared[0])} is also that of {_describe(other)}"
            message += f"; {plural(len(shared) - 1, 'other trigger')} too" if shared[1:] else ""
            yield _finding("trigger_shared", skill, message, "triggers", shared[0])


def _triggers(skill: Skill) -> list[str]:
    """Return the phrases and trigger keywords without case and punctuation, each once."""
    texts = (*skill.triggers.phrases, *skill.triggers.keywords)
    folded = (" ".join(_WORD.findall(text.casefold())) for text in texts)
    return list(dict.fromkeys(text for text in folded if text))


def _confusable(skills: Sequence[Skill]) -> Iterator[Diagnostic]:
    """Yield, for each description, the most similar earlier one at or above the threshold.

    Similarity is Jaccard's: common words over all words. Equal sets meet in a table. Two sets that
    reach the threshold share one of their rarest words (prefix filter: of a set with n words, one
    of the first ``n - ceil(t·n) + 1`` by rarity). A set is compared with at most ``_MAX_COMPARED``
    others, those with its rarest words first: that keeps the time linear in the number of skills.
    """
    sets = [words(skill.description) for skill in skills]
    counts = Counter(word for each in sets for word in each)
    first_of: dict[frozenset[str], int] = {}
    postings: dict[str, list[int]] = defaultdict(list)
    for number, terms in enumerate(sets):
        nearest, likeness = first_of.setdefault(terms, number), 1.0
        if nearest == number and len(terms) >= _MIN_WORDS:
            ordered = sorted(terms, key=lambda word: (counts[word], word))
            prefix = ordered[: len(terms) - math.ceil(_THRESHOLD * len(terms)) + 1]
            near = dict.fromkeys(n for word in prefix for n in postings[word][:_MAX_COMPARED])
            pairs = [
                (len(terms & sets[other]) / len(terms | sets[other]), -other)
                for other in islice(near, _MAX_COMPARED)
            ]
            likeness, other = max(pairs, default=(0.0, -number))
            nearest = -other if likeness >= _THRESHOLD else number
            for word in prefix:
                postings[word].append(number)
        if nearest != number and terms:
            share = "all" if likeness == 1 else f"{likeness:.0%}"
            of = _describe(skills[nearest])
            message = f"the description shares {share} of its words with that of {of}"
            yield _finding("descriptions_confusable", skills[number], message, "description")


def _lookalike_names(skills: Sequence[Skill]) -> Iterator[Diagnostic]:
    first: dict[str, Skill] = {}
    for skill in skills:
        first.setdefault(skill.name, skill)
    for name, other in look_alike_pairs(list(first)).items():
        message = f"the name {quote(name)} is easily taken for {_describe(first[other])}"
        yield _finding("name_lookalike", first[name], message, "name", name)


def _useless_tags(skills: Sequence[Skill]) -> Iterator[Diagnostic]:
    if len(skills) < _MIN_SKILLS_FOR_TAGS:
        return
    tags = [{tag.casefold() for tag in skill.tags} for skill in skills]
    for tag in sorted(set.intersection(*tags)):
        message = f"all {len(skills):,} skills carry the tag {quote(tag)}"
        yield _finding("tag_on_every_skill", skills[0], message, "tags", tag)


def _unknown_tools(skills: Sequence[Skill], tools: Iterable[str] | None) -> Iterator[Diagnostic]:
    if tools is None:
        return
    tool_names = frozenset() if isinstance(tools, str | bytes) else frozenset(tools)
    if isinstance(tools, str | bytes) or not all(isinstance(tool, str) for tool in tool_names):
        raise InvalidInput("tools must be a list of tool names")
    for skill in skills:
        for tool in filter(None, (each.partition("(")[0].strip() for each in skill.allowed_tools)):
            # A star at the end matches any ending.
            start = tool.removesuffix("*")
            if tool in tool_names or any(n.startswith(start) for n in tool_names if start != tool):
                continue
            near = get_close_matches(tool[:80], sorted(tool_names), 1, 0.6)
            hint = f"did you mean `{quote(near[0])[1:-1]}`?" if near else ""
            message = f"no tool is called {quote(tool)}"
            yield _finding("tool_unknown", skill, message, "allowed-tools", tool, hint)


def _requirements(
    catalog: Catalog, skills: Sequence[Skill], tools: Iterable[str] | None
) -> Iterator[Diagnostic]:
    checker = RequirementChecker(catalog.named, tools or ())
    for skill in skills:
        lack = checker.lack(skill)
        if lack:
            view = view_of(skill)
            fields = [key for key in ("requires", "metadata") if view.node(key)]
            code = "requirement_cycle" if checker.cycle(skill) else "requirement_unmet"
            yield _finding(code, skill, lack, fields[0] if fields else "name")
