"""What a verdict, a gate and a plan claim, against runs whose truth is known.

No model is called: the differences of the prompts are drawn, and the code of ``skillyard eval``
decides about them. A skill counts as wrong if any statement about it is false. ``--rounds`` is the
number of simulated runs a cell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from benchmarks.measure import Figure, Options, versions_of
from skillyard.evals.regression.changes import REGRESSION, Measure, changes_of_measures
from skillyard.evals.statistics.intervals import FALSE_STATEMENTS, MARGIN
from skillyard.evals.statistics.planning import equivalence_units, units_needed
from skillyard.evals.statistics.verdicts import (
    BETTER,
    EQUIVALENT,
    WORSE,
    ArmComparison,
    share_chances,
)

SUMMARY = "false and missed statements of verdicts, gates and plans, in simulated runs"
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


def run(options: Options) -> Iterator[Figure]:
    """Yield the cells of the verdicts, the gates and the plans."""
    runs = options.rounds or RUNS
    yield Figure(
        f"{runs:,} runs a cell (gates half as many); sd between prompts {SPREAD}, margin {MARGIN}",
        versions_of("numpy", extra="eval"),
    )
    worst, least = 0.0, 1.0
    for comparisons in (L5, L6):
        for skills in SKILLS:
            for name, truth in TRUTHS.items():
                for prompts in PROMPTS:
                    cell = _verdicts([truth] * skills, prompts, runs, comparisons)
                    worst, least = max(worst, cell.false), min(least, cell.coverage)
                    layer = "L5" if comparisons == L5 else "L6"
                    yield Figure(f"{layer} verdict, {skills} × {prompts}, {name}", str(cell))
    for prompts in (6, 8, 12, 20):
        truths = [TRUTHS["+0.8"]] * 3 + [TRUTHS["no effect"]] * 9
        cell = _verdicts(truths, prompts, runs, L5)
        worst, least = max(worst, cell.false), min(least, cell.coverage)
        yield Figure(f"L5 verdict, 12 × {prompts}, 3 of 12 help by 0.8", str(cell))
    error = 1.96 * sqrt(MOST * (1 - MOST) / runs)
    largest = f"{worst:.3f} (limit {MOST}; a cell errs by ±{error:.3f})"
    yield Figure("false statements a skill, largest share", largest)
    yield Figure("coverage of the interval against no skill, smallest", f"{least:.3f} (goal .93)")
    yield from _gates(max(1, runs // 2))
    yield from _plans(max(1, runs // 4))


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

    def __str__(self) -> str:
        return (
            f"false {self.false:.3f} (runs {self.false_runs:.3f}), coverage {self.coverage:.3f},"
            f" better {self.better:.2f}, worse {self.worse:.2f}, equivalent {self.equivalent:.2f}"
        )


def _verdicts(
    truths: Sequence[Truth], prompts: int, runs: int, comparisons: Sequence[str]
) -> _Cell:
    """Return what is said of skills. Every comparison of a skill has the same truth."""
    rng = random.Random(f"{len(truths)} {prompts} {[truth.mean for truth in truths]}")
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
    return _Cell(fmean(false), fmean(by_run), fmean(holds), *shares)


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
            cell = _verdicts([truth] * skills, prompts, runs, L5)
            yield Figure(f"plan, {skills} skills, effect {effect}: {prompts} prompts", str(cell))
        prompts = equivalence_units(SPREAD, chance / min(2, skills))
        assert prompts is not None
        cell = _verdicts([TRUTHS["no effect"]] * skills, prompts, runs, L5)
        yield Figure(f"plan, {skills} skills, equivalence: {prompts} prompts", str(cell))
