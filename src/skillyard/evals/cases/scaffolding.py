"""``skillyard eval init``: writes first evaluation files for one skill, for a person to edit.

The texts come from the description, triggers and keywords of the skill and of its nearest
neighbours in the ranking. The files are valid, but the prompts use the words of the skill and
therefore favour it. So each text is marked, and the mark says what to change.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from skillyard.catalog import Catalog
from skillyard.errors import InvalidInput, ResourceRefused
from skillyard.evals.cases.activation import read_activation
from skillyard.evals.cases.candidates import read_candidates
from skillyard.evals.cases.skill_names import find_name
from skillyard.evals.conditions.siblings import MAX_SIBLING_BYTES
from skillyard.evals.conditions.sizes import tier
from skillyard.evals.config_values import Paths
from skillyard.evals.criteria import DEFAULT_CRITERIA
from skillyard.io.atomic_write import atomic_write
from skillyard.ranking.match import rank
from skillyard.resources import list_resources
from skillyard.skill import Origin, Skill
from skillyard.text import clean_line, name_fault, shorten

__all__ = ["ScaffoldResult", "scaffold"]

MAX_POSITIVES = 6
MAX_COMPETITORS = 3
PROMPTS = 2
"""Number of prompts in a rubric and in a candidate; fewer would say nothing about a skill."""
MAX_PROMPT_CHARS = 300
_EDIT = "EDIT"
"""The mark of every generated text, in a comment."""
_NOTHING_FITS = "nothing-fits"
_FAR = (
    "Thanks, that was all for today",
    "What is the capital of Australia?",
    "Recommend a quiet film for tonight",
)
_CONFIG = f"""\
# How evaluations run; what is not said here has its default. Keys come from the environment.
provider: anthropic
# {_EDIT}: model ids of your provider. Activation and confusion also run without any model.
# models:
#   generation: MODEL-ID
#   judge: MODEL-ID
cost:
  max_cost_per_run: 15.0  # US dollars
  max_calls_per_run: 500
