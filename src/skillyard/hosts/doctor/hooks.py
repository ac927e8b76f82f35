"""Check the prompt hook in each host's settings, its index, and the approval of the project."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from skillyard.base.errors import SkillyardError
from skillyard.base.shapes.doctor import Finding
from skillyard.base.text import plural
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.hosts.doctor.finding import ERROR, INFO, OK, WARNING, Request, make_finding
from skillyard.hosts.doctor.library import index_finding
from skillyard.hosts.hook.approval import review_project
from skillyard.hosts.hook.hosts import HOSTS, Host
from skillyard.hosts.hook.installation import SettingsRefused, installed_commands, read_settings
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.trust import project_above, untrusted_skills
from skillyard.hosts.operations.library_index import status_of

_TITLES = {"claude-code": "Claude Code", "codex": "Codex"}
_PROGRAM = re.compile(r"skillyard(\.exe)?")


class InstalledHook(NamedTuple):
    """One skillyard hook command in a host's settings."""

    host: Host
    path: str
    command: str

    @property
    def words(self) -> list[str]:
        """The words of the command as a shell parses them; empty when it cannot be parsed."""
        try:
            return shlex.split(self.command, comments=True)
        except ValueError:
            return []

    @property
    def arguments(self) -> list[str]:
        """What skillyard is given: all after its name, up to an alternative of the shell."""
        words = self.words
        names = (place for place, word in enumerate(words) if _is_program(word))
        given = words[next(names, len(words)) + 1 :]
        return given[: given.index("||")] if "||" in given else given

    @property
    def again(self) -> str:
        """The command that installs this hook again and builds its index."""
        words = ["skillyard", "hook", "install", self.host.name, *self.arguments[2:]]
        if os.path.realpath(self.path) != os.path.realpath(self.host.settings()):
            words += ["--file", self.path]
        return shlex.join(words)


def _is_program(word: str) -> bool:
    return _PROGRAM.fullmatch(os.path.basename(word)) is not None


def hooks(request: Request) -> Iterator[Finding]:
    """Check the settings of every host, then the indexes and the current project."""
    installed: list[InstalledHook] = []
    for host in HOSTS:
        yield from _host(host, request, installed)
    yield from _indexes(request, installed)
    yield _trust(request, is_used=bool(installed))


def _host(host: Host, request: Request, installed: list[InstalledHook]) -> Iterator[Finding]:
    title, name, own = _TITLES[host.name], f"hook.{host.name}", host.settings()
    places = [own]
    if host.name == "claude-code":  # a project's settings may hold hooks as well
        places += [
            os.path.join(folder, host.folder, file)
            for folder in request.project_folders()
            for file in ("settings.json", "settings.local.json")
        ]
    is_reported = False
    for path in dict.fromkeys(map(os.path.abspath, places)):
        try:
            text = read_settings(path, to_change=False).text
            commands = installed_commands(text, path) if text is not None else []
        except SettingsRefused as error:
            message = f"the settings of {title} cannot be used: {error.message}"
            remedy = "Correct the file in an editor."
            yield make_finding(name, ERROR, message, remedy, path=path, line=error.line)
            is_reported = True
            continue
        for command in commands:
            hook = InstalledHook(host, path, command)
            installed.append(hook)
            yield _installed(hook, title, request, text or "")
            is_reported = True
    if is_reported:
        return
    if not os.path.isdir(host.home()):
        message = f"{title} is not set up for this user"
        yield make_finding(name, OK, message, path=own, details={"installed": False})
        return
    yield make_finding(
        name,
        INFO,
        f"the prompt hook is not installed in {title}",
        "Install it if skillyard is to choose a skill for each prompt.",
        f"skillyard hook install {host.name}",
        path=own,
        details={"installed": False},
    )


