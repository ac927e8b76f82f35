"""Diagnose why a skill is not used: what is seen, what the hook does, which settings are wrong.

Checks are read-only: no program is started, no file is written, no address is contacted.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.base.configuration import (
    CONFIG_FILE,
    CONFIG_VARIABLE,
    SECTIONS,
    project_folders,
    read_section,
    record_of,
    user_file,
)
from skillyard.base.errors import (
    InvalidInput,
    InvalidSkillsRoot,
    SkillError,
    SkillIoError,
    SkillyardError,
)
from skillyard.base.shapes.indexes import IndexStatus
from skillyard.base.shapes.upkeep import Diagnosis, Finding
from skillyard.base.text import plural, without_passwords
from skillyard.base.version import __version__
from skillyard.engine.catalog import read_catalog
from skillyard.engine.catalog.entries import Progress
from skillyard.engine.catalog.roots import LibrarySpec, parse_roots
from skillyard.engine.discovery.hosts import HOST_TITLES
from skillyard.engine.discovery.scopes import places_of
from skillyard.engine.ranking.registry import default_scorer, resolve
from skillyard.hosts.hook.hosts import HOSTS, Host
from skillyard.hosts.hook.installation import (
    SettingsRefused,
    command_parts,
    installed_commands,
    read_settings,
)
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.trust import project_above, untrusted_skills
from skillyard.hosts.operations.library_index import STATES, index_status, status_of
from skillyard.hosts.operations.project_trust import review_project
from skillyard.install.policy.library import find_policy, holds_home
from skillyard.install.sources.settings import OFFLINE, load_settings
from skillyard.store.opening import check_kind

CommandReader = Callable[[list[str]], tuple[Any, Any] | None]
"""Reads the arguments of a skillyard command: (command with ``words``, values), or None."""

OK = "ok"
INFO = "info"
"""Works; something optional is not set up, or good to know."""
WARNING = "warning"
"""Works in part, or will surprise."""
ERROR = "error"
"""Something that is set up does not work."""
STATUSES = (OK, INFO, WARNING, ERROR)
_NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


def diagnose(
    roots: Sequence[str],
    scopes: Sequence[str],
    *,
    read_command: CommandReader,
    progress: Progress | None = None,
) -> Diagnosis:
    """Return the state of the library, its index, the prompt hooks and the settings.

    ``roots`` and ``scopes`` are those of ``load_catalog`` (no root: the current folder).
    ``read_command`` reads the arguments of skillyard commands in other programs' settings. Raises
    InvalidInput for an unknown scope, a root that is not a path, and a current folder that is gone.
    """
    paths, names = parse_roots(tuple(roots), scopes)
    try:
        folder = os.getcwd()
    except OSError:
        raise InvalidInput("the current folder is gone; change to another one") from None
    paths = paths if roots else ()
    request = _Request(paths, tuple(dict.fromkeys(names)), folder, read_command, progress)
    findings = tuple(
        replace(finding, message=without_passwords(finding.message))
        for check in (_policy, _folders, _index, _hooks, _trust, _variables, _settings, _scorer)
        for finding in check(request)
    )
    counts = Counter(finding.status for finding in findings)
    return Diagnosis(
        version=__version__, findings=findings, counts={each: counts[each] for each in STATUSES}
    )


class _Request(NamedTuple):
    roots: tuple[str, ...]
    """As they were given; empty: the current folder."""
    scopes: tuple[str, ...]
    folder: str
    """The current folder, absolute."""
    read_command: CommandReader
    progress: Progress | None

    def installed_hooks(self) -> Iterator[tuple[Host, str, str | SettingsRefused, str]]:
        """Yield host, settings file, our command in it or why it cannot be read, and its text."""
        for host in HOSTS:
            places = [host.settings()]
            if host.name == "claude-code":  # a project's settings may hold hooks as well
                places += [
                    os.path.join(folder, host.folder, file)
                    for folder in project_folders(self.folder)
                    for file in ("settings.json", "settings.local.json")
                ]
            for path in dict.fromkeys(map(os.path.abspath, places)):
                try:
                    text = read_settings(path, to_change=False).text
                    for command in [] if text is None else installed_commands(text, path):
                        yield host, path, command, text or ""
                except SettingsRefused as error:
                    yield host, path, error, ""


def _finding(
    id: str, status: str, message: str, remedy: str = "", command: str = "", **more: Any
) -> Finding:
    """Return the result of one check. Texts may hold names from files: clean them before printing.

    ``id`` is the stable name of what was looked at (``hook.codex``), the same whatever the status.
    ``more`` are path, line and details.
    """
    texts = {"id": id, "status": status, "message": message, "remedy": remedy, "command": command}
    return Finding(**{"path": "", "line": None, "details": _NO_DETAILS, **more, **texts})


def _policy(request: _Request) -> Iterator[Finding]:
    try:
        policy = find_policy()
    except SkillIoError as error:
        remedy = f"{error.hint[:1].upper()}{error.hint[1:]}."
        yield _finding("policy", ERROR, error.message, remedy, path=error.path, line=error.line)
        return
    if policy is not None:
        message = f"{plural(len(policy.files), 'policy file')} in force"
        yield _finding("policy", OK, message, details={"files": list(policy.files)})


def _folders(request: _Request) -> Iterator[Finding]:
    """Look into each root, then into the agents' folders of the user and of the scopes."""
    agents = places_of({*request.scopes, "user"}).roots
    of_agents = [_folder(each.path, HOST_TITLES[each.host], OK, request) for each in agents]
    has_skills = any(each.details["counts"]["skills"] for each in of_agents)
    empty = WARNING if request.roots else OK if has_skills else INFO
    for root in request.roots or (() if holds_home() else (".",)):
        if os.path.isdir(root):
            yield _folder(root, "", empty, request)
            continue
        what = "is not a folder" if os.path.lexists(root) else "does not exist"
        remedy = "Name a folder that holds skills with --root."
        yield _finding("root", ERROR, f"the root {root} {what}", remedy, path=root)
    yield from of_agents
    if not agents:
        yield _finding(
            "agent-folder",
            INFO,
            "no agent has a folder of skills in your home folder",
            "Put skills that every project shares into one of them.",
            "mkdir -p ~/.agents/skills",
        )