"""


class ScaffoldResult(NamedTuple):
    """The files that were written, and the existing files that were not changed."""

    written: tuple[str, ...]
    existing: tuple[str, ...]
    """Files that existed before. They are not overwritten."""


def scaffold(skill: Skill, catalog: Catalog, folder: str | os.PathLike[str]) -> ScaffoldResult:
    """Write a config, a rubric, activation cases and a candidates entry below a folder.

    The layout is that of :class:`~skillyard.evals.config_values.Paths`. Existing files are not
    changed, except ``candidates.yaml``: the skill is appended if the file still parses to the same
    candidates and the new one. A hidden skill gets no activation cases, because a router may not
    choose it. Raises InvalidInput for a skill whose name is not a valid file name, and OSError.
    """
    name = _file_name(skill)
    paths = Paths()
    home = os.fspath(folder)
    requests = _requests(skill)
    files = {"config.yaml": _CONFIG, f"{paths.rubrics}/{name}.yaml": _rubric(skill, requests)}
    if not skill.hidden:
        folder_of_cases = os.path.join(home, *paths.activation.split("/"))
        other_prompts = {case.user_prompt for case in read_activation(folder_of_cases).cases}
        cases = _activation(skill, catalog, requests, other_prompts)
        files[f"{paths.activation}/{name}.jsonl"] = cases
        files[f"{paths.activation}/{_NOTHING_FITS}.jsonl"] = _nothing_fits(other_prompts)
    written: list[str] = []
    existing: list[str] = []
    for below, text in files.items():
        path = os.path.join(home, *below.split("/"))
        if os.path.lexists(path):
            existing.append(path)
        else:
            _write(path, text)
            written.append(path)
    path = os.path.join(home, *paths.candidates.split("/"))
    (written if _add_candidate(path, skill, requests) else existing).append(path)
    return ScaffoldResult(tuple(written), tuple(existing))


def _file_name(skill: Skill) -> str:
    """Return the name for the skill in the files and for the files themselves: its slug if valid.

    Names of Oasis skills contain blanks; their slugs do not. Raises InvalidInput.
    """
    if name_fault(skill.slug) is None:
        return skill.slug
    fault = name_fault(skill.name)
    if fault is not None:
        raise InvalidInput(f"no files can be named after {skill.name!r}: the name {fault}")
    return skill.name


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    atomic_write(path, text.encode("utf-8"))


def _quoted(text: str) -> str:
    """Return the text as a JSON string, which is YAML too; hidden characters are visible."""
    return json.dumps(clean_line(text), ensure_ascii=False)


def _requests(skill: Skill) -> list[str]:
    """Return at least two requests in the words of the skill; none contains its name."""
    candidates = list(skill.triggers.phrases)
    candidates += [f"Help me with this: {clause}" for clause in _occasions(skill.description)]
    words = dict.fromkeys([*skill.triggers.keywords, *skill.keywords])
    candidates += [f"I have a question about {word}" for word in words]
    candidates.append(f"I need this done: {_first_sentence(skill.description)}")
    texts = [clean_line(shorten(text, MAX_PROMPT_CHARS)) for text in candidates]
    unnamed = dict.fromkeys(text for text in texts if text and find_name(text, skill.name) is None)
    return [*unnamed, *_LAST_RESORT[len(unnamed) :]][:MAX_POSITIVES]


_LAST_RESORT = (
    "I need help with something, and I do not know where to begin",
    "Have a look at what I have here and tell me what to do with it",
)
_USE = re.compile(
    r"\b(?:use|used)\b[^.]*?\b(?:when|after|before|while|if)\b\s+([^.]+)", re.IGNORECASE
)
_WHO = re.compile(
    r"(?:when\s+)?(?:someone|somebody|a user|the user|people)?\s*"
    r"(?:asks?(?:\s+for|\s+about|\s+to)?|wants?(?:\s+to)?|needs?(?:\s+to)?|plans?|has)\s+"
    r"|when\s+",
    re.IGNORECASE,
)


def _occasions(description: str) -> list[str]:
    """Return the occasions that a description lists after *use when*."""
    match = _USE.search(description)
    if match is None:
        return []
    parts = re.split(r",\s+or\s+|,\s+|\s+or\s+", match.group(1).strip())
    occasions = [_WHO.sub("", part, count=1) if _WHO.match(part) else part for part in parts]
    # A part of one or two words is no request by itself.
    return [part for part in occasions if len(part.split()) > 2]


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _rubric(skill: Skill, requests: Sequence[str]) -> str:
    lines = [
        f"# {_EDIT}: the prompts are drawn from the skill's own description, so they flatter it.",
        "# Write what people really ask, without the skill's name, and let the criteria say what",
        "# a good answer has for exactly this skill.",
        f"skill_name: {_quoted(_file_name(skill))}",
        "test_prompts:",
        *(f"  - {_quoted(text)}  # {_EDIT}" for text in requests[:PROMPTS]),
        "criteria:  # weights sum to 1",
    ]
    for criterion in DEFAULT_CRITERIA:
        lines += [
            f"  - name: {criterion.name}",
            f"    weight: {criterion.weight:g}",
            f"    description: {_quoted(criterion.description)}  # {_EDIT}",
        ]
    return "\n".join(lines) + "\n"


def _activation(
    skill: Skill, catalog: Catalog, requests: Sequence[str], other_prompts: Collection[str]
) -> str:
    """Return the lines of the activation file without the prompts of other files."""
    name = _file_name(skill)
    own = [text for text in requests if text not in other_prompts]
    lines = [
        f"# {_EDIT}: what should activate {clean_line(name)}, in the words of its own",
        "# description. Write what people really write: symptoms, typos, other languages.",
    ]
    for number, text in enumerate(own, 1):
        lines.append(_case(f"{name}-{number}", text, name, "own words"))
    lines += [
        f"# {_EDIT}: near misses. Each belongs to a skill that ranks near to this one, and would",
        "# be a false alarm here.",
    ]
    used_prompts = {*own, *other_prompts}
    for number, (rival, text) in enumerate(_near_misses(skill, catalog, used_prompts), 1):
        lines.append(_case(f"{name}-near-{number}", text, rival, "near miss"))
    return "\n".join(lines) + "\n"


def _nothing_fits(other_prompts: Collection[str]) -> str:
    lines = [f"# {_EDIT}: requests that no skill of the library is for."]
    for number, text in enumerate(_FAR, 1):
        if text not in other_prompts:
            lines.append(_case(f"{_NOTHING_FITS}-{number}", text, None, "nothing fits"))
    return "\n".join(lines) + "\n"


def _case(key: str, text: str, expected: str | None, category: str) -> str:
    record = {
        "id": key,
        "user_prompt": text,
        "expected_skills": [expected] if expected is not None else [],
        "acceptable_skills": [],
        "should_activate": expected is not None,
        "category": category,
    }
    return json.dumps(record, ensure_ascii=False)


def _near_misses(
    skill: Skill, catalog: Catalog, used_prompts: Collection[str]
) -> list[tuple[str, str]]:
    """Return pairs (competitor, request for it) for the skills nearest to the description."""
    near_misses: list[tuple[str, str]] = []
    used = set(used_prompts)
    for match in rank(catalog, skill.description, limit=4 * MAX_COMPETITORS):
        other = match.skill
        if other.name == skill.name or other.hidden or other.origin == Origin.CONVENTION:
            continue
        text = next((text for text in _requests(other) if text not in used), None)
        if text is not None and find_name(text, skill.name) is None:
            used.add(text)
            near_misses.append((other.name, text))
    return near_misses[:MAX_COMPETITORS]


def _add_candidate(path: str, skill: Skill, requests: Sequence[str]) -> bool:
    """Append the candidate; return False if it exists already or cannot be appended."""
    entry = _candidate(skill, requests)
    if not os.path.lexists(path):
        head = (
            f"# Skills whose full text, summary and absence are compared. {_EDIT}: the prompts.\n"
        )
        _write(path, f"{head}candidates:\n{entry}")
        return True
    before = read_candidates(path)
    if before.errors or any(each.skill in (skill.name, _file_name(skill)) for each in before.cases):
        return False
    with open(path, encoding="utf-8") as file:
        text = file.read().rstrip("\n")
    longer = f"{text}\n{entry}"
    if not _reads_one_more(longer, before.cases):
        return False
    _write(path, longer)
    return True


def _reads_one_more(text: str, before: Sequence[object]) -> bool:
    """True if a file with this text holds the same candidates and one more."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        trial = os.path.join(folder, "candidates.yaml")
        _write(trial, text)
        after = read_candidates(trial)
    same = [_content(case) for case in after.cases[:-1]] == [_content(case) for case in before]
    return not after.errors and len(after.cases) == len(before) + 1 and same