def _installed(hook: InstalledHook, title: str, request: Request, text: str) -> Finding:
    program = hook.words[0] if hook.words else ""
    resolved = shutil.which(program) if program else None
    details = {"installed": True, "program": program, "resolved": resolved}
    finding = make_finding(f"hook.{hook.host.name}", OK, "", path=hook.path, details=details)
    if resolved is None:
        return replace(
            finding,
            status=ERROR,
            message=f"the hook in {title} starts {program or 'a command'} that is not there",
            remedy="Install the hook again, with the program that is here now.",
            command=hook.again,
        )
    plain = f"skillyard hook install {hook.host.name}"
    library = _hook_library(hook, request)
    if library is None:
        return replace(
            finding,
            status=WARNING,
            message=f"the hook in {title} has arguments that this version does not know",
            remedy="Install the hook again.",
            command=plain,
        )
    for root in library[0]:
        if not os.path.isdir(root):
            return replace(
                finding,
                status=ERROR,
                message=f"the hook in {title} reads {root}, which is not a folder",
                remedy="Restore the folder, or install the hook with another --root.",
                command=plain,
            )
    if off := _switched_off(hook.host, text):
        return replace(
            finding,
            status=WARNING,
            message=f"the hook is installed in {title}, which runs no hooks: {off}",
            remedy="Remove that setting to let the hook run.",
        )
    return replace(
        finding, message=f"the prompt hook is installed in {title} and starts {resolved}"
    )


def _hook_library(
    hook: InstalledHook, request: Request
) -> tuple[tuple[str, ...], str | None] | None:
    """Return the roots of an installed hook and its profile; None for unknown arguments."""
    read = request.read_command(hook.arguments)
    if read is None or read[0].words != ("hook", hook.host.name):
        return None
    return tuple(read[1].root), read[1].library_profile


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


def _indexes(request: Request, installed: list[InstalledHook]) -> Iterator[Finding]:
    """Look at the index of each library that an installed hook answers from."""
    project = project_above(request.folder)
    where = project.path if project else None
    hooks_by_place: dict[LibrarySpec, InstalledHook] = {}
    for hook in installed:
        roots, profile = _hook_library(hook, request) or ((), None)
        try:
            named = tuple(map(os.path.abspath, roots))
            place = library_place(named, where, request.folder, profile)
        except SkillyardError:
            continue  # a broken policy: every command that it binds says so
        hooks_by_place.setdefault(place, hook)
    for place, hook in hooks_by_place.items():
        try:
            status = status_of(place)
        except SkillyardError:
            continue  # the root that is gone is reported with the hook
        command = hook.again
        if place.roots and place.files is None:
            words = [word for root in place.roots for word in ("--root", root)]
            command = shlex.join(["skillyard", "index", "build", *words, "--scope", "user"])
        what = "the index that prompt hooks answer from"
        yield index_finding("index.hook", what, status, command)


def _trust(request: Request, *, is_used: bool) -> Finding:
    """Look at the approval of the current project."""
    project = project_above(request.folder)
    if project is not None:
        review = review_project(project)
        news = [(word, getattr(review, word)) for word in ("added", "changed", "removed")]
        details = {
            "state": "changed" if any(paths for _, paths in news) else "approved",
            "skills": len(review.skills),
            **{word: list(paths) for word, paths in news},
            "refused": [[each.path, each.why] for each in review.refused],
        }
        finding = make_finding("trust", OK, "", path=project.path, details=details)
        if not (review.added or review.changed):
            message = f"this project has {plural(len(review.skills), 'approved skill')}, unchanged"
            if review.refused:
                path, why = review.refused[0].path, review.refused[0].why
                number = len(review.refused)
                message += f"; {number:,} cannot be approved, as {path}: {why}"
            return replace(finding, message=message)
        counts = ", ".join(f"{len(paths):,} {word}" for word, paths in news if paths)
        return replace(
            finding,
            status=WARNING,
            message=f"skills of this project differ from what was approved ({counts}); "
            "prompt hooks do not use those",
            remedy="Read what is new, then approve the project again.",
            command=f"skillyard trust {shlex.quote(project.path)}",
        )
    waiting = untrusted_skills(request.folder)
    if waiting is None:
        message = "this folder has no project skills that wait for approval"
        return make_finding("trust", OK, message, path=request.folder, details={"state": "none"})
    return make_finding(
        "trust",
        WARNING if is_used else INFO,
        "the skills of this project are not approved, so prompt hooks do not use them",
        "Read them, then approve the project.",
        f"skillyard trust {shlex.quote(waiting)}",
        path=waiting,
        details={"state": "waiting"},
    )
