"""The requests that the page shows are answered by a service started as it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import blocks
from tests.shared_data import PACKAGES, REPOSITORY

pytest.importorskip("uvicorn")
pytest.importorskip("httpx2")

PAGE = REPOSITORY / "docs" / "guides" / "service.md"
SHOWN = "http://127.0.0.1:8765"


def requests() -> list[str]:
    """Return the curl commands of the page that go to a service without a token."""
    text = PAGE.read_text(encoding="utf-8")
    lines = [line for block in blocks(text) for line in block.text.split("\n")]
    return [line for line in lines if line.startswith("curl ") and SHOWN in line]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``skillyard serve --http examples/skills``, on a free port."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    place = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPOSITORY / "examples", place / "examples")
    command = "-m skillyard serve --http examples/skills --local-only --port 0"
    environment = {
        **os.environ,
        "SKILLYARD_HTTP_TOKEN": "",
        "SKILLYARD_CACHE": str(place / "cache"),
        "PYTHONPATH": str(PACKAGES),
    }
    with subprocess.Popen(
        [sys.executable, *command.split()],
        cwd=place,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stderr is not None
            yield json.loads(running.stderr.readline())["url"]
        finally:
            running.kill()


def test_every_request_that_the_page_shows_is_answered(service: str) -> None:
    shown = requests()
    assert shown, "the page shows no request"
    for line in shown:
        words = [word.replace(SHOWN, service) for word in shlex.split(line, comments=True)]
        done = subprocess.run(
            [*words, "--silent", "--noproxy", "*", "--fail-with-body"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert done.stdout.startswith(("{", "# HELP"))


def test_the_answers_are_the_skills_that_were_asked_for(service: str) -> None:
    first, second, third = (
        subprocess.run(
            [*(word.replace(SHOWN, service) for word in shlex.split(line)), "-s", "--noproxy", "*"],
            capture_output=True,
            timeout=60,
            check=True,
        ).stdout
        for line in requests()[:3]
    )
    assert json.loads(first)["skills"][0]["id"] == "csv-cleaning"
    assert json.loads(second)["id"] == "csv-cleaning"
    assert json.loads(third)["selected"][0]["name"] == "terraform-plan-review"


def test_the_client_of_the_guide_runs(
    service: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (block,) = [block for block in blocks(text) if block.language == "py"]
    monkeypatch.setattr("skillyard.serve.client.call.DEFAULT_URL", service)
    monkeypatch.delenv("SKILLYARD_HTTP_TOKEN", raising=False)
    exec(compile(block.text, "service.md", "exec"), {"__name__": "__main__"})
    first, second, *_ = capsys.readouterr().out.split("\n")
    assert re.match(r"pdf-form-filling (0\.\d+|1\.0) ", first)
    assert second == "[skill:pdf-form-filling]"


def test_the_unit_starts_what_there_is() -> None:
    from skillyard.cli.grammar import parse

    text = (REPOSITORY / "deploy/systemd/skillyard.service").read_text(encoding="utf-8")
    (line,) = [line for line in text.split("\n") if line.startswith("ExecStart=")]
    program, *arguments = line.removeprefix("ExecStart=").split()
    assert Path(program).name == "skillyard"
    command, values = parse(arguments)
    assert command.words == ("serve",)
    assert values.allowed_hosts == ["skills.example.com"]
