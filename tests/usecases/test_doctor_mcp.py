"""What ``doctor`` says of MCP registrations: there or not, and whether the server can start."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from skillyard.hook.settings_file import SettingsRefused
from skillyard.shapes.encoder import encode
from skillyard.usecases.doctor import documents, mcp_clients
from skillyard.usecases.doctor.installation import Requirement
from tests.requirements import requirement
from tests.usecases.conftest import Doctor, User

CLIENTS = {
    "claude-code": (".claude", ".claude.json", ".mcp.json", "mcpServers"),
    "codex": (".codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers"),
    "cursor": (".cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    "vscode": ("", "", ".vscode/mcp.json", "servers"),
}
SERVE = ["serve", "--mcp", "stdio"]


@pytest.fixture(autouse=True)
def only_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the clients alone; the other subjects have files of their own."""
    monkeypatch.setattr("skillyard.usecases.doctor.SUBJECTS", ("mcp_clients",))


def register(path: Path, key: str, entry: Any, name: str = "skillyard") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".toml":
        text = f"[{key}.{name}]\n" + "".join(
            f"{key} = {json.dumps(value)}\n" for key, value in entry.items()
        )
    else:
        text = json.dumps({key: {name: entry}})
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_absent_then_unregistered_then_registered(
    doctor: Doctor, user: User, client: str
) -> None:
    home, own, project, key = CLIENTS[client]
    name = f"mcp.{client}"
    assert doctor().one(name).status == "ok"
    (user.home / home if home else user.project / ".vscode").mkdir(exist_ok=True)
    found = doctor().one(name)
    assert (found.status, found.details) == ("info", {"registered": False})
    entry = {"command": "skillyard", "args": [*SERVE, str(user.project)]}
    for file in [*([user.home / own] if own else []), user.project / project]:
        register(file, key, entry)
        found = doctor().one(name)
        assert (found.status, found.path) == ("ok", str(file))
        assert str(user.programs / "skillyard") in found.message
        file.unlink()


