"""The check of skills and libraries: what is wrong with them, and how it is fixed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.base.operation import Spelling
from skillyard.base.shapes import Schema
from skillyard.check.validation import report
from skillyard.check.validation.checker import Target, check_target, order, target_of
from skillyard.check.validation.codes import check_profile
from skillyard.check.validation.config import CheckConfig
from skillyard.check.validation.fixes import Fix, FixPlan, plan_fixes, write_plan
from skillyard.engine.catalog.roots import LibrarySpec

SEVERITIES = ("error", "warning", "info")
Format = Annotated[
    Literal["text", "json", "sarif", "github"],
    "How to print: text, json, sarif, github.",
    Spelling(metavar="NAME"),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CheckRequest:
    """Check skill files for errors."""

    path: Annotated[
        tuple[str, ...],
        "Skill files, skill folders or roots (default: .).",
        Spelling(metavar="PATH", by_place=True),
    ] = ()
    profile: Annotated[
        Literal["lenient", "spec", "reference"],
        "Lenient (what loads), spec (agentskills.io) or reference (its validator).",
        Spelling(metavar="NAME"),
    ] = "lenient"
    format: Format = "text"
    strict: Annotated[bool, "Also fail on warnings."] = False
    fix: Annotated[bool, "Fix what needs no decision, then check."] = False
    diff: Annotated[bool, "Show what --fix would change, and change nothing."] = False
    config: Annotated[
        str | None,
        "Use this skillyard.toml (default: the nearest above PATH, and the user's).",
        Spelling(metavar="FILE"),
    ] = None
    no_config: Annotated[bool, "Use no configuration file."] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The findings on some paths, each once, and what was fixed before."""

    schema: Schema[Literal["skillyard.check/1"]] = "skillyard.check/1"
    paths: Annotated[tuple[str, ...], "What was checked."]
    scopes: Annotated[tuple[str, ...], "The scopes whose folders were checked too."] = ()
    profile: Annotated[str, "lenient, spec or reference."]
    diagnostics: Annotated[tuple[Diagnostic, ...], "Sorted by path, line and code."]
    skills: Annotated[int, "Skills that were checked."]
    files: Annotated[int, "Those, convention documents, and files that did not load."]
    counts: Annotated[Mapping[str, int], "Findings of each severity."]
    configs: Annotated[tuple[str, ...], "The configuration files that were used."]
    fixable: Annotated[int, "Repairs that --fix would make."]
    fixes: Annotated[tuple[Fix, ...], "Repairs that were made."]
    refused: Annotated[tuple[Diagnostic, ...], "Files that could not be repaired, and why."]

    def fails(self, *, strict: bool = False) -> bool:
        """True where a finding is an error, or with ``strict`` a warning, or a repair failed."""
        counts = self.counts
        return bool(counts["error"] or (strict and counts["warning"]) or self.refused)

    def render(self, format: str) -> str:
        """Return the findings as ``sarif`` (2.1.0) or ``github`` (workflow commands)."""
        as_format = report.as_sarif if format == "sarif" else report.as_github
        return as_format(self.diagnostics)


def check_paths(
    paths: Sequence[str],
    *,
    fix: bool = False,
    profile: str = "lenient",
    config: CheckConfig | None = None,
    find_config: bool = False,
    library: LibrarySpec | None = None,
) -> tuple[Checked, tuple[FixPlan, ...]]:
    """Check skills, skill files and roots; return the findings and what ``--fix`` would change.

    The paths are checked one by one, ``library`` as one; what they share is said once. ``config``
    holds for all; without one, ``find_config`` looks for the configuration of each path and root.
    Folders of scopes belong to others: nothing in them is mended or configured. ``fix`` mends what
    is mechanical, and returns the findings that are left; files that cannot be written, or that
    changed meanwhile, stay as they are and are named in ``refused``.

    Raises InvalidSkillsRoot for a path that does not exist, UnknownName for a profile, InvalidInput
    and SkillIoError for a configuration.
    """
    check_profile(profile)
    roots = () if library is None else library.roots
    configs = {
        path: (CheckConfig.find(path) if config is None and find_config else config)
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
        results.append(check_target(Target("", library), profile, config_of))
    findings = {each for result in results for each in result.diagnostics}
    by_file: dict[str, FixPlan] = {}
    for path, used in configs.items():
        for plan in plan_fixes(path, findings, profile, used):
            by_file.setdefault(plan.real, plan)
    plans = tuple(sorted(by_file.values(), key=lambda plan: plan.path))
    if fix and plans:
        fixes, refused = _write(plans)
        left, _ = check_paths(
            paths, profile=profile, config=config, find_config=find_config, library=library
        )
        return replace(left, fixes=fixes, refused=refused), ()
    severities = Counter(each.severity for each in findings)
    checked = Checked(
        paths=(*paths, *roots),
        scopes=() if library is None else library.scopes,
        profile=profile,
        diagnostics=tuple(sorted(findings, key=order)),
        skills=len(frozenset().union(*(each.skills for each in results))),
        files=len(frozenset().union(*(each.files for each in results))),
        counts={severity: severities[severity] for severity in SEVERITIES},
        configs=tuple(dict.fromkeys(each.path for each in configs.values() if each.path)),
        fixable=sum(len(plan.fixes) for plan in plans),
        fixes=(),
        refused=(),
    )
    return checked, plans


def _always(config: CheckConfig) -> Callable[[str], CheckConfig]:
    return lambda _: config


def _write(plans: Iterable[FixPlan]) -> tuple[tuple[Fix, ...], tuple[Diagnostic, ...]]:
    """Write what is planned; return the repairs that were made, and what refused them."""
    fixes: list[Fix] = []
    refused: list[Diagnostic] = []
    for each in plans:
        try:
            write_plan(each)
        except SkillError as error:
            refused.append(error.diagnostic())
        else:
            fixes.extend(each.fixes)
    return tuple(fixes), tuple(refused)
