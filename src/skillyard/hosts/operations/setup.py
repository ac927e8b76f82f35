"""``setup``: the hook and the MCP server in the agents of this machine, the usage log, and back.

Before a file is changed, its bytes are kept in the state folder, so that ``--undo`` restores every
file byte for byte. A file that was changed since loses only what was added to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from shutil import which
from time import monotonic
from typing import Any, NamedTuple

from skillyard.base.configuration import state_folder, user_file
from skillyard.base.errors import SkillIoError
from skillyard.base.extras import install_command
from skillyard.base.io.files import sha256
from skillyard.base.shapes.upkeep import SetupStep
from skillyard.engine.discovery.hosts import expand_pattern
from skillyard.hosts.decisions.files import MAX_BYTES
from skillyard.hosts.hook.hosts import EVENT, HOSTS
from skillyard.hosts.hook.installation import (
    SettingsFile,
    command_parts,
    install,
    installed_commands,
    parse_settings,
    read_settings,
    start_of,
    uninstall,
)
from skillyard.hosts.hook.installation import replace as replace_file
from skillyard.hosts.hook.json_text import NEW as NEW_FILE
from skillyard.hosts.hook.json_text import add_value, remove_value
from skillyard.hosts.hook.prompt import DEFAULT_MS
from skillyard.install.operations.destinations import agents_named

HOOK, MCP, LOG = "hook", "mcp", "log"
NAME = "skillyard"
"""Of the server in every agent's list."""
_ARGUMENTS = ["serve", "--mcp", "stdio"]
LOG_FILE = "decisions.jsonl"
TRIAL_MS = DEFAULT_MS
"""The time limit of the hook's answer to a test request."""


class AgentSetup(NamedTuple):
    """One agent host: where it keeps its settings, and its list of MCP servers."""

    name: str
    title: str
    folder: str
    """There where the agent is used."""
    servers: str
    """JSON with an object ``mcpServers``, or Codex's TOML."""
    more: tuple[tuple[str, Any], ...] = ()
    """What its entries have beside command and arguments."""
    listing: str = ""
    """Its name for ``summary --host``, where its own listing is known."""


_CLAUDE, _CODEX = "${CLAUDE_CONFIG_DIR:-~/.claude}", "${CODEX_HOME:-~/.codex}"
_CLAUDE_SERVERS = "${CLAUDE_CONFIG_DIR:-~}/.claude.json"
_STDIO, _LOCAL = (("type", "stdio"),), (("type", "local"), ("tools", ["*"]))
_COPILOT = "~/.copilot/mcp-config.json"
_WINDSURF = "~/.codeium/windsurf"
AGENTS = (
    AgentSetup("claude-code", "Claude Code", _CLAUDE, _CLAUDE_SERVERS, _STDIO, "claude-code"),
    AgentSetup("codex", "Codex", _CODEX, f"{_CODEX}/config.toml", listing="codex"),
    AgentSetup("cursor", "Cursor", "~/.cursor", "~/.cursor/mcp.json"),
    AgentSetup("gemini-cli", "Gemini CLI", "~/.gemini", "~/.gemini/settings.json"),
    AgentSetup("github-copilot", "Copilot CLI", "~/.copilot", _COPILOT, _LOCAL, "copilot-cli"),
    AgentSetup("windsurf", "Windsurf", _WINDSURF, f"{_WINDSURF}/mcp_config.json"),
)
"""Sources: code.claude.com/docs/en/mcp, developers.openai.com/codex/mcp,
cursor.com/docs/context/mcp, geminicli.com/docs/tools/mcp-server, docs.github.com (Copilot CLI) and
docs.windsurf.com, as of November 2026."""


def agents_here() -> list[AgentSetup]:
    """Return the agents that are used on this machine."""
    return [agent for agent in AGENTS if os.path.isdir(expand_pattern(agent.folder))]


def agents_to_link(folders: Sequence[str]) -> tuple[str, ...]:
    """Return the agents of this machine if none of them finds one of a project's skills.

    ``folders`` are those of the skills. Raises InstallRefused for a link out of the project.
    """
    agents = agents_named(agent.name for agent in agents_here())
    found = any(
        agent.finds(os.path.basename(each), {os.path.realpath(each)})
        for each in folders
        for agent in agents
    )
    return () if found or not folders else tuple(agent.name for agent in agents)


def planned_steps() -> list[SetupStep]:
    """Return what could be set up for the agents that are there, without changing a file."""
    steps = []
    for agent in agents_here():
        steps += [_step(agent, HOOK, host.settings()) for host in HOSTS if host.name == agent.name]
        steps.append(_step(agent, MCP, expand_pattern(agent.servers)))
    log = _step(AgentSetup("", "usage log", "", ""), LOG, user_file())
    steps.append(replace(log, note=_log_note(log.file)))
    return [_looked_at(step) for step in steps]


