"""The page of cases: each request, the texts, the scores and the errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.base.io.sha256 import sha256
from skillyard.evals.report.layer_view import (
    Badge,
    ReportRow,
    ReportTable,
    Results,
    errors_of,
    group_of,
    is_pair,
    outcome,
    place_in_run,
    states_of,
    table_of_facts,
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

MAX_CASES = 1_000
"""Most cases of one layer that are shown, failed ones and errors first."""
TextOf = Callable[[str], str | None]
"""Gives the stored text at a path; None where it is missing."""
LETTERS = 8_000
"""Most characters that are shown of one text: a page of 300 pairs opens on a phone then."""
_STATES = {
    "passed": Badge("✓", "passed", "good"),
    "failed": Badge("✗", "failed", "bad"),
    "error": Badge("!", "error", "bad"),
    "skipped": Badge("○", "skipped", "open"),
    "unscored": Badge("?", "no verdict", "open"),
}


class DisplayText(NamedTuple):
    """A text as it is shown, and a note where that is not all of it."""

    text: str
    note: str = ""


def _cut(text: str) -> DisplayText:
    if len(text) <= LETTERS:
        return DisplayText(visible(text))
    note = f"Cut after {whole(LETTERS)} of {whole(len(text))} characters."
    return DisplayText(visible(text[:LETTERS]), note)


def _stored(path: str, text_of: TextOf) -> DisplayText | None:
    text = text_of(path) if path else None
    return None if text is None else _cut(text)


class AnswerSide(NamedTuple):
    """One of the two answers of a pair."""

    name: str
    score: str
    about: str
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case, whatever its layer; what a layer has not is empty."""

    anchor: str
    title: str
    badge: Badge
    note: str
    prompt: DisplayText
    sides: tuple[AnswerSide, ...]
    tables: tuple[ReportTable, ...]
    """The judge's scores and reasons, each judgement, and the facts of the case."""
    replies: tuple[tuple[str, DisplayText], ...]
    """Replies of a judge or a router where they were of no use, each with its label."""
    errors: tuple[tuple[str, str], ...]


class CaseGroup(NamedTuple):
    """A group of cases under one heading."""

    name: str
    about: str
    cases: tuple[CaseView, ...]
    more_cases: str = ""
    """A sentence with the number of cases that are not shown, or empty."""


def case_groups(envelope: object, texts: TextOf, max_cases: int = MAX_CASES) -> list[CaseGroup]:
    """Return the cases of results in groups: by skill, or by category (L3).

    If there are more than ``max_cases`` cases, failed cases and errors are kept before the others.
    """
    cases = Results(envelope).cases
    weight = {"failed": 0, "error": 1, "unscored": 2, "skipped": 4}
    ranked = sorted(cases, key=lambda case: weight.get(outcome(case).state, 3))
    shown = set(map(id, ranked[:max_cases]))
    groups: dict[str, list[Json]] = {}
    for case in _in_order(cases):
        groups.setdefault(group_of(case), []).append(case)
    return [
        CaseGroup(
            name,
            _about(members),
            tuple(_case(case, texts) for case in members if id(case) in shown),
            f"{many(left_out, 'more case')} in the results file." if left_out else "",
        )
        for name, members in sorted(groups.items())
        for left_out in [sum(id(case) not in shown for case in members)]
    ]


def _about(cases: Sequence[Json]) -> str:
    states = states_of(cases)
    parts = (
        (states["failed"], "failed"),
        (states["error"], "with errors"),
        (states["skipped"], "skipped"),
    )
    return ", ".join([many(len(cases), "case"), *(f"{whole(n)} {name}" for n, name in parts if n)])


def _in_order(cases: Sequence[Json]) -> list[Json]:
    """Return pairs by prompt, run and comparison, then routed requests, first those that failed."""
    comparisons = comparisons_in_order(case.text("comparison") for case in cases)
    states = ("failed", "error", "unscored", "passed", "scored", "skipped")

    def place(case: Json) -> tuple[float, float, float, str]:
        run, name = case.number("run_index") or 0.0, case.text("id")
        if is_pair(case):
            comparison = comparisons.index(case.text("comparison"))
            return case.number("prompt_index") or 0.0, run, comparison, name
        return float("inf"), states.index(outcome(case).state), run, name

    return sorted(cases, key=place)


def anchor_of(case: Json) -> str:
    """Return the name of a case in the page of cases; the same on every machine."""
    parts = map(case.text, ("id", "comparison", "category"))
    run = case.number("run_index") or 0.0
    return f"case-{sha256('|'.join((*parts, f'{run:g}')).encode('utf-8', 'replace')).hex()[:12]}"


