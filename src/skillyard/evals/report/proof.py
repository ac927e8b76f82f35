"""Sentences on what a result proves, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillyard.evals.report.outcomes import entities
from skillyard.evals.report.values import at, count, mapping, number, word
from skillyard.evals.report.words import decimal, whole

__all__ = ["limits_of", "shows"]

_PAIR_TYPES = ("effectiveness", "size_impact")
_ROUTING_TYPES = ("activation", "confusion")


def shows(envelopes: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """Return the conclusions that these results allow; none if a stand-in gave all answers."""
    real = [each for each in envelopes if word(at(each, "meta", "backend")) != "fake"]
    kinds = {word(at(each, "meta", "eval_type")) for each in real}
    sentences = []
    if kinds & set(_PAIR_TYPES):
        sentences.append(
            "That this model, given these requests, wrote answers which this judge scored by this "
            "rubric as stated. An interval that leaves out zero is evidence for a difference on "
            "requests like these."
        )
    if kinds & set(_ROUTING_TYPES):
        sentences.append(
            "Which skills this router picked for these requests out of this index. Add a skill or "
            "change a description, and the index is another one."
        )
    if not sentences:
        sentences.append(
            "That the evaluation runs from its first step to its last. It proves nothing about any "
            "skill: no model answered."
            if envelopes
            else "Nothing: there is no result."
        )
    return tuple(sentences)


def limits_of(envelopes: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """Return what these results do not prove, with the figures where they are known."""
    kinds = {word(at(each, "meta", "eval_type")) for each in envelopes}
    sentences: list[str] = []
    if kinds & set(_PAIR_TYPES):
        sentences += [
            (
                "That the answers are right: a judge’s score is an opinion by a rubric. Nothing "
                "that was written here has been run."
            ),
            (
                "Anything about other requests, models or judges. The unit is the request, so more "
                "runs of the same request do not make the result more general."
            ),
            (
                "That there is no difference where none is shown: the smallest effect that could "
                f"have been shown stands beside each comparison{_detectable(envelopes)}."
            ),
        ]
        sentences += _same_model(envelopes)
        sentences.append(
            "Which part of a skill helped; only whole texts are compared. Tokens are estimates "
            "from the length of the text, unless the provider counted them."
        )
    if kinds & set(_ROUTING_TYPES):
        sentences.append(
            "That an agent in real use picks the same way: it sees a conversation, other tools and "
            "its host’s own list of skills, and need not pick at all."
        )
    sentences += _small(envelopes)
    return tuple(sentences)


def _detectable(envelopes: Sequence[Mapping[str, object]]) -> str:
    effects = [
        smallest
        for envelope in envelopes
        for entity in entities(envelope.get("summary")).values()
        for comparison in mapping(entity.get("comparisons")).values()
        if (smallest := number(at(comparison, "smallest_detectable"))) is not None
    ]
    if not effects:
        return ""
    ends = sorted({decimal(min(effects)), decimal(max(effects))})
    return f" (here {' to '.join(ends)} points)"


def _same_model(envelopes: Sequence[Mapping[str, object]]) -> list[str]:
    models = [
        (word(at(each, "meta", "model")), word(at(each, "meta", "judge_model")))
        for each in envelopes
        if word(at(each, "meta", "eval_type")) in _PAIR_TYPES
    ]
    if not any(model and model == judge for model, judge in models):
        return []
    return [
        (
            "That another judge would agree: here the judge is the model that wrote the answers, "
            "and models are known to like their own."
        )
    ]


def _small(envelopes: Sequence[Mapping[str, object]]) -> list[str]:
    few = sorted(
        {
            name
            for envelope in envelopes
            for name, entity in entities(envelope.get("summary")).items()
            for comparison in mapping(entity.get("comparisons")).values()
            if count(at(comparison, "units")) == 1
        }
    )
    if not few:
        return []
    return [
        (
            f"Anything beyond one prompt for {whole(len(few))} of the skills: their intervals are "
            "over runs of that prompt only."
        )
    ]
