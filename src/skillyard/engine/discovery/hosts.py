"""The folders in which agent hosts keep skills: one table, and the paths that it gives.

A pattern is a path with ``/``. One that begins with ``~/`` lies in the home folder,
``${NAME:-~/x}`` is an environment variable with its default, a relative one lies below each folder
from the working directory up to that of the repository, and ``*`` stands for one folder of any
name. The page ``docs/reference/hosts.md`` is made from this table.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from skillyard.base.configuration import note_path, write_note
from skillyard.base.io.files import PlaceStamp, is_below, place_stamp
from skillyard.engine.discovery.layout import Root

HOST_SCOPES = ("project", "user", "system")
"""The scopes in the order of their precedence: the nearest folder wins."""


class HostSource(NamedTuple):
    """The source of a row of the table, and the date when it was read."""

    title: str
    date: str


class HostFolder(NamedTuple):
    """One row: a folder in which a host looks for skills."""

    host: str
    """The name that ``npx skills --agent`` has for the host."""
    scope: str
    """One of :data:`HOST_SCOPES`."""
    system: str
    """``linux``, ``macos``, ``windows``; empty for every system."""
    pattern: str
    source: HostSource

    @property
    def variable(self) -> str:
        """The environment variable that moves the folder; empty when there is none."""
        match = _VARIABLE.match(self.pattern)
        return match[1] if match else ""


_VARIABLE = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")

_SKILLS_CLI = HostSource("vercel-labs/skills 1.7.4, src/agents.ts", "2026-10-19")
_SKILLS_CLI_MAIN = HostSource("vercel-labs/skills 007a5332, src/agents.ts", "2026-11-28")
_CLAUDE = HostSource("code.claude.com/docs/en/skills", "2026-11-28")
_CODEX = HostSource("openai/codex c9d127cf, codex-rs/core-skills/src/loader.rs", "2026-11-28")
_COPILOT = HostSource("docs.github.com/en/copilot, create-skills", "2026-11-28")
_CURSOR = HostSource("cursor.com/docs/context/skills", "2026-11-28")
_GEMINI = HostSource("google-gemini/gemini-cli 5411f113, packages/core/src/skills", "2026-08-21")
_GOOSE = HostSource("block/goose, guides/context-engineering/using-skills", "2026-11-28")
_OPENCODE = HostSource("opencode.ai/docs/skills", "2026-11-28")
_WINDSURF = HostSource("docs.windsurf.com/windsurf/cascade/skills", "2026-11-28")

# The folders of the first releases: their order decides which of two copies is listed.
_FIRST = """
    universal | ~/.agents/skills
    universal | ${XDG_CONFIG_HOME:-~/.config}/agents/skills
    claude-code | ${CLAUDE_CONFIG_DIR:-~/.claude}/skills
    codex | ${CODEX_HOME:-~/.codex}/skills
    github-copilot | ~/.copilot/skills
    cursor | ~/.cursor/skills
    gemini-cli | ~/.gemini/skills
    opencode | ${XDG_CONFIG_HOME:-~/.config}/opencode/skills
