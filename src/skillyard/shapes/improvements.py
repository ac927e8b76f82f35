"""What ``eval improve`` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.shapes import Schema

__all__ = [
    "EvalImprove",
    "EvalImprovePlan",
    "HalfCounts",
    "HeldOut",
    "ImproveRequests",
    "Passes",
    "Proposal",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfCounts:
    """The cases of one half."""

    should_fire: Annotated[int, "Requests that the skill should get."]
    should_not_fire: Annotated[int, "Requests that it should not get, others' included."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """How many cases pass. The runs of a case are averaged."""

    should_fire: Annotated[float, "Of the requests that the skill should get."]
    should_not_fire: Annotated[float, "Of the requests that it should not get."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One proposed description."""

    origin: Annotated[str, "evidence, or model."]
    description: Annotated[str, "The whole text."]
    added: Annotated[tuple[str, ...], "Terms that were added; empty for a model's."]
    removed: Annotated[tuple[str, ...], "Terms whose clause was removed; empty for a model's."]
    first_half: Annotated[Passes | None, "Its cases of the first half that pass."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What the chosen proposal changes on the held-out half."""

    cases: Annotated[int, "Cases with an answer before and after."]
    before: Annotated[Passes, "With the present description."]
    after: Annotated[Passes, "With the proposed one."]
    pass_rate_before: Annotated[float, "0..1, over all cases."]
    pass_rate_after: Annotated[float, "0..1, over all cases."]
    change: Annotated[float, "The later rate less the earlier one."]
    low: Annotated[float | None, "Lower end of the 96 % interval; null: no interval."]
    high: Annotated[float | None, "Upper end."]
    p: Annotated[float, "Two-sided, of the permutation test within cases."]
    gained: Annotated[tuple[str, ...], "Cases that pass more often."]
    lost: Annotated[tuple[str, ...], "Cases that pass less often."]
    false_fires: Annotated[tuple[str, ...], "Cases in which the skill newly fires wrongly."]
    taken_away: Annotated[tuple[str, ...], "Requests that other skills no longer get."]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalImprove:
    """The proposed description of a skill, and whether it is better."""

    schema: Schema[Literal["skillyard.eval-improve/1"]] = "skillyard.eval-improve/1"
    skill: Annotated[str, "Its name."]
    path: Annotated[str, "Its file."]
    router: Annotated[str, "What picks the skill: a scorer, or model."]
    model: Annotated[str | None, "The model that wrote proposals or picked."]
    seed: Annotated[int, "Seed of the halves."]
    description: Annotated[str, "The present one."]
    first_half: Annotated[HalfCounts, "The cases from which proposals are made."]
    held_out_half: Annotated[HalfCounts, "The cases on which one is judged."]
    present: Annotated[Passes, "Cases of the first half that pass with the present description."]
    proposals: Annotated[tuple[Proposal, ...], "All proposals, in the order of their making."]
    refused: Annotated[tuple[str, ...], "Why replies of the model are not used."]
    chosen: Annotated[int | None, "Index of the proposal that was judged; null: none was."]
    held_out: Annotated[HeldOut | None, "Its result; null: none was judged."]
    verdict: Annotated[str, "better, worse, or cannot tell."]
    reason: Annotated[str, "What the verdict rests on, as a sentence."]
    more_cases: Annotated[int, "Cases to write before any result can count; 0: there are enough."]
    calls: Annotated[int, "Requests sent."]
    cost: Annotated[float, "US dollars paid."]
    fake: Annotated[bool, "True if a stand-in answered: it says nothing about the skill."]
    written: Annotated[bool, "True if the file has the proposed description now."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImproveRequests:
    """The requests of a run."""

    planned: Annotated[int, "All of them, at most."]
    kept: Annotated[int, "Answers that are cached."]
    to_make: Annotated[int, "Requests to send."]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalImprovePlan:
    """What a run would do, and what it costs."""

    schema: Schema[Literal["skillyard.eval-improve-plan/1"]] = "skillyard.eval-improve-plan/1"
    skill: Annotated[str, "Its name."]
    router: Annotated[str, "What picks the skill: a scorer, or model."]
    model: Annotated[str | None, "The model that would be asked."]
    seed: Annotated[int, "Seed of the halves."]
    first_half: Annotated[HalfCounts, "The cases from which proposals are made."]
    held_out_half: Annotated[HalfCounts, "The cases on which one is judged."]
    proposals: Annotated[tuple[Proposal, ...], "Those from evidence, which need no model."]
    model_proposals: Annotated[int, "The most that a model would write."]
    more_cases: Annotated[int, "Cases to write before any result can count; 0: there are enough."]
    requests: Annotated[ImproveRequests, "To models."]
    cost_low: Annotated[float | None, "US dollars with short answers; null: no known price."]
    cost_high: Annotated[float | None, "US dollars with the longest answers."]
