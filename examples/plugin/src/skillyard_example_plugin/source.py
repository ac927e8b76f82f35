"""The source ``handbook``: the skills of a team handbook that is stored in this package.

A real source asks a server. It takes the ``transport`` for that, which brings timeouts, the cache
and the limits on size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from skillyard.errors import SourceFailed
from skillyard.install.sources.protocol import Hit, Package

__all__ = ["Handbook", "open_handbook"]

_WORD = re.compile(r"[a-z0-9]+")


class Handbook:
    """The skills of the handbook."""

    name = "handbook"

    def __init__(self, entries: Sequence[dict[str, str]]) -> None:
        self._entries = {entry["id"]: entry for entry in entries}

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Return up to ``limit`` skills, those that share most words with the request first.

        skillyard ranks the hits of all sources again, so this order only decides what is cut.
        """
        words = set(_WORD.findall(query.lower()))
        shared = {
            id: len(words & set(_WORD.findall(f"{id} {entry['description']}".lower())))
            for id, entry in self._entries.items()
        }
        best = sorted((id for id in shared if shared[id]), key=lambda id: (-shared[id], id))
        return [self._hit(id) for id in best[:limit]]

    def _hit(self, id: str) -> Hit:
        description = self._entries[id]["description"]
        return Hit("team/handbook", id, self.name, name=id, description=description)

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return the files of a skill. Raises SourceFailed for a skill that is not here."""
        entry = self._entries.get(hit.id)
        if entry is None:
            raise SourceFailed("not_found", f"the handbook has no skill {hit.id}")
        text = f"---\nname: {hit.id}\ndescription: {entry['description']}\n---\n{entry['body']}"
        return Package({"SKILL.md": text.encode()}, hit.source)


def open_handbook(settings: Any, transport: Any) -> Handbook:
    """Return the source. skillyard calls this with its settings and its transport."""
    text = files("skillyard_example_plugin").joinpath("handbook.json").read_text("utf-8")
    return Handbook(json.loads(text))
