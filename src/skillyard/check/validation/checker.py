"""``validate``: checks a path under a profile and returns the diagnostics.

The errors of the lenient profile are those of the catalog that it reads. The other profiles also
check the raw fields of files that do not load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, InvalidInput, InvalidSkillsRoot, SkillError
from skillyard.base.invisible import clean, find_hidden
from skillyard.base.io.files import slashes
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import plural
from skillyard.check.validation.codes import (
    DEFAULT_PROFILE,
    ERROR,
    OFF,
    REFERENCE,
    RULES,
    check_profile,
    code_under,
    reading_severity,
)
from skillyard.check.validation.config import CheckConfig
from skillyard.check.validation.file_rules import FILE_RULES, Violation
from skillyard.check.validation.library import library_rules
from skillyard.check.validation.reference import reference_view
from skillyard.check.validation.view import CONVENTION, View, read_text, view_of, view_of_file
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.entries import read_one
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.catalog.snapshot import build_catalog
from skillyard.engine.discovery.layout import RUNTIME_FOLDER, Candidate, Scan, Stamp
from skillyard.engine.formats.file_names import OASIS_FOLDER, folder_convention_of
from skillyard.engine.formats.frontmatter import unify_lines
from skillyard.engine.skill import Origin

_SKILL_FILES = ("SKILL.md", "skill.md")
_MISSING = "skill_md_missing"
_MAX_PER_RULE = 20
"""Limit for the findings of one rule in one file. The number of further findings is reported."""


class Target(NamedTuple):
    """A library to walk, and the part of it to check."""

    argument: str
    spec: LibrarySpec
    below: str = ""
    """Only this file, or the files below this folder, are checked. Empty means all."""
    strict: bool = False
    """True for a single document below ``.skills``, which is parsed strictly and without a walk."""

    def includes(self, path: str) -> bool:
        """True when a file at ``path`` is part of the target."""
        forms = (self.below, _shown(self.below))
        return not self.below or any(path == f or path.startswith(f"{f}/") for f in forms)


def _shown(path: str) -> str:
    """Return a path in the form that discovery uses in diagnostics."""
    text = clean(path.encode("utf-8", "backslashreplace").decode("utf-8"))
    return text.replace("\n", "\\n").replace("\t", "\\t")


def target_of(path: str | os.PathLike[str]) -> Target:
    """Return the target of a path. Raises InvalidInput, or InvalidSkillsRoot if missing."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"path must be a path, not {type(path).__name__}")
    argument = os.fspath(path)
    if not isinstance(argument, str) or "\0" in argument:
        raise InvalidInput("path must be a path as text")
    argument = _plain(argument)
    if not os.path.lexists(argument):
        raise InvalidSkillsRoot(
            "the path does not exist",
            path=argument,
            hint="name a skill, or a folder that holds skills",
        )
    place = os.path.abspath(argument).replace(os.sep, "/")  # the folder that one is in says more
    if OASIS_FOLDER in place.split("/")[-3:-1] and OASIS_FOLDER not in argument.split("/"):
        argument = place
    elif folder_convention_of(place) is not None and os.path.isfile(argument):
        return _in_convention_folder(argument if folder_convention_of(argument) else place)
    parent, name = os.path.split(argument)
    above = os.path.dirname(parent)
    if os.path.isdir(argument):
        if os.path.basename(parent) == OASIS_FOLDER:
            return _target(argument, parent, DEFAULT_LIMITS.tree_depth, argument)
        return _target(argument, argument, DEFAULT_LIMITS.tree_depth)
    if any(part.lower() == RUNTIME_FOLDER for part in place.split("/")[:-1]):
        return _target(argument, parent, 0, argument)._replace(strict=True)
    if os.path.basename(above) == OASIS_FOLDER and name in _SKILL_FILES:
        return _target(argument, above, 1, argument)
    return _target(argument, parent or ".", 0, argument)


def _target(argument: str, root: str, depth: int, below: str = "") -> Target:
    """Return a target whose root is walked to a depth of folders."""
    spec = LibrarySpec((root,), (), DEFAULT_LIMITS._replace(tree_depth=depth))
    return Target(argument, spec, below)


def _in_convention_folder(path: str) -> Target:
    """Return the target of a command, rule or instruction of a host, which its folders show."""
    root, _, below = path.rpartition("/")
    depth = 0
    while folder_convention_of(below) is None:
        root, _, name = root.rpartition("/")
        below, depth = f"{name}/{below}", depth + 1
    return _target(path, root or ("/" if path[0] == "/" else "."), depth, path)


def _plain(path: str) -> str:
    """Return the path without a leading ``./`` and a trailing slash."""
    path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return slashes(path) or "."


