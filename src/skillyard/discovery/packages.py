"""Skills that come with installed packages, as the packages declare them.

* A package of npm that the project depends on: ``agents.skills`` in its ``package.json`` is a list
  of ``{"name", "path"}``. Source: onmax/npm-agentskills 3a41aa3c, README.md (read on 2026-11-28).
* A Python distribution: each entry point of the group ``skillyard.skills`` names a folder by its
  dotted path, such as ``guides = "mylib.skills"``. Nothing is imported.

Folders of packages are never searched: only what a manifest names is read.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import metadata

from skillyard.discovery.hosts import folders_upwards
from skillyard.discovery.layout import Root
from skillyard.discovery.manifests import (
    Problems,
    inner_folder,
    mapping_of,
    read_manifest,
    text_of,
)
from skillyard.text import clean_line

__all__ = ["GROUP", "package_roots"]

GROUP = "skillyard.skills"
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies")
_NPM_NAME = re.compile(r"(?:@[^/\\.][^/\\]*/)?[^/\\.@][^/\\]*")
_DOTTED = re.compile(r"\w+(?:\.\w+)*")


def package_roots(folder: str, problems: Problems) -> Iterator[Root]:
    """Yield the folders that packages declare: npm's of the project, then Python's.

    ``folder`` lies in the project. Python's packages are those of the project's ``.venv`` folders
    and of the environment that skillyard runs in.
    """
    above = list(folders_upwards(folder))
    for place in above:
        yield from _of_npm(place, problems)
    paths = [path for place in above for path in _site_packages(os.path.join(place, ".venv"))]
    yield from _of_python([*paths, *sys.path], problems)


def _of_npm(project: str, problems: Problems) -> Iterator[Root]:
    manifest = read_manifest(os.path.join(project, "package.json"), problems)
    names = {name for key in _DEPENDENCIES for name in mapping_of(manifest, key)}
    for name in sorted(names):
        package = _installed(project, name)
        if package is None:
            continue
        path = os.path.join(package, "package.json")
        agents = mapping_of(read_manifest(path, problems), "agents")
        for relative in _declared(agents.get("skills")):
            found = inner_folder(package, relative, path, problems)
            if found is not None:
                yield Root(found, "project")


def _installed(project: str, name: str) -> str | None:
    """Return the folder of a dependency: in the nearest ``node_modules``, as Node looks for it."""
    if not _NPM_NAME.fullmatch(name):
        return None
    place = project
    while True:
        package = os.path.join(place, "node_modules", *name.split("/"))
        if os.path.isdir(package):
            return package
        if os.path.dirname(place) == place:
            return None
        place = os.path.dirname(place)


def _declared(skills: object) -> Iterator[str]:
    for each in skills if isinstance(skills, list) else ():
        path = text_of(each, "path") if isinstance(each, dict) else each
        if isinstance(path, str) and path:
            yield path


def _site_packages(environment: str) -> list[str]:
    """Return the folders of installed packages in a virtual environment."""
    library = os.path.join(environment, "lib")
    try:
        versions = sorted(name for name in os.listdir(library) if name.startswith("python"))
    except OSError:
        versions = []
    places = [os.path.join(library, version, "site-packages") for version in versions]
    return [*places, os.path.join(environment, "Lib", "site-packages")]


def _of_python(paths: list[str], problems: Problems) -> Iterator[Root]:
    seen: set[str] = set()
    for distribution in metadata.distributions(path=[path for path in paths if path]):
        points = [each for each in distribution.entry_points if each.group == GROUP]
        name = clean_line(distribution.name or "") if points else ""
        if not points or name in seen:
            continue
        seen.add(name)  # the first on the path is the one that Python would import
        for point in sorted(points, key=lambda each: each.name):
            folder = _folder_of(distribution, point.value)
            if folder is not None:
                yield Root(folder, "project")
                continue
            problems.add(
                "manifest_path",
                name,
                f"there is no folder {clean_line(point.value)!r}, the entry point "
                f"{clean_line(point.name)} of {GROUP}",
                "name a folder of the distribution by its dotted path",
            )


def _folder_of(distribution: metadata.Distribution, value: str) -> str | None:
    """Return the folder of a dotted path in a distribution, without importing anything."""
    if not _DOTTED.fullmatch(value):
        return None
    parts = value.split(".")
    folder = str(distribution.locate_file(os.path.join(*parts)))
    if os.path.isdir(folder):
        return folder
    for path in sys.path:  # an editable installation has its metadata elsewhere
        folder = os.path.join(path or os.curdir, *parts)
        if os.path.isdir(folder):
            return os.path.abspath(folder)
    return None
