"""Check the prompt hook in each host's settings, its index, and the trusted projects."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.hook.approval import review_project
from skillyard.hook.hosts import HOSTS, Host
from skillyard.hook.installation import installed_commands
from skillyard.hook.library import library_place
from skillyard.hook.settings_file import SettingsRefused, read_settings
from skillyard.hook.trust import project_above, projects, untrusted_skills
from skillyard.index.indexed_catalog import indexing_is_off
from skillyard.index.library_spec import LibrarySpec
from skillyard.text import plural
from skillyard.usecases.doctor.documents import read_document
from skillyard.usecases.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from skillyard.usecases.doctor.programs import resolved_program, skillyard_arguments
from skillyard.usecases.doctor.request import Request
from skillyard.usecases.doctor.storage import index_finding
from skillyard.usecases.library_index import status_of

__all__ = ["hooks"]

_TITLES = {"claude-code": "Claude Code", "codex": "Codex"}
_CORRECT = "Correct the file in an editor; nothing was changed."


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
    def options(self) -> list[str]:
        """The options that the hook was installed with."""
        given = skillyard_arguments(self.words) or []
        end = given.index("||") if "||" in given else len(given)
        return given[2:end]

    @property
    def again(self) -> str:
        """The command that reinstalls this hook and builds its index."""
        words = ["skillyard", "hook", "install", self.host.name, *self.options]
        if os.path.realpath(self.path) != os.path.realpath(self.host.settings()):
            words += ["--file", self.path]
        return shlex.join(words)


def hooks(request: Request) -> Iterator[Finding]:
    """Check the settings of every host, then the trusted projects."""
    installed: list[InstalledHook] = []
    for host in HOSTS:
        yield from _host(host, request, installed)
    if installed:
        yield from _indexes(request, installed)
    yield from _trust(request, is_used=bool(installed))


def _host(host: Host, request: Request, installed: list[InstalledHook]) -> Iterator[Finding]:
    title, name = _TITLES.get(host.name, host.name), f"hook.{host.name}"
    own = host.settings()
    places = [own]
    if host.name == "claude-code":  # a project's settings may hold hooks as well
        places += [
            os.path.join(folder, host.folder, file)
            for folder in request.project_folders()
            for file in ("settings.json", "settings.local.json")
        ]
    ours: list[InstalledHook] = []
    is_broken = False
    for path in dict.fromkeys(map(os.path.abspath, places)):
        try:
            text = read_settings(path, to_change=False).text
            commands = installed_commands(text, path) if text is not None else []
        except SettingsRefused as error:
            is_broken = True
            yield _refused(name, f"the settings of {title}", path, error)
            continue
        installed_here = [InstalledHook(host, path, command) for command in commands]
        ours += installed_here
        if len(installed_here) > 1:
            yield Finding(
                name,
                WARNING,
                f"{title} has the hook {len(installed_here)} times, and asks each of them",
                "Install it again: one takes the place of all.",
                installed_here[0].again,
                path=path,
            )
        elif installed_here:
            yield _installed(installed_here[0], title, request, text or "")
    installed += ours
    if ours or is_broken:
        return
    if not os.path.isdir(host.home()):
        yield Finding(
            name,
            OK,
            f"{title} is not set up for this user",
            path=own,
            details={"installed": False},
        )
        return
    yield Finding(
        name,
        INFO,
        f"the prompt hook is not installed in {title}",
        "Install it if skillyard is to choose a skill for each prompt.",
        f"skillyard hook install {host.name}",
        path=own,
        details={"installed": False},
    )


def _refused(name: str, what: str, path: str, error: SettingsRefused) -> Finding:
    message = f"{what} cannot be used: {error.message}"
    return Finding(name, ERROR, message, _CORRECT, path=path, line=error.line)


def _installed(hook: InstalledHook, title: str, request: Request, text: str) -> Finding:
    program = hook.words[0] if hook.words else ""
    resolved = resolved_program(program) if program else None
    details = {"installed": True, "program": program, "resolved": resolved}
    name = f"hook.{hook.host.name}"
    finding = Finding(name, OK, "", path=hook.path, details=details)
    again = "Install the hook again, with the program that is here now."
    if resolved is None:
        return finding._replace(
            status=ERROR,
            message=f"the hook in {title} starts {program or 'a command'} that is not there",
            remedy=again,
            command=hook.again,
        )
    roots, problem, _ = _hook_library(hook, request)
    if problem:
        return finding._replace(
            status=WARNING,
            message=f"the hook in {title} {problem}",
            remedy=again,
            command=f"skillyard hook install {hook.host.name}",
        )
    for root in roots:
        if not os.path.isdir(root):
            return finding._replace(
                status=ERROR,
                message=f"the hook in {title} reads {root}, which is not a folder",
                remedy="Restore the folder, or install the hook with another --root.",
                command=f"skillyard hook install {hook.host.name}",
            )
    if off := _switched_off(hook.host, text):
        return finding._replace(
            status=WARNING,
            message=f"the hook is installed in {title}, which runs no hooks: {off}",
            remedy="Remove that setting to let the hook run.",
        )
    return finding._replace(
        message=f"the prompt hook is installed in {title} and starts {resolved}"
    )


def _hook_library(hook: InstalledHook, request: Request) -> tuple[tuple[str, ...], str, str | None]:
    """Return the roots of an installed hook, what is wrong with its arguments, and its profile."""
    given = skillyard_arguments(hook.words)
    if given is None or request.read_command is None:
        return (), "", None
    end = given.index("||") if "||" in given else len(given)
    read = request.read_command(given[:end])
    if read is None or read[0].words != ("hook", hook.host.name):
        return (), "is started with arguments that this version does not know", None
    return tuple(read[1].root), "", read[1].library_profile


def _switched_off(host: Host, text: str) -> str:
    """Return the setting that keeps a host from running hooks; empty where none does."""
    if host.name == "claude-code":
        return "disableAllHooks" if _parsed(text).get("disableAllHooks") is True else ""
    try:
        config = read_document(os.path.join(host.home(), "config.toml"), "toml") or {}
    except SettingsRefused:
        return ""  # reported with the MCP registration, which stands in that file
    features = config.get("features")
    off = isinstance(features, dict) and features.get("hooks") is False
    return "features.hooks = false in config.toml" if off else ""


def _parsed(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text.removeprefix("\ufeff"))
    return document


def _indexes(request: Request, installed: list[InstalledHook]) -> Iterator[Finding]:
    """Look at the index of each library that an installed hook answers from."""
    if indexing_is_off():
        return  # reported with the index of the library
    project = project_above(request.folder)
    places: dict[LibrarySpec, InstalledHook] = {}
    for hook in installed:
        roots, _, profile = _hook_library(hook, request)
        named, where = tuple(map(os.path.abspath, roots)), project.path if project else None
        try:
            place = library_place(named, where, request.folder, profile)
        except SkillyardError:
            continue  # a broken policy: every command that it binds says so
        places.setdefault(place, hook)
    for place, hook in places.items():
        try:
            status = status_of(place)
        except SkillyardError:
            continue  # the root that is gone is reported with the hook
        if place.roots and place.files is None:
            words = [word for root in place.roots for word in ("--root", root)]
            command = shlex.join(["skillyard", "index", "build", *words, "--scope", "user"])
        else:
            command = hook.again
        yield index_finding(
            "index.hook", "the index that prompt hooks answer from", status, command
        )


def _trust(request: Request, *, is_used: bool) -> Iterator[Finding]:
    """Look at the approval of the current project, and at approvals of projects that are gone."""
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
        finding = Finding("trust", OK, "", path=project.path, details=details)
        command = f"skillyard trust {shlex.quote(project.path)}"
        if review.added or review.changed:
            counts = ", ".join(f"{len(paths):,} {word}" for word, paths in news if paths)
            yield finding._replace(
                status=WARNING,
                message=f"skills of this project differ from what was approved ({counts}); "
                "prompt hooks do not use those",
                remedy="Read what is new, then approve the project again.",
                command=command,
            )
        else:
            count = plural(len(review.skills), "approved skill")
            yield finding._replace(message=f"this project has {count}, unchanged")
    elif (waiting := untrusted_skills(request.folder)) is not None:
        yield Finding(
            "trust",
            WARNING if is_used else INFO,
            "the skills of this project are not approved, so prompt hooks do not use them",
            "Read them, then approve the project.",
            f"skillyard trust {shlex.quote(waiting)}",
            path=waiting,
            details={"state": "waiting"},
        )
    else:
        yield Finding(
            "trust",
            OK,
            "this folder has no project skills that wait for approval",
            path=request.folder,
            details={"state": "none"},
        )
    for each in projects():
        if not os.path.isdir(each.path):
            yield Finding(
                "trust.gone",
                INFO,
                "an approved project is not there any more",
                "Take the approval back if it will not return.",
                f"skillyard trust {shlex.quote(each.path)} --revoke",
                path=each.path,
            )