def validate(
    path: str | os.PathLike[str],
    profile: str = DEFAULT_PROFILE,
    *,
    tools: Iterable[str] | None = None,
    config: CheckConfig | None = None,
) -> list[Diagnostic]:
    """Return the diagnostics of a skill or a library, sorted by path, line and code.

    ``path`` is a skill's folder, a ``SKILL.md`` or other skill file, or a root with many skills.
    ``profile`` is ``lenient`` (a skill that loads has no errors), ``spec`` or ``reference``.
    ``tools`` are the names of the existing tools. ``config`` sets ignored codes and severities; no
    configuration file is searched for (use
    :func:`~skillyard.check.validation.config.CheckConfig.find`).

    Raises InvalidSkillsRoot when the path does not exist, UnknownName for an unknown profile, and
    InvalidInput for arguments of a wrong type. An invalid file is reported, never raised.
    """
    check_profile(profile)
    used = config or CheckConfig()
    return check_target(target_of(path), profile, lambda _: used, tools).diagnostics


ConfigOf = Callable[[str], CheckConfig]
"""Returns the configuration that holds for the path of a file."""


class Findings(NamedTuple):
    """The diagnostics of a target, sorted, and the files that they are about."""

    diagnostics: list[Diagnostic]
    skills: frozenset[str]
    """The paths of the skills that were checked."""
    files: frozenset[str]
    """Those, convention documents, and files that did not load."""


def check_target(
    where: Target,
    profile: str,
    config_of: ConfigOf,
    tools: Iterable[str] | None = None,
) -> Findings:
    """Return what is wrong with a target under a profile."""
    contents = _read_reference(where) if profile == REFERENCE else _read(where, profile)
    diagnostics = [*filter(None, (_grade_reading(each, profile) for each in contents.reading))]
    reported = {(each.path, each.code) for each in diagnostics}
    failed = (each for each in contents.reading if each.severity == ERROR)
    files = {each.path for each in failed if each.code != _MISSING}
    skills = frozenset(view.path for view in contents.views if view.kind != CONVENTION)
    for view in contents.views:
        files.add(view.path)
        findings = _rule_findings(view, profile, config_of)
        diagnostics += [each for each in findings if (each.path, each.code) not in reported]
    for each in () if contents.catalog is None else library_rules(contents.catalog, tools=tools):
        severity = _severity(each.code, each.path, profile, config_of)
        if severity != OFF and where.includes(each.path):
            diagnostics.append(each._replace(severity=severity))
    ordered = sorted(_with_columns(_apply_config(diagnostics, config_of)), key=order)
    return Findings(ordered, skills, frozenset(files))


def order(each: Diagnostic) -> tuple[str, int, str, int, str, str]:
    """Return what diagnostics are sorted by."""
    return each.path, each.line or 0, each.code, each.column or 0, each.message, each.severity


def _apply_config(diagnostics: Iterable[Diagnostic], config_of: ConfigOf) -> Iterator[Diagnostic]:
    """Yield the diagnostics that are not ignored, with the configured severities."""
    for each in diagnostics:
        config = config_of(each.path)
        if not config.ignores(each.code, each.path):
            yield each._replace(severity=config.severity_of(each.code) or each.severity)


class _Contents(NamedTuple):
    """The files of a target, and the diagnostics of reading them."""

    views: Sequence[View]
    reading: list[Diagnostic]
    catalog: Catalog | None = None


def _read(where: Target, profile: str) -> _Contents:
    """Return the views of the skills that load, and the diagnostics of loading.

    Under ``spec``, also the views of files that do not load and have readable fields.
    """
    if where.strict:
        return _single(where)
    scanned = where.spec.scan()
    catalog = build_catalog(where.spec, scanned)
    reading = [each for each in catalog.diagnostics if where.includes(each.path)]
    skills = [skill for skill in catalog.skills if where.includes(skill.path)]
    if not skills and not reading and where.below and os.path.isfile(where.argument):
        return _single(where)
    reading = _add_missing_skill(where, reading, scanned, bool(skills))
    views = [view_of(skill) for skill in skills]
    if profile != DEFAULT_PROFILE:
        failed = {each.path for each in reading if each.severity == ERROR}
        failed -= {view.path for view in views}
        files = (view_of_file(each) for each in scanned.candidates if each.path in failed)
        views += filter(None, files)
    return _Contents(views, reading, catalog)


def _read_reference(where: Target) -> _Contents:
    """Return the views of all SKILL.md files, read like the reference validator."""
    scanned = where.spec.scan()
    reading = [each for each in scanned.diagnostics if where.includes(each.path)]
    views = []
    for each in scanned.candidates:
        if each.parts[-1] not in _SKILL_FILES or not where.includes(each.path):
            continue
        try:
            views.append(reference_view(each))
        except SkillError as error:
            reading.append(error.diagnostic())
    return _Contents(views, _add_missing_skill(where, reading, scanned, bool(views)))


