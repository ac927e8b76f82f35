"""What a layer of evaluations does: it reads cases, runs them, and says what came of them.

A layer is one object of this protocol and one entry of the table in
:mod:`skillyard.evals.layers.registry`. The runner, the plan of ``--dry-run``, the comparison with a
baseline, the terminal and the reports know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from skillyard.evals.layers.registry import LAYERS

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.cases.labels import Label
    from skillyard.evals.cases.layer_cases import CasePlaces
    from skillyard.evals.config_values import Regression
    from skillyard.evals.layers.scheduler import Job
    from skillyard.evals.layers.session import Session
    from skillyard.evals.layers.work import CaseResult, Work
    from skillyard.evals.regression.measures import Measure
    from skillyard.evals.report.layer_view import LayerView
    from skillyard.evals.settings import RunSettings

OnCase: TypeAlias = "Callable[[CaseResult], None]"
"""Called with each case when it is complete, on the thread that completed it."""
Summary = tuple[dict[str, dict[str, Any]], dict[str, Any]]
"""``summary`` (figures by skill or group) and ``artifacts`` of the results file."""


class Run(Protocol):
    """The jobs of a layer, and its cases after the jobs have ended."""

    def jobs(self) -> list[Job]:
        """Return the jobs, in the order in which they should start."""

    def cases(self, skipped: str) -> list[CaseResult]:
        """Return every case. ``skipped`` is the reason in those that were not reached."""


class Layer(Protocol):
    """One question about skills, with everything that answers it."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> Work:
        """Return the cases.

        Raises BadCases for errors in case files, InvalidInput where there are no cases or a filter
        names none of them, and SkillError for a skill that cannot be read.
        """

    def run(self, work: Work, session: Session | None, on_case: OnCase) -> Run:
        """Return the run of the cases. ``session`` is None for a run without a model."""

    def summarise(self, cases: list[CaseResult], work: Work, labels: Sequence[Label]) -> Summary:
        """Return what follows from the cases. ``labels`` are judgements by people."""

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterable[Measure]:
        """Return what is compared with a baseline: values of every case, and the limits."""

    def view(self, envelope: Mapping[str, object]) -> LayerView:
        """Return what the terminal and the reports show of a results file."""


def load_layer(eval_type: str) -> Layer:
    """Import the layer of this name in the table, and return it."""
    module, _, attribute = LAYERS[eval_type].implementation.partition(":")
    layer: Layer = getattr(import_module(module), attribute)
    return layer
