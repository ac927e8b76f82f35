"""The policy files that hold in a folder, combined by the stricter rule, and the libraries there.

The rules of a profile are combined with them in the same way, so that it only narrows. The file of
a project is a stranger's text: its roots and scopes count only for a profile that neither the user
nor the machine has, and lie inside of the project.
"""

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
from skillyard.base.text import clean_line, shorten
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.roots import LibrarySpec, parse_roots

if TYPE_CHECKING:
    from skillyard.install.policy.decision import AdmissionPolicy, LockedSource
    from skillyard.install.policy.rules import PolicyFile, Profile


LOCK_FILE = "skills-lock.json"
POLICY_FILE = "skillyard-policy.toml"
NO_SCOPE = "none"
"""Reads no folder of an agent host."""
PROFILE_VARIABLE = "SKILLYARD_PROFILE"
"""The environment variable that names a profile."""
MAX_BYTES = 256 * 1024
"""Maximum size of a policy file."""


def system_policy_path() -> str:
    """Return the path of the machine's policy, which users cannot change or leave out."""
    if sys.platform == "win32":
        return r"C:\ProgramData\skillyard\policy.toml"  # a variable could be set by the user
    return "/etc/skillyard/policy.toml"


def user_policy_path() -> str:
    """Return the path of the user's own policy: it can only add to what the others forbid."""
    return os.path.join(config_folder(), "policy.toml")


def profile_name(name: str | None = None) -> str:
    """Return the name of a profile, None for that of ``SKILLYARD_PROFILE``; empty without one."""
    return os.environ.get(PROFILE_VARIABLE, "") if name is None else name


def find_policy(folder: str | None = None, profile: str | None = None) -> AdmissionPolicy | None:
    """Return the policy that holds in a folder (default: the working folder), or None.

    Its files are the machine's, the user's, and the nearest ``skillyard-policy.toml`` at or above
    the folder, up to the root of the repository. ``profile`` names one of their profiles, empty
    for none; None reads ``SKILLYARD_PROFILE``. Raises SkillIoError for a file that cannot be read,
    an unknown profile, and one whose project names folders outside of itself.
    """
    name = os.environ.get(PROFILE_VARIABLE, "") if profile is None else profile
    try:
        real = os.path.realpath(folder or os.curdir)
    except OSError:
        raise SkillIoError("the current folder is gone", hint="change to another one") from None
    project, lock_folder, top = _project_file(real)
    places = (system_policy_path(), user_policy_path(), project)
    paths = [path for path in places if path and os.path.lexists(path)]
    if not paths and not name:
        return None
    from skillyard.install.policy.decision import AdmissionPolicy
    from skillyard.install.policy.rules import NO_RULES, stricter

    files = [_read(path) for path in paths]
    policy = AdmissionPolicy(
        reduce(stricter, (each.rules for each in files), NO_RULES),
        tuple(paths),
        profiles=tuple(sorted({name for each in files for name in each.profiles})),
    )
    if name:
        policy = _with_profile(policy, name, files, project, top)
    rules = policy.rules
    needs_lock = rules.allowed_sources or rules.pins_required or rules.checks_signatures
    if not needs_lock and rules.unlocked != "deny":
        return policy
    locked = _locked(os.path.join(lock_folder, LOCK_FILE))
    return replace(policy, locked=locked, lock_folder=lock_folder)


def _project_file(folder: str) -> tuple[str, str, str]:
    """Return the nearest policy file, or an empty text, the lock's folder and the project's."""
    file = lock = ""
    home = os.path.realpath(os.path.expanduser("~"))
    above = folder
    while True:
        names = (POLICY_FILE, LOCK_FILE, ".git")
        policy, locked, root = (os.path.lexists(os.path.join(above, each)) for each in names)
        file = file or (os.path.join(above, POLICY_FILE) if policy else "")
        lock = lock or (above if locked else "")
        parent = os.path.dirname(above)
        if root or parent == above:
            # A repository that holds the home folder, as one of dotfiles does, is no project.
            is_project = root and not is_below(f"{home}{os.sep}", above)
            top = above if is_project else os.path.dirname(file) or folder
            return file, lock or (above if root else folder), top
        above = parent


def _read(path: str) -> PolicyFile:
    from skillyard.engine.resources import read_file
    from skillyard.install.policy.rules import parse_policy

    try:
        data = read_file(path, MAX_BYTES).data
    except SkillIoError as error:
        raise SkillIoError(
            f"the policy cannot be read: {error.message}",
            path=path,
            code="policy_invalid",
            hint=f"make it a regular file of at most {MAX_BYTES // 1024} KiB that you can read",
        ) from None
    if not data:  # a file that is being written is empty for a moment, which must not mean no rules
        raise SkillIoError(
            "the policy is empty",
            path=path,
            code="policy_invalid",
            hint="write its rules, or remove the file",
        )
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