def _single(where: Target) -> _Contents:
    """Read one document that the walk does not find, strictly (adk-skill: "anything else")."""
    path = where.below
    status = os.lstat(path)
    stamp = Stamp(0, 0, 0, status.st_ino, status.st_dev)
    name = os.path.basename(path)
    entry = read_one(Candidate(path, (name,), Origin.RUNTIME, None, stamp, "", 0), where.spec, 0)
    skills = [] if entry.skill is None else [entry.skill]
    views = [view_of(skill) for skill in skills]
    return _Contents(views, list(entry.diagnostics), Catalog.from_skills(skills))


def _add_missing_skill(
    where: Target, reading: list[Diagnostic], scanned: Scan, exists: bool
) -> list[Diagnostic]:
    """Return the diagnostics with an error added that no skill is there, unless one exists.

    In a library, each root without a file gets one, but the default root beside scopes.
    """
    if not where.argument:
        roots, scopes = where.spec.roots, where.spec.scopes
        used = {each.root for each in scanned.candidates}
        named = [root for number, root in enumerate(roots) if number not in used]
        return [*reading, *(_missing_skill(root) for root in named if not scopes or root != ".")]
    if exists or any(each.severity == ERROR for each in reading):
        return reading
    misnamed = [each for each in reading if each.code == _MISSING]
    if misnamed:
        return [each._replace(severity=ERROR) if each in misnamed else each for each in reading]
    return [*reading, _missing_skill(where.argument)]


def _missing_skill(path: str) -> Diagnostic:
    return Diagnostic(
        _MISSING,
        ERROR,
        _shown(path),
        "no skill is here: there is no SKILL.md",
        "name a folder that holds a SKILL.md, or add one",
    )


def _grade_reading(reported: Diagnostic, profile: str) -> Diagnostic | None:
    """Return a diagnostic of reading with the profile's code and severity, None when it is off."""
    code = reported.code.replace("-", "_")
    severity = reading_severity(profile, code, reported.severity)
    if severity == OFF:
        return None
    return reported._replace(code=code_under(profile, code), severity=severity)


def _severity(code: str, path: str, profile: str, config_of: ConfigOf) -> str:
    """Return the severity of a rule: the profile's, or that of the configuration where it is off.

    Under ``lenient`` no rule over a file reports an error: only reading decides what loads.
    """
    severity = RULES[code].severities[profile]
    if severity == OFF:
        return config_of(path).severity_of(code) or OFF
    is_of_reading = severity == ERROR and profile == DEFAULT_PROFILE and code in FILE_RULES
    return OFF if is_of_reading else severity


def _rule_findings(view: View, profile: str, config_of: ConfigOf) -> Iterator[Diagnostic]:
    """Yield the findings of the profile's rules in one file."""
    for code, find in FILE_RULES.items():
        if view.kind not in RULES[code].kinds:
            continue
        severity = _severity(code, view.path, profile, config_of)
        if severity == OFF:
            continue
        is_off = RULES[code].severities[profile] == OFF
        shown = code if is_off else code_under(profile, code)
        for each in _first_violations(find(view)):
            hint = each.hint or RULES[code].hint
            place = (hint, each.line, each.column, each.found)
            yield Diagnostic(shown, severity, view.path, each.message, *place)


def _first_violations(violations: Iterable[Violation]) -> Iterator[Violation]:
    every = list(violations)
    yield from every[:_MAX_PER_RULE]
    more = len(every) - _MAX_PER_RULE
    if more > 0:
        yield Violation(f"{plural(more, 'more finding')} of this kind", every[_MAX_PER_RULE].line)


def _with_columns(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics, with a column added if the file still has that line.

    Columns count characters from 1, like SARIF's ``unicodeCodePoints`` and the YAML parser. A byte
    order mark does not count.
    """
    lines_of = cache(lambda path: unify_lines(read_text(path)).split("\n"))
    for each in diagnostics:
        known = each.column is not None or each.line is None
        lines = [] if known else lines_of(each.path)
        in_file = 0 < (each.line or 0) <= len(lines)
        column = _column_in(lines[(each.line or 0) - 1], each) if in_file else each.column
        yield each._replace(column=column)


def _column_in(line: str, diagnostic: Diagnostic) -> int:
    """Return the 1-based column in a line at which a finding begins.

    That is the column of the hidden character, else of the offending text in the line, else of the
    first non-blank character.
    """
    if diagnostic.code == "hidden_character":
        hidden = find_hidden(line)
        if hidden is not None:
            return hidden.offset + 1
    text = diagnostic.found.partition("\n")[0].strip()
    place = line.find(text)
    if text and place >= 0:
        return place + 1
    return len(line) - len(line.lstrip()) + 1 if line.strip() else 1
