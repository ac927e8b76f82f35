"""``skillyard eval init``: a case file for a skill, with a placeholder for each prompt; a model.

A prompt in the words of the skill's own description proves nothing, so none is invented. What the
skill ships in its ``evals`` folder is taken over. Every other prompt is a line for a person to
write; the file is refused until all of them are written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from skillyard.base.configuration import CONFIG_FILE, project_folders, project_toml
from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.io.files import atomic_write
from skillyard.base.text import clean_line, name_fault
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import rank
from skillyard.engine.skill import Skill
from skillyard.evals.cases.reading import Notes, skill_sources
from skillyard.evals.cases.skill_cases import PLACEHOLDER, SkillPrompt, read_case_files
from skillyard.evals.models.calls import STAND_IN
from skillyard.evals.models.providers import ADDRESSES
from skillyard.evals.settings import RunSettings

PROMPTS_THAT_FIRE = 10
"""Prompts a file begins with: an effect of one point on the judge's scale shows with ten."""
PROMPTS_THAT_DO_NOT_FIRE = 5
_MAX_RIVALS = 3


class CaseFile(NamedTuple):
    """A case file, and what is still to be done in it."""

    path: str
    skill: str
    is_new: bool
    """False for a file that was there before. It is not changed."""
    taken_over: int = 0
    """Prompts that the skill ships."""
    to_write: int = 0
    """Prompts that a person must write."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """About the files that the skill ships."""


class CaseFiles(NamedTuple):
    """What ``eval init`` wrote and kept. ``settings`` is the new file with the model, or empty."""

    files: list[CaseFile]
    settings: str
    model: str

    def to_dict(self) -> dict[str, Any]:
        """Return the document ``skillyard.eval-init/1``."""
        new = [each for each in self.files if each.is_new]
        names = ("path", "skill", "taken_over", "to_write")
        return {
            "schema": "skillyard.eval-init/1",
            "written": [each.path for each in new],
            "kept": [each.path for each in self.files if not each.is_new],
            "files": [{name: getattr(each, name) for name in names} for each in new],
            "settings": self.settings or None,
        }


def write_case_file(skill: Skill, catalog: Catalog, folder: str | os.PathLike[str]) -> CaseFile:
    """Write ``<skill>.yaml`` into a folder, unless it is there. A hidden skill has no negatives.

    Raises InvalidInput for a skill whose name is not a valid file name, and OSError.
    """
    name = skill.name if name_fault(skill.name) is None else skill.slug  # Oasis names have blanks
    if fault := name_fault(name):
        raise InvalidInput(f"no file can be named after {skill.name!r}: the name {fault}")
    path = os.path.join(os.fspath(folder), f"{name}.yaml")
    if os.path.lexists(path):
        return CaseFile(path, skill.name, is_new=False)
    notes = Notes()
    read = read_case_files(skill_sources([skill], notes), catalog, notes)
    shipped = {prompt.prompt: prompt for cases in read for prompt in cases.prompts}
    positives = [each for each in shipped.values() if each.should_fire is not False]
    negatives = [each for each in shipped.values() if each.should_fire is False]
    missing = max(0, PROMPTS_THAT_FIRE - len(positives))
    positives += [SkillPrompt(f"{PLACEHOLDER}: a request that needs the skill")] * missing
    near = [] if skill.hidden else _near_misses(skill, catalog)[len(negatives) :]
    negatives += (SkillPrompt(f"{PLACEHOLDER}: {hint}") for hint in near)
    lines = [
        f"# Cases for {clean_line(name)}. Replace each {PLACEHOLDER} by a request that somebody",
        "# really wrote: symptoms, typos, other languages. It must not name the skill.",
        f"skill: {_json(name)}",
        "prompts:",
        "  # Requests that need the skill. Optional fields: expected, assertions, files, checks.",
        *(line for each in positives for line in _prompt_lines(each)),
        *(["  # Requests that do not need it. Near misses say most."] if negatives else []),
        *(line for each in negatives for line in _prompt_lines(each, "should_fire: false")),
    ]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    atomic_write(path, ("\n".join(lines) + "\n").encode("utf-8"))
    to_write = missing + len(near)
    return CaseFile(path, skill.name, True, len(shipped), to_write, tuple(notes.diagnostics))


def model_question() -> str:
    """Return what somebody is asked who names no model."""
    keys = [f"{each.upper()}_API_KEY" for each in ADDRESSES]
    known = " and ".join(each for each in keys if os.environ.get(each)) or "no key"
    ask = "Which model answers and judges? Its id, as claude-haiku-4-5, or Enter for a stand-in"
    return f"{ask}, to try it ({known} is set):"


def write_model(folder: str, model: str) -> str:
    """Write the model of later runs into ``skillyard.toml`` beside the cases, and return its path.

    Without a model it has a line to fill in. The path is empty, and nothing written, where settings
    are there. Raises InvalidInput for what looks like a key.
    """
    path = os.path.join(folder, CONFIG_FILE)
    if os.path.lexists(path) or project_toml("eval", project_folders(folder)):
        return ""
    RunSettings.from_dict({"eval_type": "activation", "model": model or None})
    is_claude = model in ("", STAND_IN) or model.startswith("claude")
    todo = f'# generation = "{PLACEHOLDER}: write the id of your model here, and take the # away"'
    lines = (
        "# Who answers and judges; keys: ANTHROPIC_API_KEY, OPENAI_API_KEY (any such server).",
        "[eval]",
        f'provider = "{"anthropic" if is_claude else "openai"}"',
        "[eval.models]",
        f"generation = {_json(model)}" if model else todo,
    )
    os.makedirs(folder or ".", exist_ok=True)
    atomic_write(path, ("\n".join(lines) + "\n").encode("utf-8"))
    return path


def _near_misses(skill: Skill, catalog: Catalog) -> list[str]:
    """Return what requests that do not need the skill may be for; the nearest skills come first."""
    matches = rank(catalog, skill.description, limit=4 * _MAX_RIVALS)
    names = [match.skill.name for match in matches if match.skill.name != skill.name]
    hints = [f"a request for {clean_line(name)} instead" for name in names[:_MAX_RIVALS]]
    hints += ["a request that no skill is for"] * PROMPTS_THAT_DO_NOT_FIRE
    return hints[:PROMPTS_THAT_DO_NOT_FIRE]


def _prompt_lines(prompt: SkillPrompt, *fields: str) -> Iterator[str]:
    yield f"  - prompt: {_json(prompt.prompt)}"
    yield from (f"    {field}" for field in fields)
    for field in ("expected", "assertions", "files", "checks"):
        if value := getattr(prompt, field):
            yield f"    {field}: {_json(value)}"


def _json(value: Any) -> str:
    """Return a value as JSON, which is YAML too; characters that no reader sees are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
