"""Reader of promptfoo tests: each becomes a prompt with checks and assertions.

JavaScript, Python, model-graded and measured assertions that have no counterpart here are not
evaluated: a warning names them with their number.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skillyard.errors import SkillError
from skillyard.evals.cases.dataset import SourceFile
from skillyard.evals.cases.foreign_file import ForeignFile, first_text, skill_name
from skillyard.evals.cases.input_files import load_file
from skillyard.evals.cases.parser import yaml_record
from skillyard.evals.cases.records import Notes, Record, plain
from skillyard.evals.cases.skill_cases import Owner, SkillCases, SkillPrompt
from skillyard.evals.checks.check import Check, find_fault
from skillyard.formats.frontmatter import decode, unify_lines

__all__ = ["is_promptfoo", "read_promptfoo"]

_REQUEST = ("request", "prompt", "query", "question", "user_prompt", "input", "message", "task")
"""Variables that hold what a user asks, the likeliest first."""
_CONFIG_FIELDS = ("prompts", "providers", "targets", "defaultTest")
_ANY_JSON = "true"
_JUDGED = ("llm-rubric", "model-graded-closedqa", "g-eval", "factuality", "similar")
MAX_COMBINATIONS = 100
"""Most requests of one test whose variables are lists."""
_SKILL_USED = ("skill-used", "not-skill-used")
_FILE = "file://"
_HINT = "write checks, or assertions for the judge, in a case file of skillyard"


def is_promptfoo(text: str) -> bool:
    """True for a configuration with ``tests``, or a file that is a list of them."""
    if _is_list(text):
        return re.search(r"^[- ] +(?:- )?(?:vars|assert):", text, re.MULTILINE) is not None
    fields = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    return "tests" in fields and not fields.isdisjoint(_CONFIG_FIELDS)


def _is_list(text: str) -> bool:
    first = re.search(r"^[^\s#]", text, re.MULTILINE)
    return first is not None and first.group() == "-" and not text.startswith("---")


def read_promptfoo(file: SourceFile, owner: Owner, notes: Notes) -> list[SkillCases]:
    """Return the tests by skill: that of the folder, or the variable ``skill`` of the test."""
    config = _config(file.text, notes)
    if config is None:
        return []
    foreign = ForeignFile(file, owner, notes)
    defaults = config.record("defaultTest") or Record({}, 1, notes)
    no_text = f"name the variable that holds it {_REQUEST[0]}, or write a plain template"
    of_all = _assertions(defaults)
    for number, test in enumerate(_tests(config, file.path), 1):
        assertions = [*of_all, *_assertions(test)]
        fires = _fires(assertions, foreign.unread)
        statements, checks = _converted(assertions, foreign.unread)
        variables = {**_variables(defaults), **_variables(test)}
        combinations = _combinations(variables, test, foreign)
        requests = dict.fromkeys(
            (_request(each, config), skill_name(each)) for each in combinations
        )
        for row, (text, own) in enumerate(requests, 1):
            identity = f"{number}-{row}" if len(requests) > 1 else str(number)
            for named, should_fire in _targets(fires, foreign.owner.skill_of(own)).items():
                metadata = {"skill": own} if own else {}
                skill = foreign.skill_of(
                    test, metadata, text, "the variable skill", no_text, named=named
                )
                if skill:
                    prompt = SkillPrompt(
                        identity,
                        text,
                        should_fire,
                        assertions=statements,
                        checks=checks,
                        line=test.line,
                    )
                    foreign.add(test, skill, prompt)
    foreign.warn_unread("assertions that are not read", _HINT)
    return foreign.skill_cases()


def _config(text: str, notes: Notes) -> Record | None:
    """Return the configuration; a file that is a list of tests is one with these tests."""
    if _is_list(text):
        return yaml_record(f"tests:\n{text}", notes, first_line=0)
    return yaml_record(text, notes)


def _tests(config: Record, path: str) -> Iterator[Record]:
    """Yield the tests of a configuration and of the YAML files that it names."""
    value = config.raw("tests")
    items = value if isinstance(value, list) else [config.fields["tests"]]
    for number, item in enumerate(items):
        if isinstance(item.value, dict):
            yield Record(item.value, item.line, config.notes, f"tests[{number}]")
        elif isinstance(item.value, str):
            yield from _tests_of_file(item.value, item.line, config.notes, path)
        else:
            what = f"tests[{number}] is left out: it is not a mapping"
            line = item.line or config.line_of("tests")
            config.notes.warning("eval_left_out", line, what, "write vars and assert", item.value)


def _tests_of_file(name: str, line: int | None, notes: Notes, path: str) -> Iterator[Record]:
    below = name.removeprefix(_FILE)
    try:
        if not below.endswith((".yaml", ".yml")):
            raise SkillError("only YAML files are read", path=below)
        file = load_file(below.removeprefix("./"), [os.path.dirname(path) or "."])
        text = unify_lines(decode(file.data, below))
    except SkillError as error:
        notes.warning("eval_left_out", line, f"{name} is left out: {error.message}", _HINT)
        return
    own = notes.of_file(os.path.join(os.path.dirname(path), below))
    config = _config(text, own)
    if config is not None:
        yield from _tests(config, own.path)


def _variables(test: Record) -> Mapping[str, Any]:
    return plain(test.raw("vars")) if isinstance(test.raw("vars"), dict) else {}


def _combinations(
    variables: Mapping[str, Any], test: Record, foreign: ForeignFile
) -> list[Mapping[str, Any]]:
    """Return the variables once for each combination of the items of those that are lists."""
    listed = {name: value for name, value in variables.items() if isinstance(value, list)}
    count = math.prod(map(len, listed.values()))
    if not 1 <= count <= MAX_COMBINATIONS:
        why = f"its lists of variables have {count:,} combinations"
        hint = f"write 1 to {MAX_COMBINATIONS}, or several tests"
        foreign.leave_out(test, why, hint)
        return []
    return [
        {**variables, **dict(zip(listed, items, strict=True))}
        for items in itertools.product(*listed.values())
    ]


def _request(variables: Mapping[str, Any], config: Record) -> str:
    """Return the variable that holds the request, else the first template with its variables."""
    written = {name: each for name, each in variables.items() if not str(each).startswith(_FILE)}
    request = first_text(written, _REQUEST)
    if request:
        return request
    templates = plain(config.raw("prompts"))
    listed = templates if isinstance(templates, list) else [templates]
    first = listed[0] if listed else None
    template = first.get("raw") if isinstance(first, dict) else first
    if not isinstance(template, str) or template.startswith(_FILE) or "{{" not in template:
        return ""
    text = re.sub(
        r"\{\{-?\s*(\w+)\s*-?\}\}",
        lambda match: _written(variables.get(match[1]), match[0]),
        template,
    )
    return "" if "{{" in text or "{%" in text or _FILE in text else text.strip()


def _written(value: Any, placeholder: str) -> str:
    """Return a variable as a template has it; the placeholder where it is no text or number."""
    return str(value) if isinstance(value, str | int | float) else placeholder


def _assertions(test: Record) -> list[Mapping[str, Any]]:
    """Return the assertions of a test, those of sets included. Anything else is a warning."""
    value = plain(test.raw("assert"))
    listed: list[Any] = []
    for each in value if isinstance(value, list) else []:
        inner = each.get("assert") if isinstance(each, dict) else None
        listed += inner if isinstance(inner, list) else [each]
    others = [each for each in listed if not isinstance(each, dict)]
    if value is not None and not isinstance(value, list):
        others = [value]
    for other in others:
        what = f"{test.name_of('assert')} is a list of mappings; anything else is not read"
        hint = "write - {type: contains, value: …}"
        test.notes.warning("eval_unread_fields", test.line_of("assert"), what, hint, other)
    return [each for each in listed if isinstance(each, dict)]


def _fires(
    assertions: Sequence[Mapping[str, Any]], unread: Counter[str]
) -> Mapping[str, bool | None]:
    """Return whether skills should be picked; an assertion without a value has an empty name."""
    fires: dict[str, bool | None] = {}
    for each in assertions:
        kind, value = each.get("type"), each.get("value")
        if kind not in _SKILL_USED:
            continue
        for item in value if isinstance(value, list) else [value]:
            name = item.get("name", item) if isinstance(item, dict) and len(item) == 1 else item
            if name is None or isinstance(name, str):
                fires[(name or "").strip()] = kind == "skill-used"
            else:  # a pattern of names, or how often
                unread[str(kind)] += 1
    return fires


def _targets(fires: Mapping[str, bool | None], own: str) -> Mapping[str, bool | None]:
    """Return the skills that a test is about, and whether each should be picked.

    The skill of the test itself has an empty name. A test that only says which other skills are
    not used is about its own skill, too.
    """
    if any(fires.values()) or "" in fires or own in fires or (fires and not own):
        return fires
    return {"": None, **fires}


def _converted(
    assertions: Sequence[Mapping[str, Any]], unread: Counter[str]
) -> tuple[tuple[str, ...], tuple[Check, ...]]:
    """Return the statements for the judge and the checks that assertions amount to."""
    checks: list[Check] = []
    judged: list[str] = []
    for each in assertions:
        kind, value = str(each.get("type", "")), each.get("value")
        converted = _checks(kind, value)
        if kind in _SKILL_USED:
            continue
        if kind in _JUDGED and isinstance(value, str) and value.strip():
            judged.append(value.strip())
        elif converted and not any(find_fault(check.kind, check.value) for check in converted):
            checks += converted
        else:
            unread[kind or "without a type"] += 1
    return tuple(judged), tuple(checks)


def _checks(kind: str, value: Any) -> list[Check]:
    """Return the checks that say the same as an assertion; none where there are none."""
    if kind in ("is-json", "contains-json"):
        schema = json.dumps(value, sort_keys=True) if isinstance(value, dict) else _ANY_JSON
        return [Check("json_schema", schema)]
    texts = [str(each) for each in value] if isinstance(value, list) else []
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        texts = [str(value)]
    negated, name = kind.startswith("not-"), kind.removeprefix("not-")
    pattern = _PATTERNS.get(name.removesuffix("-all").removesuffix("-any"))
    if not texts or pattern is None or (negated and name.endswith("-all")):
        return []  # "not all of them" is no check here
    if name in ("contains", "contains-all"):
        return [Check("not_contains" if negated else "contains", text) for text in texts]
    patterns = [pattern(text) for text in texts]
    if name.endswith("-any"):
        patterns = ["|".join(patterns)]
    return [Check("not_regex" if negated else "regex", text) for text in patterns]


def _literal(text: str) -> str:
    """Return a pattern of RE2 that matches the text itself."""
    if text.isascii():
        return re.sub(r"([^\w\s])", r"\\\1", text, flags=re.ASCII)
    return "".join(char if char.isalnum() else rf"\x{{{ord(char):x}}}" for char in text)


_PATTERNS: Mapping[str, Callable[[str], str]] = {
    "contains": _literal,
    "icontains": lambda text: f"(?i:{_literal(text)})",
    "starts-with": lambda text: rf"\A\s*{_literal(text)}",
    "equals": lambda text: rf"\A\s*{_literal(text.strip())}\s*\z",
    "regex": lambda text: text,
}
"""Assertions about texts as patterns of RE2. Some also have a form with ``-all`` or ``-any``."""