def _folder(path: str, agent: str, empty: str, request: _Request) -> Finding:
    """Return what a root or an agent's folder holds; ``empty``: the status without skills."""
    catalog = read_catalog(path, progress=request.progress)
    counts = catalog.counts
    severities = Counter(each.severity for each in catalog.diagnostics)
    listed = [plural(severities[each], each) for each in (ERROR, WARNING, INFO) if severities[each]]
    where = f"the folder of {agent}" if agent else f"the root {path}"
    message = f"{where} has {counts.words}"
    message += f"; diagnostics: {', '.join(listed)}" if listed else ""
    details = {
        "agent": agent,
        "counts": counts.to_dict(),
        "diagnostics": {severity: severities[severity] for severity in (ERROR, WARNING, INFO)},
    }
    status, remedy, command = OK, "", ""
    if severities[ERROR]:
        files = len({each.path for each in catalog.diagnostics if each.severity == ERROR})
        message += f"; {plural(files, 'file')} did not load"
        status, remedy = WARNING, "See what is wrong with each file, and correct it."
        command = shlex.join(["skillyard", "check", path])
    elif not counts.skills and empty != OK:
        status, remedy = empty, "Write a skill there, or name the folder of yours with --root."
        command = shlex.join(["skillyard", "new", "my-skill", "--into", path])
    id = "agent-folder" if agent else "root"
    return _finding(id, status, message, remedy, command, path=path, details=details)


def _index(request: _Request) -> Iterator[Finding]:
    try:
        status = index_status(request.roots, request.scopes)
    except InvalidSkillsRoot:
        return  # the root is reported with the library
    except SkillError as error:
        if error.code == "policy_invalid":
            return  # reported with the library
        message = f"the index cannot be read: {error.message}"
        remedy = "Give yourself the right to read it, or name another folder in SKILLYARD_CACHE."
        yield _finding("index", WARNING, message, remedy, path=error.path)
        return
    words = ["skillyard", "index", "build"]
    words += [word for root in request.roots for word in ("--root", root)]
    words += [word for scope in request.scopes for word in ("--scope", scope)]
    yield _index_finding("index", "the index of the library", status, shlex.join(words))


def _index_finding(id: str, what: str, index: IndexStatus, command: str) -> Finding:
    """Return the finding on an index; ``command`` builds it."""
    status = {"current": OK, "damaged": WARNING}.get(index.state, INFO)
    message = f"{what} {STATES[index.state]}"
    if index.state in ("current", "stale"):
        message += f" ({plural(index.skills, 'skill')})"
    if index.problem:
        message += f" ({index.problem})"
    details = {"state": index.state, "skills": index.skills, "bytes": index.bytes}
    finding = _finding(id, status, message, path=index.folder, details=details)
    return finding if status == OK else replace(finding, remedy="Build it now.", command=command)


