"""What skills.sh lists: skills with their installs, searched as the site searches them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from math import isfinite
from threading import Lock
from typing import Any, NamedTuple

from skillyard_testkit.github.repositories import Repositories, skill_folder

__all__ = ["ListedSkill", "Listing", "SkillFiles"]

_WORD = re.compile(r"[^\W_]+")


class ListedSkill(NamedTuple):
    """One skill on the site."""

    source: str
    """``owner/repo``, or a bare domain."""
    slug: str
    name: Any
    installs: Any
    """A number on the real site; any JSON value here, so that clients can be tried."""
    path: str | None
    """The skill's folder in its repository; None: the folder called like the slug."""
    curated: bool
    duplicate: bool
    fields: Mapping[str, Any]
    """Laid over the item of every answer."""

    @property
    def id(self) -> str:
        """``owner/repo/slug``, or ``domain/slug``."""
        return f"{self.source}/{self.slug}"

    @property
    def owner(self) -> str:
        """The first part of the source."""
        return self.source.partition("/")[0]

    @property
    def weight(self) -> float:
        """The installs as a number to order by; anything that is none weighs nothing."""
        number = self.installs
        if isinstance(number, bool) or not isinstance(number, int | float):
            return 0.0
        return float(number) if abs(number) < 1e300 and isfinite(number) else 0.0

    def words(self) -> set[str]:
        """Return the words of the slug and the name."""
        return _words(f"{self.slug} {self.name}")


class SkillFiles(NamedTuple):
    """The files of a skill, as the site keeps them."""

    files: list[dict[str, str]]
    hash: str


class Listing:
    """Skills by their ids, in the order in which they were listed."""

    def __init__(self, repositories: Repositories) -> None:
        self._lock = Lock()
        self._listed: dict[str, ListedSkill] = {}
        self._audits: dict[str, tuple[dict[str, Any], ...]] = {}
        self._repositories = repositories

    def add(self, listed: ListedSkill) -> None:
        """List a skill, or list it anew."""
        with self._lock:
            self._listed[listed.id] = listed

    def audit(self, id: str, audit: Mapping[str, Any]) -> None:
        """Add one provider's audit of a skill, in place of its last one."""
        with self._lock:
            others = (a for a in self._audits.get(id, ()) if a["provider"] != audit["provider"])
            self._audits[id] = (*others, dict(audit))

    def audits(self, id: str) -> tuple[dict[str, Any], ...]:
        """Return the audits of a skill."""
        return self._audits.get(id, ())

    def get(self, id: str) -> ListedSkill | None:
        """Return the skill with that id."""
        return self._listed.get(id)

    def all(self) -> list[ListedSkill]:
        """Return every skill, most installs first."""
        with self._lock:
            everything = list(self._listed.values())
        return sorted(everything, key=lambda one: -one.weight)

    def newest(self) -> list[ListedSkill]:
        """Return every skill, the one that was listed last first."""
        with self._lock:
            return list(self._listed.values())[::-1]

    def search(self, text: str, owner: str = "") -> tuple[str, list[ListedSkill]]:
        """Return ``fuzzy`` or ``semantic``, and the skills found, best first.

        One word is looked for inside slug and name, and installs alone decide the order. Several
        are compared word by word, and the number of shared words decides before the installs.
        """
        wanted = _words(text)
        listed = [one for one in self.all() if not owner or one.owner.lower() == owner.lower()]
        if len(text.split()) < 2:
            part = text.strip().lower()
            return "fuzzy", [
                one for one in listed if part in one.slug.lower() or part in str(one.name).lower()
            ]
        shared = [(len(wanted & one.words()), one) for one in listed]
        best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
        return "semantic", [one for _, one in best]

    def snapshot(self, listed: ListedSkill) -> SkillFiles | None:
        """Return the text files of a skill; None where its public repository is not known."""
        found = self._repositories.current(listed.source) if "/" in listed.source else None
        head = found.head if found is not None and not found.private else None
        if head is None:
            return None
        paths = [entry.path for entry in head.entries if entry.mode.startswith("100")]
        folder = skill_folder(paths, listed.slug) if listed.path is None else listed.path
        if folder is None:
            return None
        prefix = f"{folder}/" if folder else ""
        files, total = list[dict[str, str]](), sha256()
        for path in paths:
            data = head.content(path) if path.startswith(prefix) else None
            try:
                text = None if data is None else data.decode("utf-8")
            except UnicodeDecodeError:  # the site's snapshots hold text alone
                text = None
            if text is not None:
                files.append({"path": path[len(prefix) :], "contents": text})
                total.update(f"{path[len(prefix) :]}\0{text}\0".encode())
        return SkillFiles(files, total.hexdigest()) if files else None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
