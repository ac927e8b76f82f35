"""A person's surroundings for one test: settings, tokens and folders; every source a stand-in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from skillyard.install.sources.settings import GITHUB_TOKENS
from skillyard.install.sources.transport import Transport
from skillyard_testkit import FakeServers, toml

__all__ = ["EVERY", "SKILLS_SH_TOKEN", "Done", "World", "skill", "world"]

GITHUB_TOKEN = "testkit-github-token"
SKILLS_SH_TOKEN = "testkit-skills-sh-token"
EVERY = frozenset({"pdf-market", "pdf-ours", "pdf-site", "pdf-listed"})
"""What the four sources have, by id."""
DEADLINE_S = 3.0
"""Of one request, in this process; the stand-in is far quicker, and a hang costs no more."""


def skill(name: str, description: str = "Fills in PDF forms.", body: str = "Do it so.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


class Done(NamedTuple):
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on standard output, read as strictly as JSON is."""

        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is no JSON")

        return json.loads(self.out, parse_constant=refuse)

    def source(self, name: str) -> dict[str, Any]:
        (found,) = [one for one in self.json["sources"] if one["name"].startswith(name)]
        return dict(found)

    @property
    def ids(self) -> set[str]:
        return {one["id"] for one in self.json["skills"]}


class World:
    """The stand-ins, and the command line as a person has it."""

    def __init__(self, up: FakeServers, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.up = up
        self.folder = folder
        self.into = folder / "work" / "skills"
        self._capsys = capsys

    def environment(self) -> dict[str, str]:
        """Return what a person would have set."""
        return {
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "SKILLYARD_CONFIG": str(self.folder / "home" / "skillyard.toml"),
            "SKILLYARD_CACHE": str(self.folder / "cache"),
            "GITHUB_TOKEN": GITHUB_TOKEN,
            "COLUMNS": "200",
        }

    def configure(self, timeout_s: int = 8, **more: object) -> None:
        """Write the settings; ``more`` are further keys."""
        home = self.folder / "home"
        sources = {
            **self.up.sources(),
            "skills_sh_token": SKILLS_SH_TOKEN,
            "repositories": ["acme/skills"],
            "registry_files": [home / "registry.md"],
            "shipped_registry": False,
            "source_timeout_s": timeout_s,
            **more,
        }
        (home / "skillyard.toml").write_text(toml({"sources": sources}), encoding="utf-8")

    def run(self, *arguments: str) -> Done:
        """Run a command in this process."""
        from skillyard.cli import main

        self._capsys.readouterr()
        code = main(arguments)
        left = self._capsys.readouterr()
        return Done(code, left.out, left.err)

    def files(self) -> Mapping[str, bytes | str]:
        """Return everything below the person's folders but what is kept of answers."""
        found: dict[str, bytes | str] = {}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if name.split("/")[0] != "cache":
                plain = path.is_file() and not path.is_symlink()
                found[name] = path.read_bytes() if plain else "folder"
        return found

    def check_tokens(self) -> None:
        """Fail if a token reached a server that it is not for."""
        own = {
            "github_api": f"Bearer {GITHUB_TOKEN}",
            "github_raw": f"Bearer {GITHUB_TOKEN}",
            "skills_sh": f"Bearer {SKILLS_SH_TOKEN}",
        }
        for request in self.up.requests:
            headers = {name.lower(): value for name, value in request.headers.items()}
            assert headers.get("authorization") == own.get(request.server), request.path
            rest = " ".join(value for name, value in headers.items() if name != "authorization")
            assert GITHUB_TOKEN not in rest + request.path
            assert SKILLS_SH_TOKEN not in rest + request.path


@contextmanager
def world(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    """Start the stand-ins with one skill for each source, and point the surroundings to them."""
    for name in ("home", "work", "tmp"):
        (folder / name).mkdir()
    with FakeServers() as up:
        up.add_repository("market/skills", {"skills/pdf-market/SKILL.md": skill("pdf-market")})
        up.list_skill("market/skills", "pdf-market", installs=50)
        up.add_repository("acme/skills", {"skills/pdf-ours/SKILL.md": skill("pdf-ours")})
        up.add_repository("listed/skills", {"skills/pdf-listed/SKILL.md": skill("pdf-listed")})
        up.add_well_known("pdf-site", {"SKILL.md": skill("pdf-site")})
        (folder / "home" / "registry.md").write_text(
            "## Documents\n\n- pdf-listed | listed/skills | skills/pdf-listed | Fills PDF forms.\n"
        )
        made = World(up, folder, capsys)
        made.configure()
        for name in [*os.environ]:
            if name.startswith(("SKILLYARD_", "XDG_")) or name in GITHUB_TOKENS:
                monkeypatch.delenv(name)
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("tempfile.tempdir", None)
        monkeypatch.chdir(folder / "work")
        defaults = Transport.__init__.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "deadline_s", DEADLINE_S)
        yield made
