"""The reliability of the judge: order, length, agreement, and strengths of the arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillyard.evals.report.markup import Markup
from skillyard.evals.report.strips import Estimate, share_scale, strip, strip_axis, strip_scale
from skillyard.evals.report.svg import scale_over
from skillyard.evals.report.values import at, count, flag, mapping, number, word
from skillyard.evals.report.words import (
    UNKNOWN,
    against,
    between,
    chance,
    condition,
    decimal,
    many,
    percent,
    signed,
    whole,
    within,
)

__all__ = ["JudgeFinding", "Strength", "TrustView", "trust_view"]

SIGNIFICANT = 0.05
"""Below this p an order effect is called one: the usual level, as for every test here."""


class JudgeFinding(NamedTuple):
    """One property of the judging: a heading, sentences, and a strip where one helps."""

    name: str
    sentences: tuple[str, ...]
    plot: Markup


class Strength(NamedTuple):
    """One arm's Bradley-Terry ability."""

    name: str
    ability: str
    interval: str
    strip: Markup


@dataclass(frozen=True, slots=True)
class TrustView:
    """The findings about the judge of one envelope."""

    findings: tuple[JudgeFinding, ...]
    strengths: tuple[Strength, ...]
    strengths_axis: Markup
    order_term: str
    shares_axis: Markup
    """The axis below the strip of a finding."""


def trust_view(envelope: Mapping[str, object], cases: Sequence[Mapping[str, object]]) -> TrustView:
    """Return the findings about the judge from the artifacts and cases of an L5 or L6 envelope."""
    artifacts = mapping(envelope.get("artifacts"))
    both = word(at(envelope, "meta", "orders")) != "single"
    findings = (
        _order(mapping(artifacts.get("order")), both),
        _length(mapping(artifacts.get("length"))),
        _own_verdicts(cases),
        _agreement(mapping(artifacts.get("agreement"))),
        _judge(mapping(artifacts.get("judge"))),
    )
    strengths, axis, term = _strengths(mapping(artifacts.get("bradley_terry")))
    shares = strip_axis(share_scale(), percent, "Share")
    return TrustView(
        tuple(each for each in findings if each.sentences), strengths, axis, term, shares
    )


def _order(order: Mapping[str, object], both: bool) -> JudgeFinding:
    share = number(order.get("share_a"))
    first, second = count(order.get("slot_a_wins")), count(order.get("slot_b_wins"))
    sentences: list[str] = []
    plot = Markup("")
    p = number(order.get("p"))
    if first is not None and second is not None and first + second:
        share = first / (first + second) if share is None else share
        sentences.append(
            f"The answer shown first won {whole(first)} of {whole(first + second)} decided "
            f"judgements ({percent(share)}{', ' + chance(p) if p is not None else ''}"
            f"{', ' + many(count(order.get('ties')), 'tie') if order.get('ties') else ''}): "
            f"{_order_word(share, p, word(order.get('word')))}."
        )
        if p is not None and p < SIGNIFICANT:
            sentences.append(
                "Each pair was judged in both orders, so this does not move the means."
                if both
                else "Each pair was judged in one order only, so this can move single results."
            )
        estimate = Estimate(share, None, None, f"first slot wins {percent(share)}", "diamond")
        plot = strip(share_scale(), [estimate], 0.5, "Share of wins of the answer shown first")
    sentences += _apart(mapping(order.get("by_comparison")))
    sentences += _consistency(order)
    return JudgeFinding("Order of the answers", tuple(sentences), plot)


def _order_word(share: float, p: float | None, word_of_test: str) -> str:
    if p is None or word_of_test == "too little data":
        return "too few to test for a preference"
    if p >= SIGNIFICANT:
        return "no preference for a place is shown"
    return f"the judge prefers the {'first' if share > 0.5 else 'second'} place"


def _apart(comparisons: Mapping[str, object]) -> list[str]:
    """Return the comparisons in which a preference for a place is shown by itself."""
    return [
        f"In {against(name)} alone, the place of an answer matters ({chance(p)}, corrected)."
        for name in sorted(comparisons)
        if (p := number(at(comparisons, name, "p_adjusted"))) is not None and p < SIGNIFICANT
    ]


def _consistency(order: Mapping[str, object]) -> list[str]:
    consistent, pairs = count(order.get("consistent")), count(order.get("pairs"))
    if consistent is None or not pairs:
        return []
    rate = number(order.get("consistency_rate"))
    return [
        (
            f"Judged again with the answers swapped, {whole(consistent)} of {many(pairs, 'pair')} "
            f"({percent(consistent / pairs if rate is None else rate)}) kept their verdict; the "
            "others count as ties."
        )
    ]


