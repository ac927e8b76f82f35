"""The state of each case (scored, passed, failed, error, skipped, unscored) and its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from skillyard.evals.report.values import flag, mapping, number, rows, word

__all__ = [
    "Failure",
    "Outcome",
    "State",
    "Tally",
    "entities",
    "errors_of",
    "failures",
    "outcome",
    "tally",
]

State: TypeAlias = Literal["scored", "passed", "failed", "error", "skipped", "unscored"]


class Outcome(NamedTuple):
    """The state of one case, and the reason if it gave no figure."""

    state: State
    why: str = ""


def errors_of(case: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return (kind, message) of every error of a case."""
    pairs = (
        (word(error.get("kind")) or "error", word(error.get("message")))
        for error in rows(case.get("errors"))
    )
    return tuple(pairs)


def outcome(case: Mapping[str, object]) -> Outcome:
    """Return the state of a case. Skipped precedes error, and error precedes a verdict.

    ``unscored`` is a case without any of them; it is not counted.
    """
    skipped = word(case.get("skipped"))
    if skipped:
        return Outcome("skipped", skipped)
    errors = errors_of(case)
    if errors:
        messages = (f"{kind}: {message}" if message else kind for kind, message in errors)
        return Outcome("error", "; ".join(messages))
    passed = flag(case.get("passed"))
    if passed is not None:
        return Outcome("passed" if passed else "failed")
    scores = [number(score) for score in mapping(case.get("scores")).values()]
    if scores and None not in scores:
        return Outcome("scored")
    return Outcome("unscored", "the results hold neither a verdict nor a reason for its absence")


class Tally(NamedTuple):
    """The number of cases in each state."""

    cases: int
    with_result: int
    """Scored, passed or failed cases, from which the figures are computed."""
    failed: int
    errors: int
    skipped: int
    unscored: int


def tally(cases: Iterable[Mapping[str, object]]) -> Tally:
    """Count the states of cases."""
    states = Counter(outcome(case).state for case in cases)
    return Tally(
        sum(states.values()),
        states["scored"] + states["passed"] + states["failed"],
        states["failed"],
        states["error"],
        states["skipped"],
        states["unscored"],
    )


class Failure(NamedTuple):
    """One cause for which cases gave no figure."""

    state: State
    kind: str
    """``rate_limited``, ``budget``, ..."""
    cases: int
    example: str
    """The message of the first of them."""


def failures(cases: Sequence[Mapping[str, object]]) -> tuple[Failure, ...]:
    """Return the causes by state and kind, each with its number of cases and one message.

    A case with errors of several kinds counts once for each.
    """
    counts: Counter[tuple[State, str]] = Counter()
    examples: dict[tuple[State, str], str] = {}
    for case in cases:
        result = outcome(case)
        causes = dict(reversed(errors_of(case))) if result.state == "error" else {result.why: ""}
        if result.state in ("error", "skipped", "unscored"):
            for kind, message in causes.items():
                counts[result.state, kind] += 1
                if message:
                    examples.setdefault((result.state, kind), message)
    return tuple(
        Failure(state, kind, counts[state, kind], examples.get((state, kind), ""))
        for state, kind in sorted(counts)
    )


def entities(summary: object) -> dict[str, Mapping[str, object]]:
    """Return the skills or groups of a summary by name, without the pooled ``_overall``."""
    by_name = mapping(summary)
    return {name: mapping(by_name[name]) for name in sorted(by_name) if name != "_overall"}