def _hooks(request: _Request) -> Iterator[Finding]:
    """Check the prompt hook in the settings of every host, then the indexes that they use."""
    missing = {host.name: host for host in HOSTS}
    commands: dict[LibrarySpec, str] = {}
    for host, path, command, text in request.installed_hooks():
        missing.pop(host.name, None)
        if isinstance(command, SettingsRefused):
            message = f"the settings of {HOST_TITLES[host.name]} cannot be used: {command.message}"
            remedy = "Correct the file in an editor."
            yield _finding(
                f"hook.{host.name}", ERROR, message, remedy, path=path, line=command.line
            )
            continue
        hook = _read_hook(host, path, command, request)
        yield _hook(hook, text)
        if hook.library is not None:
            commands.setdefault(hook.library, hook.again)
    for host in missing.values():
        yield _without_hook(host)
    for library, command in commands.items():
        try:
            status = status_of(library)
        except SkillyardError:
            continue  # the root that is gone is reported with the hook
        what = "the index that prompt hooks answer from"
        yield _index_finding("index.hook", what, status, command)


def _without_hook(host: Host) -> Finding:
    title, path = HOST_TITLES[host.name], host.settings()
    status, remedy, command = OK, "", ""
    message = f"{title} is not set up for this user"
    if os.path.isdir(host.home()):
        status, message = INFO, f"the prompt hook is not installed in {title}"
        remedy = "Install it if skillyard is to choose a skill for each prompt."
        command = f"skillyard hook install {host.name}"
    texts = (status, message, remedy, command)
    return _finding(f"hook.{host.name}", *texts, path=path, details={"installed": False})


class _Hook(NamedTuple):
    """One skillyard hook command in a host's settings."""

    host: Host
    path: str
    program: str
    again: str
    """The command that installs this hook again and builds its index."""
    roots: tuple[str, ...] | None
    """None where this version does not know its arguments."""
    library: LibrarySpec | None


def _read_hook(host: Host, path: str, command: str, request: _Request) -> _Hook:
    program, arguments = command_parts(command)
    again = ["skillyard", "hook", "install", host.name, *arguments[2:]]
    if os.path.realpath(path) != os.path.realpath(host.settings()):
        again += ["--file", path]
    read = request.read_command(arguments)
    roots = library = None
    if read is not None and read[0].words == ("hook", host.name):
        roots = tuple(map(os.path.abspath, read[1].root))
        project = project_above(request.folder)
        try:
            library = library_place(roots, project and project.path, request.folder)
        except SkillyardError:
            pass  # a broken policy: every command that it binds says so
    return _Hook(host, path, program, shlex.join(again), roots, library)


def _hook(hook: _Hook, text: str) -> Finding:
    title, name = HOST_TITLES[hook.host.name], hook.host.name
    resolved = shutil.which(hook.program) if hook.program else None
    details = {"installed": True, "program": hook.program, "resolved": resolved}
    install = f"skillyard hook install {name}"
    gone = next((root for root in hook.roots or () if not os.path.isdir(root)), None)
    if resolved is None:
        status = ERROR
        message = f"the hook in {title} starts {hook.program or 'a command'} that is not there"
        remedy, install = "Install the hook again, with the program that is here now.", hook.again
    elif hook.roots is None:
        status = WARNING
        message = f"the hook in {title} has arguments that this version does not know"
        remedy = "Install the hook again."
    elif gone is not None:
        status = ERROR
        message = f"the hook in {title} reads {gone}, which is not a folder"
        remedy = "Restore the folder, or install the hook with another --root."
    elif off := _switched_off(hook.host, text):
        status, install = WARNING, ""
        message = f"the hook is installed in {title}, which runs no hooks: {off}"
        remedy = "Remove that setting to let the hook run."
    else:
        status, remedy, install = OK, "", ""
        message = f"the prompt hook is installed in {title} and starts {resolved}"
    return _finding(
        f"hook.{name}", status, message, remedy, install, path=hook.path, details=details
    )


def _switched_off(host: Host, text: str) -> str:
    """Return the setting that keeps a host from running hooks; empty where none does."""
    if host.name == "claude-code":
        settings: dict[str, Any] = json.loads(text.removeprefix("\ufeff"))
        return "disableAllHooks" if settings.get("disableAllHooks") is True else ""
    try:
        config = read_settings(os.path.join(host.home(), "config.toml"), to_change=False).text
        features = tomllib.loads(config or "").get("features")
    except (SettingsRefused, ValueError):
        return ""
    off = isinstance(features, dict) and features.get("hooks") is False
    return "features.hooks = false in config.toml" if off else ""


