"""``python -m skillyard_testkit``: a folder of skills behind four addresses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from skillyard_testkit import FakeServers, add_library
from tests.shared_data import PACKAGES
from tests.testkit.client import ask


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for path, text in {
        "x/SKILL.md": "---\nname: x\ndescription: Does x.\n---\n# X\n",
        "x/references/a.md": "# A\n",
        "group/y/SKILL.md": "# Y\n",
        "zoo/y/SKILL.md": "# another Y\n",
        "x/.git/config": "secret",
        "README.md": "no skill\n",
    }.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (tmp_path / "x" / "link.md").symlink_to("SKILL.md")
    return tmp_path


def test_every_folder_with_a_skill_is_served_everywhere(up: FakeServers, library: Path) -> None:
    add_library(up, str(library))
    tree = ask(f"{up.github_api}/repos/demo/skills/git/trees/HEAD?recursive=1").json["tree"]
    assert [entry["path"] for entry in tree if entry["type"] == "blob"] == [
        "skills/README.md", "skills/group/y/SKILL.md", "skills/x/SKILL.md",
        "skills/x/references/a.md", "skills/zoo/y/SKILL.md",
    ]  # fmt: skip
    x = ask(f"{up.skills_sh}/api/download/demo/skills/x").json["files"]
    assert [file["path"] for file in x] == ["SKILL.md", "references/a.md"]
    y = ask(f"{up.skills_sh}/api/download/demo/skills/y").json["files"]
    assert y == [{"path": "SKILL.md", "contents": "# Y\n"}]
    index = ask(f"{up.well_known}/.well-known/agent-skills/index.json").json["skills"]
    assert [(entry["name"], entry["type"]) for entry in index] == [
        ("y", "skill-md"), ("x", "archive"),
    ]  # fmt: skip
    assert index[1]["description"] == "Does x."


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_addresses_and_serves_until_told_to_end(
    library: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "skillyard_testkit", "--library", str(library), "--quota", "5"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(5)]
            urls = tomllib.loads("".join(lines))["sources"]
            got = ask(f"{urls['skills_sh_url']}/api/search?q=x%20y").json
            assert got["count"] == 2
            api = urls["github_api_url"]
            assert ask(f"{api}/repos/demo/skills").headers["x-ratelimit-limit"] == "5"
            raw = urls["github_raw_url"]
            assert ask(f"{raw}/demo/skills/HEAD/skills/x/references/a.md").body == b"# A\n"
            (site,) = urls["sites"]
            assert ask(f"{site}/.well-known/agent-skills/index.json").status == 200
            process.send_signal(number)
            out, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, error) == (0, "", "")
