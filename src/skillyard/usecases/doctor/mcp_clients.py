"""The MCP registrations of skillyard in the settings of each client, and whether they can start.

Files and keys as of November 2026: Claude Code's MCP page (user and local servers in
``~/.claude.json``, project servers in ``.mcp.json``), Codex's configuration reference
(``mcp_servers`` in ``config.toml``), Cursor's and VS Code's MCP pages. No server is started and no
address is contacted.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from skillyard.hook.hosts import host_of
from skillyard.hook.settings_file import SettingsRefused
from skillyard.usecases.doctor.documents import read_document
from skillyard.usecases.doctor.finding import ERROR, INFO, OK, WARNING, Finding
from skillyard.usecases.doctor.installation import missing_of, reinstall_command
from skillyard.usecases.doctor.programs import (
    is_ours,
    own_command,
    own_program,
    resolved_program,
    skillyard_arguments,
)
from skillyard.usecases.doctor.request import Request

__all__ = ["mcp_clients"]

_VARIABLE = re.compile(r"\$\{([^${}]{1,200})\}")
_CORRECT = "Correct the file in an editor."


class Client(NamedTuple):
    """One MCP client and how its settings name servers."""

    name: str
    title: str
    servers: str
    """The key of the table of servers."""
    form: str
    """``json``, ``jsonc`` or ``toml``."""
    project_file: str
    """Below a project's folder."""
    home_folder: str
    """The client's own folder in the home folder; empty: the user has no file that is looked at."""
    program: str = ""
    """The client's program that takes ``mcp add NAME -- COMMAND``; empty: a file is edited."""


CLIENTS = (
    Client("claude-code", "Claude Code", "mcpServers", "json", ".mcp.json", ".claude", "claude"),
    Client("codex", "Codex", "mcp_servers", "toml", ".codex/config.toml", ".codex", "codex"),
    Client("cursor", "Cursor", "mcpServers", "jsonc", ".cursor/mcp.json", ".cursor"),
    Client("vscode", "VS Code", "servers", "jsonc", ".vscode/mcp.json", ""),
)


class Registration(NamedTuple):
    """One skillyard server in a client's settings, recognised by its name or its command."""

    client: Client
    path: str
    name: str
    entry: Any
    folder: str
    """Where the client starts the server: relative paths are below it."""
    is_project: bool
    """It stands in a project's file."""


def mcp_clients(request: Request) -> Iterator[Finding]:
    """Check the settings of every client."""
    for client in CLIENTS:
        registered: list[Registration] = []
        refused: list[Finding] = []
        for path, folder, is_project in _files(client, request):
            try:
                document = read_document(path, client.form)
            except SettingsRefused as error:
                what = f"a settings file of {client.title} cannot be used: {error.message}"
                refused.append(
                    Finding(_id(client), ERROR, what, _CORRECT, path=path, line=error.line)
                )
                continue
            for servers, below in _tables(client, document, folder):
                registered += [
                    Registration(client, path, name, entry, below, is_project)
                    for name, entry in servers.items()
                    if _is_ours(name, entry)
                ]
        yield from refused
        for registration in registered:
            yield _registered(registration, request)
        if not registered and not refused:
            yield _unregistered(client, request)


def _id(client: Client) -> str:
    return f"mcp.{client.name}"


def _files(client: Client, request: Request) -> Iterator[tuple[str, str, bool]]:
    """Yield (file, folder that its servers start in, whether it is a project's)."""
    user = _user_file(client)
    if user:
        yield user, request.folder, False
    for folder in request.project_folders():
        path = os.path.join(folder, client.project_file)
        if not user or os.path.realpath(path) != os.path.realpath(user):
            yield path, folder, True


def _user_file(client: Client) -> str:
    home = os.path.expanduser("~")
    if client.name == "claude-code":
        return os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")
    if client.name == "codex":
        return os.path.join(host_of("codex").home(), "config.toml")
    return os.path.join(home, client.project_file) if client.home_folder else ""


