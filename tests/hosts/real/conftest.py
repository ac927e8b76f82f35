"""A user with skills, and both hosts as that user runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.real.scripted_model import Call, ScriptedModel, scripted_model
from tests.shared_data import REPOSITORY

PATIENCE_S = 120
BISECT = "which commit broke the build? find it by bisecting"
"""A request that one of the user's skills is made for."""


class Host(ABC):
    """One program as a user runs it: asks the scripted model, from an empty project."""

    name = ""
    """For skillyard."""
    folder = ""
    """Of the user's settings."""

    def __init__(self, programs: Path, home: Path, model: ScriptedModel) -> None:
        self.programs = programs
        self.home = home
        self.model = model
        self.project = home / "project"
        self.project.mkdir()
        self.skills = home / self.folder / "skills"
        self.skills.mkdir(parents=True)
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_STATE_HOME": str(home / "state"),
        }
        self.handed_on: dict[str, str] = {}
        """What a server has to be given, since hosts hand little of their environment on."""
        if path := os.environ.get("PYTHONPATH"):  # of a checkout that is not installed
            self.handed_on["PYTHONPATH"] = os.path.abspath(path)
            self.environment |= self.handed_on

    def own(self, *names: str) -> None:
        """Give the user skills of the example library."""
        for name in names:
            shutil.copytree(REPOSITORY / "examples" / "skills" / name, self.skills / name)

    def add(self, name: str, description: str) -> None:
        """Give the user a skill of that description."""
        head = f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\n"
        (self.skills / name).mkdir()
        (self.skills / name / "SKILL.md").write_text(f"{head}Do it.\n", encoding="utf-8")

    @abstractmethod
    def command(self, prompt: str) -> list[str]:
        """Return what is run."""

    def asked(self, prompt: str, *calls: Call) -> list[Any]:
        """Give a prompt; return the requests of the conversation. ``calls`` are the model's."""
        self.model.requests.clear()
        self.model.calls[:] = calls
        done = self._run(self.command(prompt))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "done" in done.stdout
        assert not self.model.calls, "the host offers no such tool"
        return self.model.requests

    def skillyard(self, *arguments: str) -> str:
        """Run our command as this user; return what it prints."""
        done = self._run([sys.executable, "-m", "skillyard", *arguments])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )


class ClaudeCode(Host):
    name, folder = "claude-code", ".claude"

    def __init__(self, programs: Path, home: Path, model: ScriptedModel) -> None:
        super().__init__(programs, home, model)
        self.allowed: list[str] = []
        self.environment |= {
            "CLAUDE_CONFIG_DIR": str(home / self.folder),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "ENABLE_TOOL_SEARCH": "false",
        }

    def command(self, prompt: str) -> list[str]:
        # With this model a token counts as four characters of the listing.
        return [
            str(self.programs / "claude"), "-p", prompt, "--model", "claude-haiku-4-5",
            *self.allowed,
        ]  # fmt: skip

    def serve(self, root: Path) -> None:
        """Set our server up by the command of the README."""
        ours = [sys.executable, "-m", "skillyard", "serve", "--mcp", "stdio", "--local-only"]
        given = [
            word for name, value in self.handed_on.items() for word in ("-e", f"{name}={value}")
        ]
        added = ["mcp", "add", "skillyard", *given, "--", *ours, str(root)]
        done = self._run([str(self.programs / "claude"), *added])
        assert done.returncode == 0, done.stdout + done.stderr
        self.allowed = ["--allowedTools", "mcp__skillyard"]


class Codex(Host):
    name, folder = "codex", ".codex"

    def __init__(self, programs: Path, home: Path, model: ScriptedModel) -> None:
        super().__init__(programs, home, model)
        self.environment |= {"CODEX_HOME": str(home / self.folder), "OPENAI_API_KEY": "sk-none"}
        self.settings = home / self.folder / "config.toml"
        self.settings.write_text(
            'model = "gpt-5-codex"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
            "check_for_update_on_startup = false\nanalytics.enabled = false\n"
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{model.url}/v1"\n'
            'wire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
        )

    def command(self, prompt: str) -> list[str]:
        # Nobody is there to look at the hook, which Codex wants before it runs one.
        return [
            str(self.programs / "codex"), "exec", "--skip-git-repo-check",
            "--dangerously-bypass-hook-trust", prompt,
        ]  # fmt: skip

    def serve(self, root: Path) -> None:
        """Set our server up, as the README says."""
        args = ["-m", "skillyard", "serve", "--mcp", "stdio", "--local-only", str(root)]
        table = f"command = {json.dumps(sys.executable)}\nargs = {json.dumps(args)}\n"
        table += "required = true\n"  # the first request waits for it
        table += "".join(f"env.{name} = {json.dumps(v)}\n" for name, v in self.handed_on.items())
        with self.settings.open("a") as file:
            file.write(f"[mcp_servers.skillyard]\n{table}")


@pytest.fixture
def programs() -> Path:
    # `make hosts`, which CI calls, installs 700 MB first; a plain `make test` does without.
    folder = os.environ.get("SKILLYARD_HOSTS", "")
    if not folder:
        pytest.skip("asks the real Claude Code and Codex: make hosts")
    return Path(folder)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as made:
        yield made


@pytest.fixture(params=[ClaudeCode, Codex], ids=lambda kind: kind.name)
def host(
    request: pytest.FixtureRequest, programs: Path, tmp_path: Path, model: ScriptedModel
) -> ClaudeCode | Codex:
    made: ClaudeCode | Codex = request.param(programs, tmp_path, model)
    return made
