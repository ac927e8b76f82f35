"""Give a skill the new field, and find it in every document that shows a skill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
from field import TEXT, VALUE
from service import command_line, served, terminal

from skillyard.serve.client import Client


def on_the_command_line(library: Path) -> Iterator[tuple[str, Any]]:
    root = ["--root", str(library)]
    yield "list", command_line("list", *root)["skills"][0].get("audience")
    yield "show", command_line("show", "greet", *root)["skill"].get("audience")
    yield "terminal", VALUE if VALUE in terminal("show", "greet", *root) else None
    findings = command_line("check", str(library))["diagnostics"]
    yield "check", findings or VALUE


def in_the_service(library: Path) -> Iterator[tuple[str, Any]]:
    with served(str(library)) as address:
        http = httpx2.Client(base_url=address, timeout=60, trust_env=False)
        yield "GET/skill", http.get("/skill/greet").json().get("audience")
        with Client(address) as client:
            yield "client", client.skill("greet").audience
        page = http.get("/page/skills/local/greet").text
        yield "page", VALUE if VALUE in page and "Audience" in page else page


if __name__ == "__main__":
    folder = Path("library") / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEXT, encoding="utf-8")
    for surfaces in (on_the_command_line(folder.parent), in_the_service(folder.parent)):
        for surface, value in surfaces:
            assert value == VALUE, f"{surface}: {value}"
            print(surface)
