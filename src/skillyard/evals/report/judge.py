"""How far the judge can be trusted: order, length and agreement, for a closed part of a report."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.evals.report.layer_view import Fact, Fold, table_of_facts
from skillyard.evals.report.results import Results
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    against,
    between,
    chance,
    decimal,
    first_upper,
    many,
    percent,
    signed,
    whole,
    within,
)

_SIGNIFICANT = 0.05
"""Below this p an order effect is called one: the usual level, as for every test here."""


def judge_fold(run: Results) -> Fold:
    """Return what is known of the judge of L5 or L6 results."""
    artifacts = run.at("artifacts")
    both = run.text("meta", "orders") != "single"
    facts = (
        Fact("Order of the answers", " ".join(_order(artifacts.at("order"), both))),
        Fact("Length of the answers", " ".join(_length(artifacts.at("length")))),
        Fact("The judge’s own verdict", _own_verdicts(run)),
        Fact("Agreement", " ".join(_agreement(artifacts.at("agreement")))),
        Fact("Replies of the judge", _replies(artifacts.at("judge"))),
    )
    return Fold("How far the judge can be trusted", tables=(table_of_facts("", facts),))


def _order(order: Json, both: bool) -> Iterator[str]:
    p = order.number("p")
    first, second = order.count("slot_a_wins"), order.count("slot_b_wins")
    if first is not None and second is not None and first + second:
        share = first / (first + second)
        notes = [percent(share)] + ([chance(p)] if p is not None else [])
        notes += [many(order.count("ties"), "tie")] if order.at("ties").value else []
        yield (
            f"The answer shown first won {whole(first)} of {whole(first + second)} decided "
            f"judgements ({', '.join(notes)}): {_preference(order, share, p)}."
        )
        if p is not None and p < _SIGNIFICANT:
            yield (
                "Each pair was judged in both orders, so this does not move the means."
                if both
                else "Each pair was judged in one order only, so this can move single results."
            )
    for name, comparison in sorted(order.entries("by_comparison").items()):
        p = comparison.number("p_adjusted")
        if p is not None and p < _SIGNIFICANT:
            yield f"In {against(name)} alone, the place of an answer matters ({chance(p)})."
    consistent, pairs = order.count("consistent"), order.count("pairs")
    if consistent is not None and pairs:
        yield (
            f"Judged again with the answers swapped, {whole(consistent)} of {many(pairs, 'pair')} "
            f"({percent(consistent / pairs)}) kept their verdict; the others count as ties."
        )


def _preference(order: Json, share: float, p: float | None) -> str:
    if p is None or order.text("word") == "too little data":
        return "too few to test for a preference"
    if p >= _SIGNIFICANT:
        return "no preference for a place is shown"
    return f"the judge prefers the {'first' if share > 0.5 else 'second'} place"


def _length(length: Json) -> Iterator[str]:
    """Yield what the length of the answers explains, in the headline comparison."""
    difference, pairs = length.number("mean_difference"), length.count("pairs")
    if difference is not None and pairs:
        comparison = length.text("comparison")
        where = f", {against(comparison)}," if comparison else ""
        longer = "longer" if difference >= 0 else "shorter"
        yield (
            f"Over {many(pairs, 'pair')}{where} the first-named answer is "
            f"{whole(abs(difference))} characters {longer} on average."
        )
    controlled, judged = length.number("controlled_win_rate"), length.number("win_rate")
    slope = length.number("b")
    if controlled is not None:
        low, high = length.number("controlled_low"), length.number("controlled_high")
        instead = f", not {percent(judged)} as judged" if judged is not None else ""
        interval = within(between(low, high, percent))
        yield f"At equal length it would win {percent(controlled)}{interval} of the pairs{instead}."
        if slope is not None:
            direction = "longer" if slope >= 0 else "shorter"
            yield f"The judge leans to the {direction} answer (slope {signed(slope)})."
    if note := first_upper(length.text("note").strip()):
        yield note if note.endswith((".", "!", "?")) else f"{note}."


def _own_verdicts(run: Results) -> str:
    flags = (case.flag("judge_agrees") for case in run.cases)
    agreements = [agrees for agrees in flags if agrees is not None]
    if not agreements:
        return ""
    return (
        f"In {whole(sum(agreements))} of {many(len(agreements), 'case')} the winner that the judge "
        "named is the winner by its own scores. The figures follow the scores."
    )


def _agreement(agreement: Json) -> Iterator[str]:
    alpha, kappa = map(agreement.number, ("alpha", "kappa"))
    judges, labels = agreement.count("judges"), agreement.count("labelled")
    if alpha is not None:
        over = f" over {many(judges, 'judge')}" if judges else ""
        yield f"Krippendorff’s alpha{over}: {decimal(alpha)} (1 is full agreement, 0 is chance)."
    if kappa is not None:
        over = f" over {many(labels, 'label')}" if labels else ""
        yield f"Cohen’s kappa with people’s labels{over}: {decimal(kappa)} (as above)."
    if alpha is None and kappa is None:
        yield "One judge, and no labels by people: nothing says how far it agrees with any."


def _replies(judge: Json) -> str:
    calls, retries, errors = map(judge.count, ("calls", "retries", "errors"))
    if calls is None:
        return ""
    return (
        f"{many(calls, 'call')}, {whole(retries)} of them because a reply was not usable. Pairs "
        f"that never got a usable reply: {whole(errors)}; they count as errors."
    )
