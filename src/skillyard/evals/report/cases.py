"""The details of each case in a report: the request, the texts, the scores and the errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from skillyard.base.io.sha256 import sha256
from skillyard.evals.report.layer_view import Badge, Fact, Row, Table, table_of_facts, with_rows
from skillyard.evals.report.results import (
    Results,
    errors_of,
    expected_skills,
    outcome,
    place_in_run,
    states_of,
)
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    UNKNOWN,
    against,
    condition,
    decimal,
    many,
    money,
    signed,
    visible,
    whole,
)
from skillyard.evals.statistics.pairs import comparisons_in_order

MAX_CASES = 3_000
"""Maximum number of cases in one report. Failed cases and errors are kept first."""
TEXT_TOTAL = 6_000_000
"""Characters of answers in one report, about: what a browser on a phone opens without pausing."""
TEXT_LIMITS = (1_000, 20_000)
"""Least and most characters that are shown of one answer."""
RAW_LIMIT = 4_000
"""Most characters of a request, a reasoning, an error or a judge's raw reply."""
_STATES = {
    "passed": Badge("✓", "passed", "good"),
    "failed": Badge("✗", "failed", "bad"),
    "error": Badge("!", "error", "bad"),
    "skipped": Badge("○", "skipped", "open"),
    "unscored": Badge("?", "no verdict", "open"),
}
_MEASURED = Badge("•", "measured", "even")
_NOT_STORED = "The text is not kept where this report was made."


class DisplayText(NamedTuple):
    """A text as it is shown, and a note where that is not all of it."""

    text: str
    note: str = ""


