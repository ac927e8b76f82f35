"""The details of each case in a report: the request, the texts, the scores and the errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.report.head import Fact
from skillyard.evals.report.outcomes import Outcome, errors_of, outcome, tally
from skillyard.evals.report.pairs import ORDER, Badge
from skillyard.evals.report.texts import RAW_LIMIT, DisplayText, Texts, cut
from skillyard.evals.report.values import at, count, flag, mapping, names, number, rows, word
from skillyard.evals.report.words import (
    UNKNOWN,
    against,
    condition,
    decimal,
    many,
    money,
    signed,
    whole,
)

__all__ = ["Case", "CaseGroup", "case_groups"]

MAX_CASES = 3_000
"""Maximum number of cases in one report. Failed cases and errors are kept first."""


class Side(NamedTuple):
    """One of the two answers of a pair."""

    name: str
    score: str
    about: str
    text: str
    note: str


class CriterionRow(NamedTuple):
    """One criterion with both scores and the judge's reasons."""

    name: str
    weight: str
    scores: tuple[str, ...]
    reasons: tuple[DisplayText, ...]


class OrderRow(NamedTuple):
    """One judgement of a pair."""

    slots: str
    scores: str
    winner: str
    judge: str
    attempts: str
    error: str
    raw: DisplayText | None
    """The judge's reply if it was invalid."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case, whatever its layer; what a layer has not is empty."""

    title: str
    badge: Badge
    note: str
    prompt: DisplayText
    sides: tuple[Side, ...]
    criteria: tuple[CriterionRow, ...]
    orders: tuple[OrderRow, ...]
    replies: tuple[DisplayText, ...]
    """The router's replies if a case of L3 or L4 did not pass."""
    errors: tuple[tuple[str, str], ...]
    facts: tuple[Fact, ...]


class CaseGroup(NamedTuple):
    """A group of cases under one heading."""

    name: str
    about: str
    cases: tuple[Case, ...]
    more_cases: str
    """A sentence with the number of cases that are not shown, or empty."""


def case_groups(
    envelope: Mapping[str, object], texts: Texts, max_cases: int = MAX_CASES
) -> tuple[CaseGroup, ...]:
    """Return the cases of an envelope in groups: by skill, by category (L3) or by group (L4).

    If there are more than ``max_cases`` cases, failed cases and errors are kept before the others.
    """
    cases = rows(envelope.get("cases"))
    paired = word(at(envelope, "meta", "eval_type")) not in ("activation", "confusion")
    shown_ids = _shown_ids(cases, max_cases)
    groups: dict[str, list[Mapping[str, object]]] = {}
    for case in cases:
        groups.setdefault(_group_of(case), []).append(case)
    order, view = (_pair_place, _pair_case) if paired else (_routed_place, _routed_case)
    return tuple(
        CaseGroup(
            name,
            _about(members, paired),
            tuple(
                view(case, texts) for case in sorted(members, key=order) if id(case) in shown_ids
            ),
            _more_cases(sum(id(case) not in shown_ids for case in members)),
        )
        for name, members in sorted(groups.items())
    )


def _shown_ids(cases: Sequence[Mapping[str, object]], max_cases: int) -> set[int]:
    weight = {"failed": 0, "error": 1, "unscored": 2, "skipped": 4}
    ranked = sorted(cases, key=lambda case: weight.get(outcome(case).state, 3))
    return {id(case) for case in ranked[:max_cases]}


def _more_cases(amount: int) -> str:
    return f"{many(amount, 'more case')} in the results file." if amount else ""


def _group_of(case: Mapping[str, object]) -> str:
    for key in ("skill_name", "group", "category"):
        if word(case.get(key)):
            return word(case.get(key))
    return "without a name"


def _about(cases: Sequence[Mapping[str, object]], paired: bool) -> str:
    counts = tally(cases)
    parts = [many(counts.cases, "case")]
    if not paired and counts.failed:
        parts.append(f"{whole(counts.failed)} failed")
    parts += [
        f"{whole(amount)} {state}"
        for amount, state in ((counts.errors, "with errors"), (counts.skipped, "skipped"))
        if amount
    ]
    return ", ".join(parts)


def _pair_place(case: Mapping[str, object]) -> tuple[float, float, int, str, str]:
    comparison = word(case.get("comparison"))
    place = ORDER.index(comparison) if comparison in ORDER else len(ORDER)
    first, second = number(case.get("prompt_index")), number(case.get("run_index"))
    return first or 0.0, second or 0.0, place, comparison, word(case.get("id"))