def _step(agent: AgentSetup, what: str, file: str) -> SetupStep:
    return SetupStep(host=agent.name, title=agent.title, what=what, file=file, state="planned")


def _looked_at(step: SetupStep) -> SetupStep:
    """Return the step, with what speaks against it."""
    if step.what == MCP and find_spec("mcp") is None:
        note = f"the server is not installed: {install_command('serve')}"
        return replace(step, state="unavailable", note=note)
    try:
        text = read_settings(step.file).text
        if not _HAS[step.what](step, text):
            return step
        program = _hook_in(step)[0] if step.what == HOOK else ""
        if os.path.isabs(program) and which(program) is None:  # another was written by the user
            note = f"replaces the one in {step.file}, which starts {program}: that is not there"
            return replace(step, note=note)
        return replace(step, state="present", note="")
    except SkillIoError as error:
        return replace(step, state="refused", note=_why(error))


def _why(error: SkillIoError) -> str:
    where = "" if error.line is None else f"line {error.line}: "
    return f"{where}{error.message}; {error.hint}"


def _log_note(settings: str) -> str:
    size = 2 * MAX_BYTES // 2**20  # the file and FILE.1
    return (
        f"the text of every request is stored in {_log_path()}, up to {size} MiB, for you alone to "
        f"read; to end it, remove [log] from {settings}, or: skillyard setup --undo"
    )


def _hook_in(step: SetupStep) -> tuple[str, list[str]]:
    """Return the program of the hook that is installed, and its arguments; empty without one."""
    commands = installed_commands(read_settings(step.file).text or "{}", step.file)
    return command_parts("".join(commands[:1]))


def _has_server(step: SetupStep, text: str | None) -> bool:
    if step.file.endswith(".toml"):
        return NAME in _toml(step, text).get("mcp_servers", {})
    return NAME in _servers(parse_settings(text, step.file), step.file)


def _has_log(step: SetupStep, text: str | None) -> bool:
    log = _toml(step, text).get("log")
    if log is None or "file" in log:
        return log is not None
    raise SkillIoError(
        "it has a section [log] without a file",
        path=step.file,
        hint=f'add the line file = "{_log_path()}" there',
    )


def _servers(document: dict[str, Any], path: str) -> dict[str, Any]:
    servers = document.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise SkillIoError("mcpServers is no object in it", path=path, hint="mend it by hand")
    return servers


def _toml(step: SetupStep, text: str | None) -> dict[str, Any]:
    try:
        return tomllib.loads((text or "").removeprefix("\ufeff"))
    except ValueError as error:
        raise SkillIoError(f"not TOML: {error}", path=step.file, hint="mend it by hand") from None


def _log_path() -> str:
    return os.path.join(state_folder(), LOG_FILE)


def apply(step: SetupStep) -> SetupStep:
    """Carry out a planned step. A file that cannot be changed makes it ``refused``."""
    try:
        entries, data = _record(), _bytes(step.file)
        before = None if data is None else b64encode(data).decode()
        fields = {"host": step.host, "title": step.title, "what": step.what}
        entry = {"file": step.file, "before": before, "after": "", "step": fields}
        _store([*entries, entry])
        note = _ADD[step.what](step) or step.note
        # As the file is now, to see whether somebody else changes it.
        _store([*entries, {**entry, "after": _digest(_bytes(step.file))}])
        return replace(step, state="done", note=note)
    except SkillIoError as error:
        return replace(step, state="refused", note=_why(error))


def _add_server(step: SetupStep) -> None:
    settings = read_settings(step.file)
    command, *start = start_of()
    arguments = [*start, *_ARGUMENTS]
    if step.file.endswith(".toml"):
        values = {"command": command, "args": arguments}
        _append(step, settings, "mcp_servers.skillyard", values)
        return
    if _has_server(step, settings.text):  # since the step was planned
        return
    (agent,) = (agent for agent in AGENTS if agent.name == step.host)
    entry = {**dict(agent.more), "command": command, "args": arguments}
    replace_file(settings, add_value(settings.text or NEW_FILE, ("mcpServers", NAME), entry))


def _append(
    step: SetupStep, settings: SettingsFile, section: str, values: Mapping[str, object]
) -> None:
    """Append a section to a TOML file; strings of JSON are strings of TOML."""
    old = settings.text or ""
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    apart = "" if not old else "\n" if old.endswith("\n") else "\n\n"
    new = "\n".join([f"{old}{apart}[{section}]", *lines, ""])
    _toml(step, new)  # where the section cannot be appended, nothing is written
    replace_file(settings, new)


