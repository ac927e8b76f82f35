"""Reads the JSON of a model's reply, and validates a judge's reply against its rubric.

Models put objects into prose and fences, and leave commas before closing brackets; that is accepted
(spec/evals.md §1.12). A truncated reply is rejected, since completing it would invent scores, and
an incomplete one as a whole. A missing criterion must not count as zero, and an unknown winner must
not count for either side (spec/evals.md §1.9; spec/security.md, Judging).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.io.strict_json import refuse_constant
from skillyard.evals.criteria import Criterion
from skillyard.evals.summaries import closes_fence, opening_fence

_BOM = "\ufeff"
# A string, closed or running to the end, or a brace. Possessive: every character is passed once.
_MARK = re.compile(r'[{}]|"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|,(?=[ \t\r\n]*+[}\]])', re.DOTALL)
_MAX_UNCLOSED = 20
"""Braces that nothing closes, each of which costs a scan of the rest: a reply has no more."""
_OBJECT_START = re.compile(r'\{\s*+"')


@check_arguments
def extract_json(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a reply; None when there is none, or it is truncated.

    Tried in order: the whole text, each fenced block, then every ``{`` from left to right up to its
    closing brace. Each candidate is parsed strictly, then without the commas before closing
    brackets outside strings. If the whole text is JSON but not an object, the result is None.
    Gives up after twenty braces that nothing closes, so it is linear in the text; raises nothing.
    """
    text = text.removeprefix(_BOM)
    whole = _parse(text)
    if whole is not None:
        return whole if isinstance(whole, dict) else None
    for block in _fenced(text):
        value = _parse(block)
        if isinstance(value, dict):
            return value
    return _scan(text)


def _parse(text: str) -> Any:
    """Return the value of a JSON text, read strictly, then without trailing commas; else None."""
    if not text.strip():
        return None
    for candidate in (text, _STRING_OR_COMMA.sub(lambda match: match[1] or "", text)):
        try:
            return json.loads(candidate, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            continue
    return None


def _fenced(text: str) -> Iterator[str]:
    """Yield the content of each fenced block; one that is never closed is left to the scan."""
    fence = ""
    block: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not fence:
            fence, block = opening_fence(line), []
        elif closes_fence(line, fence):
            yield "\n".join(block)
            fence = ""
        else:
            block.append(line)


def _scan(text: str) -> dict[str, Any] | None:
    unclosed = 0
    position = text.find("{")
    while position >= 0 and unclosed < _MAX_UNCLOSED:
        end = _end_of_object(text, position)
        if end is not None:
            value = _parse(text[position:end])
            if isinstance(value, dict):
                return value
        elif _OBJECT_START.match(text, position):
            return None  # an object that is cut off has swallowed the rest
        else:
            unclosed += 1
        position = text.find("{", end or position + 1)
    return None


def _end_of_object(text: str, start: int) -> int | None:
    """Return the position behind the brace that closes the one at ``start``; None without."""
    depth = 0
    for mark in _MARK.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if not depth:
            return mark.end()
    return None


WINNERS = ("A", "B", "tie")
LOWEST, HIGHEST = 1, 5
"""The scale of every criterion, in whole points."""

_SURROGATES = re.compile("[\ud800-\udfff]")


class BadVerdict(SkillyardError):
    """A reply that is no verdict on the rubric.

    ``kind`` is ``no_json``, ``truncated``, ``refusal``, ``bad_shape``, ``missing_criterion``,
    ``duplicate_criterion``, ``unknown_criterion``, ``score_not_integer``, ``score_out_of_range``,
    ``bad_reasoning`` or ``bad_winner``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def read_criteria(
    criteria: Iterable[Criterion | Mapping[str, Any]],
) -> tuple[Criterion, ...]:
    """Return criteria given as values or as mappings of a rubric file.

    Raises InvalidInput if there are none, a name is blank or duplicate, or a weight is not a finite
    number above 0.
    """
    rubric: dict[str, Criterion] = {}
    for place, one in enumerate(criteria, 1):
        where = f"criteria[{place}]"
        if isinstance(one, Mapping):
            description = one.get("description") or ""
            one = Criterion(one.get("name", ""), one.get("weight", 0), description)
        if not isinstance(one, Criterion):
            raise InvalidInput(f"{where} must be a mapping with name and weight")
        name, weight = one.name, one.weight
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"{where}.name must be a text that is not blank")
        if not isinstance(one.description, str):
            raise InvalidInput(f"{where}.description must be a text")
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not is_number or not 0 < weight < inf:
            raise InvalidInput(f"{where}.weight must be a finite number above 0, not {weight!r}")
        if name in rubric:
            raise InvalidInput(f"{where}.name: {name!r} stands twice")
        rubric[name] = one
    if not rubric:
        raise InvalidInput("criteria: a rubric needs at least one criterion")
    return tuple(rubric.values())


def verdict(value: object, criteria: Iterable[Criterion]) -> dict[str, Any]:
    """Return a parsed reply as a verdict on the criteria. Raises BadVerdict for anything less.

    ``criteria`` is a list that names every criterion exactly once and no other; scores are JSON
    integers from 1 to 5 (no booleans, no texts, no fractions, not even 4.0); each reasoning is a
    text; ``overall_winner`` is ``A``, ``B`` or ``tie``: the winner that the judge states,
    independent of the scores. The verdict has the criteria in the rubric's order, and no other key.
    """
    entries = value.get("criteria") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(entries, list):
        raise BadVerdict("bad_shape", "the reply is not a JSON object with a list of criteria")
    names = [criterion.name for criterion in criteria]
    scores_by_name: dict[str, dict[str, Any]] = {}
    for entry in entries:
        scores = _criterion_scores(entry, names)
        if scores["name"] in scores_by_name:
            raise BadVerdict("duplicate_criterion", f"{scores['name']!r} is scored twice")
        scores_by_name[scores["name"]] = scores
    missing = [name for name in names if name not in scores_by_name]
    if missing:
        raise BadVerdict("missing_criterion", f"criterion {missing[0]!r} is not scored")
    winner = value.get("overall_winner")
    if not isinstance(winner, str) or winner not in WINNERS:
        raise BadVerdict("bad_winner", 'overall_winner is not "A", "B" or "tie"')
    return {"criteria": [scores_by_name[name] for name in names], "overall_winner": winner}


def _criterion_scores(entry: object, names: list[str]) -> dict[str, Any]:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(name, str):
        raise BadVerdict("bad_shape", "an entry of criteria is not an object with a name")
    if name not in names:
        raise BadVerdict("unknown_criterion", f"{name[:60]!r} is not a criterion of the rubric")
    reasoning = entry.get("reasoning")
    if not isinstance(reasoning, str):
        raise BadVerdict("bad_reasoning", f"the reasoning on {name!r} is not a text")
    scores = {key: entry.get(key) for key in ("score_a", "score_b")}
    for key, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int):
            raise BadVerdict("score_not_integer", f"{key} of {name!r} is not an integer")
        if not LOWEST <= score <= HIGHEST:
            message = f"{key} of {name!r} is not between {LOWEST} and {HIGHEST}"
            raise BadVerdict("score_out_of_range", message)
    # JSON can spell half of a character pair, which no file could hold.
    return {"name": name, **scores, "reasoning": _SURROGATES.sub("\ufffd", reasoning)}
