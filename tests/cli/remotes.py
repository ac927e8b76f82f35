"""Remotes on loopback for the commands that ask them, and what they hold."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from skillyard.install.sources.settings import GITHUB_TOKENS
from skillyard_testkit import FakeServers
from tests.configuration import configure

__all__ = ["remotes", "site", "text", "tree_of"]


def text(name: str, description: str, body: str = "Steps.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n"


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def remotes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServers]:
    with FakeServers() as up:
        up.add_repository(
            "acme/skills",
            {
                "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms."),
                "skills/pdf/references/forms.md": "Forms.",
                "skills/pdf/scripts/fill.py": "print()",
                "skills/docx/SKILL.md": text("docx", "Write Word documents."),
            },
        )
        up.add_repository("acme/one", {"SKILL.md": text("one", "One skill.")})
        up.list_skill("acme/skills", "pdf", name="pdf", installs=500)
        up.list_skill("acme/skills", "docx", name="docx", installs=20)
        up.add_well_known(
            "release-notes", {"SKILL.md": text("release-notes", "Notes.")}, "skill-md"
        )
        for name in (*GITHUB_TOKENS, "SKILLYARD_CONFIG", "SKILLYARD_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
        configure(monkeypatch, tmp_path, sources=up.sources())
        yield up


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str]]:
    """A folder that a server of files serves, which the settings name; its address."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    folder = tmp_path / "site"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        configure(monkeypatch, tmp_path, sources={"sites": [base]})
        yield folder, base
        server.shutdown()
        thread.join()
