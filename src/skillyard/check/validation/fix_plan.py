"""Plans and writes the changes of ``check --fix``.

A plan contains the bytes before and after. Before writing, the file is read again by a path without
links, and refused when it differs from the planned content.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Container, Iterable, Iterator
from difflib import unified_diff
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, SkillIoError
from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.files import read_regular
from skillyard.base.io.folders import open_real_file
from skillyard.base.io.paths import same_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.codes import OFF, PROFILES, RENAMED, rule_severity
from skillyard.check.validation.config import CheckConfig
from skillyard.check.validation.fixes import FIXABLE, Fix, FixPlace, fix_document
from skillyard.check.validation.target import Target, target_of
from skillyard.check.validation.view import Kind, kind_of
from skillyard.engine.catalog.snapshot import build_catalog


class FixPlan(NamedTuple):
    """The changes to one file."""

    path: str
    """The path as in diagnostics."""
    real: str
    """The path of the file without links."""
    before: bytes
    after: bytes
    fixes: tuple[Fix, ...]

    def diff(self) -> str:
        """Return the change as a unified diff, ending with a line feed."""
        before, after = (data.decode("utf-8").split("\n") for data in (self.before, self.after))
        names = (f"{self.path} (now)", f"{self.path} (fixed)")
        lines = unified_diff(before, after, *names, lineterm="")
        return "".join(f"{line}\n" for line in lines)


def plan_fixes(
    path: str | os.PathLike[str],
    findings: Iterable[Diagnostic],
    profile: str,
    config: CheckConfig | None = None,
) -> list[FixPlan]:
    """Return the changes to the files of ``findings``, sorted by path. Writes nothing.

    ``findings`` is the result of ``validate`` for the same path, profile and configuration. Codes
    that are off in the profile or ignored by the configuration are not fixed. Files behind links
    and unreadable files are left out.
    """
    config = config or CheckConfig()
    findings = list(findings)
    reported = {each.path for each in findings if each.code in _CODES[profile]}
    if not reported:
        return []
    target = target_of(path)
    used_names: frozenset[str] = frozenset()
    if any(each.code == "name_dir_mismatch" for each in findings):
        used_names = frozenset(each.name for each in build_catalog(target.spec, target.spec.scan()))
    plans = []
    for file in _files(target, used_names):
        if file.path in reported and file.kind in Kind.SKILLS:
            ignored = {code for code in FIXABLE if _is_off(code, file.path, profile, config)}
            plan = _plan(file, ignored)
            if plan is not None:
                plans.append(plan)
    return sorted(plans, key=lambda plan: plan.path)


class _File(NamedTuple):
    """A skill file that may be changed."""

    path: str
    real: str
    kind: str
    place: FixPlace


def _files(target: Target, used_names: Container[str]) -> Iterator[_File]:
    """Yield the skill files of the target that are reached without a link below its root."""
    root = os.path.realpath(target.root or ".")
    candidates = () if target.strict else target.spec.scan().candidates
    targets = [each for each in candidates if target.includes(each.path)]
    for each in targets:
        real = os.path.join(root, *each.parts)
        if each.target is None and same_path(os.path.realpath(each.path), real):
            place = FixPlace(each.path, each.folder, each.origin, used_names)
            yield _File(each.path, real, kind_of(each.path, each.origin), place)
    if not targets and target.below and os.path.isfile(target.below):
        real = os.path.join(root, os.path.basename(target.below))
        if same_path(os.path.realpath(target.below), real):
            yield _File(
                target.below, real, kind_of(target.below, None), FixPlace(target.below, None)
            )


def _is_off(code: str, path: str, profile: str, config: CheckConfig) -> bool:
    reported_code = RENAMED.get(profile, {}).get(code, code)
    if config.ignores(code, path) or config.ignores(reported_code, path):
        return True
    return rule_severity(profile, code) == OFF and config.severity_of(code) is None


_CODES = {
    profile: FIXABLE | {RENAMED.get(profile, {}).get(code, code) for code in FIXABLE}
    for profile in PROFILES
}
"""Profile -> the codes under which it reports fixable faults."""


def _plan(file: _File, ignored: Container[str]) -> FixPlan | None:
    try:
        before = read_real_file(file.real)
    except OSError:
        return None  # the diagnostics report it already
    fixed = fix_document(before, file.place, ignored)
    if fixed.data == before:
        return None
    return FixPlan(file.path, file.real, before, fixed.data, fixed.fixes)


def read_real_file(real: str) -> bytes:
    """Return the bytes of a file by a path without links. Raises OSError."""
    return read_regular(open_real_file(real), DEFAULT_LIMITS.skill_file_bytes)[0]


def write_plan(plan: FixPlan) -> None:
    """Write one file as planned, atomically and with its permissions.

    Raises SkillIoError when the file has changed since planning, or cannot be written.
    """
    try:
        if read_real_file(plan.real) != plan.before:
            raise SkillIoError(
                "the file changed while it was being checked",
                path=plan.path,
                code="changed_while_reading",
                hint="run the command again",
            )
        if not os.access(plan.real, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        atomic_write(plan.real, plan.after)
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=plan.path,
            code="io_error",
            hint="check the permissions of the file and its folder",
        ) from None
