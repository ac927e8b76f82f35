"""Every file of ``deploy/`` passes the linter of its kind, from schemas that came with it.

``make deploy-check`` brings the linters, in an environment of their own; elsewhere these tests are
skipped. Nothing is fetched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_data import REPOSITORY
from tests.tables import for_each

DEPLOY = REPOSITORY / "deploy"
NEEDED = os.environ.get("SKILLYARD_DEPLOY") == "1"
RULES = (
    "{extends: default, rules: {document-start: disable, line-length: {max: 120},"
    " comments: {min-spaces-from-content: 1}}}"
)
KUBERNETES = ("1.31", "1.37")
"""The oldest and the newest version whose schemas are looked at."""


def tool(name: str) -> str:
    """Return a linter; skip where it is not installed, unless it was asked for."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        missing = f"{name} is not installed: make deploy-check"
        if NEEDED:
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def passes(*command: str) -> str:
    """Run a linter and return what it said. Fails the test with that when it found something."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=REPOSITORY
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def found(pattern: str) -> list[str]:
    paths = [path.relative_to(REPOSITORY).as_posix() for path in DEPLOY.glob(pattern)]
    assert paths, pattern
    return sorted(paths)


def test_the_containerfile() -> None:
    assert passes(tool("hadolint"), *found("container/Containerfile")) == ""


def test_the_compose_files() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert "ok" in passes(tool("check-jsonschema"), *schema, *found("compose/*.yaml"))


@for_each("version", KUBERNETES)
def test_the_files_for_kubernetes(version: str) -> None:
    files = [path for path in found("kubernetes/*.yaml") if "kustomization" not in path]
    # Strict: a field that Kubernetes does not know is a fault.
    said = passes(tool("kubernetes-validate"), "--strict", "-k", version, *files)
    assert said.count(" passed ") == len(files) + 1  # two services in one file
    assert "WARN" not in said


def test_the_kustomization_is_put_together() -> None:
    """By kubectl where there is one; else what the list names is put together as it stands."""
    kubectl = shutil.which("kubectl")
    if kubectl is not None:
        whole = passes(kubectl, "kustomize", "deploy/kubernetes")
    else:
        folder = DEPLOY / "kubernetes"
        listed = (folder / "kustomization.yaml").read_text(encoding="utf-8")
        names = re.findall(r"^  - (\S+\.yaml)$", listed, re.MULTILINE)
        whole = "\n---\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    assert whole.count("\nkind: ") == 10
    assert whole.count("namespace: skillyard") >= 9


def test_the_style_of_every_yaml_file() -> None:
    assert passes(tool("yamllint"), "--strict", "-d", RULES, *found("**/*.yaml")) == ""


def test_the_shell_scripts_are_what_a_plain_shell_reads() -> None:
    for script in (*found("compose/postgres/*.sh"), *found("container/entrypoint")):
        assert passes("/bin/sh", "-n", script) == ""
