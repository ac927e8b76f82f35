"""The units: systemd reads them without a word, finds them tight, and a node lives with that."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard import InvalidInput
from skillyard.cli.grammar import parse
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
DENIED = "ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)"
"""Asks for PR_SET_MDWE with PR_MDWE_REFUSE_EXEC_GAIN, of Linux 6.3; 0 where it is granted."""


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


def test_systemd_reads_the_unit_without_a_word(installed: Path) -> None:
    done = subprocess.run(
        [analyze(), "verify", "--man=no", str(installed)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # What it says of other units of this machine is not ours.
    ours = [line for line in done.stderr.split("\n") if installed.name in line]
    assert (done.returncode, ours) == (0, [])


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


def test_both_units_are_equally_tight() -> None:
    def rights(name: str) -> list[tuple[str, str]]:
        settings = unit(name)
        first = settings.index(("DynamicUser", "yes"))
        return settings[first:]

    assert rights("skillyard.service") == rights("skillyard@.service")


@for_each("name", sorted(UNITS))
def test_a_unit_hands_its_service_the_token_that_its_name_needs(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(SECRET, raising=False)
    (start,) = [value for key, value in unit(name) if key == "ExecStart"]
    _, values = parse(start.replace("%i", "8766").split()[1:])
    with pytest.raises(InvalidInput, match=SECRET):
        ServiceOptions(host=values.host, allowed_hosts=tuple(values.allow_host))
    (credential,) = [value for key, value in unit(name) if key == "LoadCredential"]
    label, _, source = credential.partition(":")
    assert source == "/etc/skillyard/http_token"
    assert values.token_file == f"%d/{label}"  # systemd's folder of the unit's credentials
    (tmp_path / label).write_text(f"{TOKEN}\n", encoding="utf-8")
    options = ServiceOptions(
        host=values.host,
        allowed_hosts=tuple(values.allow_host),
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


@pytest.fixture
def denied() -> str:
    """Statements that deny memory which is written and then run, and are known to do so."""
    statements = "import ctypes, mmap, os, sys\n" + f"if {DENIED}: sys.exit(99)\n"
    wanted = "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
    done = subprocess.run(
        [sys.executable, "-c", statements + wanted],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 99:
        pytest.skip("this kernel cannot deny it: Linux 6.3 or newer is needed")
    assert "Permission denied" in done.stderr
    return statements


@pytest.mark.slow
def test_a_node_runs_without_memory_that_is_written_and_then_run(
    denied: str, tmp_path: Path
) -> None:
    """MemoryDenyWriteExecute=yes, which some native code does not survive."""
    pytest.importorskip("uvicorn")
    settings = [value for key, value in unit("skillyard.service") if key.startswith("MemoryDeny")]
    assert settings == ["yes"]
    launcher = denied + "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
    arguments = "-m skillyard serve --http examples/skills --local-only --port 0"
    command = [sys.executable, "-c", launcher, *arguments.split()]
    environment = {"SKILLYARD_HTTP_TOKEN": TOKEN, "SKILLYARD_CACHE": str(tmp_path)}
    with running(command, environment) as node:
        until(node.port, 200)
        for path in ("/search?q=csv", "/openapi.json", "/health"):
            status, _, body = asked(node.port, path)
            assert (status, bool(body)) == (200, True), path
