"""The check of skills and libraries: what is wrong with them, and how it is fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import Diagnostic, SkillError
from skillyard.shapes import checks as shapes
from skillyard.shapes.checks import RuleCount
from skillyard.shapes.encoder import from_attributes

if TYPE_CHECKING:
    from skillyard.validation.config import CheckConfig
    from skillyard.validation.fix_plan import FixPlan
    from skillyard.validation.fixes import Fix

__all__ = ["SEVERITIES", "Checked", "check_paths", "fix_paths"]

SEVERITIES = ("error", "warning", "info")


class Checked(NamedTuple):
    """The findings on some paths, sorted by path, line and code, each once."""

    paths: tuple[str, ...]
    profile: str
    diagnostics: tuple[Diagnostic, ...]
    configs: tuple[str, ...] = ()
    """The configuration files that were used, in the order of the paths."""
    plans: tuple[FixPlan, ...] = ()
    """What ``--fix`` would change now, sorted by path."""
    fixes: tuple[Fix, ...] = ()
    """What was mended before these findings were made."""
    refused: tuple[Diagnostic, ...] = ()
    """Files that could not be mended, and why."""

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        severities = [diagnostic.severity for diagnostic in self.diagnostics]
        return {severity: severities.count(severity) for severity in SEVERITIES}

    @property
    def rules(self) -> tuple[RuleCount, ...]:
        """The findings by rule: the severest first, then the most frequent, then by code."""
        findings = Counter((each.code, each.severity) for each in self.diagnostics)
        files = Counter((code, severity) for code, severity, _ in self._places())
        counts = [
            RuleCount(code=key[0], severity=key[1], findings=number, files=files[key])
            for key, number in findings.items()
        ]
        return tuple(
            sorted(
                counts,
                key=lambda each: (SEVERITIES.index(each.severity), -each.findings, each.code),
            )
        )

    def _places(self) -> set[tuple[str, str, str]]:
        return {(each.code, each.severity, each.path) for each in self.diagnostics}

    @property
    def fixable(self) -> int:
        """How many repairs ``--fix`` would make."""
        return sum(len(plan.fixes) for plan in self.plans)

    def fails(self, *, strict: bool = False) -> bool:
        """True where a finding is an error, or with ``strict`` a warning, or a repair failed."""
        counts = self.counts
        return bool(counts["error"] or (strict and counts["warning"]) or self.refused)

    def document(self) -> shapes.Checked:
        """Return ``skillyard.check/1``."""
        return from_attributes(
            shapes.Checked,
            self,
            diagnostics=tuple(each.document() for each in self.diagnostics),
            fixes=tuple(from_attributes(shapes.Fix, each) for each in self.fixes),
            refused=tuple(each.document() for each in self.refused),
        )

    def render(self, format: str) -> str:
        """Return the findings in one of the report formats. Raises UnknownName."""
        from skillyard.validation import report

        return report.render(self.diagnostics, format)


def check_paths(
    paths: Sequence[str],
    *,
    profile: str = "lenient",
    config: CheckConfig | None = None,
    find_config: bool = False,
) -> Checked:
    """Check skills, skill files and roots under a profile.

    What two of the paths share is said once. ``config`` holds for all paths; without one,
    ``find_config`` looks for the configuration of each. Raises InvalidSkillsRoot for a path that
    does not exist, UnknownName for a profile, InvalidInput and SkillIoError for a configuration.
    """
    from skillyard.validation.checker import validate
    from skillyard.validation.config import find_check_config
    from skillyard.validation.fix_plan import plan_fixes

    diagnostics: dict[Diagnostic, None] = {}
    plans: dict[str, FixPlan] = {}
    configs: dict[str, None] = {}
    for path in paths:
        used = find_check_config(path) if config is None and find_config else config
        if used is not None and used.path:
            configs[used.path] = None
        findings = validate(path, profile, config=used)
        diagnostics.update(dict.fromkeys(findings))
        for plan in plan_fixes(path, findings, profile, used):
            plans.setdefault(plan.real, plan)
    ordered = sorted(
        diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.column or 0, d.message)
    )
    planned = sorted(plans.values(), key=lambda plan: plan.path)
    return Checked(tuple(paths), profile, tuple(ordered), tuple(configs), tuple(planned))


def fix_paths(
    paths: Sequence[str],
    *,
    profile: str = "lenient",
    config: CheckConfig | None = None,
    find_config: bool = False,
) -> Checked:
    """Mend what is mechanical in skill files, and return the findings that are left.

    Takes and raises what :func:`check_paths` does. Files that cannot be written, or that changed
    meanwhile, stay as they are and are named in ``refused``.
    """
    before = check_paths(paths, profile=profile, config=config, find_config=find_config)
    if not before.plans:
        return before
    from skillyard.validation.fix_plan import write_plan

    fixes: list[Fix] = []
    refused: list[Diagnostic] = []
    for plan in before.plans:
        try:
            write_plan(plan)
        except SkillError as error:
            refused.append(error.diagnostic())
        else:
            fixes.extend(plan.fixes)
    after = check_paths(paths, profile=profile, config=config, find_config=find_config)
    return after._replace(fixes=tuple(fixes), refused=tuple(refused))
