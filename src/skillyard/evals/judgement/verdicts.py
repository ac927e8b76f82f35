"""What a judge's reply says: its JSON, checked by the rubric, as scores and winner of two arms.

Models put objects into prose and fences, and leave commas before closing brackets; that is accepted
(spec/evals.md §1.12). A truncated reply is rejected, since completing it would invent scores, and
an incomplete one as a whole. A missing criterion must not count as zero, and an unknown winner must
not count for either side (spec/evals.md §1.9; spec/security.md, Judging).

The arithmetic uses exact fractions: the weights as written and integer scores. With binary
fractions, 26 % of all exact ties would become wins (spec/evals.md §0.5).
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, inf
from statistics import fmean
from typing import Any, NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.io.strict_json import refuse_constant
from skillyard.evals.arms import closes_fence, opening_fence

STRICT = {"extra": "forbid", "str_strip_whitespace": True}
"""The ``__pydantic_config__`` of a class that has every field which its file may have."""
_TOLERANCE = 0.01 + 1e-9  # and binary sums of decimal weights
TIE = "tie"
WINNERS = ("A", "B", TIE)
LOWEST, HIGHEST = 1, 5
"""The scale of every criterion, in whole points."""
_SEED_DIGITS = 8  # hexadecimal: 32 bits
_DECIMALS = 4  # of every score (spec/evals.md §1.10)
_SURROGATES = re.compile("[\ud800-\udfff]")
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


REASONS = {
    "no_json": "it held no complete JSON object",
    "truncated": "it was cut off before its end, so it must be shorter",
    "refusal": "it declined, but comparing two texts is all that is asked",
    "bad_shape": "it was not an object of the shape asked for",
    "missing_criterion": "it left a criterion out",
    "duplicate_criterion": "it scored a criterion twice",
    "unknown_criterion": "it named a criterion that is not in the list",
    "score_not_integer": "a score was not an integer",
    "score_out_of_range": "a score lay outside 1 to 5",
    "bad_reasoning": "a reasoning was not a text",
    "bad_winner": 'overall_winner was not "A", "B" or "tie"',
}
"""By the kind of a :class:`BadVerdict`. Fixed texts: what a judge wrote never enters its next
prompt, which says why the reply could not be used."""


class BadVerdict(SkillyardError):
    """A reply that is no verdict on the rubric; ``kind`` is one of :data:`REASONS`."""

    def __init__(self, kind: str, about: str = "") -> None:
        super().__init__(f"{about}: {REASONS[kind]}" if about else REASONS[kind])
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a rubric. The weights of a rubric sum to 1 (within 0.01)."""

    __pydantic_config__ = STRICT

    name: str
    weight: float
    description: str
    """The instruction to the judge."""


DEFAULT_CRITERIA = (
    Criterion("correctness", 0.35, "What it says and does is right for the request as written."),
    Criterion(
        "completeness", 0.25, "Every part of the request is answered; nothing needed is left out."
    ),
    Criterion(
        "practice", 0.2, "It follows what experienced people in the field would do and avoid."
    ),
    Criterion(
        "clarity", 0.2, "It can be followed and used at once; no padding, no contradictions."
    ),
)
"""For cases that bring no rubric of their own."""


def criteria_faults(criteria: Sequence[Criterion]) -> Iterator[str]:
    """Yield what is wrong with the criteria of a file, each with what to write instead."""
    names = [criterion.name.casefold() for criterion in criteria]
    for number, criterion in enumerate(criteria):
        if not criterion.name or not criterion.description:
            yield f"criteria[{number}] has no name or no description; write some text"
        elif names.index(names[number]) < number:
            yield f"criteria[{number}].name is that of another one too; rename one of the two"
        if not 0 < criterion.weight <= 1:
            yield f"criteria[{number}].weight must be above 0 and at most 1; correct it"
    total = fsum(criterion.weight for criterion in criteria)
    if criteria and abs(total - 1) > _TOLERANCE:
        yield f"the weights sum to {total:.6g}, not to 1; make them sum to 1 (within 0.01)"