def _routed_place(case: Mapping[str, object]) -> tuple[int, str, float]:
    states = ("failed", "error", "unscored", "passed", "scored", "skipped")
    run = number(case.get("run_index"))
    return states.index(outcome(case).state), word(case.get("id")), run or 0.0


_STATES = {
    "passed": Badge("✓", "passed", "good"),
    "failed": Badge("✗", "failed", "bad"),
    "error": Badge("!", "error", "bad"),
    "skipped": Badge("○", "skipped", "open"),
    "unscored": Badge("?", "no verdict", "open"),
}


def _pair_case(case: Mapping[str, object], texts: Texts) -> Case:
    arms = _arms(case)
    result = outcome(case)
    prompt, run = count(case.get("prompt_index")), count(case.get("run_index"))
    title = f"{against(word(case.get('comparison')) or '/'.join(arms))}"
    places = [
        f"{name} {whole(place + 1)}"
        for name, place in (("prompt", prompt), ("run", run))
        if place is not None
    ]
    return Case(
        f"{', '.join(places)}: {title}" if places else title,
        _STATES.get(result.state) or _winner_badge(case, arms),
        _pair_note(case, result),
        cut(word(case.get("prompt")), RAW_LIMIT),
        tuple(_side(case, arm, texts) for arm in arms),
        tuple(_criterion(each, arms) for each in rows(case.get("per_criterion_breakdown"))),
        _orders(case, arms, texts),
        (),
        _errors(case),
        _facts(case),
    )


def _arms(case: Mapping[str, object]) -> tuple[str, ...]:
    arms = [word(case.get(key)) for key in ("condition_a", "condition_b")]
    if not all(arms):
        arms = [part for part in word(case.get("comparison")).split("/") if part][:2]
    return tuple(arms or sorted(mapping(case.get("scores")))[:2])


def _winner_badge(case: Mapping[str, object], arms: Sequence[str]) -> Badge:
    winner = word(case.get("winner"))
    improvement = number(case.get("improvement"))
    if winner == "tie" or not winner:
        return Badge("=", "tie", "even")
    by = f" by {decimal(abs(improvement))}" if improvement is not None else ""
    first = bool(arms) and winner == arms[0]
    return Badge("▲" if first else "▼", f"{condition(winner)}{by}", "good" if first else "bad")


def _pair_note(case: Mapping[str, object], result: Outcome) -> str:
    if result.state == "skipped":
        return result.why
    if flag(case.get("position_consistent")) is False:
        return "the orders disagree"
    if flag(case.get("judge_agrees")) is False:
        return "the judge named another winner"
    return ""


def _side(case: Mapping[str, object], arm: str, texts: Texts) -> Side:
    answer = texts.answer(word(at(case, "generations", arm)))
    characters = count(at(case, "lengths", arm))
    tokens = count(at(case, "condition_sizes", arm, "tokens_estimated"))
    size = count(at(case, "condition_sizes", arm, "bytes"))
    about = []
    if tokens is not None:
        bytes_text = f" ({whole(size)} bytes)" if size is not None else ""
        about.append(f"{many(tokens, 'token')} injected{bytes_text}")
    if characters is not None:
        about.append(f"{many(characters, 'character')} answered")
    return Side(
        condition(arm),
        decimal(number(at(case, "scores", arm))),
        ", ".join(about),
        answer.text if answer else "",
        answer.note if answer else "The text is not kept where this report was made.",
    )


def _criterion(row: Mapping[str, object], arms: Sequence[str]) -> CriterionRow:
    return CriterionRow(
        word(row.get("name")) or UNKNOWN,
        decimal(number(row.get("weight"))),
        tuple(decimal(number(at(row, "scores", arm)), 1) for arm in arms),
        tuple(cut(reason, RAW_LIMIT) for reason in names(row.get("reasoning"))),
    )


def _orders(case: Mapping[str, object], arms: Sequence[str], texts: Texts) -> tuple[OrderRow, ...]:
    paths = names(case.get("judgements"))
    raw_replies = [word(error.get("raw")) for error in rows(case.get("errors"))]
    orders = []
    for place, order in enumerate(rows(case.get("orders"))):
        error = _error_text(order.get("error"))
        path = paths[place] if place < len(paths) else ""
        raw = (
            _raw(raw_replies.pop(0) if error and raw_replies else "", path, texts)
            if error
            else None
        )
        orders.append(
            OrderRow(
                " · ".join(
                    f"{slot}: {condition(word(at(order, 'ab_assignment', slot)))}"
                    for slot in ("A", "B")
                ),
                " to ".join(decimal(number(at(order, "scores", arm))) for arm in arms),
                _winner(order.get("winner")),
                _winner(order.get("judge_winner")),
                whole(count(order.get("attempts"))),
                error,
                raw,
            )
        )
    return tuple(orders)


