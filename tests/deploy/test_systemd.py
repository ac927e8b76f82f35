"""The units: systemd reads them without a word, finds them tight, and a node lives with that."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.cli.grammar import parse
from skillyard.errors import InvalidInput
from skillyard.serve.runtime.options import TOKEN as SECRET
from skillyard.serve.runtime.options import ServiceOptions
from tests.deploy.files import DEPLOY, unit
from tests.deploy.node_cluster import TOKEN, asked, need, running, until
from tests.shared_data import PACKAGES, REPOSITORY
from tests.tables import for_each

UNITS = {"skillyard.service": "skillyard.service", "skillyard@.service": "skillyard@8766.service"}
"""Each file, and the name that it has when it runs."""
EXPOSURE = 1.5
"""The most that ``systemd-analyze security`` may find, of 10; systemd 252 finds 1.4."""


def analyze() -> str:
    """Return systemd-analyze; skip where there is none, and fail there on CI."""
    return need("systemd-analyze", "systemd")


@pytest.fixture(params=sorted(UNITS))
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A unit under the name that it runs by, with a program that is there."""
    text = (DEPLOY / "systemd" / request.param).read_text(encoding="utf-8")
    path = tmp_path / UNITS[request.param]
    path.write_text(text.replace("/opt/skillyard/bin/skillyard", "/bin/true"), encoding="utf-8")
    return path


def test_the_unit_exposes_little(installed: Path) -> None:
    done = subprocess.run(
        [analyze(), "security", "--offline=true", "--no-pager", str(installed)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot judge a file: systemd 250 or newer is needed")
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) <= EXPOSURE


@for_each("name", sorted(UNITS))
def test_a_unit_writes_where_it_may_and_has_the_time_to_stop(name: str) -> None:
    settings = dict(unit(name))
    (start,) = [value for key, value in unit(name) if key == "ExecStart"]
    folders = {"%C": settings["CacheDirectory"], "%S": settings.get("StateDirectory", "")}
    written = [value for key, value in unit(name) if key == "Environment"] + start.split()
    for root, below in re.findall(r"(%[CS])/(\S+)", " ".join(written)):
        assert below == folders[root]
    assert int(settings["TimeoutStopSec"]) > 10  # ServiceLimits.drain_s
    assert settings["DynamicUser"] == "yes"


@for_each("name", sorted(UNITS))
def test_a_unit_hands_its_service_the_token_that_its_name_needs(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(SECRET, raising=False)
    (start,) = [value for key, value in unit(name) if key == "ExecStart"]
    _, values = parse(start.replace("%i", "8766").split()[1:])
    with pytest.raises(InvalidInput, match=SECRET):
        ServiceOptions(host=values.host, allowed_hosts=tuple(values.allowed_hosts))
    (credential,) = [value for key, value in unit(name) if key == "LoadCredential"]
    label, _, source = credential.partition(":")
    assert source == "/etc/skillyard/http_token"
    assert values.token_file == f"%d/{label}"  # systemd's folder of the unit's credentials
    (tmp_path / label).write_text(f"{TOKEN}\n", encoding="utf-8")
    options = ServiceOptions(
        host=values.host,
        allowed_hosts=tuple(values.allowed_hosts),
        token_file=str(tmp_path / label),
    )
    assert options.token == TOKEN


def test_the_units_command_serves_with_its_token_file_and_not_without(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    (start,) = [value for key, value in unit("skillyard.service") if key == "ExecStart"]
    path = tmp_path / "http_token"
    start = start.replace("%d/http_token", str(path)).replace("/srv/skills", "examples/skills")
    words = start.split()[1:]
    command = [sys.executable, "-m", "skillyard", *words, "--port", "0", "--local-only"]
    environment = {SECRET: "", "SKILLYARD_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(PACKAGES), **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert f"the token file {path} cannot be read" in done.stderr
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    with running(command, environment) as node:
        until(node.port, 200)
        host = {"Host": "skills.example.com"}
        assert asked(node.port, "/health", **host)[0] == 200
        assert asked(node.port, "/health", Authorization="Bearer wrong", **host)[0] == 401
