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
_OBJECT_START = re.compile(r'\{\s*+"')


@check_arguments
def extract_json(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a reply; None when there is none, or it is truncated.

    Tried in order: the whole text, each fenced block, then every ``{`` from left to right up to its
    closing brace. Each candidate is parsed strictly, then without the commas before closing
    brackets outside strings. If the whole text is JSON but not an object, the result is None.
    Linear in the text; raises nothing.
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
    braces = _Braces(text)
    position = text.find("{")
    while position >= 0:
        end = braces.end(position)
        if end is None:
            if _OBJECT_START.match(text, position):
                return None  # an object that is cut off has swallowed the rest
            end = position + 1
        else:
            value = _parse(text[position:end])
            if isinstance(value, dict):
                return value
        position = text.find("{", end)
    return None


class _Braces:
    """The end positions of the objects of one text, each computed once.

    Scanning from a ``{`` starts outside any string, so two scans may disagree about what is inside
    a string. They agree from the first brace that both see outside a string. The end of that brace
    is stored, and no third scan passes it. So a text of only opening braces is scanned once.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[int, int | None] = {}

    def end(self, start: int) -> int | None:
        """Return the position behind the brace that closes the one at ``start``; None without."""
        ends = self._ends
        if start in ends:
            return ends[start]
        opened = [start]
        position = start + 1
        while opened and (mark := _MARK.search(self._text, position)) is not None:
            place, position = mark.start(), mark.end()
            if mark[0] == "}":
                ends[opened.pop()] = position
            elif mark[0] == "{" and place not in ends:
                opened.append(place)
            elif mark[0] == "{":
                end = ends[place]
                if end is None:
                    break
                position = end
        ends.update(dict.fromkeys(opened))
        return ends[start]


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
    rubric = tuple(
        one if isinstance(one, Criterion) else _criterion(one, place)
        for place, one in enumerate(criteria, 1)
    )
    if not rubric:
        raise InvalidInput("criteria: a rubric needs at least one criterion")
    names: set[str] = set()
    for place, criterion in enumerate(rubric, 1):
        where = f"criteria[{place}]"
        if not isinstance(criterion.name, str) or not criterion.name.strip():
            raise InvalidInput(f"{where}.name must be a text that is not blank")
        if not isinstance(criterion.description, str):
            raise InvalidInput(f"{where}.description must be a text")
        if not _is_weight(criterion.weight):
            weight = criterion.weight
            raise InvalidInput(f"{where}.weight must be a finite number above 0, not {weight!r}")
        if criterion.name in names:
            raise InvalidInput(f"{where}.name: {criterion.name!r} stands twice")
        names.add(criterion.name)
    return rubric


def _criterion(one: Mapping[str, Any], place: int) -> Criterion:
    if not isinstance(one, Mapping):
        raise InvalidInput(f"criteria[{place}] must be a mapping with name and weight")
    return Criterion(one.get("name", ""), one.get("weight", 0), one.get("description") or "")


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < inf


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
