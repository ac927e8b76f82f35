"""The check of skills and libraries: what is wrong with them, and how it is fixed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.base.shapes import checks as shapes
from skillyard.base.shapes.checks import RuleCount
from skillyard.base.shapes.encoder import from_attributes

if TYPE_CHECKING:
    from skillyard.check.validation.config import CheckConfig
    from skillyard.check.validation.fix_plan import FixPlan
    from skillyard.check.validation.fixes import Fix
    from skillyard.engine.catalog.roots import LibrarySpec

SEVERITIES = ("error", "warning", "info")


class Checked(NamedTuple):
    """The findings on some paths, sorted by path, line and code, each once."""

    paths: tuple[str, ...]
    profile: str
    diagnostics: tuple[Diagnostic, ...]
    skills: int
    """How many skills were checked."""
    files: int
    """Those, convention documents, and files that did not load."""
    scopes: tuple[str, ...] = ()
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
        """Return the findings as ``sarif`` (2.1.0) or ``github`` (workflow commands)."""
        from skillyard.check.validation import report

        as_format = report.as_sarif if format == "sarif" else report.as_github
        return as_format(self.diagnostics)


def check_paths(
    paths: Sequence[str],
    *,
    profile: str = "lenient",
    config: CheckConfig | None = None,
    find_config: bool = False,
    library: LibrarySpec | None = None,
) -> Checked:
    """Check skills, skill files and roots under a profile.

    The paths are checked one by one, ``library`` as one; what they share is said once. ``config``
    holds for all; without one, ``find_config`` looks for the configuration of each path and root.
    Folders of scopes belong to others: nothing in them is mended or configured. Raises
    InvalidSkillsRoot for a path that does not exist, UnknownName for a profile, InvalidInput
    and SkillIoError for a configuration.
    """
    from skillyard.check.validation.checker import check_target
    from skillyard.check.validation.config import CheckConfig, find_check_config
    from skillyard.check.validation.fix_plan import plan_fixes
    from skillyard.check.validation.profiles import profile_of
    from skillyard.check.validation.target import Target, target_of

    profile_of(profile)
    roots = () if library is None else library.roots
    configs = {
        path: (find_check_config(path) if config is None and find_config else config)
        or CheckConfig()
        for path in (*paths, *roots)
    }

    def config_of(path: str) -> CheckConfig:
        whole = os.path.join(os.path.abspath(path), "")
        above = {os.path.join(os.path.abspath(root), ""): root for root in roots}
        nearest = max(filter(whole.startswith, above), key=len, default=None)
        return (config or CheckConfig()) if nearest is None else configs[above[nearest]]

    results = [check_target(target_of(each), profile, _always(configs[each])) for each in paths]
    if library is not None:
        results.append(check_target(Target("", "", 0, library=library), profile, config_of))
    diagnostics = {each for result in results for each in result.diagnostics}
    plans: dict[str, FixPlan] = {}
    for path, used in configs.items():
        for plan in plan_fixes(path, diagnostics, profile, used):
            plans.setdefault(plan.real, plan)
    return Checked(
        (*paths, *roots),
        profile,
        tuple(sorted(diagnostics, key=_order)),
        len(frozenset().union(*(each.skills for each in results))),
        len(frozenset().union(*(each.files for each in results))),
        () if library is None else library.scopes,
        tuple(dict.fromkeys(each.path for each in configs.values() if each.path)),
        tuple(sorted(plans.values(), key=lambda plan: plan.path)),
    )


def _always(config: CheckConfig) -> Callable[[str], CheckConfig]:
    return lambda _: config


def _order(each: Diagnostic) -> tuple[str, int, str, int, str, str]:
    return each.path, each.line or 0, each.code, each.column or 0, each.message, each.severity


def fix_paths(
    paths: Sequence[str],
    *,
    profile: str = "lenient",
    config: CheckConfig | None = None,
    find_config: bool = False,
    library: LibrarySpec | None = None,
) -> Checked:
    """Mend what is mechanical in skill files, and return the findings that are left.

    Takes and raises what :func:`check_paths` does. Files that cannot be written, or that changed
    meanwhile, stay as they are and are named in ``refused``.
    """
    check = partial(
        check_paths, paths, profile=profile, config=config, find_config=find_config, library=library
    )
    before = check()
    if not before.plans:
        return before
    from skillyard.check.validation.fix_plan import write_plan

    fixes: list[Fix] = []
    refused: list[Diagnostic] = []
    for plan in before.plans:
        try:
            write_plan(plan)
        except SkillError as error:
            refused.append(error.diagnostic())
        else:
            fixes.extend(plan.fixes)
    return check()._replace(fixes=tuple(fixes), refused=tuple(refused))
