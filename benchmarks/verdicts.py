"""What a verdict, a gate and a plan claim, against runs whose truth is known.

No model is called: the differences of the prompts are drawn, and the code of ``skillyard eval``
decides about them. A run is wrong if any of its skills gets a false statement, so with 12 skills
every cell counts what an author with 12 skills would be told. ``--rounds`` is the number of
simulated runs a cell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from benchmarks.measure import Figure, Options, versions_of
from skillyard.base.sums import wilson
from skillyard.evals.regression.changes import REGRESSION, Measure, changes_of_measures
from skillyard.evals.statistics.intervals import (
    MARGIN,
    bounded_interval,
    level_for,
    subset_means,
)
from skillyard.evals.statistics.planning import equivalence_units, units_needed
from skillyard.evals.statistics.verdicts import (
    BETTER,
    EQUIVALENT,
    WORSE,
    is_enough,
    word_for,
)

SUMMARY = "false and missed statements of verdicts, gates and plans, in simulated runs"
RUNS = 2_000
SPREAD = 0.8
"""Standard deviation of the difference between prompts, in points."""
NOISE = 0.8
"""Standard deviation between runs of one prompt, for the gate."""
SKILLS = (1, 12)
PROMPTS = (3, 5, 6, 8, 9, 10, 15, 20, 30)
EFFECTS = (0.0, 0.3, 0.8)
MOST = 0.05
"""The largest share of runs with a false statement."""


def run(options: Options) -> Iterator[Figure]:
    """Yield the cells of the verdicts, the gates and the plans."""
    runs = options.rounds or RUNS
    yield Figure(
        f"{runs:,} runs a cell (gates half as many); sd between prompts {SPREAD}, margin {MARGIN}",
        versions_of("numpy", extra="eval"),
    )
    worst = 0.0
    for skills in SKILLS:
        for effect in EFFECTS:
            for prompts in PROMPTS:
                cell = _verdicts(skills, prompts, [effect] * skills, runs)
                worst = max(worst, cell.false_better, cell.false_equivalent)
                yield Figure(f"verdict, {skills} × {prompts}, effect {effect}", str(cell))
    for name, (draw, mean) in RARE.items():
        for skills in SKILLS:
            for prompts in (6, 10, 30):
                cell = _verdicts(skills, prompts, [mean] * skills, runs, draw)
                worst = max(worst, cell.false_equivalent)
                yield Figure(f"verdict, {skills} × {prompts}, {name}", str(cell))
    for prompts in (6, 8, 10, 15):
        cell = _verdicts(12, prompts, [0.8] * 3 + [0.0] * 9, runs)
        worst = max(worst, cell.false_better, cell.false_equivalent)
        yield Figure(f"verdict, 12 × {prompts}, 3 of 12 help by 0.8", str(cell))
    low, high = wilson(round(worst * runs), runs)
    yield Figure(
        "false statements, the largest share of any cell",
        f"{worst:.3f} [{low:.3f}, {high:.3f}] (limit {MOST})",
    )
    yield from _gates(max(1, runs // 2))
    yield from _plans(max(1, runs // 4))


Draw = Callable[[random.Random, float], float]
RARE: dict[str, tuple[Draw, float]] = {
    "+4 at one prompt in 10": (lambda rng, effect: 4.0 * (rng.random() < 0.1), 0.4),
    "+2 at one prompt in 5": (lambda rng, effect: 2.0 * (rng.random() < 0.2), 0.4),
}
"""Differences with many ties, as judges give them, and their means."""


def _normal(rng: random.Random, effect: float) -> float:
    return rng.gauss(effect, SPREAD)


class _Cell:
    """The shares of one cell: of runs for false statements, of skills for the rest."""

    def __init__(self, effects: Sequence[float], runs: Sequence[Sequence[Intervals]]) -> None:
        words = [[word_for(*intervals) for intervals in run] for run in runs]
        self.false_better = fmean(
            any(
                (word == BETTER and effect <= 0) or (word == WORSE and effect >= 0)
                for word, effect in zip(run, effects, strict=True)
            )
            for run in words
        )
        self.false_equivalent = fmean(
            any(
                (word == EQUIVALENT or is_enough(bounded)) and effect >= MARGIN
                for word, (_, bounded), effect in zip(words_of_run, run, effects, strict=True)
            )
            for words_of_run, run in zip(words, runs, strict=True)
        )
        helping = [place for place, effect in enumerate(effects) if effect > 0]
        self.better = _share(words, helping, BETTER)
        self.equivalent = _share(words, [p for p, e in enumerate(effects) if not e], EQUIVALENT)
        decided = [word in (BETTER, WORSE, EQUIVALENT) for run in words for word in run]
        self.unclear = 1 - fmean(decided)

    def __str__(self) -> str:
        parts = [
            f"false better/worse {self.false_better:.3f}",
            f"false equivalent {self.false_equivalent:.3f}",
        ]
        if self.better is not None:
            parts.append(f"found better {self.better:.2f}")
        if self.equivalent is not None:
            parts.append(f"found equivalent {self.equivalent:.2f}")
        return ", ".join([*parts, f"cannot tell {self.unclear:.2f}"])


Intervals = tuple[tuple[float, float] | None, tuple[float, float] | None]


def _share(words: Sequence[Sequence[str]], places: Sequence[int], word: str) -> float | None:
    if not places:
        return None
    return fmean(run[place] == word for run in words for place in places)


def _verdicts(
    skills: int, prompts: int, effects: Sequence[float], runs: int, draw: Draw = _normal
) -> _Cell:
    rng = random.Random(f"{skills} {prompts} {effects}")
    level = level_for(skills)
    return _Cell(
        effects,
        [
            [_intervals([draw(rng, effect) for _ in range(prompts)], level) for effect in effects]
            for _ in range(runs)
        ],
    )


def _intervals(values: Sequence[float], level: float) -> Intervals:
    interval = subset_means(values, 1, level=level).interval(level)
    undecided = interval is None or fmean(values) >= MARGIN
    return interval, None if undecided else bounded_interval(values, 1, level=level)


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
    return Measure(str(skill), "mean", "lower", True, cases, threshold=0.5)


def _plans(runs: int) -> Iterator[Figure]:
    """Yield how often a planned number of prompts finds what it was planned for (4 times in 5)."""
    for skills in SKILLS:
        for effect in (0.5, 0.8):
            prompts = units_needed(effect, SPREAD, skills)
            assert prompts is not None
            cell = _verdicts(skills, prompts, [effect] * skills, max(1, runs // skills))
            yield Figure(f"plan, {skills} skills, effect {effect}: {prompts} prompts", str(cell))
        prompts = equivalence_units(SPREAD, skills)
        assert prompts is not None
        cell = _verdicts(skills, prompts, [0.0] * skills, max(1, runs // skills))
        yield Figure(f"plan, {skills} skills, equivalence: {prompts} prompts", str(cell))
