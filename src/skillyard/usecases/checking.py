"""Checking: what is wrong with skills and libraries, and how to put it right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.errors import Diagnostic, SkillError

if TYPE_CHECKING:
    from skillyard.validation.config import CheckConfig
    from skillyard.validation.fix_plan import FixPlan
    from skillyard.validation.fixes import Fix

__all__ = ["SEVERITIES", "Checked", "RuleCount", "check_paths", "fix_paths"]

SEVERITIES = ("error", "warning", "info")


class RuleCount(NamedTuple):
    """How often one rule speaks, under one severity."""

    code: str
    severity: str
    findings: int
    files: int


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
        found = [diagnostic.severity for diagnostic in self.diagnostics]
        return {severity: found.count(severity) for severity in SEVERITIES}

    @property
    def rules(self) -> tuple[RuleCount, ...]:
        """The findings by rule: the severest first, then the most frequent, then by code."""
        found = Counter((each.code, each.severity) for each in self.diagnostics)
        files = Counter((code, severity) for code, severity, _ in self._places())
        counts = [RuleCount(*key, number, files[key]) for key, number in found.items()]
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

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.check/1``."""
        return {
            "schema": "skillyard.check/1",
            "paths": list(self.paths),
            "profile": self.profile,
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
            "counts": self.counts,
            "rules": [each._asdict() for each in self.rules],
            "configs": list(self.configs),
            "fixable": self.fixable,
            "fixes": [each.to_dict() for each in self.fixes],
            "refused": [each.to_dict() for each in self.refused],
        }

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

    found: dict[Diagnostic, None] = {}
    plans: dict[str, FixPlan] = {}
    configs: dict[str, None] = {}
    for path in paths:
        used = find_check_config(path) if config is None and find_config else config
        if used is not None and used.path:
            configs[used.path] = None
        findings = validate(path, profile, config=used)
        found.update(dict.fromkeys(findings))
        for plan in plan_fixes(path, findings, profile, used):
            plans.setdefault(plan.real, plan)
    ordered = sorted(found, key=lambda d: (d.path, d.line or 0, d.code, d.column or 0, d.message))
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
