"""``validate``: look at a path under a profile and return everything there is to say about it.

The lenient profile's errors are those of :func:`skillyard.catalog.read_catalog`, because it calls
it. The other two look at every file's raw fields as well, also where the file did not load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from skillyard.arguments import check_arguments
from skillyard.catalog import Catalog, read_catalog
from skillyard.discovery import Root, scan
from skillyard.errors import Diagnostic, SkillError
from skillyard.formats.agentskills import parse_skill
from skillyard.formats.frontmatter import decode
from skillyard.limits import DEFAULT_LIMITS
from skillyard.resources import read_file
from skillyard.text import hidden_in_body, plural
from skillyard.validation.catalogue import CHECKS
from skillyard.validation.columns import with_columns
from skillyard.validation.config import CheckConfig
from skillyard.validation.library import library_rules
from skillyard.validation.profiles import (
    DEFAULT_PROFILE,
    ERROR,
    OFF,
    REFERENCE,
    RENAMED,
    graded,
    profile_of,
    regraded,
)
from skillyard.validation.reference import reference_view
from skillyard.validation.rule import Finding, Rule, diagnostic
from skillyard.validation.target import Target, shown, target_of
from skillyard.validation.view import View, view_of, view_of_file

__all__ = ["validate"]

_MAX_PER_RULE = 20
"""Findings of one rule in one file; then it is said how many more there are."""
_SKILL_FILES = ("SKILL.md", "skill.md")


@check_arguments
def validate(
    path: str | os.PathLike[str],
    profile: str = DEFAULT_PROFILE,
    *,
    library: bool = True,
    tools: Iterable[str] | None = None,
    config: CheckConfig | None = None,
) -> list[Diagnostic]:
    """Return everything to be said about a skill or a library, sorted by path, line and code.

    ``path``: a skill's folder, a ``SKILL.md`` or other skill file, or a root with many skills.
    ``profile``: ``lenient`` (what loads is no error), ``spec`` or ``reference``. ``library=False``
    leaves out what skills do to one another; ``tools`` are the names of the tools that exist.
    ``config`` says what to ignore and what is how severe; without one no file is looked for
    (:func:`~skillyard.validation.config.find_check_config` does).
    Raises InvalidSkillsRoot when the path does not exist, UnknownName for a profile, InvalidInput
    for arguments of a wrong type. A bad file raises nothing: it is what the list is about.
    """
    profile_of(profile)
    where = target_of(path)
    config = config or CheckConfig()
    seen = _LOOKS[profile](where)
    found = [_of_reading(each, profile) for each in seen.reading]
    said = {(each.path, each.code) for each in found if each is not None}
    for view in seen.views:
        found.extend(
            each for each in _of_rules(view, profile, config) if (each.path, each.code) not in said
        )
    if library and seen.catalog is not None:
        found.extend(_of_library(seen.catalog, where, profile, tools, config))
    return sorted(
        with_columns(_configured(found, config)),
        key=lambda d: (d.path, d.line or 0, d.code, d.column or 0, d.message),
    )


def _configured(found: Iterable[Diagnostic | None], config: CheckConfig) -> Iterator[Diagnostic]:
    """Yield what the configuration leaves, under its severities."""
    for each in found:
        if each is not None and not config.ignores(each.code, each.path):
            yield each._replace(severity=config.severity_of(each.code) or each.severity)


class _Seen(NamedTuple):
    """What was found at a place."""

    views: Iterable[View]
    reading: list[Diagnostic]
    """What reading said."""
    catalog: Catalog | None = None


def _look_leniently(where: Target) -> _Seen:
    """Return what loads as views, with everything that loading says."""
    if where.strict:
        return _single(where)
    catalog = read_catalog(where.root, limits=where.limits)
    reading = [found for found in catalog.diagnostics if where.means(found.path)]
    skills = [skill for skill in catalog.skills if where.means(skill.path)]
    if not skills and not reading and where.below and os.path.isfile(where.given):
        return _single(where)
    if not skills:
        reading = _nothing_there(where, reading)
    return _Seen((view_of(skill) for skill in skills), reading, catalog)


def _look_at_all(where: Target) -> _Seen:
    """Return every file whose fields can be read as a view, whether or not it loads."""
    seen = _look_leniently(where)
    views = list(seen.views)
    known = {view.path for view in views}
    failed = {found.path for found in seen.reading if found.severity == ERROR} - known
    if failed and not where.strict:
        candidates = scan([Root(where.root)], where.limits).candidates
        views += filter(None, (view_of_file(each) for each in candidates if each.path in failed))
    return seen._replace(views=views)


def _look_as_reference(where: Target) -> _Seen:
    """Return every SKILL.md below the place as the reference validator reads it."""
    found = scan([Root(where.root)], where.limits)
    reading = [each for each in found.diagnostics if where.means(each.path)]
    views = []
    for each in found.candidates:
        if each.parts[-1] not in _SKILL_FILES or not where.means(each.path):
            continue
        try:
            views.append(reference_view(each))
        except SkillError as error:
            reading.append(error.diagnostic())
    if not views:
        reading = _nothing_there(where, reading)
    return _Seen(views, reading)


_LOOKS: dict[str, Callable[[Target], _Seen]] = {
    DEFAULT_PROFILE: _look_leniently,
    "spec": _look_at_all,
    REFERENCE: _look_as_reference,
}


def _single(where: Target) -> _Seen:
    """Read one document that no walk lists, strictly (adk-skill: anything else is strict)."""
    path = where.below
    try:
        data = read_file(path, DEFAULT_LIMITS.skill_file_bytes).data
        skill = parse_skill(path, decode(data, path))
    except SkillError as error:
        error.path = error.path or path
        return _Seen((), [error.diagnostic()])
    hidden = hidden_in_body(data)
    reading = []
    if hidden is not None:
        line, label = hidden
        message = f"the text holds {label}; it is written out visibly wherever it is shown"
        hint = "remove it"
        reading = [Diagnostic("hidden_character", "warning", path, message, hint, line)]
    return _Seen((view_of(skill),), reading, Catalog.from_skills([skill]))


def _nothing_there(where: Target, reading: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings with an error that says that there is no skill, unless one says why."""
    if any(found.severity == ERROR for found in reading):
        return reading
    misnamed = [found for found in reading if found.code == "skill_md_missing"]
    if misnamed:
        return [found._replace(severity=ERROR) if found in misnamed else found for found in reading]
    missing = Diagnostic(
        "skill_md_missing",
        ERROR,
        shown(where.given),
        "no skill is here: there is no SKILL.md",
        "name a folder that holds a SKILL.md, or add one",
    )
    return [*reading, missing]


