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
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from urllib.parse import unquote, urlsplit

from skillyard.base.io.paths import is_below
from skillyard.base.text import clean_line
from skillyard.engine.discovery.hosts import folders_upwards
from skillyard.engine.discovery.layout import Root
from skillyard.engine.discovery.manifests import (
    Problems,
    inner_folder,
    mapping_of,
    read_bounded,
    read_manifest,
    text_of,
    unusable,
)

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
        package = _package_folder(project, name)
        if package is None:
            continue
        path = os.path.join(package, "package.json")
        agents = mapping_of(read_manifest(path, problems), "agents")
        for relative in _declared_paths(agents.get("skills")):
            folder = inner_folder(package, relative, path, problems)
            if folder is not None:
                yield Root(folder, "project")


def _package_folder(project: str, name: str) -> str | None:
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


def _declared_paths(skills: object) -> Iterator[str]:
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
    for site in dict.fromkeys(path for path in paths if path):
        for info in _metadata_folders(site):
            name = info.partition("-")[0].removesuffix(".egg-info")
            key = re.sub(r"[-_.]+", "-", name).lower()
            if key in seen:
                continue
            folder = os.path.join(site, info)
            points = _entry_points(os.path.join(folder, "entry_points.txt"), problems)
            if points:
                seen.add(key)  # the first on the path is the one that Python would import
            for point, value in sorted(points.items()):
                root = _folder_of(site, folder, value, problems)
                if root is not None:
                    yield Root(root, "project")
                    continue
                problems.add(
                    "manifest_path",
                    clean_line(name),
                    f"there is no folder {clean_line(value)!r}, the entry point "
                    f"{clean_line(point)} of {GROUP}",
                    "name a folder of the distribution, without links, by its dotted path",
                )


def _metadata_folders(site: str) -> list[str]:
    try:
        names = os.listdir(site)
    except OSError:  # no such folder, or an archive
        return []
    return sorted(name for name in names if name.endswith((".dist-info", ".egg-info")))


def _entry_points(path: str, problems: Problems) -> dict[str, str]:
    """Return name and value of the entry points in a file that declare folders of skills.

    ``importlib.metadata`` would read a file of any size and any kind.
    """
    data = read_bounded(path, problems)
    if data is None or GROUP.encode() not in data:
        return {}
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names have two cases
    try:
        parser.read_string(data.decode("utf-8"))
    except (ValueError, ConfigParserError) as error:
        unusable(path, f"it is no list of entry points ({error})", problems)
        return {}
    return dict(parser.items(GROUP)) if parser.has_section(GROUP) else {}


def _folder_of(site: str, info: str, value: str, problems: Problems) -> str | None:
    """Return the folder of a dotted path in a distribution, without importing anything.

    ``site`` is the folder on the path, and ``info`` the one of the distribution's metadata.
    """
    if not _DOTTED.fullmatch(value):
        return None
    parts = value.split(".")
    owned = _owns(info, "/".join(parts), problems)
    source = _source_folder(info, problems)
    places = [site] if owned else []
    if source:  # an editable installation has its files elsewhere
        on_path = [path for path in map(os.path.abspath, sys.path) if is_below(path, source)]
        places += [*on_path, os.path.join(source, "src"), source]
    return next((folder for place in places if (folder := _without_links(place, parts))), None)


def _owns(info: str, folder: str, problems: Problems) -> bool:
    """True when the list of a distribution's files has one in the folder, or there is no list."""
    data = read_bounded(os.path.join(info, "RECORD"), problems)
    if data is None:
        return True
    start = f"{folder}/".encode()
    return any(line.lstrip(b'"').startswith(start) for line in data.splitlines())


def _source_folder(info: str, problems: Problems) -> str:
    """Return the folder that an editable installation was made from (PEP 610), else empty."""
    origin = read_manifest(os.path.join(info, "direct_url.json"), problems)
    url = urlsplit(text_of(origin, "url"))
    if mapping_of(origin, "dir_info").get("editable") is not True or url.scheme != "file":
        return ""
    path = unquote(url.path)
    if sys.platform == "win32":
        path = path.lstrip("/")  # file:///C:/source
    return os.path.normpath(path) if os.path.isabs(path) and "\0" not in path else ""


def _without_links(place: str, parts: list[str]) -> str | None:
    """Return a folder below a place, unless one of the folders in between is a link."""
    folder = os.path.join(os.path.realpath(place), *parts)
    if not os.path.isdir(folder) or os.path.realpath(folder) != folder:
        return None
    return os.path.join(os.path.abspath(place), *parts)
