"""``skillyard eval init``: writes a case file for a skill, with a placeholder for each prompt.

A prompt in the words of the skill's own description proves nothing, so none is invented. What the
skill ships in its ``evals`` folder is taken over. Every other prompt is a line for a person to
write; the file is refused until all of them are written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any, NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.text import clean_line, name_fault, shorten
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import rank
from skillyard.engine.skill import Origin, Skill
from skillyard.evals.cases.case_files import read_case_files, skill_sources
from skillyard.evals.cases.reading import Notes
from skillyard.evals.cases.skill_cases import PLACEHOLDER, SkillPrompt
from skillyard.evals.criteria import DEFAULT_CRITERIA

PROMPTS_THAT_FIRE = 10
"""Prompts a file begins with: an effect of one point on the judge's scale shows with ten."""
PROMPTS_THAT_DO_NOT_FIRE = 5
MAX_RIVALS = 3
_HINT_CHARS = 90


class CaseFile(NamedTuple):
    """A case file, and what is still to be done in it."""

    path: str
    skill: str
    is_new: bool
    """False for a file that was there before. It is not changed."""
    taken_over: int = 0
    """Prompts that the skill ships."""
    placeholders: int = 0
    """Prompts that a person must write."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """About the files that the skill ships."""

    def to_dict(self) -> dict[str, Any]:
        """Return the file as JSON, without the diagnostics."""
        return {
            "path": self.path,
            "skill": self.skill,
            "taken_over": self.taken_over,
            "to_write": self.placeholders,
        }


def init_skills(catalog: Catalog, names: Sequence[str]) -> tuple[Skill, ...]:
    """Return the skills of these names; without names all but convention documents.

    Raises SkillNotFound, AmbiguousName.
    """
    if names:
        return tuple(catalog.get(name) for name in names)
    return tuple(each for each in catalog.skills if each.origin != Origin.CONVENTION)


def write_case_file(skill: Skill, catalog: Catalog, folder: str | os.PathLike[str]) -> CaseFile:
    """Write ``<skill>.yaml`` into a folder, unless it is there. A hidden skill has no negatives.

    Raises InvalidInput for a skill whose name is not a valid file name, and OSError.
    """
    name = _file_name(skill)
    path = os.path.join(os.fspath(folder), f"{name}.yaml")
    if os.path.lexists(path):
        return CaseFile(path, skill.name, is_new=False)
    shipped, diagnostics = _shipped(skill, catalog)
    positives = [each for each in shipped if each.should_fire is not False]
    negatives = [each for each in shipped if each.should_fire is False]
    missing = max(0, PROMPTS_THAT_FIRE - len(positives))
    missing_negatives = 0 if skill.hidden else max(0, PROMPTS_THAT_DO_NOT_FIRE - len(negatives))
    positives += (SkillPrompt("", hint) for hint in islice(_hints(), missing))
    negatives += (
        SkillPrompt("", hint, should_fire=False)
        for hint in islice(_negative_hints(skill, catalog), missing_negatives)
    )
    lines = [
        f"# Cases for {clean_line(name)}. Replace each {PLACEHOLDER} by a request that somebody",
        "# really wrote: symptoms, typos, other languages. It must not name the skill.",
        f"skill: {_text(name)}",
        "prompts:",
        "  # Requests that need the skill. Optional fields: expected, assertions, files, checks.",
        *(line for each in positives for line in _prompt_lines(each)),
    ]
    if negatives:
        lines.append("  # Requests that do not need it. Near misses say most.")
        lines += (line for each in negatives for line in _prompt_lines(each))
    lines += _default_criteria()
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    atomic_write(path, ("\n".join(lines) + "\n").encode("utf-8"))
    placeholders = missing + missing_negatives
    return CaseFile(path, skill.name, True, len(shipped), placeholders, diagnostics)


def _file_name(skill: Skill) -> str:
    """Return the name for the skill in the file and for the file itself: its name, or its slug.

    Names of Oasis skills contain blanks; their slugs do not. Raises InvalidInput.
    """
    fault = name_fault(skill.name)
    if fault is None:
        return skill.name
    if name_fault(skill.slug) is None:
        return skill.slug
    raise InvalidInput(f"no file can be named after {skill.name!r}: the name {fault}")


def _shipped(
    skill: Skill, catalog: Catalog
) -> tuple[tuple[SkillPrompt, ...], tuple[Diagnostic, ...]]:
    """Return the prompts in the skill's own ``evals`` folder, each once."""
    notes = Notes()
    cases = read_case_files(skill_sources(catalog, notes, [skill]), catalog, notes)
    prompts = {prompt.prompt: prompt for each in cases for prompt in each.prompts}
    return tuple(prompts.values()), tuple(notes.diagnostics)


def _prompt_lines(prompt: SkillPrompt) -> Iterator[str]:
    """Yield the lines of a prompt."""
    yield f"  - prompt: {_text(prompt.prompt)}"
    if prompt.should_fire is False:
        yield "    should_fire: false"
    if prompt.expected:
        yield f"    expected: {_text(prompt.expected)}"
    lists = {
        "assertions": [_text(each) for each in prompt.assertions],
        "files": [_text(each) for each in prompt.files],
        "checks": [f"{each.kind}: {_text(each.value)}" for each in prompt.checks],
    }
    for field, items in lists.items():
        if items:
            yield f"    {field}:"
        yield from (f"      - {item}" for item in items)


def _text(text: str) -> str:
    """Return a text as JSON, which is YAML too, so that it reads back to the character.

    Characters that no reader sees are escaped.
    """
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _hints() -> Iterator[str]:
    """Yield placeholders for requests that need the skill, without end.

    None repeats the description: a request in its words is found by every router.
    """
    for number in count(1):
        yield f"{PLACEHOLDER}: request {number} that needs the skill, in the words of who has it"


def _negative_hints(skill: Skill, catalog: Catalog) -> Iterator[str]:
    """Yield placeholders for requests that do not need the skill, without end."""
    for rival in _rivals(skill, catalog):
        topic = _short(_first(rival.description))
        yield f"{PLACEHOLDER}: a request for {clean_line(rival.name)} instead: {topic}"
    yield f"{PLACEHOLDER}: a request with the same words that needs something else"
    for number in count(1):
        yield f"{PLACEHOLDER}: a request that no skill is for ({number})"


def _rivals(skill: Skill, catalog: Catalog) -> list[Skill]:
    """Return the skills nearest to the description."""
    matches = rank(catalog, skill.description, limit=4 * MAX_RIVALS)
    others = (match.skill for match in matches if match.skill.name != skill.name)
    fit = (other for other in others if not other.hidden and other.origin != Origin.CONVENTION)
    return list(islice(fit, MAX_RIVALS))


def _first(text: str) -> str:
    """Return the first sentence."""
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _short(text: str) -> str:
    return clean_line(shorten(" ".join(text.split()), _HINT_CHARS))


def _default_criteria() -> Iterator[str]:
    yield "# The rubric of the judge. These are the defaults; weights sum to 1."
    yield "# criteria:"
    for criterion in DEFAULT_CRITERIA:
        yield (
            f"#   - {{name: {criterion.name}, weight: {criterion.weight:g},"
            f" description: {_text(criterion.description)}}}"
        )