"""

# host | title | project | user
_HOSTS = """
    universal | agents | .agents/skills | ${XDG_CONFIG_HOME:-~/.config}/agents/skills
    aider-desk | AiderDesk | .aider-desk/skills | ~/.aider-desk/skills
    amp | Amp | .agents/skills | ${XDG_CONFIG_HOME:-~/.config}/agents/skills
    antigravity | Antigravity | .agents/skills | ~/.gemini/antigravity/skills
    antigravity-cli | Antigravity CLI | .agents/skills | ~/.gemini/antigravity-cli/skills
    astrbot | AstrBot | data/skills | ~/.astrbot/data/skills
    autohand-code | Autohand Code CLI | .autohand/skills | ${AUTOHAND_HOME:-~/.autohand}/skills
    augment | Augment | .augment/skills | ~/.augment/skills
    bob | IBM Bob | .bob/skills | ~/.bob/skills
    claude-code | Claude Code | .claude/skills | ${CLAUDE_CONFIG_DIR:-~/.claude}/skills
    openclaw | OpenClaw | skills | ~/.openclaw/skills
    cline | Cline | .agents/skills | ~/.agents/skills
    codearts-agent | CodeArts Agent | .codeartsdoer/skills | ~/.codeartsdoer/skills
    codebuddy | CodeBuddy | .codebuddy/skills | ~/.codebuddy/skills
    codemaker | Codemaker | .codemaker/skills | ~/.codemaker/skills
    codestudio | Code Studio | .codestudio/skills | ~/.codestudio/skills
    codex | Codex | .agents/skills | ~/.agents/skills
    command-code | Command Code | .commandcode/skills | ~/.commandcode/skills
    continue | Continue | .continue/skills | ~/.continue/skills
    cortex | Cortex Code | .cortex/skills | ~/.snowflake/cortex/skills
    crush | Crush | .crush/skills | ~/.config/crush/skills
    cursor | Cursor | .agents/skills | ~/.cursor/skills
    deepagents | Deep Agents | .agents/skills | ~/.deepagents/agent/skills
    devin | Devin for Terminal | .devin/skills | ${XDG_CONFIG_HOME:-~/.config}/devin/skills
    dexto | Dexto | .agents/skills | ~/.agents/skills
    droid | Droid | .agents/skills | ~/.factory/skills
    eve | Eve | agent/skills
    firebender | Firebender | .agents/skills | ~/.firebender/skills
    forgecode | ForgeCode | .forge/skills | ~/.forge/skills
    fx | fx | .agents/skills | ~/.agents/skills
    gemini-cli | Gemini CLI | .agents/skills | ~/.gemini/skills
    github-copilot | GitHub Copilot | .agents/skills | ~/.copilot/skills
    goose | Goose | .goose/skills | ${XDG_CONFIG_HOME:-~/.config}/goose/skills
    grok | Grok Build | .grok/skills | ${GROK_HOME:-~/.grok}/skills
    hermes-agent | Hermes Agent | .hermes/skills | ${HERMES_HOME:-~/.hermes}/skills
    inference-sh | inference.sh | .inferencesh/skills | ~/.inferencesh/skills
    jazz | Jazz | .jazz/skills | ~/.jazz/skills
    junie | Junie | .junie/skills | ~/.junie/skills
    iflow-cli | iFlow CLI | .iflow/skills | ~/.iflow/skills
    kilo | Kilo Code | .agents/skills | ~/.kilo/skills
    kimchi | Kimchi | .kimchi/skills | ~/.config/kimchi/harness/skills
    kimi-code-cli | Kimi Code CLI | .agents/skills | ~/.agents/skills
    kiro-cli | Kiro CLI | .kiro/skills | ~/.kiro/skills
    kode | Kode | .kode/skills | ~/.kode/skills
    lingma | Lingma | .lingma/skills | ~/.lingma/skills
    loaf | Loaf | .agents/skills | ~/.agents/skills
    mcpjam | MCPJam | .mcpjam/skills | ~/.mcpjam/skills
    minimax-code | MiniMax Code | .minimax/skills | ~/.minimax/skills
    mistral-vibe | Mistral Vibe | .vibe/skills | ${VIBE_HOME:-~/.vibe}/skills
    moxby | Moxby | .moxby/skills | ~/.moxby/skills
    mux | Mux | .mux/skills | ~/.mux/skills
    opencode | OpenCode | .agents/skills | ${XDG_CONFIG_HOME:-~/.config}/opencode/skills
    openhands | OpenHands | .openhands/skills | ~/.openhands/skills
    ona | Ona | .ona/skills | ~/.ona/skills
    pi | Pi | .agents/skills | ~/.agents/skills
    posit-assistant | Posit Assistant | .posit/assistant/skills | ~/.posit/assistant/skills
    qoder | Qoder | .qoder/skills | ~/.qoder/skills
    qoder-cn | Qoder CN | .qoder/skills | ~/.qoder-cn/skills
    qwen-code | Qwen Code | .qwen/skills | ~/.qwen/skills
    replit | Replit | .agents/skills | ${XDG_CONFIG_HOME:-~/.config}/agents/skills
    reasonix | Reasonix | .reasonix/skills | ~/.reasonix/skills
    rovodev | Rovo Dev | .rovodev/skills | ~/.rovodev/skills
    roo | Roo Code | .roo/skills | ~/.roo/skills
    sarvam-code | Sarvam Code | .agents/skills | ~/.agents/skills
    tabnine-cli | Tabnine CLI | .tabnine/agent/skills | ~/.tabnine/agent/skills
    terramind | Terramind | .terramind/skills | ~/.terramind/skills
    tinycloud | Tinycloud | .tinycloud/skills | ~/.tinycloud/skills
    trae | Trae | .trae/skills | ~/.trae/skills
    trae-cn | Trae CN | .trae/skills | ~/.trae-cn/skills
    warp | Warp | .agents/skills | ~/.agents/skills
    windsurf | Windsurf | .windsurf/skills | ~/.codeium/windsurf/skills
    zed | Zed | .agents/skills | ~/.agents/skills
    zcode | ZCode | .zcode/skills | ~/.zcode/skills
    zencoder | Zencoder | .zencoder/skills | ~/.zencoder/skills
    zenflow | Zenflow | .zencoder/skills | ~/.zencoder/skills
    neovate | Neovate | .neovate/skills | ~/.neovate/skills
    pochi | Pochi | .pochi/skills | ~/.pochi/skills
    promptscript | PromptScript | .agents/skills
    adal | AdaL | .adal/skills | ~/.adal/skills