def read_criteria(
    criteria: Iterable[Criterion | Mapping[str, Any]],
) -> tuple[Criterion, ...]:
    """Return criteria given as values or as mappings of a rubric file.

    Raises InvalidInput if there are none, a name is blank or duplicate, or a weight is not a finite
    number above 0.
    """
    rubric: dict[str, Criterion] = {}
    for place, one in enumerate(criteria, 1):
        if isinstance(one, Mapping):
            description = one.get("description") or ""
            one = Criterion(one.get("name", ""), one.get("weight", 0), description)
        if not isinstance(one, Criterion):
            raise InvalidInput(f"criteria[{place}] must be a mapping with name and weight")
        texts = isinstance(one.name, str) and isinstance(one.description, str)
        if not texts or not one.name.strip() or one.name in rubric:
            raise InvalidInput(f"criteria[{place}] needs texts, and a name of its own")
        is_number = isinstance(one.weight, int | float) and not isinstance(one.weight, bool)
        if not is_number or not 0 < one.weight < inf:
            raise InvalidInput(f"criteria[{place}].weight must be a finite number above 0")
        rubric[one.name] = one
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
        raise BadVerdict("bad_shape")
    names = [criterion.name for criterion in criteria]
    scores_by_name: dict[str, dict[str, Any]] = {}
    for entry in entries:
        scores = _criterion_scores(entry, names)
        if scores["name"] in scores_by_name:
            raise BadVerdict("duplicate_criterion", repr(scores["name"]))
        scores_by_name[scores["name"]] = scores
    if missing := [name for name in names if name not in scores_by_name]:
        raise BadVerdict("missing_criterion", repr(missing[0]))
    winner = value.get("overall_winner")
    if not isinstance(winner, str) or winner not in WINNERS:
        raise BadVerdict("bad_winner")
    return {"criteria": [scores_by_name[name] for name in names], "overall_winner": winner}


def _criterion_scores(entry: object, names: list[str]) -> dict[str, Any]:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(name, str):
        raise BadVerdict("bad_shape")
    if name not in names:
        raise BadVerdict("unknown_criterion", repr(name[:60]))
    reasoning = entry.get("reasoning")
    if not isinstance(reasoning, str):
        raise BadVerdict("bad_reasoning", repr(name))
    scores = {key: entry.get(key) for key in ("score_a", "score_b")}
    for score in scores.values():
        if isinstance(score, bool) or not isinstance(score, int):
            raise BadVerdict("score_not_integer", repr(name))
        if not LOWEST <= score <= HIGHEST:
            raise BadVerdict("score_out_of_range", repr(name))
    # JSON can spell half of a character pair, which no file could hold.
    return {"name": name, **scores, "reasoning": _SURROGATES.sub("\ufffd", reasoning)}


Outcome = dict[str, Any]
"""``scores`` by condition (1..5, rounded to 4 decimals), ``improvement`` (the first condition's
score less the second's), ``winner`` (a condition, or ``tie``: from the scores), ``judge_winner``
(the judge's own word for it) and ``judge_agrees``. Two merged orders also have ``order_winners``
and ``position_consistent``."""


class Assignment(NamedTuple):
    """The condition in each slot of one call to a judge."""

    case_seed: int
    """0..2**32-1: the digest of seed, skill, prompt, conditions and run."""
    slots: dict[str, str]
    """The condition in slot ``A`` and the one in slot ``B``."""


def both_orders(
    seed: int, skill: str, prompt_index: int, condition_a: str, condition_b: str, run: int
) -> tuple[Assignment, Assignment]:
    """Return the slots of both calls of one case; the first is that of a single order.

    The case seed is the first eight hexadecimal digits of
    ``sha256("seed|skill|prompt_index|condition_a|condition_b|run")``. In even runs a generator with
    that seed draws the slot of ``condition_a``: A below one half. An odd run (counting from 0)
    swaps the run before it, so that two runs put each condition into each slot once.
    """
    cell = f"{seed}|{skill}|{prompt_index}|{condition_a}|{condition_b}"
    seed_of_pair = _case_seed(cell, run - run % 2)
    first_in_a = (random.Random(seed_of_pair).random() < 0.5) != bool(run % 2)
    one, other = (condition_a, condition_b) if first_in_a else (condition_b, condition_a)
    case_seed = _case_seed(cell, run)
    return (
        Assignment(case_seed, {"A": one, "B": other}),
        Assignment(case_seed, {"A": other, "B": one}),
    )