def _trust(request: _Request) -> Iterator[Finding]:
    project = project_above(request.folder)
    if project is None:
        yield _untrusted(request)
        return
    review = review_project(project)
    news = {word: list(getattr(review, word)) for word in ("added", "changed", "removed")}
    details = {
        "state": "changed" if any(news.values()) else "approved",
        "skills": len(review.skills),
        **news,
        "refused": [[each.path, each.why] for each in review.refused],
    }
    status, remedy, command = OK, "", ""
    message = f"this project has {plural(len(review.skills), 'approved skill')}, unchanged"
    if review.added or review.changed:
        counts = ", ".join(f"{len(paths):,} {word}" for word, paths in news.items() if paths)
        status, remedy = WARNING, "Read what is new, then approve the project again."
        message = (
            f"skills of this project differ from what was approved ({counts}); "
            "prompt hooks do not use those"
        )
        command = shlex.join(["skillyard", "trust", project.path])
    elif review.refused:
        path, why = review.refused[0].path, review.refused[0].why
        message += f"; {len(review.refused):,} cannot be approved, as {path}: {why}"
    yield _finding("trust", status, message, remedy, command, path=project.path, details=details)


def _untrusted(request: _Request) -> Finding:
    waiting = untrusted_skills(request.folder)
    if waiting is None:
        message = "this folder has no project skills that wait for approval"
        return _finding("trust", OK, message, path=request.folder, details={"state": "none"})
    is_used = any(isinstance(command, str) for _, _, command, _ in request.installed_hooks())
    return _finding(
        "trust",
        WARNING if is_used else INFO,
        "the skills of this project are not approved, so prompt hooks do not use them",
        "Read them, then approve the project.",
        shlex.join(["skillyard", "trust", waiting]),
        path=waiting,
        details={"state": "waiting"},
    )


VARIABLES = frozenset(
    {
        *("SKILLYARD_CACHE", "SKILLYARD_STATE", "SKILLYARD_STORE", "SKILLYARD_TOOLS"),
        *(CONFIG_VARIABLE, "SKILLYARD_HTTP_TOKEN", OFFLINE),
    }
)
"""The variables of skillyard's own. No value of one is reported."""


def _variables(_: _Request) -> Iterator[Finding]:
    for name in sorted(os.environ):
        if not name.startswith("SKILLYARD_") or name in VARIABLES:
            continue
        near = get_close_matches(name, sorted(VARIABLES), 1, 0.8)
        guess = f"; did you mean {near[0]}?" if near else ""
        yield _finding(
            "environment.unknown",
            WARNING if near else INFO,
            f"{name} is set, and skillyard does not read it{guess}",
            "Correct its name or remove it: all other settings are keys of skillyard.toml.",
            details={"name": name},
        )


def _settings(_: _Request) -> Iterator[Finding]:
    path = user_file()
    try:
        for name in SECTIONS:
            read_section(name, record_of(name))
        sources = load_settings()
    except SkillyardError as error:
        where = error if isinstance(error, SkillError) else SkillError(str(error), path=path)
        message = f"the configuration cannot be used: {where.message}"
        remedy = where.hint or "Correct the file, or the variable that names it."
        yield _finding("settings", ERROR, message, remedy, path=where.path, line=where.line)
        return
    for key, value, check in (
        ("store.url", read_section("store", record_of("store")).url, check_kind),
        ("sources.ranker", sources.ranker, resolve),
    ):
        try:
            if value:
                check(value)
        except SkillyardError:  # its text may repeat the value
            message = f"the value of {key} cannot be used"
            remedy = f"Correct {key} in skillyard.toml, or install what it needs."
            yield _finding("settings", ERROR, message, remedy, path=path)
            return
    places = (path, *(os.path.join(each, CONFIG_FILE) for each in project_folders(".")))
    files = [each for each in places if os.path.isfile(each)]
    message = "skillyard.toml can be read" if files else "no skillyard.toml; the defaults hold"
    yield _finding("settings", OK, message, path=files[0] if files else path)


def _scorer(_: _Request) -> Iterator[Finding]:
    try:
        name = default_scorer()
    except SkillyardError:
        remedy = "Correct scorer.name in skillyard.toml, or install what it names."
        yield _finding("scorer", ERROR, "the default scorer cannot be used", remedy)
    else:
        yield _finding("scorer", OK, f"the default scorer is {name}")
