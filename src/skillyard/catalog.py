"""The catalog: a sorted, content-addressed snapshot of skills, with everything that did not load.

A catalog is immutable. :meth:`Catalog.reload` reads again only what changed on disk and returns
the next snapshot with what was added, changed and removed.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from skillyard.discovery import Candidate, Root, Scan, Stamp, scan, user_roots
from skillyard.errors import (
    AmbiguousName,
    Diagnostic,
    InvalidInput,
    SkillError,
    SkillIoError,
    SkillNotFound,
)
from skillyard.formats.agentskills import Document, Parsed, parse_document
from skillyard.formats.conventions import parse_convention
from skillyard.formats.frontmatter import decode
from skillyard.formats.oasis import parse_key_skill
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.resources import read_file
from skillyard.skill import Origin, Skill
from skillyard.text import hidden_in_body, plural

__all__ = ["Catalog", "CatalogDiff", "Progress", "has_tag", "load_catalog", "refresh"]

SCOPES = ("user",)
_NEAR_NAMES = 3
# A file changed within this time of being read may change again without its stamp telling
# (timestamps of common file systems tick every 1 to 10 ms; 2 s covers the coarse ones).
_SETTLED_NS = 2_000_000_000

Progress = Callable[[int, int], None]
"""Called with (files read, files found) from time to time during a long load."""


class _Entry(NamedTuple):
    """One candidate as it was read."""

    candidate: Candidate
    skill: Skill | None
    diagnostics: tuple[Diagnostic, ...]
    settled: bool
    """The file was old enough when read for its stamp to tell every later change."""


class CatalogDiff(NamedTuple):
    """What a reload found. Skills in ``changed`` and ``added`` are the new versions."""

    added: tuple[Skill, ...]
    changed: tuple[Skill, ...]
    removed: tuple[Skill, ...]
    catalog: Catalog
    """The new snapshot; the same object as before when nothing changed."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class Catalog:
    """A snapshot of skills, sorted by (name, path). Iterating gives the skills."""

    __slots__ = (
        "__weakref__",
        "_by_id",
        "_by_name",
        "_diagnostics",
        "_digest",
        "_entries",
        "_limits",
        "_roots",
        "_scanned",
        "_scopes",
        "_shadowed",
        "_skills",
    )

    def __init__(
        self,
        skills: Iterable[Skill],
        diagnostics: Iterable[Diagnostic] = (),
        shadowed: dict[Skill, Skill] | None = None,
    ) -> None:
        self._skills = tuple(sorted(skills, key=_order))
        self._diagnostics = tuple(diagnostics)
        self._shadowed = shadowed or {}
        self._roots: tuple[str, ...] = ()
        self._scopes: tuple[str, ...] = ()
        self._limits = DEFAULT_LIMITS
        self._entries: dict[str, _Entry] = {}
        self._scanned: tuple[Diagnostic, ...] = ()
        self._by_name: dict[str, list[Skill]] | None = None
        self._by_id: dict[str, Skill] | None = None
        self._digest: str | None = None

    @classmethod
    def from_skills(cls, skills: Iterable[Skill]) -> Catalog:
        """Return a catalog of skills built in code. Raises InvalidInput for anything else."""
        listed = tuple(skills)
        for skill in listed:
            if not isinstance(skill, Skill):
                raise InvalidInput(f"a catalog holds Skill values, not {type(skill).__name__}")
        return cls(listed)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Every skill, sorted by name, then path."""
        return self._skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that did not load, or loaded with a remark, sorted by path."""
        return self._diagnostics

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots as they were given."""
        return self._roots

    @property
    def digest(self) -> str:
        """SHA-256 over (origin, path below the root, content hash) of every skill, 64 digits."""
        if self._digest is None:
            self._digest = _digest(self._skills, self._entries)
        return self._digest

    @property
    def shadowed(self) -> dict[Skill, Skill]:
        """Skills that lose to another of the same name, each with the winner."""
        return dict(self._shadowed)

    @property
    def candidates(self) -> tuple[Skill, ...]:
        """The skills that may be chosen: all but the shadowed ones."""
        if not self._shadowed:
            return self._skills
        return tuple(skill for skill in self._skills if skill not in self._shadowed)

    def __len__(self) -> int:
        return len(self._skills)

    def __iter__(self) -> Iterator[Skill]:
        return iter(self._skills)

    def __contains__(self, skill: object) -> bool:
        return skill in self._skills

    def __repr__(self) -> str:
        skills = plural(len(self._skills), "skill")
        return f"<Catalog of {skills}, {plural(len(self._diagnostics), 'diagnostic')}>"

    def get(self, name_or_id: str) -> Skill:
        """Return the skill of that name, id or slug, in this order of trying.

        Raises SkillNotFound (with near names) or AmbiguousName (with the paths). An id is never
        ambiguous: of identical files the first by path is returned.
        """
        if not isinstance(name_or_id, str):
            raise InvalidInput(f"name must be a string, not {type(name_or_id).__name__}")
        names, ids = self._lookups()
        found = [skill for skill in names.get(name_or_id, ()) if skill not in self._shadowed]
        if len(found) == 1:
            return found[0]
        if name_or_id in ids:
            return ids[name_or_id]
        if not found:
            found = [
                skill
                for skill in self._skills
                if skill.slug == name_or_id and skill not in self._shadowed
            ]
            if len(found) == 1:
                return found[0]
        if found:
            raise AmbiguousName(
                name_or_id, [skill.path for skill in found], [skill.id or "" for skill in found]
            )
        raise self._not_found(name_or_id)

    def find(self, tag: str | None = None, origin: str | None = None) -> tuple[Skill, ...]:
        """Return the skills with that tag (ASCII case ignored) and origin.

        ``origin="oasis"`` is the Oasis registry: one skill for each id, in the order of the ids.
        """
        found = [
            skill
            for skill in self._skills
            if (tag is None or has_tag(skill, (tag,)))
            and (origin is None or skill.origin == origin)
        ]
        if origin == Origin.OASIS:
            found = [skill for skill in found if skill not in self._shadowed]
            found.sort(key=lambda skill: (skill.slug or "").encode("utf-8", "surrogatepass"))
        return tuple(found)

    def reload(self, progress: Progress | None = None) -> CatalogDiff:
        """Look at the roots again, read what changed, and return the difference.

        Raises InvalidSkillsRoot when a root is gone. A catalog built in code never changes.
        """
        if not self._roots and not self._scopes:
            return CatalogDiff((), (), (), self)
        found = scan(_all_roots(self._roots, self._scopes), self._limits)
        entries = _entries(found.candidates, self._limits, self._entries, progress)
        if found.diagnostics == self._scanned and _same(self._entries, entries):
            self._entries = entries
            return CatalogDiff((), (), (), self)
        after = _assemble(self._roots, self._scopes, self._limits, found, entries)
        return _difference(self, after)

    def _lookups(self) -> tuple[dict[str, list[Skill]], dict[str, Skill]]:
        if self._by_name is None or self._by_id is None:
            names: dict[str, list[Skill]] = {}
            ids: dict[str, Skill] = {}
            for skill in self._skills:
                names.setdefault(skill.name, []).append(skill)
                ids.setdefault(skill.id or "", skill)
            self._by_name, self._by_id = names, ids
        return self._by_name, self._by_id

    def _not_found(self, name: str) -> SkillNotFound:
        from difflib import get_close_matches

        names, _ = self._lookups()
        near = get_close_matches(name, sorted(names), _NEAR_NAMES, 0.6)
        error = SkillNotFound(name, near)
        for diagnostic in self._diagnostics:
            if diagnostic.severity == "error" and name and name in diagnostic.path:
                error.hint = f"{diagnostic.path} did not load: {diagnostic.message}"
                break
        return error


def has_tag(skill: Skill, tags: Sequence[str]) -> bool:
    """True when the skill carries one of the tags, whole and with ASCII case ignored."""
    wanted = {_ascii_lower(tag) for tag in tags}
    return any(_ascii_lower(tag) in wanted for tag in skill.tags)


def _ascii_lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(char.lower() if char.isascii() else char for char in text)


def load_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Catalog:
    """Load every skill below the roots (default: the current folder).

    ``scopes=("user",)`` adds the user's agent folders, after the roots. One bad file never stops
    the others: it becomes a diagnostic. Raises InvalidSkillsRoot for a root that is no folder,
    InvalidInput for an unknown scope.
    """
    paths: list[str] = []
    for root in roots:
        if isinstance(root, str | os.PathLike):
            paths.append(os.fspath(root) or ".")
        else:
            paths.extend(os.fspath(item) or "." for item in root)
    wanted = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    for scope in wanted:
        if scope not in SCOPES:
            raise InvalidInput(f"unknown scope {scope!r}; known: {', '.join(SCOPES)}")
    if not roots:
        paths = ["."]
    found = scan(_all_roots(tuple(paths), wanted), limits)
    entries = _entries(found.candidates, limits, {}, progress)
    return _assemble(tuple(paths), wanted, limits, found, entries)


def refresh(skill: Skill, limits: Limits = DEFAULT_LIMITS) -> Skill:
    """Return the skill as its file says now; a skill built in code is returned as it is.

    Raises SkillError when the file can no longer be read as a skill.
    """
    if skill.origin is None or not skill.path:
        return skill
    folder, _, name = skill.path.rpartition("/")
    try:
        home, real = os.path.realpath(folder or "."), os.path.realpath(skill.path)
    except OSError:  # it changes while it is followed
        home, real = folder, skill.path
    if not real.startswith(home.rstrip(os.sep) + os.sep):
        real = skill.path  # a link that leads elsewhere by now: opening it refuses
    content = read_file(real, limits.skill_file_bytes, skill.path)
    candidate = Candidate(
        skill.path,
        (name,),
        skill.origin,
        os.path.basename(home) if name.lower() == "skill.md" else None,
        Stamp(0, 0, 0, 0, 0),
        skill.scope,
        0,
        skill.references,
    )
    return _parse(candidate, content.data, int(content.status.st_mtime), limits).skill


def _all_roots(paths: tuple[str, ...], scopes: tuple[str, ...]) -> list[Root]:
    roots = [Root(path) for path in paths]
    if "user" in scopes:
        roots.extend(user_roots())
    return roots


def _assemble(
    paths: tuple[str, ...],
    scopes: tuple[str, ...],
    limits: Limits,
    found: Scan,
    entries: dict[str, _Entry],
) -> Catalog:
    skills = [entry.skill for entry in entries.values() if entry.skill is not None]
    shadowed, collisions = _collisions(entries.values())
    diagnostics = [d for entry in entries.values() for d in entry.diagnostics]
    diagnostics += [*found.diagnostics, *collisions]
    diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
    catalog = Catalog(skills, diagnostics, shadowed)
    catalog._roots, catalog._scopes, catalog._limits = paths, scopes, limits
    catalog._entries, catalog._scanned = entries, found.diagnostics
    return catalog


def _same(before: dict[str, _Entry], after: dict[str, _Entry]) -> bool:
    """True when both hold the same files with the same skills and the same remarks."""
    return len(before) == len(after) and all(
        (other := before.get(path)) is not None
        and (other is entry or (other.skill is entry.skill and other[2] == entry[2]))
        for path, entry in after.items()
    )


def _entries(
    candidates: Sequence[Candidate],
    limits: Limits,
    known: dict[str, _Entry],
    progress: Progress | None,
) -> dict[str, _Entry]:
    """Read every candidate that is new or may have changed; keep the others as they are."""
    entries: dict[str, _Entry] = {}
    total = len(candidates)
    now = time.time_ns()
    for number, candidate in enumerate(candidates):
        earlier = known.get(candidate.path)
        if earlier is not None and earlier.settled and earlier.candidate == candidate:
            entries[candidate.path] = earlier
        else:
            entries[candidate.path] = _read_again(_read(candidate, limits, now), earlier)
        if progress is not None and number % 256 == 0:
            progress(number, total)
    if progress is not None:
        progress(total, total)
    return entries


def _read(candidate: Candidate, limits: Limits, now: int) -> _Entry:
    """Read and parse one file. Whatever is wrong with it becomes a diagnostic."""
    settled = candidate.stamp.ctime_ns + _SETTLED_NS < now
    try:
        content = read_file(
            candidate.target or candidate.path, limits.skill_file_bytes, candidate.path
        )
        if (content.status.st_ino, content.status.st_dev) != candidate.stamp[3:]:
            raise SkillIoError(
                "the file was replaced while it was being read",
                path=candidate.path,
                code="changed_while_reading",
                hint="load again",
            )
        parsed = _parse(candidate, content.data, int(content.status.st_mtime), limits)
    except SkillError as error:
        if not error.path:
            error.path = candidate.path
        return _Entry(candidate, None, (error.diagnostic(),), settled)
    diagnostics = list(parsed.diagnostics)
    hidden = hidden_in_body(content.data)
    if hidden is not None:
        line, label = hidden
        diagnostics.append(
            Diagnostic(
                "hidden_character",
                "warning",
                candidate.path,
                f"the text holds {label}; it is written out visibly wherever it is shown",
                "remove it",
                line,
            )
        )
    return _Entry(candidate, parsed.skill, tuple(diagnostics), settled)


def _parse(candidate: Candidate, data: bytes, modified: int, limits: Limits) -> Parsed:
    text = decode(data, candidate.path)
    document = Document(
        candidate.path,
        candidate.folder,
        candidate.origin,
        candidate.scope,
        hashlib.sha256(data).hexdigest(),
        modified,
        candidate.references,
    )
    if candidate.origin == Origin.CONVENTION:
        return parse_convention(document, text, limits)
    if candidate.origin == Origin.OASIS:
        return parse_key_skill(document, text, limits)
    strict = candidate.origin == Origin.RUNTIME
    return parse_document(document, text, strict=strict, limits=limits)


def _read_again(entry: _Entry, earlier: _Entry | None) -> _Entry:
    """Keep the earlier skill where a file was read again and is the same."""
    if earlier is None or earlier.skill is None or entry.skill is None:
        return entry
    return entry._replace(skill=earlier.skill) if entry.skill == earlier.skill else entry


def _collisions(
    entries: Iterable[_Entry],
) -> tuple[dict[Skill, Skill], list[Diagnostic]]:
    """Decide names that occur twice: who wins, who stays ambiguous, and what to say.

    Earlier roots win over later ones (so the project over the user). Inside one root
    ``.skills/<name>.md`` wins over ``<name>/SKILL.md``; any other pair stays ambiguous. Of two
    Oasis skills with one id the one whose folder is the id wins, else the first.
    """
    by_name: dict[str, list[_Entry]] = {}
    by_oasis_id: dict[str, list[_Entry]] = {}
    for entry in entries:
        skill = entry.skill
        if skill is None or skill.origin == Origin.CONVENTION:
            continue
        by_name.setdefault(skill.name, []).append(entry)
        if skill.origin == Origin.OASIS:
            by_oasis_id.setdefault(skill.slug or "", []).append(entry)
    shadowed: dict[Skill, Skill] = {}
    diagnostics: list[Diagnostic] = []
    for group in by_oasis_id.values():
        if len(group) > 1:
            _shadow(group, _oasis_winner(group), "oasis_id_twice", shadowed, diagnostics)
    for group in by_name.values():
        left = [entry for entry in group if entry.skill not in shadowed]
        if len(left) > 1:
            _settle_name(left, shadowed, diagnostics)
    return shadowed, diagnostics


def _oasis_winner(group: list[_Entry]) -> _Entry:
    first = [entry for entry in group if entry.candidate.root == group[0].candidate.root]
    for entry in first:
        if entry.skill is not None and entry.candidate.folder == entry.skill.slug:
            return entry
    return first[0]


def _settle_name(
    group: list[_Entry], shadowed: dict[Skill, Skill], diagnostics: list[Diagnostic]
) -> None:
    first_root = min(entry.candidate.root for entry in group)
    here = [entry for entry in group if entry.candidate.root == first_root]
    twin = _runtime_twin(here)
    winner = twin or here[0]
    losers = [entry for entry in group if entry.candidate.root != first_root]
    if twin is not None:
        losers = [entry for entry in group if entry is not twin]
    if losers:
        _shadow([winner, *losers], winner, "name_shadowed", shadowed, diagnostics)
    if twin is not None and len(losers) == 1:  # the pair that adk-skill advises: no fault
        diagnostics[-1] = diagnostics[-1]._replace(
            severity="info",
            message=f"{twin.candidate.path} is the runtime twin and is chosen in its place",
            hint="keep the two in step",
        )
    rest = [e for e in here if e.skill is not None and e.skill not in shadowed]
    diagnostics.extend(
        Diagnostic(
            "name_shared",
            "info",
            entry.candidate.path,
            f"the name {entry.skill.name!r} is also that of {rest[0].candidate.path}",
            "rename one of them; until then use the id",
        )
        for entry in rest[1:]
        if entry.skill is not None
    )


def _runtime_twin(group: list[_Entry]) -> _Entry | None:
    """Return the distilled ``.skills/<name>.md`` where its pair is one ``<name>/SKILL.md``."""
    if len(group) != 2:
        return None
    runtime = [entry for entry in group if entry.candidate.origin == Origin.RUNTIME]
    folders = [e for e in group if e.skill is not None and e.skill.origin == Origin.AGENTSKILLS]
    if len(runtime) != 1 or len(folders) != 1 or runtime[0].skill is None:
        return None
    name = runtime[0].skill.name
    is_twin = runtime[0].candidate.parts[-1] == f"{name}.md" and folders[0].candidate.folder == name
    return runtime[0] if is_twin else None


def _shadow(
    group: list[_Entry],
    winner: _Entry,
    code: str,
    shadowed: dict[Skill, Skill],
    diagnostics: list[Diagnostic],
) -> None:
    for entry in group:
        if entry is winner or entry.skill is None or winner.skill is None:
            continue
        shadowed[entry.skill] = winner.skill
        diagnostics.append(
            Diagnostic(
                code,
                "warning",
                entry.candidate.path,
                f"{entry.skill.name!r} is shadowed by {winner.candidate.path}",
                "rename one of them, or load this one by its id",
            )
        )


def _order(skill: Skill) -> tuple[str, str]:
    return skill.key


def _digest(skills: Sequence[Skill], entries: dict[str, _Entry]) -> str:
    lines = []
    for skill in skills:
        entry = entries.get(skill.path)
        below = "/".join(entry.candidate.parts) if entry is not None else skill.path
        lines.append(f"{skill.origin or ''}\t{below}\t{skill.hash}\n")
    lines.sort()  # where the roots lie decides the order of skills of one name
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _difference(before: Catalog, after: Catalog) -> CatalogDiff:
    old = {skill.path: skill for skill in before.skills}
    new = {skill.path: skill for skill in after.skills}
    added = tuple(skill for skill in after.skills if skill.path not in old)
    removed = tuple(skill for skill in before.skills if skill.path not in new)
    changed = tuple(
        skill
        for skill in after.skills
        if (earlier := old.get(skill.path)) is not None
        and (earlier.hash, earlier.references) != (skill.hash, skill.references)
    )
    return CatalogDiff(added, changed, removed, after)
