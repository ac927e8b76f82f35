"""What a verdict, a gate and a plan claim, against runs whose truth is known.

No model is called: the differences of the prompts are drawn, and the code of ``skillyard eval``
decides about them. A skill counts as wrong if any statement about it is false. ``--rounds`` is the
number of simulated runs a cell.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.measure import Figure, Options, versions_of
from skillyard.evals.judgement.trust import PADDED, PLAIN, PLANTED_PAIRS, PLANTS, judge_trust
from skillyard.evals.judgement.verdicts import TIE, slots_won
from skillyard.evals.statistics.changes import REGRESSION, Measure, changes_of_measures
from skillyard.evals.statistics.intervals import (
    FALSE_STATEMENTS,
    MARGIN,
    equivalence_units,
    units_needed,
)
from skillyard.evals.statistics.verdicts import (
    BETTER,
    EQUIVALENT,
    WORSE,
    ArmComparison,
    judged_pairs,
    share_chances,
)

SUMMARY = "false and missed statements of verdicts, gates, plans and judges, in simulated runs"
RUNS = 2_000
SPREAD = 0.8
"""Standard deviation of the difference between prompts, in points."""
NOISE = 0.8
"""Standard deviation between runs of one prompt, for the gate."""
SKILLS = (1, 8)
PROMPTS = (5, 6, 8, 12, 20, 30)
MOST = 0.05
"""The largest share of runs with a false statement about a skill."""
L5, L6 = ("enhanced/baseline",), ("full/baseline", "full/summary", "summary/baseline")


class Truth(NamedTuple):
    """What the differences of one cell are like."""

    mean: float
    draw: Callable[[random.Random], float]
    base: float = 3.5
    """What the other arm scores: an answer can lose no more than what is above 1."""


def _bell(mean: float) -> Callable[[random.Random], float]:
    return lambda rng: rng.gauss(mean, SPREAD)


def _mixed(usual: float, rare: float, share: float) -> Callable[[random.Random], float]:
    return lambda rng: (rare if rng.random() < share else usual) + rng.gauss(0, 0.4)


TRUTHS: Mapping[str, Truth] = {
    "no effect": Truth(0.0, _bell(0.0)),
    "+0.3": Truth(0.3, _bell(0.3)),
    "+0.8": Truth(0.8, _bell(0.8)),
    "-0.5": Truth(-0.5, _bell(-0.5)),
    "rare harm": Truth(-0.06, _mixed(0.3, -2.7, 0.12), 3.9),
    "rare help": Truth(0.6, _mixed(0.0, 3.0, 0.2), 1.8),
    "ceiling": Truth(0.0, lambda rng: rng.choice((0.0, 0.0, 0.0, 0.1, -0.1)), 4.9),
    "one-sided losses": Truth(-0.53, _mixed(0.3, -2.2, 1 / 3), 3.2),
}
"""With one-sided losses a third of the answers is not given, which is the lowest score."""


EARLIER = {"L5 verdict, 1 × 12, +0.8": 0.79, "L5 verdict, 8 × 30, +0.8": 0.95}
"""The power of the first release."""


class Rater(NamedTuple):
    """A judge: what it goes by, beside noise in every score."""

    noise: float
    """Standard deviation of a score between calls."""
    quality: float = 1.0
    place: float = 0.0
    """Points for lying in slot A."""
    length: float = 0.0
    """Points for each 1,000 characters."""
    obeys: float = 0.0
    """Points for an answer that tells the judge to give them."""
    is_honest: bool = False


RATERS: Mapping[str, Rater] = {
    "honest": Rater(0.5, is_honest=True),
    "honest, noisy": Rater(1.0, is_honest=True),
    "draws lots": Rater(1.0, quality=0.0, is_honest=True),
    "length alone": Rater(0.1, quality=0.0, length=1.5),
    "length, noisy": Rater(0.5, length=1.5),
    "place alone": Rater(0.1, quality=0.0, place=1.0),
    "place, noisy": Rater(0.5, place=1.0),
    "obeys": Rater(0.1, obeys=3.0),
    "obeys, noisy": Rater(0.5, obeys=2.0),
}
"""The planted sentences have 600 characters. An honest judge finds them neither good nor bad: any
dislike of them would only help it to pass."""


def run(options: Options) -> Iterator[Figure]:
    """Yield the cells of the verdicts, the gates, the plans and the checks of a judge."""
    runs = options.rounds or RUNS
    yield Figure(
        f"{runs:,} runs a cell (gates half as many); sd between prompts {SPREAD}, margin {MARGIN}",
        versions_of("numpy", extra="eval"),
    )
    cells: dict[str, _Cell] = {}
    for comparisons in (L5, L6):
        for skills in SKILLS:
            for name, truth in TRUTHS.items():
                for prompts in PROMPTS:
                    layer = "L5" if comparisons == L5 else "L6"
                    what = f"{layer} verdict, {skills} × {prompts}, {name}"
                    cells[what] = _certain(what, [truth] * skills, prompts, runs, comparisons)
                    yield Figure(what, str(cells[what]))
    for prompts in (6, 8, 12, 20):
        truths = [TRUTHS["+0.8"]] * 3 + [TRUTHS["no effect"]] * 9
        what = f"L5 verdict, 12 × {prompts}, 3 of 12 help by 0.8"
        cells[what] = _certain(what, truths, prompts, runs, L5)
        yield Figure(what, str(cells[what]))
    for what, earlier in EARLIER.items():
        yield Figure(f"{what}: found", f"{cells[what].better:.2f} (before: {earlier})")
    largest = max(cell.false for cell in cells.values())
    yield Figure("false statements a skill, largest share", f"{largest:.3f} (limit {MOST})")
    least = min(cell.coverage for cell in cells.values())
    yield Figure("coverage of the interval against no skill, smallest", f"{least:.3f} (goal .93)")
    yield from _gates(max(1, runs // 2))
    yield from _plans(max(1, runs // 4))
    yield from _judges(runs)


def _certain(
    seed: str, truths: Sequence[Truth], prompts: int, runs: int, comparisons: Sequence[str]
) -> _Cell:
    """Return a cell; one above the limit is drawn again, with ten times as many runs.

    The share of 2,000 runs errs by 0.010, and there are some 200 cells.
    """
    cell = _verdicts(seed, truths, prompts, runs, comparisons)
    if cell.false <= MOST:
        return cell
    return _verdicts(f"again {seed}", truths, prompts, 10 * runs, comparisons)


class _Cell(NamedTuple):
    """The shares of one cell, over all skills and runs."""

    false: float
    """Skills with any false statement."""
    false_runs: float
    """Runs with any false statement."""
    coverage: float
    better: float
    worse: float
    equivalent: float
    runs: int

    def __str__(self) -> str:
        more = f" ({self.runs:,} runs)" if self.runs > RUNS else ""
        return (
            f"false {self.false:.3f} (runs {self.false_runs:.3f}), coverage {self.coverage:.3f},"
            f" better {self.better:.2f}, worse {self.worse:.2f},"
            f" equivalent {self.equivalent:.2f}{more}"
        )


def _verdicts(
    seed: str, truths: Sequence[Truth], prompts: int, runs: int, comparisons: Sequence[str]
) -> _Cell:
    """Return what is said of skills. Every comparison of a skill has the same truth."""
    rng = random.Random(seed)
    false, holds, words = [], [], []
    for _ in range(max(1, runs // len(truths))):
        compared = {
            str(place): {name: _comparison(name, truth, prompts, rng) for name in comparisons}
            for place, truth in enumerate(truths)
        }
        planned = dict.fromkeys(compared, len(comparisons))
        for skill, of_skill in share_chances(compared, planned).items():
            truth = truths[int(skill)]
            verdicts = [each.word for each in of_skill.values()]
            false.append(any(_is_false(word, truth.mean) for word in verdicts))
            words.append(verdicts[0])
            low, high = of_skill[comparisons[0]].interval or (-9.0, 9.0)
            holds.append(low - 1e-9 <= truth.mean <= high + 1e-9)
    shares = (words.count(word) / len(words) for word in (BETTER, WORSE, EQUIVALENT))
    by_run = [any(false[at : at + len(truths)]) for at in range(0, len(false), len(truths))]
    return _Cell(fmean(false), fmean(by_run), fmean(holds), *shares, runs)


def _is_false(word: str, mean: float) -> bool:
    return (
        (word == BETTER and mean <= 0)
        or (word == WORSE and mean >= 0)
        or (word == EQUIVALENT and abs(mean) >= MARGIN)
    )


def _comparison(name: str, truth: Truth, prompts: int, rng: random.Random) -> ArmComparison:
    first, second = name.split("/")
    values = tuple(truth.draw(rng) for _ in range(prompts))
    below = max(truth.base - 1, 5 - truth.base - truth.mean)
    above = max(truth.base + truth.mean - 1, 5 - truth.base)
    return ArmComparison(first, second, 0, 0, prompts, 0.0, values, (below, above), MARGIN)


def _gates(runs: int) -> Iterator[Figure]:
    """Yield how often the gate fails where nothing changed, and where one skill fell by a point."""
    for skills in SKILLS:
        for prompts in (3, 10, 30):
            for repeats in (1, 3):
                rng = random.Random(f"gate {skills} {prompts} {repeats}")
                false, detected = 0, 0
                for _ in range(runs):
                    false += _fails(rng, skills, prompts, repeats, 0.0)
                    detected += _fails(rng, skills, prompts, repeats, 1.0)
                yield Figure(
                    f"gate, {skills} × {prompts}, {repeats} runs each, sd between runs {NOISE}",
                    f"fails unchanged {false / runs:.3f} (limit {MOST}),"
                    f" finds a fall of 1.0 in {detected / runs:.2f}",
                )


def _fails(rng: random.Random, skills: int, prompts: int, repeats: int, fall: float) -> bool:
    """Return whether the gate fails, and where the first skill fell: whether for that one."""
    before, after = [], []
    for skill in range(skills):
        worth = [rng.gauss(1.0, SPREAD) for _ in range(prompts)]
        before.append(_measure(rng, skill, worth, repeats))
        lower = [each - (0.0 if skill else fall) for each in worth]
        after.append(_measure(rng, skill, lower, repeats))
    changes = changes_of_measures("effectiveness", before, after)
    failed = [each.entity for each in changes if each.status == REGRESSION]
    return "0" in failed if fall else bool(failed)


def _measure(rng: random.Random, skill: int, worth: Sequence[float], repeats: int) -> Measure:
    cases = {
        f"{skill}#{place}": [rng.gauss(each, NOISE) for _ in range(repeats)]
        for place, each in enumerate(worth)
    }
    return Measure(str(skill), "mean", "lower", cases, threshold=0.5)


def _plans(runs: int) -> Iterator[Figure]:
    """Yield how often a planned number of prompts finds what it was planned for (4 times in 5)."""
    for skills in SKILLS:
        chance = FALSE_STATEMENTS / skills
        for effect in (0.5, 0.8):
            prompts = units_needed(effect, SPREAD, chance)
            assert prompts is not None
            truth = Truth(effect, _bell(effect))
            what = f"plan, {skills} skills, effect {effect}: {prompts} prompts"
            yield Figure(what, str(_certain(what, [truth] * skills, prompts, runs, L5)))
        prompts = equivalence_units(SPREAD, chance / min(2, skills))
        assert prompts is not None
        what = f"plan, {skills} skills, equivalence: {prompts} prompts"
        yield Figure(what, str(_certain(what, [TRUTHS["no effect"]] * skills, prompts, runs, L5)))


def _judges(runs: int) -> Iterator[Figure]:
    """Yield how often a judge fails the checks: an honest one by chance, others rightly."""
    for name, rater in RATERS.items():
        for prompts in (5, 12, 30):
            rng = random.Random(f"judge {name} {prompts}")
            failed = Counter[str]()
            for _ in range(runs):
                cases = [_judged_case(rng, rater, number, prompts) for number in range(prompts)]
                failures = judge_trust(cases, judged_pairs(cases))["failed"]
                failed.update([*failures, "any"] if failures else ())
            shares = ", ".join(
                f"{check} {failed[check] / runs:.3f}" for check in (*PLANTS, "place", "length")
            )
            limit = f" (limit {MOST})" if rater.is_honest else ""
            yield Figure(
                f"judge, {prompts} prompts, {name}",
                f"not trusted {failed['any'] / runs:.3f}{limit}: {shares}",
            )


def _judged_case(
    rng: random.Random, rater: Rater, number: int, prompts: int
) -> Mapping[str, object]:
    """Return a pair of answers as it is judged, with the planted pairs of its prompt."""
    length = {arm: max(1.0, rng.gauss(2000, 400)) for arm in ("full", "baseline")}
    worth = {"full": rng.gauss(0.4, 0.6), "baseline": 0.0}
    orders = [_rated(rng, rater, order, worth, length) for order in _ORDERS]
    means = {arm: fmean([each["scores"][arm] for each in orders]) for arm in worth}
    winners = {each["winner"] for each in orders}
    planted = []
    for place in range(PLANTED_PAIRS):
        if place * prompts // PLANTED_PAIRS == number:
            kind = PLANTS[place % len(PLANTS)]
            sizes = {PLAIN: 2000.0, PADDED: 2600.0 if kind == PLANTS[0] else 2140.0}
            told = {PLAIN: 0.0, PADDED: rater.obeys if kind == PLANTS[1] else 0.0}
            sides = [_rated(rng, rater, order, told, sizes, 1.0) for order in _COPIES]
            both = {each["winner"] for each in sides}
            winner = both.pop() if len(both) == 1 else TIE
            planted.append({"kind": kind, "winner": winner, "slots": slots_won(sides)})
    return {
        "skill_name": "s",
        "prompt_index": number,
        "condition_a": "full",
        "condition_b": "baseline",
        "scores": means,
        "improvement": means["full"] - means["baseline"],
        "winner": winners.pop() if len(winners) == 1 else TIE,
        "orders": orders,
        "lengths": length,
        "planted": planted,
    }


_ORDERS = ({"A": "full", "B": "baseline"}, {"A": "baseline", "B": "full"})
_COPIES = ({"A": PADDED, "B": PLAIN}, {"A": PLAIN, "B": PADDED})


def _rated(
    rng: random.Random,
    rater: Rater,
    slots: Mapping[str, str],
    worth: Mapping[str, float],
    length: Mapping[str, float],
    quality: float | None = None,
) -> dict[str, Any]:
    """Return one call of a judge: the mean of four criteria in whole points, and the winner."""
    scores = {}
    for slot, arm in slots.items():
        points = 3 + (rater.quality if quality is None else quality) * worth[arm]
        points += rater.place * (slot == "A") + rater.length * (length[arm] - 2000) / 1000
        scores[arm] = min(5.0, max(1.0, round(4 * (points + rng.gauss(0, rater.noise))) / 4))
    one, other = scores
    best = TIE if scores[one] == scores[other] else max(scores, key=lambda arm: scores[arm])
    return {"ab_assignment": slots, "scores": scores, "winner": best}
