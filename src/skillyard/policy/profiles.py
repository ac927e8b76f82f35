"""Profiles: named roots, scopes, tags and rules of the policy files.

The rules of a profile in several files are combined by the stricter one. The file of a project is a
stranger's text: its roots and scopes count only for a profile that neither the user nor the machine
has, and lie inside of the project.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from skillyard.errors import SkillIoError
from skillyard.io.paths import is_below
from skillyard.policy.places import PROFILE_VARIABLE, user_policy_path
from skillyard.policy.rules import stricter
from skillyard.text import clean_line, shorten

if TYPE_CHECKING:
    from skillyard.policy.decision import Policy
    from skillyard.policy.rules import PolicyFile, Profile

__all__ = ["with_profile"]


def with_profile(
    policy: Policy, name: str, files: Sequence[PolicyFile], project: str, top: str
) -> Policy:
    """Return the policy with a profile of its files.

    ``project`` is the path of the project's file, if it is among them, ``top`` the real path of
    the project's folder. Raises SkillIoError.
    """
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
