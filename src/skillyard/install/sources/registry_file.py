"""Registry files: curated skills as a Markdown list, one a line, under category headings.

``- id | owner/repo | path | description``. Fenced code and comments are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package, Source, hits_by_words
from skillyard.install.sources.repository import is_repository

if TYPE_CHECKING:
    from skillyard.install.sources.settings import Settings
    from skillyard.install.sources.transport import Transport

FILE_BYTES = 4 * 1024 * 1024
_COMMENT = re.compile("<!--.*?(?:-->|\\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}##(?!#)\s*(.*?)\s*#*\s*")


class Registry(NamedTuple):
    """The contents of a registry file."""

    hits: tuple[Hit, ...]
    diagnostics: tuple[Diagnostic, ...]
    """One for each line that looks like an entry but is not valid."""


def shipped_registry() -> str:
    """Return the path of the list that comes with the package."""
    return os.path.join(os.path.dirname(__file__), "data", "registry.md")


def parse_registry(text: str, path: str = "") -> Registry:
    """Return the entries of a registry file, in order. Never raises."""
    hits: list[Hit] = []
    diagnostics: list[Diagnostic] = []
    category, fence = "", ""
    plain = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text.removeprefix("\ufeff"))
    for number, line in enumerate(plain.splitlines(), 1):
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
            continue
        if fence:
            continue
        heading = _HEADING.fullmatch(line)
        if heading:
            category = re.sub(r"^[\W_]+(?=[^\W_])", "", heading[1])  # without leading symbols
        elif line.lstrip().startswith("- "):
            hit = _entry(line.lstrip()[2:], category)
            if hit is None:
                diagnostics.append(_no_entry(path, number, line))
            else:
                hits.append(hit)
    return Registry(tuple(hits), tuple(diagnostics))


def _entry(text: str, category: str) -> Hit | None:
    fields = [field.strip() for field in text.split("|", 3)]
    if len(fields) < 4 or not fields[0] or not is_repository(fields[1]) or not fields[3]:
        return None
    skill_id, source, path, description = fields
    return Hit(
        source,
        skill_id,
        RegistryFile.name,
        name=skill_id,
        description=description,
        curated=True,
        category=category,
        path=path.strip("/") or None,
    )


def _no_entry(path: str, number: int, line: str) -> Diagnostic:
    return Diagnostic(
        "registry_entry",
        "warning",
        path,
        f"this line is not an entry: {line.strip()[:80]}",
        "write `- id | owner/repo | path | description`; the path may be empty",
        number,
    )


class RegistryFile:
    """The curated skills of one or more registry files."""

    name = "registry"

    def __init__(self, github: GitHub, paths: Sequence[str]) -> None:
        """Read the files. Raises SkillIoError for one that cannot be read."""
        self.github = github
        read = [parse_registry(_read(path), path) for path in paths]
        self.hits = tuple(hit for registry in read for hit in registry.hits)
        self.diagnostics = tuple(d for registry in read for d in registry.diagnostics)

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the entries that share words with the query, most shared words first."""
        texts = ((f"{each.id} {each.description} {each.category}", each) for each in self.hits)
        name = query.strip().casefold()
        return hits_by_words(query, texts, lambda hit: hit.id.casefold() != name)[:limit]

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's files from its registered place. Raises SourceFailed."""
        entry = next((each for each in self.hits if each.key == hit.key), None)
        there = hit
        if entry is not None and hit.path is None:  # an entry without a path means the root
            there = hit._replace(path=entry.path or "")
        return await self.github.package(there, references=references, whole=whole)


def _read(path: str) -> str:
    from skillyard.engine.formats.frontmatter import decode
    from skillyard.engine.resources import read_file

    return decode(read_file(path, FILE_BYTES).data, path)


def build(settings: Settings, transport: Transport) -> list[Source]:
    """Return the source over the user's registry files and the shipped one.

    Raises SkillIoError for a file that cannot be read.
    """
    shipped = [shipped_registry()] if settings.shipped_registry else []
    return [RegistryFile(GitHub(transport), [*settings.registry_files, *shipped])]
