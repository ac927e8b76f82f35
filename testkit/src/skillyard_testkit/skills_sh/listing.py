"""The listing of skills.sh: skills with their installs, and the search in them."""

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
    """A number on the real site; any JSON value here, to test clients."""
    path: str | None
    """The skill's folder in its repository; None: the folder named like the slug."""
    curated: bool
    duplicate: bool
    fields: Mapping[str, Any]
    """Added to the item in every response, in place of fields of the same name."""

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
        """The installs as a number to order by; 0 for anything that is not a number."""
        number = self.installs
        if isinstance(number, bool) or not isinstance(number, int | float):
            return 0.0
        return float(number) if abs(number) < 1e300 and isfinite(number) else 0.0

    def words(self) -> set[str]:
        """Return the words of the slug and the name."""
        return _words(f"{self.slug} {self.name}")


class SkillFiles(NamedTuple):
    """The text files of a skill, as the site stores them."""

    files: list[dict[str, str]]
    hash: str


class Listing:
    """Skills by id, in the order in which they were listed."""

    def __init__(self, repositories: Repositories) -> None:
        self._lock = Lock()
        self._listed: dict[str, ListedSkill] = {}
        self._audits: dict[str, tuple[dict[str, Any], ...]] = {}
        self._repositories = repositories

    def add(self, skill: ListedSkill) -> None:
        """List a skill, or replace it."""
        with self._lock:
            self._listed[skill.id] = skill

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
            skills = list(self._listed.values())
        return sorted(skills, key=lambda skill: -skill.weight)

    def newest(self) -> list[ListedSkill]:
        """Return every skill, newest first."""
        with self._lock:
            return list(self._listed.values())[::-1]

    def search(self, text: str, owner: str = "") -> tuple[str, list[ListedSkill]]:
        """Return ``fuzzy`` or ``semantic``, and the matching skills, best first.

        One word is looked for inside slug and name, and installs alone decide the order. Several
        are compared word by word, and the number of shared words decides before the installs.
        """
        query_words = _words(text)
        candidates = [
            skill for skill in self.all() if not owner or skill.owner.lower() == owner.lower()
        ]
        if len(text.split()) < 2:
            part = text.strip().lower()
            return "fuzzy", [
                skill
                for skill in candidates
                if part in skill.slug.lower() or part in str(skill.name).lower()
            ]
        shared = [(len(query_words & skill.words()), skill) for skill in candidates]
        best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
        return "semantic", [skill for _, skill in best]

    def snapshot(self, skill: ListedSkill) -> SkillFiles | None:
        """Return the text files of a skill; None where its public repository is not known."""
        repository = self._repositories.current(skill.source) if "/" in skill.source else None
        head = repository.head if repository is not None and not repository.private else None
        if head is None:
            return None
        paths = [entry.path for entry in head.entries if entry.mode.startswith("100")]
        folder = skill_folder(paths, skill.slug) if skill.path is None else skill.path
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
