"""Two libraries that clients are tested over, and what the specification says of their skills."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

__all__ = ["Library", "files_below", "library_of", "write_corpus"]

CORPUS_SKILLS = 500
_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_BLOCK = re.compile(r"---\r?\n(.*?)^---", re.DOTALL | re.MULTILINE)


class Library(NamedTuple):
    """A folder of skills."""

    root: Path
    folders: dict[str, Path]
    """Folders by name of the skills whose name conforms to agentskills.io."""
    documents: frozenset[str]
    """Names of such skills that are single documents: MCP has them, the well-known index not."""
    long: frozenset[str]
    """Names of those with a longer description than conforms: the index has them, MCP not."""

    @property
    def names(self) -> list[str]:
        """The names of the skills that the Skills extension lists, sorted."""
        return sorted({*self.folders, *self.documents} - self.long)

    @property
    def sample(self) -> list[str]:
        """Names of 32 folders from all parts of the alphabet, each a skill that MCP lists."""
        names = sorted(set(self.folders) - self.long)
        return names[:: max(1, len(names) // 32)]

    @property
    def largest(self) -> str:
        """The name of the skill with the most files."""
        return max(self.sample, key=lambda name: len(self.files(name)))

    def files(self, name: str) -> dict[str, bytes]:
        """Return the files of a skill by their path in its folder."""
        return files_below(self.folders[name])


def files_below(folder: Path) -> dict[str, bytes]:
    """Return all files by their path in the folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def library_of(root: Path) -> Library:
    """Return the library in a folder, read by other means than our own."""
    skills = {file: _fields_of(file) for file in sorted(root.rglob("*.md"))}
    skills = {file: fields for file, fields in skills.items() if fields["name"]}
    documents = {each["name"] for file, each in skills.items() if file.parent.name == ".skills"}
    folders = {
        each["name"]: file.parent for file, each in skills.items() if file.name == "SKILL.md"
    }
    for name in documents & set(folders):  # the document goes before the folder
        del folders[name]
    long = {each["name"] for each in skills.values() if len(each["description"]) > 1_024}
    return Library(root, folders, frozenset(documents), frozenset(long))


def _fields_of(file: Path) -> dict[str, str]:
    """Return name and description of a skill, both empty for what is none that conforms."""
    block = _BLOCK.match(file.read_text(encoding="utf-8"))
    fields = yaml.safe_load(block[1]) if block else {}
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not description:
        return {"name": "", "description": ""}
    return {"name": name, "description": description}


WRITTEN = 1_600_000_000.0
"""When the files were written: long ago."""


def write_corpus(shared: Path, root: Path) -> Library:
    """Write skills of the corpus as folders, the same ones every time.

    The corpus holds texts without frontmatter and files. So some of the folders get further files,
    among them one that is not text and one that is executable, and some of the frontmatter gets
    what real files hold and the specification does not allow.
    """
    for number, skill in enumerate(_picked(shared / "corpus" / "skills.jsonl.gz")):
        name = skill["name"]
        folder = root / (name if _NAME.fullmatch(name) else f"odd-{number}")
        files = {"SKILL.md": _document(number, skill)}
        if number % 3 == 0:
            files["references/origin.md"] = f"# Origin\n\n{skill['source']}\n".encode()
            files["assets/page é.bin"] = bytes(range(256)) * (number % 7)
        if number % 4 == 0:
            files["scripts/run.sh"] = b"#!/bin/sh\necho run\n"
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        if "scripts/run.sh" in files:
            os.chmod(folder / "scripts/run.sh", 0o755)
    for written in root.rglob("*"):  # files of this second are read again by who opens the index
        os.utime(written, (WRITTEN, WRITTEN))
    return library_of(root)


def _picked(corpus: Path) -> Iterator[dict[str, Any]]:
    """Yield skills from all parts of the corpus, one of each name."""
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        by_name: dict[str, dict[str, Any]] = {}
        for line in lines:
            skill = json.loads(line)
            by_name.setdefault(skill["name"], skill)
    every = len(by_name) // CORPUS_SKILLS
    yield from list(by_name.values())[::every][:CORPUS_SKILLS]


def _document(number: int, skill: dict[str, Any]) -> bytes:
    fields = {"name": skill["name"], "description": skill["description"]}
    if number % 2 == 0:
        fields["license"] = skill["license"]
        fields["metadata"] = {"author": skill["source"], "version": 1.0, "tags": ["a", "b"]}
    if number % 5 == 0:
        fields["allowed-tools"] = ["Read", "Bash(git diff:*)"]
    elif number % 5 == 1:
        fields["allowed-tools"] = "Read, Write"
    block = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)
    return f"---\n{block}---\n\n{skill['text'].strip()}\n".encode()