def _case_seed(cell: str, run: int) -> int:
    digest = hashlib.sha256(f"{cell}|{run}".encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:_SEED_DIGITS], 16)


def one_order(
    reply: Mapping[str, Any],
    criteria: Sequence[Criterion],
    slots: Mapping[str, str],
    conditions: Sequence[str],
    tie_band: float = 0.0,
) -> Outcome:
    """Return a valid reply in terms of the two conditions, compared in the order given.

    A condition's score is the weighted mean ``sum(w * s) / sum(w)``. Scores that differ by at most
    ``tie_band`` points are a tie.
    """
    weights = [_exact(criterion.weight) for criterion in criteria]
    exact: dict[str, Fraction] = {}
    for slot, key in (("A", "score_a"), ("B", "score_b")):
        scores = [each[key] for each in reply["criteria"]]
        total = sum((w * s for w, s in zip(weights, scores, strict=True)), Fraction())
        exact[slots[slot]] = round(total / sum(weights), _DECIMALS)
    first, second = conditions
    difference = exact[first] - exact[second]
    winner = TIE
    if abs(difference) > _exact(tie_band):
        winner = first if difference > 0 else second
    judge_winner = slots.get(reply["overall_winner"], TIE)
    scores_by_condition = {name: float(exact[name]) for name in conditions}
    return _outcome(scores_by_condition, float(difference), winner, judge_winner)


def merge(first: Outcome, second: Outcome) -> Outcome:
    """Return both orders of one comparison as one result.

    Scores are means over the orders. A condition wins only when it wins in both orders.
    """
    means = {
        condition: round((_exact(score) + _exact(second["scores"][condition])) / 2, _DECIMALS)
        for condition, score in first["scores"].items()
    }
    one, other = means.values()
    winner, judge_winner = (
        first[key] if first[key] == second[key] else TIE for key in ("winner", "judge_winner")
    )
    scores = {name: float(mean) for name, mean in means.items()}
    return {
        **_outcome(scores, float(one - other), winner, judge_winner),
        "order_winners": [first["winner"], second["winner"]],
        "position_consistent": first["winner"] == second["winner"],
    }


def _outcome(
    scores: dict[str, float], improvement: float, winner: str, judge_winner: str
) -> Outcome:
    return {
        "scores": scores,
        "improvement": improvement,
        "winner": winner,
        "judge_winner": judge_winner,
        "judge_agrees": judge_winner == winner,
    }


def breakdown(
    orders: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]], criteria: Sequence[Criterion]
) -> list[dict[str, Any]]:
    """Return, for each criterion, its weight, each condition's mean score and the reasonings.

    ``orders`` holds each valid reply with its slots. The reasonings are in the same order, and
    their A and B are the slots of their call.
    """
    result = []
    for place, criterion in enumerate(criteria):
        replies = [(reply["criteria"][place], slots) for reply, slots in orders]
        points: dict[str, list[int]] = {}
        for reply, slots in replies:
            for slot, condition in sorted(slots.items()):
                points.setdefault(condition, []).append(reply[f"score_{slot.lower()}"])
        scores = {name: fmean(each) for name, each in points.items()}
        reasoning = [reply["reasoning"] for reply, _ in replies]
        fields = {"name": criterion.name, "weight": criterion.weight}
        result.append({**fields, "scores": scores, "reasoning": reasoning})
    return result


PromptId = tuple[str, int]
"""One skill and one of its prompts: what is independent of the rest."""