def _raw(own_text: str, path: str, texts: Texts) -> DisplayText | None:
    """Return the reply in the error itself, or the stored one at a path."""
    return cut(own_text, RAW_LIMIT) if own_text else texts.raw(path)


def _replies(case: Mapping[str, object], texts: Texts) -> tuple[DisplayText, ...]:
    replies = (texts.raw(path) for path in names(case.get("generations")))
    return tuple(each for each in replies if each is not None and each.text)


def _winner(value: object) -> str:
    name = word(value)
    return condition(name) if name else UNKNOWN


def _error_text(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [word(value.get("kind")), word(value.get("message"))]
        return ": ".join(part for part in parts if part) or "error"
    return word(value)


def _errors(case: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, cut(message, RAW_LIMIT).text) for kind, message in errors_of(case))


def _facts(case: Mapping[str, object]) -> tuple[Fact, ...]:
    slots = mapping(case.get("ab_assignment"))
    slots_text = ", ".join(f"{slot}: {condition(word(slots.get(slot)))}" for slot in sorted(slots))
    facts = (
        Fact("Case", word(case.get("id"))),
        Fact("Difference", signed(number(case.get("improvement")))),
        Fact("Drawn first as", slots_text),
        Fact("Case seed", whole(number(case.get("case_seed"))).replace(",", "")),
        Fact("Judge’s attempts", whole(count(case.get("judge_attempts")))),
        Fact("Other judges", _others(mapping(case.get("more_judges")))),
        Fact("Cost", money(number(case.get("cost")))),
        Fact("Kept as", " ".join(word(each) for each in mapping(case.get("generations")).values())),
    )
    return tuple(fact for fact in facts if fact.value and fact.value != UNKNOWN)


def _others(judges: Mapping[str, object]) -> str:
    """Return what further judges make of a pair."""
    return "; ".join(
        f"{name}: {_winner(at(judges, name, 'winner')) if not error else f'no verdict ({error})'}"
        for name in sorted(judges)
        for error in [word(at(judges, name, "error"))]
    )


def _routed_case(case: Mapping[str, object], texts: Texts) -> Case:
    result = outcome(case)
    request = word(case.get("user_prompt"))
    one = word(case.get("expected_skill"))
    expected = names(case.get("expected_skills")) or ((one,) if one else ())
    picked = names(case.get("picked"))
    measures = [
        f"{name} {decimal(value)}"
        for name in ("precision", "recall", "f1")
        if (value := number(case.get(name))) is not None
    ]
    should = flag(case.get("should_activate"))
    decided, again = result.state in ("passed", "failed"), flag(case.get("fallback"))
    expected_text = "nothing" if should is False or not expected else ", ".join(expected)
    facts = (
        Fact("Expected", expected_text),
        Fact("Also right", ", ".join(names(case.get("acceptable_skills")))),
        Fact("Required", ", ".join(names(case.get("required_skills")))),
        Fact("Picked", ", ".join(picked) or ("nothing" if decided else "")),
        Fact("Counted as", word(case.get("predicted"))),
        Fact("Not in the index", ", ".join(names(case.get("dropped")))),
        Fact("Outside the group", ", ".join(names(case.get("outside")))),
        Fact("Only asked about", word(case.get("about"))),
        Fact("Measures", ", ".join(measures)),
        Fact("Confidence", decimal(number(case.get("confidence")))),
        Fact("Asked again", "skill by skill, for the reply could not be read" if again else ""),
        Fact("Cost", money(number(case.get("cost")))),
        Fact("Case", word(case.get("id"))),
    )
    run = count(case.get("run_index"))
    return Case(
        request,
        _STATES.get(result.state, _STATES["unscored"]),
        f"run {whole(run + 1)}" if run else (result.why if result.state == "skipped" else ""),
        cut(request, RAW_LIMIT),
        (),
        (),
        (),
        _replies(case, texts) if result.state in ("failed", "error") else (),
        _errors(case),
        tuple(fact for fact in facts if fact.value and fact.value != UNKNOWN),
    )