def _of_reading(found: Diagnostic, profile: str) -> Diagnostic | None:
    """Return what reading said under the profile's code and severity, or None when it is off."""
    code = found.code.replace("-", "_")
    severity = regraded(profile, code, found.severity)
    if severity == OFF:
        return None
    code = RENAMED.get(profile, {}).get(code, code)
    return found._replace(code=code, severity=severity)


def _of_rules(view: View, profile: str, config: CheckConfig) -> Iterator[Diagnostic]:
    """Yield what the rules of the profile find in one file.

    Under ``lenient`` no rule makes an error: whether a file loads is for reading to say. A rule
    that the profile leaves out runs where the configuration gives it a severity.
    """
    renamed = RENAMED.get(profile, {})
    for rule in CHECKS:
        graded_as = graded(profile, rule.code)
        severity = config.severity_of(rule.code) or OFF if graded_as == OFF else graded_as
        if severity == OFF or view.kind not in rule.kinds:
            continue
        if graded_as == ERROR and profile == DEFAULT_PROFILE:
            continue
        code = rule.code if graded_as == OFF else renamed.get(rule.code, rule.code)
        for finding in _bounded(rule, view):
            yield diagnostic(rule, view, finding, severity)._replace(code=code)


def _bounded(rule: Rule, view: View) -> Iterator[Finding]:
    findings = list(rule.find(view))
    yield from findings[:_MAX_PER_RULE]
    more = len(findings) - _MAX_PER_RULE
    if more > 0:
        message = f"{plural(more, 'more finding')} of this kind"
        yield Finding(message, findings[_MAX_PER_RULE].line)


def _of_library(
    catalog: Catalog,
    where: Target,
    profile: str,
    tools: Iterable[str] | None,
    config: CheckConfig,
) -> Iterator[Diagnostic]:
    for found in library_rules(catalog, tools=tools):
        severity = graded(profile, found.code)
        if severity == OFF:
            severity = config.severity_of(found.code) or OFF
        if severity != OFF and where.means(found.path):
            yield found._replace(severity=severity)