def _content(case: object) -> tuple[object, ...]:
    """Return the fields of a candidate without its path and line."""
    slots: Sequence[str] = getattr(type(case), "__slots__", ())
    return tuple(getattr(case, name) for name in slots if name not in ("path", "line"))


def _candidate(skill: Skill, requests: Sequence[str]) -> str:
    size = len((skill.body or "").strip().encode("utf-8", "replace"))
    lines = [
        f"  - skill: {_quoted(_file_name(skill))}",
        "    test_prompts:",
        *(f"      - {_quoted(text)}  # {_EDIT}" for text in requests[:PROMPTS]),
        f"    expected_tier: {tier(size)}",
    ]
    siblings = _siblings(skill)
    if siblings:
        lines.append("    siblings:")
        lines += [f"      - {_quoted(path)}" for path in siblings]
    return "\n".join(lines) + "\n"


def _siblings(skill: Skill) -> list[str]:
    """Return the reference documents in the skill's folder that fit under the cap together."""
    try:
        resources = list_resources(skill)
    except ResourceRefused:
        return []
    paths: list[str] = []
    remaining = MAX_SIBLING_BYTES
    for resource in resources:
        deep = resource.path.count("/") > 1
        if resource.kind == "reference" and not deep and resource.size <= remaining:
            paths.append(resource.path)
            remaining -= resource.size
    return paths