def _case(case: Json, texts: TextOf) -> CaseView:
    pair, badge = is_pair(case), _STATES.get(outcome(case).state)
    tables = _pair_tables(case) if pair else iter([table_of_facts("", _facts(case))])
    return CaseView(
        anchor_of(case),
        pair_title(case) if pair else case.text("user_prompt"),
        badge or (_winner_badge(case) if pair else Badge("•", "measured", "even")),
        _note(case),
        _cut(case.text("prompt" if pair else "user_prompt")),
        tuple(_side(case, arm, texts) for arm in _arms(case)) if pair else (),
        tuple(table for table in tables if table.rows),
        tuple(_judge_replies(case, texts) if pair else _router_replies(case, texts)),
        tuple((kind, _cut(message).text) for kind, message in errors_of(case)),
    )


def _note(case: Json) -> str:
    if not is_pair(case) and (run := case.count("run_index")):
        return f"run {whole(run + 1)}"
    if skipped := case.text("skipped"):
        return skipped
    if case.flag("position_consistent") is False:
        return "the orders disagree"
    return "the judge named another winner" if case.flag("judge_agrees") is False else ""


def _arms(case: Json) -> list[str]:
    return [arm for arm in map(case.text, ("condition_a", "condition_b")) if arm]


def pair_title(case: Json) -> str:
    """Return what two answers a case compares, and for which prompt and run."""
    place, title = place_in_run(case), against(case.text("comparison"))
    return f"{place}: {title}" if place else title


def _winner_badge(case: Json) -> Badge:
    winner, improvement = case.text("winner"), case.number("improvement")
    if winner == "tie" or not winner:
        return Badge("=", "tie", "even")
    by = f" by {decimal(abs(improvement))}" if improvement is not None else ""
    sign, kind = ("▲", "good") if [winner] == _arms(case)[:1] else ("▼", "bad")
    return Badge(sign, f"{condition(winner)}{by}", kind)


def _side(case: Json, arm: str, texts: TextOf) -> AnswerSide:
    missing = DisplayText("", "The text is not kept where this report was made.")
    answer = _stored(case.text("generations", arm), texts) or missing
    characters, sizes = case.count("lengths", arm), case.at("condition_sizes", arm)
    tokens = sizes.count("tokens_estimated")
    about = [f"{many(tokens, 'token')} injected"] if tokens is not None else []
    about += [f"{many(characters, 'character')} answered"] if characters is not None else []
    score = decimal(case.number("scores", arm))
    return AnswerSide(condition(arm), score, ", ".join(about), answer.text, answer.note)


def _pair_tables(case: Json) -> Iterator[ReportTable]:
    """Yield the scores and reasons by criterion, the judgement of each order, and the facts."""
    arms = _arms(case)
    yield ReportTable(
        "",
        ("Criterion", "Weight", *map(condition, arms), "What the judge said"),
        tuple(
            ReportRow(
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
    yield ReportTable(
        "",
        ("Shown first", "Scores", "Winner by scores", "Judge’s own", "Attempts"),
        tuple(
            ReportRow(
                condition(order.text("ab_assignment", "A")),
                (
                    " to ".join(decimal(order.number("scores", arm)) for arm in arms),
                    condition(order.text("winner")) or UNKNOWN,
                    condition(order.text("judge_winner")) or UNKNOWN,
                    whole(order.count("attempts")),
                ),
            )
            for order in case.rows("orders")
        ),
    )
    yield table_of_facts(
        "",
        (
            ("Case id", case.text("id")),
            ("Difference", signed(case.number("improvement"))),
            ("Cost", money(case.number("cost"))),
            ("Kept as", " ".join(each.text() for each in case.entries("generations").values())),
        ),
    )


def _judge_replies(case: Json, texts: TextOf) -> Iterator[tuple[str, DisplayText]]:
    """Yield what a judge replied where it was no verdict: from the error, or as it was stored."""
    paths, raw = case.names("judgements"), [each.text("raw") for each in case.rows("errors")]
    for place, order in enumerate(case.rows("orders")):
        if error := order.text("error"):
            own = raw.pop(0) if raw else ""
            stored = _stored(paths[place], texts) if place < len(paths) else None
            missing = DisplayText("", "The reply is not stored.")
            label = f"Unusable reply of the judge: {_cut(error).text}"
            yield label, _cut(own) if own else stored or missing


def _router_replies(case: Json, texts: TextOf) -> Iterator[tuple[str, DisplayText]]:
    if outcome(case).state in ("failed", "error"):
        for path in case.names("generations"):
            reply = _stored(path, texts)
            if reply is not None and reply.text:
                yield "What the router replied", reply


def _facts(case: Json) -> Iterator[tuple[str, str]]:
    """Yield the facts of a routed request."""
    nothing = "nothing" if outcome(case).state in ("passed", "failed") else ""
    yield "Expected", ", ".join(case.names("expected_skills")) or "nothing"
    yield "Picked", ", ".join(case.names("picked")) or nothing
    for name, key in (
        ("Also right", "acceptable_skills"),
        ("Missing", "missing"),
        ("Not in the index", "dropped"),
    ):
        yield name, ", ".join(case.names(key))
    yield "Only asked about", case.text("about")
    for name in ("precision", "recall", "f1", "confidence"):
        yield name.capitalize(), decimal(case.number(name))
    yield "Cost", money(case.number("cost"))
    yield "Case id", case.text("id")
