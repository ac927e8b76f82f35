"""The policy files that hold in a folder, the stricter rule counts, and the libraries there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Literal, NamedTuple

from skillyard.base.configuration import config_folder, read_section
from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import is_below
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.roots import LibrarySpec, parse_roots

if TYPE_CHECKING:
    from skillyard.install.policy.decision import AdmissionPolicy, LockedSource
    from skillyard.install.policy.rules import Rules


LOCK_FILE = "skills-lock.json"
POLICY_FILE = "skillyard-policy.toml"
NO_SCOPE = "none"
"""Reads no folder of an agent host."""
MAX_BYTES = 256 * 1024


def system_policy_path() -> str:
    """Return the path of the machine's policy, which users cannot change or leave out."""
    if sys.platform == "win32":
        return r"C:\ProgramData\skillyard\policy.toml"  # a variable could be set by the user
    return "/etc/skillyard/policy.toml"


def user_policy_path() -> str:
    """Return the path of the user's own policy: it can only add to what the others forbid."""
    return os.path.join(config_folder(), "policy.toml")


def find_policy(folder: str | None = None) -> AdmissionPolicy | None:
    """Return the policy that holds in a folder (default: the working folder), or None.

    Its files are the machine's, the user's, and the nearest ``skillyard-policy.toml`` at or above
    the folder, up to the root of the repository. Raises SkillIoError for a file that cannot be
    read.
    """
    try:
        real = os.path.realpath(folder or os.curdir)
    except OSError:
        raise SkillIoError("the current folder is gone", hint="change to another one") from None
    project, lock_folder = _project_file(real)
    places = (system_policy_path(), user_policy_path(), project)
    paths = [path for path in places if path and os.path.lexists(path)]
    if not paths:
        return None
    from skillyard.install.policy.decision import AdmissionPolicy
    from skillyard.install.policy.rules import NO_RULES, stricter

    rules = reduce(stricter, map(_read, paths), NO_RULES)
    policy = AdmissionPolicy(rules, tuple(paths))
    needs_lock = rules.allowed_sources or rules.pins_required or rules.checks_signatures
    if not needs_lock and rules.unlocked != "deny":
        return policy
    locked = _locked(os.path.join(lock_folder, LOCK_FILE))
    return replace(policy, locked=locked, lock_folder=lock_folder)


def _project_file(folder: str) -> tuple[str, str]:
    """Return the nearest policy file, or an empty text, and the folder of the lock."""
    file = lock = ""
    above = folder
    while True:
        names = (POLICY_FILE, LOCK_FILE, ".git")
        policy, locked, root = (os.path.lexists(os.path.join(above, each)) for each in names)
        file = file or (os.path.join(above, POLICY_FILE) if policy else "")
        lock = lock or (above if locked else "")
        parent = os.path.dirname(above)
        if root or parent == above:
            return file, lock or (above if root else folder)
        above = parent


def _read(path: str) -> Rules:
    from skillyard.engine.resources import read_file
    from skillyard.install.policy.rules import parse_policy

    try:
        data = read_file(path, MAX_BYTES).data
    except SkillIoError as fault:
        fault.code, fault.hint = "policy_invalid", "make it a regular file that you can read"
        raise
    if not data:  # a file that is being written is empty for a moment, which must not mean no rules
        hint = "write its rules, or remove the file"
        raise SkillIoError("the policy is empty", path=path, code="policy_invalid", hint=hint)
    return parse_policy(data, path)


def _locked(path: str) -> tuple[LockedSource, ...]:
    """Return what the lock file says of each skill; nothing where there is none."""
    from skillyard.install.copies.lockfile import read_project_lock
    from skillyard.install.policy.decision import locked_source
    from skillyard.install.policy.rules import signer_in_entry

    try:
        skills = read_project_lock(path).skills
    except SkillIoError:
        raise SkillIoError(
            "the policy needs the lock file, which cannot be read",
            path=path,
            code="policy_invalid",
            hint="restore it, for example from version control",
        ) from None
    return tuple(locked_source(each, signer_in_entry(each.to_json())) for each in skills)


class ScopesSection(NamedTuple):
    """The folders of agents that are read."""

    read: tuple[Literal["user", "project", "system"], ...] = ("project", "user")
    """The scopes of every command that names no root and no scope; an empty list for none."""


def holds_home() -> bool:
    """Return True in the home folder and above it, unless it is a project, but everything else."""
    home, here = os.path.realpath(os.path.expanduser("~")), os.path.realpath(os.curdir)
    is_above = home == here or is_below(home, here)
    return is_above and not os.path.lexists(os.path.join(here, ".git"))


def library_spec(
    roots: Sequence[str | os.PathLike[str] | Iterable[str | os.PathLike[str]]],
    scopes: str | Iterable[str] = (),
) -> LibrarySpec:
    """Return the library of a program that works in the current folder, with its policy.

    Without roots the current folder is meant, except :func:`holds_home`, and without scopes those
    of ``skillyard.toml``: by default the agent folders of the project and of the user. The scope
    ``none`` stands for no scope. Raises InvalidInput, and SkillIoError for a policy that cannot be
    read.
    """
    policy = find_policy()
    scope_names = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    if not roots and not scope_names:
        scope_names = read_section("scopes", ScopesSection).read
    paths, names = parse_roots(roots, () if scope_names == (NO_SCOPE,) else scope_names)
    if names and not roots and holds_home():
        paths = ()
    return LibrarySpec(paths, names, policy=policy, find_policy=find_policy)


def load_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: str | Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
    index: bool = True,
) -> Catalog:
    """Load every skill below the roots.

    ``scopes`` adds the folders of agent hosts after the roots: ``project``, ``user``, ``system``.
    Without roots and scopes the current folder is read (not the home folder or one above it), and
    the scopes ``project`` and ``user``, unless ``skillyard.toml`` names others; with the scope
    ``none`` the current folder alone.
    A file that cannot be read becomes a diagnostic and does not affect the others. ``progress`` is
    called repeatedly with (files done, files in all).

    It uses the same index as the command line, in the user's cache folder, which is built or
    updated first. What files become later does not matter to the catalog, but of more than 64 files
    it reads fields beyond the card on first access. ``index=False`` reads every file now and writes
    no index. Else the results are the same.

    Skills that the policy of the current folder refuses are not loaded.

    Raises InvalidSkillsRoot for a root that is not a folder, InvalidInput for an unknown scope, and
    SkillIoError for a policy that cannot be read.
    """
    from skillyard.engine.catalog.snapshot import build_catalog
    from skillyard.engine.index.indexed_catalog import open_library  # an evaluation ranks nothing

    spec = library_spec(roots, scopes)
    if index:
        return open_library(spec, progress=progress, keep=True)
    return build_catalog(spec, spec.scan(), progress=progress)


def open_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
    force_scan: bool = False,
    in_parts: bool = True,
) -> Catalog:
    """Return the catalog of the roots over its index; see :func:`.indexed_catalog.open_library`."""
    from skillyard.engine.index.indexed_catalog import open_library

    spec = library_spec(roots, scopes)
    return open_library(spec, progress=progress, force_scan=force_scan, in_parts=in_parts)