def ask_hook(request: str) -> tuple[str, int]:
    """Return what the hook answers to a request in this folder, and after how many milliseconds.

    It runs as a host runs it, but without a session: nothing of a trial is logged.
    """
    host = next((each for each in HOSTS if os.path.isdir(each.home())), HOSTS[0])
    command = [*start_of(), "hook", host.name, "--budget-ms", str(TRIAL_MS)]
    payload = json.dumps({"hook_event_name": EVENT, "cwd": os.getcwd(), "prompt": request})
    start = monotonic()
    process = subprocess.run(command, input=payload.encode(), capture_output=True, check=False)
    milliseconds = round((monotonic() - start) * 1e3)
    output = json.loads(process.stdout or "{}").get("hookSpecificOutput", {})
    return str(output.get("additionalContext", "")), milliseconds


def _record_path() -> str:
    return os.path.join(state_folder(), "setup.json")


def _record() -> list[dict[str, Any]]:
    """Return what every changed file was before. Raises SkillIoError for a damaged record."""
    text = read_settings(_record_path()).text
    try:
        entries = [] if text is None else list(json.loads(text)["files"])
        [(each["file"], each["before"], each["after"], each["step"]) for each in entries]
    except (ValueError, KeyError, TypeError):
        what, hint = "the record of setup is damaged", "`skillyard hook uninstall` needs none"
        raise SkillIoError(what, path=_record_path(), hint=f"remove it; {hint}") from None
    return entries


def _store(entries: list[dict[str, Any]]) -> None:
    """Replace the record, which goes with its last entry. Raises SkillIoError."""
    text = json.dumps({"files": entries}, indent=1) if entries else None
    replace_file(read_settings(_record_path()), text)


def undo() -> Iterator[SetupStep]:
    """Take back what setup changed, last change first; nothing where there is no record."""
    entries = _record()
    for entry in reversed(list(entries)):
        step = SetupStep(file=entry["file"], state="undone", **entry["step"])
        before = None if entry["before"] is None else b64decode(entry["before"])
        try:
            now = _bytes(step.file)
            if now == before:
                step = replace(step, state="absent")
            elif _digest(now) == entry["after"]:
                settings = read_settings(step.file)
                replace_file(settings, None if before is None else before.decode())
            else:
                note = "the file was changed since: only what setup added was removed"
                state = "undone" if _REMOVE[step.what](step) else "absent"
                step = replace(step, note=note, state=state)
            entries.remove(entry)
            _store(entries)
        except SkillIoError as error:
            step = replace(step, state="kept", note=_why(error))
        if step.what == LOG and os.path.exists(_log_path()):
            note = f"what was logged stays until you remove {_log_path()}"
            step = replace(step, note=f"{step.note}; {note}" if step.note else note)
        yield step


def _remove_server(step: SetupStep) -> bool:
    settings = read_settings(step.file)
    if step.file.endswith(".toml"):
        return _remove_section(step, "mcp_servers.skillyard")
    servers = _servers(parse_settings(settings.text, step.file), step.file)
    if NAME in servers:
        path = ("mcpServers", NAME)[: len(servers)]  # the only server goes with its object
        replace_file(settings, remove_value(settings.text or "", path))
    return NAME in servers


def _remove_section(step: SetupStep, section: str) -> bool:
    """Remove one section of a TOML file, to the next header or the end."""
    settings = read_settings(step.file)
    lines = (settings.text or "").splitlines(keepends=True)
    heads = [place for place, line in enumerate(lines) if line.startswith("[")]
    for place in heads:
        if lines[place].strip() == f"[{section}]":
            end = next((each for each in heads if each > place), len(lines))
            replace_file(settings, "".join([*lines[:place], *lines[end:]]))
            return True
    return False


def _bytes(path: str) -> bytes | None:
    text = read_settings(path).text
    return None if text is None else text.encode()


def _digest(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hex()


_HAS: Mapping[str, Callable[[SetupStep, str | None], bool]] = {
    HOOK: lambda step, text: bool(installed_commands(text or "{}", step.file)),
    MCP: _has_server,
    LOG: _has_log,
}
_ADD: Mapping[str, Callable[[SetupStep], str | None]] = {
    HOOK: lambda step: install(step.host, options=tuple(_hook_in(step)[1][2:])).note,
    MCP: _add_server,
    LOG: lambda step: _append(
        step, read_settings(step.file), "log", {"file": _log_path(), "text": True}
    ),
}
_REMOVE: Mapping[str, Callable[[SetupStep], bool]] = {
    HOOK: lambda step: uninstall(step.host).state == "removed",
    MCP: _remove_server,
    LOG: lambda step: _remove_section(step, "log"),
}
"""What each kind of step does with its file."""