"""

# host | title | project | user, of what the installer writes on its main branch only
_MAIN = """
    codewhale | CodeWhale | .codewhale/skills | ${CODEWHALE_HOME:-~/.codewhale}/skills
    codex | Codex | .agents/skills | ${CODEX_HOME:-~/.codex}/skills
    eve | Eve | agent/subagents/*/skills
    fx | fx | .fx/skills | ~/.fx/skills
    openclaw | OpenClaw | skills | ~/.clawdbot/skills
    openclaw | OpenClaw | skills | ~/.moltbot/skills
    pi | Pi | .pi/skills | ~/.pi/agent/skills
"""

# host | scope | system | folder, of what hosts read besides the folders that the installer writes
_MORE = """
    claude-code | system | linux | /etc/claude-code/.claude/skills
    claude-code | system | macos | /Library/Application Support/ClaudeCode/.claude/skills
    claude-code | system | windows | C:/Program Files/ClaudeCode/.claude/skills
    codex | project |  | .codex/skills
    codex | system | linux | /etc/codex/skills
    codex | system | macos | /etc/codex/skills
    github-copilot | project |  | .github/skills
    github-copilot | project |  | .claude/skills
    github-copilot | user |  | ~/.claude/skills
    github-copilot | user |  | ~/.agents/skills
    cursor | project |  | .cursor/skills
    cursor | project |  | .claude/skills
    cursor | project |  | .codex/skills
    cursor | user |  | ~/.agents/skills
    cursor | user |  | ~/.claude/skills
    cursor | user |  | ~/.codex/skills
    gemini-cli | project |  | .gemini/skills
    gemini-cli | user |  | ~/.agents/skills
    goose | project |  | .claude/skills
    goose | project |  | .agents/skills
    goose | user |  | ~/.claude/skills
    goose | user |  | ${XDG_CONFIG_HOME:-~/.config}/agents/skills
    opencode | project |  | .opencode/skills
    opencode | project |  | .claude/skills
    opencode | user |  | ~/.claude/skills
    opencode | user |  | ~/.agents/skills
    windsurf | project |  | .agents/skills
    windsurf | user |  | ~/.agents/skills
    windsurf | system | linux | /etc/windsurf/skills
    windsurf | system | macos | /Library/Application Support/Windsurf/skills
    windsurf | system | windows | C:/ProgramData/Windsurf/skills
"""
_SOURCES = {
    "claude-code": _CLAUDE,
    "codex": _CODEX,
    "github-copilot": _COPILOT,
    "cursor": _CURSOR,
    "gemini-cli": _GEMINI,
    "goose": _GOOSE,
    "opencode": _OPENCODE,
    "windsurf": _WINDSURF,
}


def _cells(table: str) -> Iterator[list[str]]:
    for line in table.strip().splitlines():
        yield [cell.strip() for cell in line.split("|")]


def _rows() -> Iterator[HostFolder]:
    for host, pattern in _cells(_FIRST):
        yield HostFolder(host, "user", "", pattern, _SKILLS_CLI)
    for source, table in ((_SKILLS_CLI, _HOSTS), (_SKILLS_CLI_MAIN, _MAIN)):
        for host, _, *patterns in _cells(table):
            for scope, pattern in zip(HOST_SCOPES, patterns, strict=False):
                yield HostFolder(host, scope, "", pattern, source)
    for host, scope, system, pattern in _cells(_MORE):
        yield HostFolder(host, scope, system, pattern, _SOURCES[host])


def _distinct(rows: Iterable[HostFolder]) -> tuple[HostFolder, ...]:
    first: dict[tuple[str, ...], HostFolder] = {}
    for row in rows:
        first.setdefault(row[:4], row)
    return tuple(first.values())


HOST_FOLDERS = _distinct(_rows())
"""The table: each (host, scope, system, pattern) once, in the order in which folders win."""
HOST_TITLES: Mapping[str, str] = {
    host: title for table in (_MAIN, _HOSTS) for host, title, *_ in _cells(table)
}
"""What people call each host, by its name in the table."""


def host_roots(
    scopes: Iterable[str], *, folder: str = ".", looked_at: dict[str, PlaceStamp] | None = None
) -> tuple[Root, ...]:
    """Return the folders of hosts that exist, each once: project, then user, then system.

    Project folders are those of ``folder`` and of each folder above it up to that of its
    repository, the nearest first. Every path is put into ``looked_at``.
    """
    looked_at = {} if looked_at is None else looked_at
    bases = {"project": tuple(folders_upwards(folder)), "user": ("",), "system": ("",)}
    roots: dict[str, Root] = {}
    for scope in (each for each in HOST_SCOPES if each in set(scopes)):
        rows = [row for row in HOST_FOLDERS if row.scope == scope]
        rows = [row for row in rows if row.system in ("", _system())]
        for base in bases[scope]:
            for row in rows:
                place = _join(base, expand_pattern(row.pattern))
                looked_at[place] = place_stamp(place)
                for path in _matches(place):
                    roots.setdefault(path, Root(path, scope, row.host))
    return tuple(roots.values())


def expand_pattern(pattern: str) -> str:
    """Return a pattern with its variable and the home folder put in.

    A variable with a relative path is ignored, as the XDG specification requires: it would make a
    folder of each project one of the user's, whose skills need no approval.
    """

    def value(match: re.Match[str]) -> str:
        path = os.environ.get(match[1], "").strip()
        return path if os.path.isabs(path) or path.startswith("~/") else match[2]

    path = _VARIABLE.sub(value, pattern)
    if not path.startswith("~/"):
        return path
    return os.path.join(os.environ.get("HOME") or os.path.expanduser("~"), path[2:])


def user_folders(hosts: Iterable[str] | None = None) -> dict[str, str]:
    """Return the user's folders of some hosts, or of all: path to the name of its first host."""
    folders: dict[str, str] = {}
    for row in HOST_FOLDERS:
        if row.scope == "user" and (hosts is None or row.host in hosts):
            folders.setdefault(expand_pattern(row.pattern), row.host)
    return folders


def is_read_by(host: str, path: str) -> bool:
    """True for a file in one of the host's own folders, of a project or of the user."""
    path = path.replace("\\", "/")
    return any(
        f"/{row.pattern}/" in path
        if row.scope == "project"
        else path.startswith(expand_pattern(row.pattern) + "/")
        for row in HOST_FOLDERS
        if row.host == host
    )


def folders_upwards(folder: str) -> Iterator[str]:
    """Yield the folder and those above it up to that of its repository; without one, itself."""
    folder = os.path.abspath(folder)
    above = [folder]
    while not os.path.lexists(os.path.join(above[-1], ".git")):
        parent = os.path.dirname(above[-1])
        if parent == above[-1]:
            return iter([folder])
        above.append(parent)
    return iter(above)


def _join(base: str, path: str) -> str:
    if not base:
        return path
    return f"{base.rstrip('/')}/{path.lstrip('/')}"


def _matches(pattern: str) -> list[str]:
    """Return the folders that a path with at most one ``*`` stands for, sorted."""
    before, star, after = pattern.partition("/*/")
    if not star:
        return [pattern] if os.path.isdir(pattern) else []
    try:
        names = sorted(os.listdir(before))
    except OSError:
        return []
    paths = (f"{before}/{name}/{after}" for name in names)
    return [path for path in paths if os.path.isdir(path)]


def _system() -> str:
    names = {"win32": "windows", "darwin": "macos"}
    return names.get(sys.platform, "linux")


def note_added_source(folder: str) -> None:
    """Note that the user added a skill from a folder of this machine; links must be resolved."""
    write_note(note_path(folder, "sources"), "")


def may_read_source(folder: str, project: str) -> bool:
    """True for a folder of the project's repository, and one that the user added a skill from.

    A link or a lock entry may lead there. Both may come with a clone, so neither says by itself
    that the user knows the folder.

    Links in ``folder`` must be resolved. Where the repository holds the home folder, as one of
    dotfiles does, or there is none, it must lie in the project itself.
    """
    home, project = os.path.realpath(os.path.expanduser("~")), os.path.realpath(project)
    above = [each for each in folders_upwards(project) if not is_below(f"{home}{os.sep}", each)]
    root = above[-1] if above else project
    return folder == root or is_below(folder, root) or os.path.isfile(note_path(folder, "sources"))
