"""What a layer does: it reads cases, runs them, and says what came of them.

A layer is one object of the protocol :class:`Layer` and one entry of the table in
:mod:`skillyard.evals.layers.registry`. Runs, plans, the comparison with a baseline and the reports
know nothing else of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.base.text import name_few
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.settings import RunSettings

if TYPE_CHECKING:
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.cases.reading import CasePlaces, Dataset
    from skillyard.evals.layers.session import ModelSession
    from skillyard.evals.report.values import LayerView
    from skillyard.evals.settings import Regression
    from skillyard.evals.statistics.changes import Measure

Unit = TypeVar("Unit")
LOOKS = 3
"""Of a run with ``--until-decided`` (:func:`skillyard.evals.layers.run.execute`)."""

CaseResult = dict[str, Any]
"""The result of one case in one run, as it stands in the results file. Every layer has the fields
``id``, ``run_index``, ``cost``, ``errors`` (a list of ``{kind, message}``) and ``skipped`` (the
reason, or None)."""
Summary = tuple[dict[str, dict[str, Any]], dict[str, Any]]
"""``summary`` (figures by skill) and ``artifacts`` of the results file."""


@dataclass(frozen=True, slots=True)
class LayerWork:
    """The settings of a run, and its cases after its filters and its limit."""

    settings: RunSettings
    catalog: Catalog
    cases: Sequence[Any]
    """In the form that the layer reads."""
    dataset_sha256: str
    skill_sha256s: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...] = ()
    tested: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is said of each skill under test beside figures; empty for a layer without arms."""

    @property
    def looks(self) -> int:
        """How often the results are looked at, each time with its share of the 5 %."""
        return LOOKS if self.settings.until_decided else 1


class UnitRunner(Protocol):
    """Runs the cases of a layer, one at a time. Safe for many threads."""

    def results(self, case: Any, run: int) -> Iterator[CaseResult]:
        """Ask, and yield each result of a case as soon as it is complete. Raises RunStopped."""

    def blank(self, case: Any, run: int) -> list[CaseResult]:
        """Return the same results without anything that was asked."""


class Layer(Protocol):
    """One question about skills, with everything that answers it."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> LayerWork:
        """Return the cases.

        Raises InvalidInput for errors in case files, and where there are no cases or a filter names
        none of them, and SkillError for a skill that cannot be read.
        """

    def runner(self, work: LayerWork, session: ModelSession) -> UnitRunner:
        """Return what runs the cases."""

    def summarise(self, cases: list[CaseResult], work: LayerWork) -> Summary:
        """Return what follows from the cases."""

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterable[Measure]:
        """Return what is compared with a baseline: values of every case, and the limits."""

    def view(self, envelope: Mapping[str, object]) -> LayerView:
        """Return what the terminal and the reports show of a results file."""


def load_layer(eval_type: str) -> Layer:
    """Import the layer of this name in the table, and return it."""
    module, _, attribute = LAYERS[eval_type].implementation.partition(":")
    layer: Layer = getattr(import_module(module), attribute)
    return layer


def diagnostic_line(diagnostic: Diagnostic) -> str:
    """Return a fault of a case file as one line, with what to write instead."""
    line = f":{diagnostic.line}" if diagnostic.line else ""
    return f"{diagnostic.path}{line}: {diagnostic.message}; {diagnostic.hint}"


def require_cases(data: Dataset[Unit], places: CasePlaces) -> Dataset[Unit]:
    """Return a dataset without errors and with cases. Raises InvalidInput for any other."""
    if data.errors:
        more = f" (and {len(data.errors) - 1} more)" if len(data.errors) > 1 else ""
        raise InvalidInput(f"{diagnostic_line(data.errors[0])}{more}")
    if data.cases:
        return data
    paths = ", ".join(os.path.normpath(path) for path in places.paths)
    where = "the skills' folders" if places.in_skills else paths
    if data.diagnostics:
        reasons = list(dict.fromkeys(map(diagnostic_line, data.diagnostics)))
        raise InvalidInput(f"no case in {where} can be used: {name_few(reasons)}")
    raise InvalidInput(
        f"there are no cases in {where}; `skillyard eval init NAME` writes the first ones"
    )


def of_skill(
    cases: Sequence[Unit], settings: RunSettings, skills: Callable[[Unit], Iterable[str]]
) -> Sequence[Unit]:
    """Return the cases that are about the skill of ``--skill``; all of them where none is named.

    Raises InvalidInput where no case is about it.
    """
    name = settings.skill
    if name is None:
        return cases
    names = sorted({each for case in cases for each in skills(case)})
    if name not in names:
        near = get_close_matches(name, names, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names) or 'none'}"
        raise InvalidInput(f"--skill {name}: no case is about it; {hint}")
    return [case for case in cases if name in skills(case)]


def sample(
    cases: Sequence[Unit],
    settings: RunSettings,
    *,
    key: Callable[[Unit], str],
    is_positive: Callable[[Unit], bool] = lambda case: True,
) -> tuple[Unit, ...]:
    """Return at most ``limit`` of the cases, in their own order; all of them for None.

    The draw of a case is the SHA-256 of (seed, layer, id), and the cases with the lowest draws are
    taken. So the sample depends neither on the order of the files nor on the version of Python, and
    a new case replaces at most one other. At least one positive and one negative case are taken
    where there are both; with a limit of 1 there is room for a positive only.
    """
    limit = settings.limit
    if limit is None or limit >= len(cases):
        return tuple(cases)

    def draw(place: int) -> tuple[bytes, int]:
        text = f"{settings.seed}|{settings.eval_type}|{key(cases[place])}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), place

    order = sorted(range(len(cases)), key=draw)
    first = [
        next((place for place in order if is_positive(cases[place]) is kind), None)
        for kind in (True, False)
    ]
    order.sort(key=lambda place: first.index(place) if place in first else len(first))
    return tuple(cases[place] for place in sorted(order[:limit]))