def _length(length: Mapping[str, object]) -> JudgeFinding:
    """Return what the length of the answers explains, in the headline comparison."""
    sentences = []
    comparison = word(length.get("comparison"))
    name = "Length of the answers" + (f", {against(comparison)}" if comparison else "")
    difference, pairs = number(length.get("mean_difference")), count(length.get("pairs"))
    if difference is not None and pairs:
        longer = "longer" if difference >= 0 else "shorter"
        sentences.append(
            f"Over {many(pairs, 'pair')} the first-named answer is {whole(abs(difference))} "
            f"characters {longer} on average."
        )
    controlled = number(length.get("controlled_win_rate"))
    if controlled is not None:
        reach = between(
            number(length.get("controlled_low")), number(length.get("controlled_high")), percent
        )
        judged_rate = number(length.get("win_rate"))
        instead = f", not {percent(judged_rate)} as judged" if judged_rate is not None else ""
        sentences.append(
            f"At equal length it would win {percent(controlled)}{within(reach)} of the pairs"
            f"{instead}."
        )
        slope = number(length.get("b"))
        if slope is not None:
            direction = "longer" if slope >= 0 else "shorter"
            sentences.append(f"The judge leans to the {direction} answer (slope {signed(slope)}).")
    if word(length.get("note")):
        sentences.append(_sentence(word(length.get("note"))))
    return JudgeFinding(name, tuple(sentences), Markup(""))


def _own_verdicts(cases: Sequence[Mapping[str, object]]) -> JudgeFinding:
    agreements = [
        agrees for case in cases if (agrees := flag(case.get("judge_agrees"))) is not None
    ]
    sentences: tuple[str, ...] = ()
    if agreements:
        sentences = (
            (
                f"In {whole(sum(agreements))} of {many(len(agreements), 'case')} "
                f"({percent(sum(agreements) / len(agreements))}) the winner that the judge named "
                "is the winner by its own scores; the figures follow the scores."
            ),
        )
    return JudgeFinding("The judge’s own verdict", sentences, Markup(""))


def _agreement(agreement: Mapping[str, object]) -> JudgeFinding:
    sentences = []
    alpha, judges = number(agreement.get("alpha")), count(agreement.get("judges"))
    if alpha is not None:
        over = f" over {many(judges, 'judge')}" if judges else ""
        sentences.append(
            f"Krippendorff’s alpha{over}: {decimal(alpha)} (1 is full agreement, 0 is chance)."
        )
    kappa, labelled = number(agreement.get("kappa")), count(agreement.get("labelled"))
    if kappa is not None:
        over = f" over {many(labelled, 'label')}" if labelled else ""
        sentences.append(f"Cohen’s kappa with people’s labels{over}: {decimal(kappa)} (as above).")
    repeat = number(agreement.get("repeat_agreement"))
    if repeat is not None:
        sentences.append(
            f"Asked the same again, the judge repeats {percent(repeat)} of its verdicts."
        )
    if not sentences:
        sentences.append(
            "One judge, and no labels by people: nothing says how far it agrees with any."
        )
    return JudgeFinding("Agreement", tuple(sentences), Markup(""))


def _judge(judge: Mapping[str, object]) -> JudgeFinding:
    calls = count(judge.get("calls"))
    if calls is None:
        return JudgeFinding("Replies of the judge", (), Markup(""))
    retries, errors = count(judge.get("retries")), count(judge.get("errors"))
    return JudgeFinding(
        "Replies of the judge",
        (
            (
                f"{many(calls, 'call')}, {whole(retries)} of them because a reply was not usable. "
                f"Pairs that never got a usable reply: {whole(errors)}; they count as errors and "
                "are never guessed."
            ),
        ),
        Markup(""),
    )


def _strengths(fitted: Mapping[str, object]) -> tuple[tuple[Strength, ...], Markup, str]:
    arms = mapping(fitted.get("arms"))
    abilities = {
        name: mapping(arms[name]) for name in arms if number(at(arms, name, "ability")) is not None
    }
    if not abilities:
        return (), Markup(""), ""
    ends = [
        max(-20.0, min(20.0, end))
        for arm in abilities.values()
        for key in ("ability", "ci_low", "ci_high")
        if (end := number(arm.get(key))) is not None
    ]
    range_scale = scale_over(ends, 0, 1, least=(-1.0, 1.0))
    scale = strip_scale(range_scale.low, range_scale.high)
    strengths = []
    strongest = sorted(
        abilities, key=lambda name: (-(number(abilities[name].get("ability")) or 0.0), name)
    )
    for name in strongest:
        ability, low, high = (
            number(abilities[name].get(k)) for k in ("ability", "ci_low", "ci_high")
        )
        reach = between(low, high)
        text = f"{signed(ability)}{f', interval {reach}' if reach else ''}"
        title = f"{condition(name)}: ability"
        plot = strip(scale, [Estimate(ability, low, high, text)], 0.0, title)
        strengths.append(Strength(condition(name), signed(ability), reach or UNKNOWN, plot))
    term = number(fitted.get("order_term"))
    sentence = (
        f"Being shown first is worth {signed(term)} on this scale." if term is not None else ""
    )
    return tuple(strengths), strip_axis(scale, lambda tick: signed(tick, 1), "Ability"), sentence


def _sentence(text: str) -> str:
    trimmed = text.strip()
    trimmed = trimmed[:1].upper() + trimmed[1:]
    return trimmed if trimmed.endswith((".", "!", "?")) else f"{trimmed}."