def _with_profile(
    policy: AdmissionPolicy, name: str, files: Sequence[PolicyFile], project: str, top: str
) -> AdmissionPolicy:
    """Return the policy with a profile of its files.

    ``project`` is the path of the project's file, if it is among them, ``top`` the real path of
    the project's folder. Raises SkillIoError.
    """
    from skillyard.install.policy.rules import stricter

    parts = [(each.path, each.profiles[name]) for each in files if name in each.profiles]
    if not parts:
        raise _unknown(name, files)
    trusted = [(path, part) for path, part in parts if path != project]
    own = [root for path, part in trusted for root in _folders(path, part)]
    scopes = [scope for _, part in trusted for scope in part.scopes]
    theirs: list[str] = []
    if not trusted:
        ((path, part),) = parts
        _check_project(name, path, part, top)
        theirs = _folders(path, part)
        scopes = list(part.scopes)
    return replace(
        policy,
        rules=reduce(stricter, (part.rules for _, part in parts), policy.rules),
        profile=name,
        own_roots=tuple(dict.fromkeys(own)),
        project_roots=tuple(dict.fromkeys(theirs)),
        scopes=tuple(dict.fromkeys(scopes)),
    )


def _folders(path: str, part: Profile) -> list[str]:
    """Return the roots of a profile as paths from the folder of its file; ``~`` is the home."""
    folder = os.path.dirname(path)
    return [os.path.normpath(os.path.join(folder, os.path.expanduser(root))) for root in part.roots]


def _check_project(name: str, path: str, part: Profile, top: str) -> None:
    for root, folder in zip(part.roots, _folders(path, part), strict=True):
        real = os.path.realpath(folder)
        if real != top and not is_below(real, top):
            raise _outside(name, path, part, f"the root {_shown(root)}")
    for scope in part.scopes:
        if scope != "project":
            raise _outside(name, path, part, f"the scope {scope}")


def _outside(name: str, path: str, part: Profile, what: str) -> SkillIoError:
    error = SkillIoError(
        f"the profile {_shown(name)} names {what}, which lies outside of the project",
        path=path,
        code="policy_invalid",
        hint=f"remove it, or name it in [profiles.{_shown(name)}] of your own {user_policy_path()}",
    )
    error.line = part.line
    return error


def _unknown(name: str, files: Sequence[PolicyFile]) -> SkillIoError:
    known = sorted({_shown(each) for file in files for each in file.profiles})
    where = ", ".join(file.path for file in files) or user_policy_path()
    return SkillIoError(
        f"there is no profile {_shown(name)}",
        path=where,
        code="profile_unknown",
        hint=f"known profiles: {', '.join(known)}"
        if known
        else f"write [profiles.{_shown(name)}] there, or unset {PROFILE_VARIABLE} and --profile",
    )


def _shown(text: str) -> str:
    return shorten(clean_line(text), 80)


class ScopesSection(NamedTuple):
    """The folders of agents that are read."""

    read: tuple[Literal["user", "project", "system"], ...] = ("project", "user")
    """The scopes of every command that names no root and no scope; an empty list for none."""


def library_spec(
    roots: Sequence[str | os.PathLike[str] | Iterable[str | os.PathLike[str]]],
    scopes: str | Iterable[str] = (),
    *,
    profile: str | None = None,
) -> LibrarySpec:
    """Return the library of a program that works in the current folder, with its policy.

    Without roots those of the profile are meant, else the current folder; without scopes those of
    the profile, and where no roots are named either, those of ``skillyard.toml``: by default the
    agent folders of the project and of the user. The scope ``none`` stands for no scope. Raises
    InvalidInput, and SkillIoError for a policy that cannot be read and an unknown profile.
    """
    policy = find_policy(None, profile)
    scope_names = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    if not roots and not scope_names and (policy is None or not policy.profile):
        scope_names = read_section("scopes", ScopesSection).read
    if policy is not None:
        roots = roots or (*policy.own_roots, *policy.project_roots)
        scope_names = scope_names or policy.scopes
    paths, names = parse_roots(roots, () if scope_names == (NO_SCOPE,) else scope_names)
    return LibrarySpec(paths, names, policy=policy, find_policy=find_policy, profile=profile)


def load_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: str | Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
    index: bool = True,
    profile: str | None = None,
) -> Catalog:
    """Load every skill below the roots.

    ``scopes`` adds the folders of agent hosts after the roots: ``project``, ``user``, ``system``.
    Without roots and scopes the current folder is read, and the scopes ``project`` and ``user``,
    unless ``skillyard.toml`` names others; with the scope ``none`` the current folder alone.
    A file that cannot be read becomes a diagnostic and does not affect the others. ``progress`` is
    called repeatedly with (files done, files in all).

    A library of more than 64 files uses the same index as the command line. The index is in the
    user's cache folder, and is built or updated first. Fields beyond the card are then read from
    the skill's file on first access. ``index=False`` reads every file now and writes no
    index. The results are the same.

    Skills that the policy of the current folder refuses are not loaded. ``profile`` names one of
    its profiles, whose roots and scopes are used where none are given; None reads
    ``SKILLYARD_PROFILE``.

    Raises InvalidSkillsRoot for a root that is not a folder, InvalidInput for an unknown scope, and
    SkillIoError for a policy that cannot be read or an unknown profile.
    """
    from skillyard.engine.index.indexed_catalog import load_library  # an evaluation ranks nothing

    spec = library_spec(roots, scopes, profile=profile)
    return load_library(spec, progress=progress, index=index)


def open_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
    force_scan: bool = False,
    in_parts: bool = True,
    profile: str | None = None,
) -> Catalog:
    """Return the catalog of the roots over its index; see :func:`.indexed_catalog.open_library`."""
    from skillyard.engine.index.indexed_catalog import open_library

    spec = library_spec(roots, scopes, profile=profile)
    return open_library(spec, progress=progress, force_scan=force_scan, in_parts=in_parts)
