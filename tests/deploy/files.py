"""The files of ``deploy/``, taken apart, and the commands that they and the guide hold."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.docs.pages import Block, blocks
from tests.shared_data import REPOSITORY

__all__ = [
    "CONTAINERFILE",
    "DEPLOY",
    "GUIDE",
    "Command",
    "commands",
    "compose",
    "containers",
    "documents",
    "instructions",
    "pods",
    "section",
    "service_commands",
    "unit",
]

DEPLOY = REPOSITORY / "deploy"
GUIDE = REPOSITORY / "docs" / "guides" / "deploy.md"
CONTAINERFILE = DEPLOY / "container" / "Containerfile"
PAGES = (GUIDE, DEPLOY / "compose" / "README.md")
STARTERS = ("skillyard ", "podman run ", "docker compose run ")
"""How the line of a page begins that runs a command of ours."""


class Command(NamedTuple):
    """One ``skillyard …`` that a file would run."""

    where: str
    arguments: list[str]
    """Without the program."""


def documents(path: Path) -> list[Any]:
    """Return what the documents of a YAML file hold."""
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    """Return the compose file."""
    (document,) = documents(DEPLOY / "compose" / name)
    assert isinstance(document, dict)
    return document


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return file name and specification of every pod of the Kubernetes example."""
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        for document in documents(path):
            spec = document.get("spec", {})
            spec = spec.get("jobTemplate", {}).get("spec", spec)
            if "template" in spec:
                yield path.name, spec["template"]["spec"]


def containers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return file name and specification of every container of the Kubernetes example."""
    for name, pod in pods():
        for container in pod["containers"]:
            yield name, container


def instructions(stage: int) -> list[tuple[str, str]]:
    """Return the instructions of one stage of the Containerfile: word and the rest, as one line."""
    text = CONTAINERFILE.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found = [line.split(maxsplit=1) for line in joined.split("\n") if line.strip()]
    starts = [number for number, (word, *_) in enumerate(found) if word == "FROM"]
    ends = [*starts[1:], len(found)]
    return [(word, " ".join(rest)) for word, *rest in found[starts[stage] : ends[stage]]]


def unit(name: str) -> list[tuple[str, str]]:
    """Return the settings of a unit of systemd, in order; one may stand there often."""
    text = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
    pairs = (line.partition("=") for line in text.split("\n") if not line.startswith("#"))
    return [(key, value) for key, equals, value in pairs if equals]


def section(heading: str) -> list[Block]:
    """Return the ``sh`` blocks of the guide below one heading, up to the next."""
    text = GUIDE.read_text(encoding="utf-8")
    lines = text.split("\n")
    (start,) = [n for n, line in enumerate(lines, 1) if line.lstrip("#") == f" {heading}"]
    inside = [block for block in blocks(text) if block.line > start]
    end = next(
        n
        for n, line in enumerate([*lines, "# end"], 1)
        if n > start
        and re.match(r"#{1,6} ", line)
        and not any(block.line < n < block.end for block in inside)
    )
    return [block for block in inside if block.line < end and block.language == "sh"]


def commands() -> list[Command]:
    """Return every command line of ours in ``deploy/`` and in the guide."""
    found = list(service_commands())
    for path in PAGES:
        for block in blocks(path.read_text(encoding="utf-8")):
            if block.language == "sh":
                for line in block.text.replace("\\\n", " ").split("\n"):
                    if line.startswith(STARTERS):
                        found += _in_line(path.name, shlex.split(line, comments=True))
    text = GUIDE.read_text(encoding="utf-8")
    found += [
        Command(f"{GUIDE.name}, in a sentence", shlex.split(code)[1:])
        for code in re.findall(r"`(skillyard (?:store|serve) [^`]+)`", text)
    ]
    return found


def service_commands() -> Iterator[Command]:
    """Return the commands that containers and units start."""
    for name, service in compose()["services"].items():
        if service["image"].startswith("skillyard:"):
            yield from _in_line(f"compose.yaml, {name}", service["command"])
    for name, container in containers():
        args = container["args"]
        script = " ".join(args[2:]) if args[:2] == ["sh", "-c"] else shlex.join(args)
        for part in script.split(" || "):
            yield from _in_line(name, shlex.split(part))
    for path in sorted((DEPLOY / "systemd").glob("*.service")):
        (start,) = [value for key, value in unit(path.name) if key == "ExecStart"]
        yield from _in_line(path.name, shlex.split(start.replace("%i", "8766")))
    (default,) = [rest for word, rest in instructions(1) if word == "CMD"]
    yield from _in_line(CONTAINERFILE.name, json.loads(default))


def _in_line(where: str, words: list[str]) -> Iterator[Command]:
    """Return the command that starts at a word that is our program, if there is one."""
    for number, word in enumerate(words):
        if word == "skillyard" or word.endswith("/bin/skillyard"):
            rest = words[number + 1 :]
            if rest:
                yield Command(where, rest)
                return
