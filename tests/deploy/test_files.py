"""What the files of ``deploy/`` name exists: commands, ports, paths, images, secrets, selectors."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from skillyard.cli.grammar import UsageError, parse
from skillyard.serve.runtime.app_context import PROBES
from tests.deploy.files import (
    DEPLOY,
    GUIDE,
    Command,
    commands,
    compose,
    containers,
    instructions,
    pods,
    service_commands,
)
from tests.shared_data import REPOSITORY
from tests.tables import for_each

TEXTS = sorted(
    path
    for path in DEPLOY.rglob("*")
    if path.is_file() and not path.is_symlink() and "secrets" not in path.parts
)
PORT = "8765"
LIVE, READY = "/livez", "/readyz"


def _name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def _where(command: Command) -> str:
    return f"{command.where}: {' '.join(command.arguments[:2])}"


def nodes() -> list[Command]:
    return [command for command in service_commands() if command.arguments[0] == "serve"]


@for_each("command", commands(), ids=_where)
def test_every_command_line_is_one_that_the_program_takes(command: Command) -> None:
    if command.arguments in (["--help"], ["--version"]):
        return
    try:
        parser, _ = parse(command.arguments)
    except UsageError:
        pytest.fail(f"{command.where}: skillyard {shlex.join(command.arguments)}")
    assert command.arguments[: len(parser.words)] == list(parser.words)


def test_everything_asks_for_probes_that_the_service_answers() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in TEXTS)
    ready = re.findall(rf"http://127\.0\.0\.1:{PORT}(/[a-z]*)\"", text)
    ready += re.findall(r"http-check send meth GET uri (\S+)", text)
    assert ready == [READY, READY]  # the image's health check and the proxy's
    (node,) = [container for name, container in containers() if name == "nodes.yaml"]
    probes = {
        name: node[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")
    }
    # A restart helps a node that does not answer, and not one that waits for its catalog.
    assert probes == {
        "startup": {"path": LIVE, "port": "http"},
        "liveness": {"path": LIVE, "port": "http"},
        "readiness": {"path": READY, "port": "http"},
    }
    assert {LIVE, READY} == set(PROBES)


@for_each("path", [*TEXTS, GUIDE], ids=_name)
def test_no_file_holds_a_secret(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"://[^/\s:@\"']+:[^/\s@$]+@", text) == []  # a password in an address
    assert "PRIVATE KEY" not in text
    values = re.findall(r"(?im)^[ ]*(?:- )?(\w*(?:password|token)\w*)[ ]*[:=][ ]*(\S.*)$", text)
    for name, value in values:
        allowed = value.startswith(
            ("/run/secrets/", '"$$(cat ', "replace-me", "false")
        ) or path.suffix in (".py", ".md")
        assert allowed, f"{path.name}: {name}: {value}"


def test_the_entry_point_knows_every_secret_that_a_container_is_given() -> None:
    text = (DEPLOY / "container" / "entrypoint").read_text(encoding="utf-8")
    given: set[str] = set()
    for service in compose()["services"].values():
        if service["image"].startswith("skillyard:"):
            given |= set(service["environment"])
            for name, value in service["environment"].items():
                assert name.endswith("_FILE")
                assert Path(value).name in service["secrets"]
    for _, container in containers():
        given |= {entry["name"] for entry in container["env"]}
    assert given == {"PGPASSWORD_FILE", "SKILLYARD_HTTP_TOKEN_FILE"}
    guide = GUIDE.read_text(encoding="utf-8")
    named = re.search(r"for name in \\\n(.*?); do", text, re.DOTALL)
    assert named is not None
    names = {f"{name}_FILE" for name in named[1].split()}
    assert given <= names
    assert set(re.findall(r"`(\w+_FILE)`", guide)) == names


def test_no_pod_has_more_rights_than_it_needs() -> None:
    found = list(pods())
    assert [name for name, _ in found] == [
        "migrate-job.yaml",
        "nodes.yaml",
        "publish-cronjob.yaml",
    ]
    users = {rest for word, rest in instructions(1) if word == "USER"}
    for name, pod in found:
        rights: dict[str, Any] = pod["securityContext"]
        assert rights["runAsNonRoot"] is True
        assert {f"{rights['runAsUser']}:{rights['runAsGroup']}"} == users, name
        assert rights["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name
            assert {"cpu", "memory"} == set(container["resources"]["requests"])