def test_what_the_remedy_adds_is_a_registration_in_order(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (".claude", ".codex", ".cursor", "app/.vscode"):
        (user.home / folder).mkdir()
    user.add_skill(user.project / "my skills")
    # Where PATH has no skillyard, the whole path of the program is named.
    for path, roots in ((str(user.programs), ()), ("/usr/bin", ("my skills",))):
        monkeypatch.setenv("PATH", f"{path}:/bin")
        for client, (_, own, project, key) in CLIENTS.items():
            file = user.home / own if own else user.project / project
            found = doctor(*roots).one(f"mcp.{client}")
            assert found.status == "info"
            if found.command:
                words = shlex.split(found.command)
                assert words[1:5] == ["mcp", "add", "skillyard", "--"]
                register(file, key, {"command": words[5], "args": words[6:]})
            else:
                assert str(file) in found.remedy
                file.write_text("{" + found.remedy.partition("{")[2], encoding="utf-8")
            assert doctor(*roots).one(f"mcp.{client}").status == "ok"
            file.unlink()


def test_servers_of_one_project_stand_in_claude_codes_own_file(doctor: Doctor, user: User) -> None:
    local = {"mcpServers": {"skillyard": {"command": "skillyard", "args": SERVE}}}
    shape = {"projects": {str(user.project): local, "/elsewhere": 3}}
    (user.home / ".claude.json").write_text(json.dumps(shape), encoding="utf-8")
    assert doctor().one("mcp.claude-code").details["registered"]


def test_a_registration_that_cannot_work_is_told_with_its_reason(
    doctor: Doctor, user: User
) -> None:
    file = user.project / ".cursor" / "mcp.json"
    user.add_skill(user.project / "skills")
    cases: list[tuple[Any, str, str]] = [
        (3, "error", "not a table"),
        ({}, "error", "neither a command nor a url"),
        ({"command": "skillyard", "args": "serve"}, "error", "not a list of texts"),
        ({"command": "/gone/skillyard", "args": SERVE}, "error", "/gone/skillyard"),
        ({"command": "gone", "args": ["skillyard", *SERVE]}, "error", "gone"),
        ({"command": "skillyard", "args": SERVE, "env": {"PATH": "/gone"}}, "error", "not there"),
        ({"command": "skillyard", "args": ["serve"]}, "error", "--mcp stdio"),
        ({"command": "skillyard", "args": ["list"]}, "warning", "not those of an MCP server"),
        ({"command": "skillyard", "args": ["serve", "--odd"]}, "warning", "not those"),
        ({"command": "skillyard", "args": [*SERVE, "/gone"]}, "error", "/gone, which is not"),
        ({"command": "skillyard", "args": [*SERVE, "--root", "gone"]}, "error", "not a folder"),
        ({"command": "skillyard", "args": [*SERVE, "~/skills"]}, "error", "expand `~`"),
        ({"command": "skillyard", "args": SERVE, "disabled": True}, "info", "switched off"),
        ({"command": "skillyard", "args": SERVE}, "ok", ""),
        ({"command": "skillyard", "args": [*SERVE, "skills"]}, "ok", ""),
        ({"command": "skillyard", "args": [*SERVE, "${workspaceFolder}/skills"]}, "ok", ""),
        ({"command": "skillyard", "args": [*SERVE, "${workspaceFolder}/gone"]}, "error", "gone"),
        ({"command": "skillyard", "args": [*SERVE, "${NO_SUCH:-skills}"]}, "ok", ""),
        ({"command": "skillyard", "args": [*SERVE, "${input:folder}"]}, "ok", ""),
        ({"command": "${input:program}", "args": SERVE}, "ok", "was not checked"),
        ({"command": "${userHome}/../bin/skillyard", "args": SERVE}, "ok", "bin/skillyard"),
        ({"command": "python", "args": ["-m", "skillyard", *SERVE]}, "ok", "bin/python"),
        ({"url": "http://127.0.0.1:8765/mcp"}, "ok", "http://127.0.0.1:8765/mcp"),
        ({"url": "http://[x/mcp"}, "ok", "cannot be read"),
    ]
    for entry, status, said in cases:
        register(file, "mcpServers", entry)
        found = doctor().one("mcp.cursor")
        assert (found.status, said in found.message) == (status, True), (entry, found)


def test_a_server_of_another_name_is_known_by_its_command(doctor: Doctor, user: User) -> None:
    file = user.project / ".mcp.json"
    uvx = ["--from", "skillyard[serve]", "skillyard", *SERVE]
    user.add_program(user.programs, "uvx")
    register(file, "mcpServers", {"command": "uvx", "args": uvx}, "skills")
    assert "'skills'" in doctor().one("mcp.claude-code").message
    register(file, "mcpServers", {"command": "uvx", "args": ["other", "serve"]}, "other")
    assert not doctor().one("mcp.claude-code").details["registered"]


def test_a_server_without_its_extra_names_what_to_install(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(user.project / ".mcp.json", "mcpServers", {"command": "skillyard", "args": SERVE})
    monkeypatch.setattr(
        mcp_clients, "missing_of", lambda extra: [Requirement("uvicorn", "", ">=0.40", extra)]
    )
    found = doctor().one("mcp.claude-code")
    assert found.status == "error"
    assert "uvicorn>=0.40" in found.command


def test_nothing_secret_of_a_registration_is_repeated(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {
        "skillyard": {"url": "https://me:hunter2@example.org/mcp?key=hunter2#hunter2"},
        "skillyard-2": {
            "command": "skillyard",
            "args": [*SERVE, "--store", "postgresql://me:hunter2@db/skills"],
            "env": {"SKILLYARD_HTTP_TOKEN": "hunter2"},
            "headers": {"Authorization": "Bearer hunter2"},
        },
        "skillyard-3": {"command": "skillyard", "args": ["serve", "--odd", "hunter2"]},
        "skillyard-4": {"command": "skillyard", "args": [*SERVE, "${API_KEY}"]},
        "skillyard-5": {"command": "${API_KEY}", "args": ["skillyard", *SERVE]},
    }
    monkeypatch.setenv("API_KEY", "hunter2")
    (user.project / ".mcp.json").write_text(json.dumps({"mcpServers": entries}), "utf-8")
    report = doctor()
    statuses = [found.status for found in report.all("mcp.claude-code")]
    assert statuses == ["ok", "ok", "warning", "error", "error"]
    assert "hunter2" not in json.dumps(encode(report.diagnosis))


@requirement("cli:doctor:settings")
def test_a_broken_file_is_an_error_with_its_line(doctor: Doctor, user: User) -> None:
    broken = {
        ".mcp.json": ("mcp.claude-code", '{\n"mcpServers": {\n}', 3),
        ".codex/config.toml": ("mcp.codex", 'model = "x"\n[mcp_servers\n', 2),
        ".cursor/mcp.json": ("mcp.cursor", "{\n// a comment\n/* two\nlines */ oops}", 4),
        ".vscode/mcp.json": ("mcp.vscode", "[]", None),
    }
    for name, (finding, text, line) in broken.items():
        path = user.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        found = doctor().one(finding)
        assert (found.status, found.path, found.line) == ("error", str(path), line)
    for text in ("[" * 100_000, "a = " + "[" * 100_000):
        (user.project / ".codex/config.toml").write_text(text, encoding="utf-8")
        assert doctor().one("mcp.codex").status == "error"


def test_files_of_editors_may_hold_comments_and_trailing_commas(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    text = '{ // one\n "a//": ["/*", 1, /* , */ 2,\n ], "b": "\\",}" /* ] */ , }'
    file.write_text("\ufeff" + text, encoding="utf-8")
    assert documents.read_document(str(file), "jsonc") == {"a//": ["/*", 1, 2], "b": '",}'}
    for odd in ("// //" * 50_000, ",/*" * 50_000, '"\\' * 50_000, "/*" * 50_000):
        file.write_text(odd, encoding="utf-8")  # in time linear in its size
        with pytest.raises(SettingsRefused):
            documents.read_document(str(file), "jsonc")
