"""A local folder of skills as the content of the fake servers, for trying a client by hand."""

from __future__ import annotations

import os
from hashlib import sha256

from skillyard.base.errors import InvalidInput
from skillyard_testkit.fake_servers import FakeServers
from skillyard_testkit.github.repositories import Repository

__all__ = ["REPOSITORY", "add_library", "fake_installs"]

REPOSITORY = "demo/skills"
_SKIPPED = {".git", "node_modules", "__pycache__"}
_MAX_BYTES = 8 * 1024 * 1024
"""Larger files are left out."""


def add_library(servers: FakeServers, folder: str) -> Repository:
    """Put every folder with a SKILL.md below ``folder`` into the repository ``demo/skills``.

    Each is listed on skills.sh with invented installs, and published on the well-known site: as
    SKILL.md when it is that file alone, as an archive otherwise. Of two folders of one name the
    first by path is listed. Raises InvalidInput when there is no such folder, or no skill in it.
    """
    if not os.path.isdir(folder):
        raise InvalidInput(f"{folder!r} is no folder: give one that holds folders with SKILL.md")
    files = _files(folder)
    skills = sorted(path.rpartition("/")[0] for path in files if path.endswith("/SKILL.md"))
    if not skills:
        raise InvalidInput(f"no folder below {folder!r} holds a SKILL.md")
    repository = servers.add_repository(
        REPOSITORY, {f"skills/{path}": data for path, data in files.items()}
    )
    slugs: set[str] = set()
    for skill in skills:
        slug = skill.rpartition("/")[2]
        if slug in slugs:
            continue
        slugs.add(slug)
        servers.list_skill(REPOSITORY, slug, installs=fake_installs(slug), path=f"skills/{skill}")
        own = {
            path[len(skill) + 1 :]: data
            for path, data in files.items()
            if path.startswith(f"{skill}/")
        }
        servers.add_well_known(slug, own, "archive" if len(own) > 1 else "skill-md")
    return repository


def fake_installs(slug: str) -> int:
    """Return a number from 1 to 100,000 computed from the slug, small ones more often."""
    share = int.from_bytes(sha256(slug.encode("utf-8", "surrogateescape")).digest()[:4], "big")
    number: float = 10.0 ** (5.0 * share / 0xFFFFFFFF)
    return round(number)


def _files(folder: str) -> dict[str, bytes]:
    """Return the regular files below a folder by their paths; links are not followed."""
    files: dict[str, bytes] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            path = os.path.join(here, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            if os.path.getsize(path) <= _MAX_BYTES:
                with open(path, "rb") as file:
                    files[os.path.relpath(path, folder).replace(os.sep, "/")] = file.read()
    return files
