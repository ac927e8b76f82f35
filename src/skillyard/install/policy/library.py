"""The libraries of a program that works in the current folder, with the policy that holds there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from skillyard.base.configuration import read_section
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.roots import LibrarySpec, parse_roots
from skillyard.engine.index.indexed_catalog import load_library, open_library
from skillyard.install.policy.places import find_policy


class ScopesSection(NamedTuple):
    """The folders of agents that are read."""

    read: tuple[Literal["user", "project", "system", "marketplaces", "packages"], ...] = ()
    """The scopes of every command that names no root and no scope."""


def library_spec(
    roots: Sequence[str | os.PathLike[str] | Iterable[str | os.PathLike[str]]],
    scopes: str | Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    *,
    profile: str | None = None,
) -> LibrarySpec:
    """Return the library of a program that works in the current folder, with its policy.

    Without roots those of the profile are meant, else the current folder; without scopes those of
    the profile, and where no roots are named either, those of ``skillyard.toml``. Raises
    InvalidInput, and SkillIoError for a policy that cannot be read and an unknown profile.
    """
    policy = find_policy(None, profile)
    if not roots and not scopes and (policy is None or not policy.profile):
        scopes = read_section("scopes", ScopesSection).read
    if policy is not None:
        roots = roots or (*policy.own_roots, *policy.project_roots)
        scopes = scopes or policy.scopes
    paths, names = parse_roots(roots, scopes)
    return LibrarySpec(
        paths, names, limits, policy=policy, find_policy=find_policy, profile=profile
    )


def load_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: str | Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
    index: bool = True,
    profile: str | None = None,
) -> Catalog:
    """Load every skill below the roots (default: the current folder).

    ``scopes`` adds the folders of agent hosts after the roots: ``project``, ``user``, ``system``.
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
    spec = library_spec(roots, scopes, limits, profile=profile)
    return load_library(spec, progress=progress, index=index)


def open_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
    force_scan: bool = False,
    in_parts: bool = True,
    profile: str | None = None,
) -> Catalog:
    """Return the catalog of the roots over its index; see :func:`.indexed_catalog.open_library`."""
    spec = library_spec(roots, scopes, limits, profile=profile)
    return open_library(spec, progress=progress, force_scan=force_scan, in_parts=in_parts)