class JudgedPair(NamedTuple):
    """One judged comparison of two answers to one prompt, all its orders merged."""

    case: Mapping[str, Any]
    scores: tuple[float, float]
    """Of the first and of the second arm, 1..5."""
    improvement: float
    """First less second."""
    winner: str
    """One of the two arms, or ``tie``."""

    @property
    def unit(self) -> PromptId:
        """The skill and the prompt."""
        return self.case["skill_name"], self.case["prompt_index"]

    @property
    def first(self) -> str:
        """The arm that a positive improvement favours."""
        return str(self.case["condition_a"])

    @property
    def second(self) -> str:
        """The other arm."""
        return str(self.case["condition_b"])

    @property
    def comparison(self) -> str:
        """``first/second``."""
        return f"{self.first}/{self.second}"

    @property
    def slots(self) -> list[str]:
        """For each order: the slot that won, ``A`` or ``B``, or ``tie``."""
        return slots_won(self.case.get("orders") or ())

    @property
    def lengths(self) -> tuple[int, int]:
        """Characters of the two answers; 0 where they are not known."""
        lengths = self.case.get("lengths") or {}
        return lengths.get(self.first, 0), lengths.get(self.second, 0)


def slots_won(orders: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return for each order with a winner the slot that won, ``A`` or ``B``, or ``tie``."""
    return [
        next((slot for slot, arm in each["ab_assignment"].items() if arm == each["winner"]), TIE)
        for each in orders
        if each.get("winner")
    ]


@check_arguments
def remap(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a judge's parsed replies for two conditions, as plain JSON.

    ``case`` holds ``conditions`` (two names), ``criteria`` (mappings with name and weight), and
    either ``assignment`` (slot to condition) with ``judge`` (the parsed reply), or ``orders``: a
    list of two such pairs with the slots swapped. ``tie_band`` is optional.

    One order gives ``scores``, ``improvement``, ``winner``, ``judge_winner`` and ``judge_agrees``.
    Two orders also give ``order_winners`` and ``position_consistent``. An invalid reply in either
    order makes the comparison an error: ``{"error": kind, "message": reason}``. An invalid case is
    the error ``bad_case``. Raises nothing for a mapping.
    """
    try:
        if "orders" not in case:
            return _one(case, case)
        orders = _sequence(case, "orders")
        if len(orders) != 2 or not all(isinstance(order, Mapping) for order in orders):
            raise InvalidInput("orders must be two mappings with assignment and judge")
        first, second = (_one(case, order) for order in orders)
        if orders[0]["assignment"]["A"] == orders[1]["assignment"]["A"]:
            raise InvalidInput("the two orders must swap the slots")
        return merge(first, second)
    except BadVerdict as error:
        return {"error": error.kind, "message": str(error)}
    except InvalidInput as error:
        return {"error": "bad_case", "message": str(error)}


def _one(case: Mapping[str, Any], order: Mapping[str, Any]) -> Outcome:
    criteria = read_criteria(_sequence(case, "criteria"))
    conditions = _sequence(case, "conditions")
    if len(conditions) != 2 or not all(isinstance(name, str) for name in conditions):
        raise InvalidInput("conditions must be two names")
    first, second = conditions
    if first == second or TIE in (first, second):
        raise InvalidInput(f"conditions must be two different names, none of them {TIE!r}")
    slots = order.get("assignment")
    if slots not in ({"A": first, "B": second}, {"A": second, "B": first}):
        raise InvalidInput(f"assignment must put {first!r} and {second!r} into A and B")
    band = case.get("tie_band", 0.0)
    if _exact(band) < 0:
        raise InvalidInput(f"tie_band must be 0 or more, not {band!r}")
    return one_order(verdict(order.get("judge"), criteria), criteria, slots, conditions, band)


def _sequence(case: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = case.get(key)
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{key} must be a list")
    return value


def _exact(number: float) -> Fraction:
    """Return a number as it is written in decimal: 0.3 is three tenths. Raises InvalidInput."""
    try:
        return Fraction(str(number))
    except ValueError:
        raise InvalidInput(f"{number!r} is no finite number") from None
