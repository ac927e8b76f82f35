"""What a layer of evaluations does: it reads cases, runs them, and says what came of them.

A layer is one object of this protocol and one entry of the table in
:mod:`skillyard.evals.layers.registry`. The runner, the plan of ``--dry-run``, the comparison with a
baseline, the terminal and the reports know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from skillyard.evals.cases.layer_cases import CasePlaces

if TYPE_CHECKING:
    from skillyard.catalog import Catalog
    from skillyard.errors import Diagnostic
    from skillyard.evals.cases.labels import Label
    from skillyard.evals.config_values import Regression
    from skillyard.evals.layers.pairs import TestedSkill
    from skillyard.evals.layers.scheduler import Job
    from skillyard.evals.layers.session import Session
    from skillyard.evals.regression.measures import Measure
    from skillyard.evals.report.layer_view import LayerView
    from skillyard.evals.settings import RunSettings

__all__ = ["CaseResult", "Layer", "OnCase", "Run", "Summary", "Work"]

CaseResult = dict[str, Any]
"""The result of one case in one run, as it stands in the results file. Every layer has the fields
``id``, ``run_index``, ``cost``, ``errors`` (a list of ``{kind, message}``) and ``skipped`` (the
reason, or None)."""
OnCase = Callable[[CaseResult], None]
"""Called with each case when it is complete, on the thread that completed it."""
Summary = tuple[dict[str, dict[str, Any]], dict[str, Any]]
"""``summary`` (figures by skill or group) and ``artifacts`` of the results file."""


@dataclass(frozen=True, slots=True)
class Work:
    """The settings of a run, and its cases after its filters and its limit."""

    settings: RunSettings
    catalog: Catalog
    cases: Sequence[Any]
    """In the form that the layer reads."""
    dataset_sha256: str
    skill_sha256s: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The members of each group of skills; empty without groups."""
    tested: tuple[TestedSkill, ...] = ()
    """The skills under test with their arms; empty for a layer without arms."""


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