def _tables(
    client: Client, document: dict[str, Any] | None, folder: str
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the tables of servers of a document, with the folder that they start in."""
    if document is None:
        return
    holders = [(document, folder)]
    if client.name == "claude-code":  # servers of one project, in the user's own file
        listed = document.get("projects")
        known = listed if isinstance(listed, dict) else {}
        places = dict.fromkeys([folder, os.path.realpath(folder)])
        holders += [(known[each], each) for each in places if isinstance(known.get(each), dict)]
    for holder, below in holders:
        servers = holder.get(client.servers)
        if isinstance(servers, dict):
            yield servers, below


def _is_ours(name: str, entry: object) -> bool:
    if name.lower() == "skillyard":
        return True
    return isinstance(entry, dict) and skillyard_arguments(_words(entry)) is not None


def _words(entry: Mapping[str, Any]) -> list[str]:
    args = entry.get("args")
    listed = [entry.get("command"), *(args if isinstance(args, list) else [])]
    return [word for word in listed if isinstance(word, str)]


def _unregistered(client: Client, request: Request) -> Finding:
    path = _user_file(client) or os.path.join(request.folder, client.project_file)
    details = {"registered": False}
    if not _is_used(client, request):
        message = f"{client.title} is not set up for this user"
        return Finding(_id(client), OK, message, path=path, details=details)
    remedy, command = _registering(client, path, request)
    return Finding(
        _id(client),
        INFO,
        f"skillyard is not registered as an MCP server in {client.title}",
        remedy,
        command,
        path=path,
        details=details,
    )


def _registering(client: Client, path: str, request: Request) -> tuple[str, str]:
    """Return what registers the server in a client: a sentence, and a command where one does."""
    why = "if the model is to look for skills by itself"
    roots = [os.path.abspath(root) for root in request.roots]
    if client.program:  # its servers start in the current folder
        served = [word for root in roots for word in ("--root", root)]
        start = [*own_command(), "serve", "--mcp", "stdio", *served]
        command = shlex.join([client.program, "mcp", "add", "skillyard", "--", *start])
        return f"Register the server {why}.", command
    served = [word for root in roots or [request.folder] for word in ("--root", root)]
    program, *first = own_command()
    entry = {"command": program, "args": [*first, "serve", "--mcp", "stdio", *served]}
    text = json.dumps({client.servers: {"skillyard": entry}})
    return f"Add this to {path} {why}: {text}", ""


def _is_used(client: Client, request: Request) -> bool:
    if client.name in ("claude-code", "codex"):
        homes = [host_of(client.name).home()]
    else:
        homes = [os.path.join(os.path.expanduser("~"), client.home_folder)]
        homes = homes if client.home_folder else []
    homes += [
        os.path.join(folder, os.path.dirname(client.project_file))
        for folder in request.project_folders()
        if os.path.dirname(client.project_file)
    ]
    return any(os.path.isdir(home) for home in homes)


class _Problem(Exception):
    """What keeps a registered server from working."""

    def __init__(self, message: str, remedy: str, command: str = "", status: str = ERROR) -> None:
        super().__init__(message)
        self.message, self.remedy, self.command, self.status = message, remedy, command, status


def _registered(registration: Registration, request: Request) -> Finding:
    """Return the finding on one registration."""
    details = {"registered": True, "server": registration.name, "project": registration.is_project}
    finding = Finding(_id(registration.client), OK, "", path=registration.path, details=details)
    title = registration.client.title
    try:
        message = _checked(registration, request)
    except _Problem as problem:
        return finding._replace(
            status=problem.status,
            message=f"the server {registration.name!r} in {title} {problem.message}",
            remedy=problem.remedy,
            command=problem.command,
        )
    return finding._replace(message=f"{title} has the server {registration.name!r}: {message}")


def _checked(registration: Registration, request: Request) -> str:
    """Return what a registration starts. Raises _Problem."""
    entry = registration.entry
    if not isinstance(entry, dict):
        raise _Problem("is not a table of settings", _CORRECT)
    if entry.get("enabled") is False or entry.get("disabled") is True:
        raise _Problem("is switched off", "Switch it on in the client or in the file.", status=INFO)
    if "command" not in entry and isinstance(entry.get("url"), str):
        return f"it asks {_address(entry['url'])}, which was not contacted"
    command, args = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not command:
        raise _Problem("has neither a command nor a url", _CORRECT)
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        raise _Problem("has args that are not a list of texts", _CORRECT)
    environment = entry.get("env")
    variables = environment if isinstance(environment, dict) else {}
    word = _expanded(command, registration)
    if "${" in word:
        return "its command holds a variable that only the client knows, so it was not checked"
    paths = {key: value for key, value in variables.items() if isinstance(value, str)}
    program = resolved_program(word, paths, registration.folder)
    if program is None:
        own = own_program()
        remedy = f"Write the whole path of the program{f': {own}' if own else ''}."
        raise _Problem(f"starts {command}, which is not there or cannot be run", remedy)
    if is_ours(program) and (missing := missing_of("serve")):
        names = ", ".join(each.name for each in missing)
        raise _Problem(
            f"cannot start: not installed: {names}",
            "Install the extra `serve`.",
            reinstall_command(missing),
        )
    _check_arguments(skillyard_arguments([command, *args]), registration, request)
    return f"it starts {program}"


def _check_arguments(given: list[str] | None, registration: Registration, request: Request) -> None:
    """Raise _Problem when the arguments do not start a server over a library that is there."""
    if given is None or request.read_command is None:
        return
    read = request.read_command(given)
    if read is None or read[0].words != ("serve",):
        raise _Problem(
            "is started with arguments that are not those of an MCP server",
            "Give it the arguments `serve --mcp stdio ROOT`; `skillyard serve --help` has more.",
            status=WARNING,
        )
    values = read[1]
    if values.mcp != "stdio":
        raise _Problem(
            "is started without `--mcp stdio`, and answers on no standard output",
            "Add `--mcp stdio` to its arguments.",
        )
    named = [values.place] if values.place is not None else []
    _check_roots([*named, *values.root], registration)


def _check_roots(roots: Sequence[str], registration: Registration) -> None:
    """Raise _Problem for a root that is no folder. Variables are named, not their values."""
    for root in roots:
        path = _expanded(root, registration)
        if "${" in path:
            continue  # only the client knows
        if path.startswith("~"):
            raise _Problem(
                f"reads {root}, and no shell is there to expand `~`", "Write the whole path."
            )
        if not os.path.isdir(os.path.join(registration.folder, path)):
            raise _Problem(
                f"reads {root}, which is not a folder",
                "Restore the folder, or write the whole path of another one.",
            )


def _expanded(word: str, registration: Registration) -> str:
    """Return a word with the variables that the client and we both know; others stay."""

    def value(match: re.Match[str]) -> str:
        name, dash, default = match[1].partition(":-")
        if name in ("workspaceFolder", "workspaceRoot"):
            return registration.folder
        if name == "userHome":
            return os.path.expanduser("~")
        known = os.environ.get(name.removeprefix("env:"))
        if known is not None:
            return known
        return default if dash else match[0]

    return _VARIABLE.sub(value, word)


def _address(url: str) -> str:
    """Return a URL without login, query and fragment: they may hold secrets."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"
