"""A run in looks: after each, the skills whose verdict is decided are left out of the rest.

Looking several times at growing results and stopping at the first that counts would find
differences that are not there. So each of three looks spends a third of the 5 % (a Bonferroni
spending rule), and the intervals of all looks hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from skillyard.evals.layers.work import CaseResult, Layer, LayerWork, OnCase
from skillyard.evals.statistics.intervals import FALSE_STATEMENTS
from skillyard.evals.statistics.planning import least_units
from skillyard.evals.statistics.verdicts import NOT_ENOUGH

if TYPE_CHECKING:
    from skillyard.evals.layers.scheduler import Job
    from skillyard.evals.layers.session import ModelSession
    from skillyard.evals.models.protocol import RunStopped

LOOKS = 3
DECIDED = "decided"
"""The reason in the cases of a skill that was decided before they were reached."""


@dataclass(slots=True)
class Looks:
    """What came of a run in looks."""

    cases: list[CaseResult] = field(default_factory=list)
    stopped: RunStopped | None = None
    decided_after: dict[str, int] = field(default_factory=dict)
    """Prompts after which the verdict of a skill was decided, by skill."""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``meta``."""
        return {
            "looks": LOOKS,
            "decided_after": dict(sorted(self.decided_after.items())),
            "cases_saved": sum(case["skipped"] == DECIDED for case in self.cases),
        }


def look_sizes(prompts: int, skills: int) -> tuple[int, ...]:
    """Return after how many prompts of a skill its results are looked at.

    The first look is where a result can first count, the last at the end.
    """
    least = least_units(FALSE_STATEMENTS / (skills * LOOKS))
    if prompts <= least:
        return (prompts,)
    step = (prompts - least) / (LOOKS - 1)
    return tuple(sorted({round(least + step * look) for look in range(LOOKS)}))


def run_in_looks(
    layer: Layer,
    work: LayerWork,
    session: ModelSession | None,
    on_case: OnCase,
    run_jobs: Callable[[Sequence[Job]], RunStopped | None],
) -> Looks:
    """Run the units of a layer that compares arms. The order of a skill's prompts is drawn by seed.

    ``run_jobs`` runs the jobs of one look and returns what stopped it, or None.
    """
    looks = Looks()
    queues = _queues(work)
    sizes = {skill: look_sizes(len(queue), len(queues)) for skill, queue in queues.items()}
    start = dict.fromkeys(queues, 0)
    for look in range(LOOKS):
        units = []
        for skill in [skill for skill in queues if skill not in looks.decided_after]:
            end = sizes[skill][min(look, len(sizes[skill]) - 1)]
            units += queues[skill][start[skill] : end]
            start[skill] = end
        if units:
            run = layer.run(replace(work, cases=units), session, on_case)
            looks.stopped = run_jobs(run.jobs())
            looks.cases += run.cases(looks.stopped.reason if looks.stopped else "")
        if looks.stopped is not None:
            break
        summary, _ = layer.summarise(looks.cases, work)
        for skill in queues:
            word = summary[skill]["word"] if skill in summary else NOT_ENOUGH
            if skill not in looks.decided_after and word != NOT_ENOUGH:
                looks.decided_after[skill] = start[skill]
    rest = [unit for skill, queue in queues.items() for unit in queue[start[skill] :]]
    if rest:
        run = layer.run(replace(work, cases=rest), session, on_case)
        looks.cases += run.cases(looks.stopped.reason if looks.stopped else DECIDED)
    return looks


def _queues(work: LayerWork) -> dict[str, list[Any]]:
    """Return the units of each skill in an order that is not the author's."""
    seed = work.settings.seed
    queues: dict[str, list[Any]] = {}
    for unit in work.cases:
        queues.setdefault(unit.skill, []).append(unit)
    for queue in queues.values():
        queue.sort(key=lambda unit: sha256(f"{seed}/{unit.skill}/{unit.prompt}".encode()).digest())
    return queues
