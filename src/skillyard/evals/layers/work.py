"""The values of a run: the skills under test, their units, the work, and the cases that result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from skillyard.evals.conditions.sizes import scale

if TYPE_CHECKING:
    from skillyard.base.errors import Diagnostic
    from skillyard.engine.catalog import Catalog
    from skillyard.evals.cases.answer_cases import AnswerPrompt
    from skillyard.evals.conditions.prompts import Arms
    from skillyard.evals.settings import RunSettings

CaseResult = dict[str, Any]
"""The result of one case in one run, as it stands in the results file. Every layer has the fields
``id``, ``run_index``, ``cost``, ``errors`` (a list of ``{kind, message}``) and ``skipped`` (the
reason, or None)."""


@dataclass(frozen=True, slots=True)
class PairUnit:
    """One prompt for one skill, with the conditions that are compared."""

    skill: str
    prompt_index: int
    case: AnswerPrompt
    """The prompt. Without criteria, its checks alone decide, and no judge is called."""
    arms: Arms
    comparisons: tuple[tuple[str, str], ...]

    @property
    def prompt(self) -> str:
        """The text of the prompt."""
        return self.case.prompt

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that some comparison needs, in the order of the arms."""
        needed = {condition for pair in self.comparisons for condition in pair}
        return tuple(condition for condition in self.arms.arms if condition in needed)


@dataclass(frozen=True, slots=True)
class TestedSkill:
    """One skill under test: its arms and its units."""

    skill: str
    sha256: str
    arms: Arms
    units: tuple[PairUnit, ...]
    expected_tier: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what the summary and the dry run say of it beside figures."""
        full = next(iter(self.arms.arms.values()))
        return {
            "size_tier": self.arms.tier,
            "expected_tier": self.expected_tier,
            "body_bytes": self.arms.body_bytes,
            "scale": scale(full.raw.tokens_estimated),
            "summary_error": self.arms.summary_error,
            "missing_siblings": list(self.arms.missing_siblings),
            "refused_siblings": [list(each) for each in self.arms.refused_siblings],
            "left_out_siblings": list(self.arms.left_out_siblings),
            "conditions": {name: arm.sizes() for name, arm in self.arms.arms.items()},
        }


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
