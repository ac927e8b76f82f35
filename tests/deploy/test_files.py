"""What the files of ``deploy/`` name exists: commands, ports, paths, images, secrets, selectors."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from skillyard import __version__
from skillyard.cli.grammar import parse
from skillyard.cli.parser import UsageError
from skillyard.serve.runtime.app_context import PROBES
from tests.deploy.files import (
    CONTAINERFILE,
    DEPLOY,
    GUIDE,
    Command,
    commands,
    compose,
    containers,
    documents,
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
KUBERNETES = DEPLOY / "kubernetes"


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


def test_the_commands_that_start_things_are_all_found() -> None:
    started = [command.arguments[0] for command in service_commands()]
    assert started.count("serve") == 3 + 1 + 2  # compose, Kubernetes, units
    # The schema of compose; migrating or making, and publishing.
    assert started.count("store") == 1 + 3
    assert {command.arguments[0] for command in commands()} >= {"store", "serve", "--version"}


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
def test_every_file_names_the_version_that_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    versions = re.findall(r"skillyard:(\d[\w.]*)|VERSION=(\d[\w.]*)|newTag: (\d[\w.]*)", text)
    assert {"".join(found) for found in versions} <= {__version__}


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


def test_the_example_of_a_secret_is_applied_by_nobody() -> None:
    (example,) = documents(KUBERNETES / "secret.example.yaml")
    assert set(example["stringData"].values()) == {"replace-me"}
    (listed,) = documents(KUBERNETES / "kustomization.yaml")
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    assert files - set(listed["resources"]) == {"migrate-job.yaml", "secret.example.yaml"}
    assert set(listed["resources"]) <= files


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


def test_what_compose_mounts_and_reads_is_there() -> None:
    folder = DEPLOY / "compose"
    whole = compose()
    for name, service in whole["services"].items():
        for volume in service.get("volumes", []):
            source, target, *_ = volume.split(":")
            assert target.startswith("/"), name
            if source.startswith("."):
                assert (folder / source).is_file(), source
            else:
                assert source in whole["volumes"], source
        assert set(service.get("secrets", [])) <= set(whole["secrets"]), name
        assert set(service["networks"]) <= set(whole["networks"]), name
        assert set(service.get("depends_on", [])) <= set(whole["services"]), name
        for value in service.get("environment", {}).values():
            if str(value).startswith("/run/secrets/"):
                assert Path(value).name in service["secrets"], f"{name}: {value}"
    readme = (folder / "README.md").read_text(encoding="utf-8")
    made = re.search(r"for name in (.*); do", readme)
    assert made is not None
    assert set(made[1].split()) == set(whole["secrets"])
    assert "/secrets/\n" in (folder / ".gitignore").read_text(encoding="utf-8")
    over = compose("compose.tls.yaml")["services"]["proxy"]
    for volume in over["volumes"]:
        assert (folder / volume.split(":")[0]).is_file()


def test_what_the_image_copies_is_there_and_not_left_out_of_the_context() -> None:
    kept = (REPOSITORY / ".containerignore").read_text(encoding="utf-8").split("\n")
    beside = CONTAINERFILE.with_name("Containerfile.dockerignore")
    assert beside.resolve() == (REPOSITORY / ".containerignore").resolve()
    copied = [
        source
        for stage in (0, 1)
        for word, rest in instructions(stage)
        if word == "COPY" and "--from=" not in rest
        for source in [part for part in rest.split() if not part.startswith("--")][:-1]
    ]
    assert len(copied) == 11
    for source in copied:
        assert (REPOSITORY / source).exists(), source
        assert f"!{source}" in kept, source
    assert kept[1] == "*"  # everything else is left out
    assert len([line for line in kept if line.startswith("!")]) == len(copied)


def test_what_a_node_writes_lies_on_a_volume_of_its_own() -> None:
    (state,) = [json.loads(rest) for word, rest in instructions(1) if word == "VOLUME"]
    services = compose()["services"]
    own = [services[f"node-{number}"]["volumes"] for number in (1, 2, 3)]
    assert len({volume for (volume,) in own}) == 3
    assert all(volume.endswith(f":{state[0]}") for (volume,) in own)
    (mounts,) = [c["volumeMounts"] for name, c in containers() if name == "nodes.yaml"]
    assert {"name": "state", "mountPath": state[0]} in mounts
    for node in nodes():
        if "--state-dir" in node.arguments:
            folder = node.arguments[node.arguments.index("--state-dir") + 1]
            assert folder.startswith((f"{state[0]}/", "%S/skillyard/8766")), node.where


def test_what_kubernetes_files_refer_to_is_there() -> None:
    (settings,) = documents(KUBERNETES / "settings.yaml")
    (secret,) = documents(KUBERNETES / "secret.example.yaml")
    (account,) = documents(KUBERNETES / "service-account.yaml")
    for name, pod in pods():
        assert pod["serviceAccountName"] == account["metadata"]["name"], name
        mounted = {volume["name"]: volume for volume in pod["volumes"]}
        for container in pod["containers"]:
            assert container["envFrom"] == [{"configMapRef": {"name": "skillyard"}}]
            for variable in re.findall(r"\$\((\w+)\)", " ".join(container["args"])):
                assert variable in settings["data"], f"{name}: {variable}"
            for mount in container["volumeMounts"]:
                assert mount["name"] in mounted or mount["name"] == "state", name
            for entry in container["env"]:
                path = Path(entry["value"])
                assert path.name in secret["stringData"]
                assert path.parent == Path("/run/secrets/skillyard")
        source = mounted["secrets"]["secret"]
        assert source["secretName"] == secret["metadata"]["name"]
        items = {item["key"] for item in source.get("items", [])}
        assert items <= set(secret["stringData"])
    (nodes_,) = documents(KUBERNETES / "nodes.yaml")
    labels = nodes_["spec"]["template"]["metadata"]["labels"]
    services = {s["metadata"]["name"]: s for s in documents(KUBERNETES / "services.yaml")}
    assert nodes_["spec"]["serviceName"] in services
    for service in services.values():
        assert service["spec"]["selector"] == labels
    (budget,) = documents(KUBERNETES / "disruption-budget.yaml")
    assert budget["spec"]["selector"]["matchLabels"] == labels
    (policy,) = documents(KUBERNETES / "network-policy.yaml")
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    (ingress,) = documents(KUBERNETES / "ingress.yaml")
    (rule,) = ingress["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] in services
    assert rule["host"] in nodes_["spec"]["template"]["spec"]["containers"][0]["args"]


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


def test_a_pod_has_the_time_that_its_node_needs_to_stop() -> None:
    (pod,) = [pod for name, pod in pods() if name == "nodes.yaml"]
    (container,) = pod["containers"]
    first = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    drained = 10  # ServiceLimits.drain_s
    assert pod["terminationGracePeriodSeconds"] > first + drained