class Texts:
    """The texts of generations and judgements, cut to a limit that all of them fit into."""

    def __init__(self, text_of: Callable[[str], str | None], answers: int) -> None:
        least, most = TEXT_LIMITS
        self._text_of = cache(text_of)
        self.limit = max(least, min(most, TEXT_TOTAL // max(answers, 1) // 1_000 * 1_000))
        """Most characters that are shown of one answer."""

    def answer(self, path: str) -> DisplayText | None:
        """Return the stored answer at a path; None where it is missing."""
        return self._load(path, self.limit)

    def raw(self, path: str) -> DisplayText | None:
        """Return the stored reply of a judge or a router; None where it is missing."""
        return self._load(path, RAW_LIMIT)

    def _load(self, path: str, limit: int) -> DisplayText | None:
        text = self._text_of(path) if path else None
        return None if text is None else _cut(text, limit)


def _cut(text: str, limit: int = RAW_LIMIT) -> DisplayText:
    if len(text) <= limit:
        return DisplayText(visible(text))
    note = f"Cut after {whole(limit)} of {whole(len(text))} characters."
    return DisplayText(visible(text[:limit]), note)


class Side(NamedTuple):
    """One of the two answers of a pair."""

    name: str
    score: str = ""
    about: str = ""
    text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One case, whatever its layer; what a layer has not is empty."""

    anchor: str
    title: str
    badge: Badge
    note: str
    prompt: DisplayText
    sides: tuple[Side, ...]
    tables: tuple[Table, ...]
    """The judge's scores and reasons, each judgement, and the facts of the case."""
    replies: tuple[tuple[str, DisplayText], ...]
    """Replies of a judge or a router where they were of no use, each with its label."""
    errors: tuple[tuple[str, str], ...]


class CaseGroup(NamedTuple):
    """A group of cases under one heading."""

    name: str
    about: str
    cases: tuple[Case, ...]
    more_cases: str = ""
    """A sentence with the number of cases that are not shown, or empty."""


def case_groups(envelope: object, texts: Texts, max_cases: int = MAX_CASES) -> list[CaseGroup]:
    """Return the cases of results in groups: by skill, by category (L3) or by group (L4).

    If there are more than ``max_cases`` cases, failed cases and errors are kept before the others.
    """
    cases = Results(envelope).cases
    weight = {"failed": 0, "error": 1, "unscored": 2, "skipped": 4}
    ranked = sorted(cases, key=lambda case: weight.get(outcome(case).state, 3))
    shown = set(map(id, ranked[:max_cases]))
    groups: dict[str, list[Json]] = {}
    for case in in_order(cases):
        groups.setdefault(_group_of(case), []).append(case)
    return [
        CaseGroup(
            name,
            _about(members),
            tuple(_case(case, texts) for case in members if id(case) in shown),
            _more_cases(sum(id(case) not in shown for case in members)),
        )
        for name, members in sorted(groups.items())
    ]


def _more_cases(amount: int) -> str:
    return f"{many(amount, 'more case')} in the results file." if amount else ""


def _group_of(case: Json) -> str:
    names = map(case.text, ("skill_name", "group", "category"))
    return next(filter(None, names), "without a name")


def is_pair(case: Json) -> bool:
    """True for a case that compares two answers; else a router picked skills in it."""
    return "comparison" in case


def _about(cases: Sequence[Json]) -> str:
    states = states_of(cases)
    parts = (
        ("failed", states["failed"]),
        ("with errors", states["error"]),
        ("skipped", states["skipped"]),
    )
    amounts = [f"{whole(amount)} {state}" for state, amount in parts if amount]
    return ", ".join([many(len(cases), "case"), *amounts])


def in_order(cases: Sequence[Json]) -> list[Json]:
    """Return pairs by prompt, run and comparison, then routed requests, first those that failed."""
    comparisons = comparisons_in_order(case.text("comparison") for case in cases)
    states = ("failed", "error", "unscored", "passed", "scored", "skipped")

    def place(case: Json) -> tuple[float, float, float, str, float]:
        run, name = case.number("run_index") or 0.0, case.text("id")
        if is_pair(case):
            comparison = comparisons.index(case.text("comparison"))
            return case.number("prompt_index") or 0.0, run, comparison, name, 0.0
        return float("inf"), 0.0, states.index(outcome(case).state), name, run

    return sorted(cases, key=place)


def anchor_of(case: Json) -> str:
    """Return the name of a case in the page of cases; the same on every machine."""
    parts = map(case.text, ("id", "comparison", "group", "category"))
    run = case.number("run_index") or 0.0
    return f"case-{sha256('|'.join((*parts, f'{run:g}')).encode('utf-8', 'replace')).hex()[:12]}"


def _case(case: Json, texts: Texts) -> Case:
    pair = is_pair(case)
    return Case(
        anchor_of(case),
        pair_title(case) if pair else case.text("user_prompt"),
        _STATES.get(outcome(case).state) or (_winner_badge(case) if pair else _MEASURED),
        _note(case),
        _cut(case.text("prompt" if pair else "user_prompt")),
        tuple(_side(case, arm, texts) for arm in _arms(case)) if pair else (),
        with_rows(_pair_tables(case) if pair else [table_of_facts("", _routed_facts(case))]),
        tuple(_judge_replies(case, texts) if pair else _router_replies(case, texts)),
        tuple((kind, _cut(message).text) for kind, message in errors_of(case)),
    )


def _note(case: Json) -> str:
    run = case.count("run_index")
    if run and not is_pair(case):
        return f"run {whole(run + 1)}"
    if skipped := case.text("skipped"):
        return skipped
    if is_pair(case) and case.flag("position_consistent") is False:
        return "the orders disagree"
    if is_pair(case) and case.flag("judge_agrees") is False:
        return "the judge named another winner"
    return ""


def _arms(case: Json) -> list[str]:
    arms = [case.text("condition_a"), case.text("condition_b")]
    if not all(arms):
        arms = [part for part in case.text("comparison").split("/") if part][:2]
    return arms or sorted(case.entries("scores"))[:2]


def pair_title(case: Json) -> str:
    """Return what two answers a case compares, and for which prompt and run."""
    title = against(case.text("comparison") or "/".join(_arms(case)))
    place = place_in_run(case)
    return f"{place}: {title}" if place else title


def _winner_badge(case: Json) -> Badge:
    winner, improvement = case.text("winner"), case.number("improvement")
    if winner == "tie" or not winner:
        return Badge("=", "tie", "even")
    by = f" by {decimal(abs(improvement))}" if improvement is not None else ""
    sign, kind = ("▲", "good") if [winner] == _arms(case)[:1] else ("▼", "bad")
    return Badge(sign, f"{condition(winner)}{by}", kind)


def _side(case: Json, arm: str, texts: Texts) -> Side:
    answer = texts.answer(case.text("generations", arm)) or DisplayText("", _NOT_STORED)
    characters, sizes = case.count("lengths", arm), case.at("condition_sizes", arm)
    tokens, size = sizes.count("tokens_estimated"), sizes.count("bytes")
    about = []
    if tokens is not None:
        bytes_text = f" ({whole(size)} bytes)" if size is not None else ""
        about.append(f"{many(tokens, 'token')} injected{bytes_text}")
    if characters is not None:
        about.append(f"{many(characters, 'character')} answered")
    score = decimal(case.number("scores", arm))
    return Side(condition(arm), score, ", ".join(about), answer.text, answer.note)


def _pair_tables(case: Json) -> Iterator[Table]:
    """Yield the scores and reasons by criterion, the judgement of each order, and the facts."""
    arms = _arms(case)
    yield Table(
        "",
        ("Criterion", "Weight", *map(condition, arms), "What the judge said"),
        tuple(
            Row(
                each.text("name") or UNKNOWN,
                (
                    decimal(each.number("weight")),
                    *(decimal(each.number("scores", arm), 1) for arm in arms),
                    " ".join(_cut(text).text for text in each.names("reasoning")),
                ),
            )
            for each in case.rows("per_criterion_breakdown")
        ),
    )
    yield Table(
        "",
        ("Shown as", "Scores", "Winner by scores", "Judge’s own", "Attempts"),
        tuple(
            Row(
                " · ".join(
                    f"{slot}: {condition(order.text('ab_assignment', slot))}" for slot in ("A", "B")
                ),
                (
                    " to ".join(decimal(order.number("scores", arm)) for arm in arms),
                    _winner(order, "winner"),
                    _winner(order, "judge_winner"),
                    whole(order.count("attempts")),
                ),
            )
            for order in case.rows("orders")
        ),
    )
    yield table_of_facts("", _pair_facts(case))


def _pair_facts(case: Json) -> tuple[Fact, ...]:
    slots = sorted(case.entries("ab_assignment").items())
    return (
        Fact("Case id", case.text("id")),
        Fact("Difference", signed(case.number("improvement"))),
        Fact("Drawn first as", ", ".join(f"{s}: {condition(arm.text())}" for s, arm in slots)),
        Fact("Case seed", whole(case.number("case_seed")).replace(",", "")),
        Fact("Judge’s attempts", whole(case.count("judge_attempts"))),
        Fact("Other judges", _other_judges(case)),
        Fact("Cost", money(case.number("cost"))),
        Fact("Kept as", " ".join(each.text() for each in case.entries("generations").values())),
    )


def _winner(judgement: Json, key: str) -> str:
    name = judgement.text(key)
    return condition(name) if name else UNKNOWN


def _other_judges(case: Json) -> str:
    """Return what further judges make of a pair."""
    judges = sorted(case.entries("more_judges").items())
    return "; ".join(
        f"{name}: {f'no verdict ({error})' if error else _winner(judge, 'winner')}"
        for name, judge in judges
        for error in [judge.text("error")]
    )


def _judge_replies(case: Json, texts: Texts) -> Iterator[tuple[str, DisplayText]]:
    """Yield what a judge replied where it was no verdict: from the error, or as it was stored."""
    paths = case.names("judgements")
    own_texts = [error.text("raw") for error in case.rows("errors")]
    for place, order in enumerate(case.rows("orders")):
        error = _error_text(order.at("error"))
        if error:
            own_text = own_texts.pop(0) if own_texts else ""
            stored = texts.raw(paths[place]) if place < len(paths) else None
            reply = _cut(own_text) if own_text else stored
            label = f"Unusable reply of the judge: {_cut(error).text}"
            yield label, reply or DisplayText("", "The reply is not stored.")


def _error_text(error: Json) -> str:
    if not error.entries():
        return error.text()
    parts = (error.text("kind"), error.text("message"))
    return ": ".join(filter(None, parts)) or "error"


def _router_replies(case: Json, texts: Texts) -> Iterator[tuple[str, DisplayText]]:
    if outcome(case).state in ("failed", "error"):
        for path in case.names("generations"):
            reply = texts.raw(path)
            if reply is not None and reply.text:
                yield "What the router replied", reply


def _routed_facts(case: Json) -> tuple[Fact, ...]:
    names_skills = "expected_skills" in case or "expected_skill" in case
    decided = outcome(case).state in ("passed", "failed")
    measures = [
        f"{name} {decimal(value)}"
        for name in ("precision", "recall", "f1")
        if (value := case.number(name)) is not None
    ]
    scores = case.entries("scores").items()
    again = "skill by skill, for the reply could not be read" if case.flag("fallback") else ""
    return (
        Fact("Expected", ", ".join(expected_skills(case)) or ("nothing" if names_skills else "")),
        Fact("Also right", ", ".join(case.names("acceptable_skills"))),
        Fact("Required", ", ".join(case.names("required_skills"))),
        Fact("Picked", ", ".join(case.names("picked")) or ("nothing" if decided else "")),
        Fact("Missing", ", ".join(case.names("missing"))),
        Fact("Counted as", case.text("predicted")),
        Fact("Not in the index", ", ".join(case.names("dropped"))),
        Fact("Outside the group", ", ".join(case.names("outside"))),
        Fact("Only asked about", case.text("about")),
        Fact("Measures", ", ".join(measures)),
        Fact("Measured", ", ".join(f"{name}: {decimal(each.number())}" for name, each in scores)),
        Fact("Confidence", decimal(case.number("confidence"))),
        Fact("Asked again", again),
        Fact("Cost", money(case.number("cost"))),
        Fact("Case id", case.text("id")),
    )
