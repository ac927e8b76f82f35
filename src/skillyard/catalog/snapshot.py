"""The catalog as a value, and how one is made from roots and brought up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.arguments import check_arguments
from skillyard.catalog.copies import have_one_content, is_copy
from skillyard.diagnostics import LazyDiagnostics
from skillyard.errors import AmbiguousName, Diagnostic, InvalidInput, SkillNotFound
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Origin, Skill
from skillyard.text import plural

if TYPE_CHECKING:
    from skillyard.catalog.counts import SkillCounts
    from skillyard.catalog.reading import Entry
    from skillyard.discovery import Root, Scan
    from skillyard.discovery.candidate import Visited

__all__ = ["Catalog", "CatalogDiff", "all_roots", "difference_of", "has_tag", "load_found"]
__all__ += ["named_roots", "read_catalog"]

SCOPES = ("user",)
_NEAR_NAMES = 3


@check_arguments
class CatalogDiff(NamedTuple):
    """What a reload found. Skills in ``changed`` and ``added`` are the new versions."""

    added: tuple[Skill, ...]
    changed: tuple[Skill, ...]
    removed: tuple[Skill, ...]
    catalog: Catalog
    """The new snapshot; the same object as before when nothing changed."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@check_arguments
class Catalog:
    """A snapshot of skills, sorted by (name, path). Iterating gives the skills."""

    __slots__ = (
        "__weakref__",
        "_by_id",
        "_by_name",
        "_by_slug",
        "_copies",
        "_counts",
        "_digest",
        "_entries",
        "_limits",
        "_reported",
        "_roots",
        "_scanned",
        "_scopes",
        "_shadowed",
        "_skills",
        "_visited",
        "bound",
    )

    def __init__(
        self,
        skills: Iterable[Skill],
        diagnostics: Iterable[Diagnostic] = (),
        shadowed: dict[Skill, Skill] | None = None,
    ) -> None:
        self._skills = tuple(sorted(skills, key=_order))
        self._reported = LazyDiagnostics(diagnostics)
        self._shadowed = shadowed or {}
        self._roots: tuple[str, ...] = ()
        self._scopes: tuple[str, ...] = ()
        self._limits = DEFAULT_LIMITS
        self._entries: dict[str, Entry] = {}
        self._scanned: tuple[Diagnostic, ...] = ()
        self._visited: tuple[Visited, ...] = ()
        self._by_name: dict[str, list[Skill]] | None = None
        self._by_id: dict[str, Skill] | None = None
        self._by_slug: dict[str, list[Skill]] | None = None
        self._copies: dict[str, tuple[Skill, ...]] | None = None
        self._counts: SkillCounts | None = None
        self._digest: str | None = None
        self.bound: dict[Any, Any] = {}
        """What scorers made of these skills, by scorer; see ``ranking.registry.bind``."""

    @classmethod
    @check_arguments
    def from_skills(cls, skills: Iterable[Skill]) -> Catalog:
        """Return a catalog of skills built in code. Raises InvalidInput for anything else."""
        listed = tuple(skills)
        for skill in listed:
            if not isinstance(skill, Skill):
                raise InvalidInput(f"skills must hold Skill values, not {type(skill).__name__}")
        return cls(listed)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Every skill, sorted by name, then path."""
        return self._skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that did not load, or loaded with a remark, sorted by path."""
        return self._reported.listed

    @property
    def reported(self) -> LazyDiagnostics:
        """The same, as objects or as JSON."""
        return self._reported

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
    def identity(self) -> str:
        """A hash over the digest and what it does not tell: which skill of a name wins."""
        shadowed = self.shadowed
        listed = "".join(f"\n{skill.hash}{'-' * (skill in shadowed)}" for skill in self.skills)
        from hashlib import sha256

        return sha256((self.digest + listed).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def on_demand(self) -> bool:
        """True where skills are read when they are wanted: going through all of them is work.

        Such a catalog is made of skills that load, and has no files that change.
        """
        return False

    @check_arguments
    def difference(self, after: Catalog) -> tuple[tuple[Skill, ...], ...]:
        """Return (added, changed, removed) skills of a later catalog, by path and content.

        Skills of ``added`` and ``changed`` are the new ones.
        """
        old = {skill.path: skill for skill in self}
        new = {skill.path: skill for skill in after}
        return (
            tuple(skill for path, skill in new.items() if path not in old),
            tuple(s for path, s in new.items() if path in old and old[path].hash != s.hash),
            tuple(skill for path, skill in old.items() if path not in new),
        )

    @property
    def shadowed(self) -> dict[Skill, Skill]:
        """Skills that lose to another of the same name, copies too, each with the winner."""
        return dict(self._shadowed)

    def copies(self, skill: Skill) -> tuple[Skill, ...]:
        """Return the copies of a skill of this catalog: same name, same bytes, another path.

        The skill that wins is not among them; empty for one that has none, or is a copy itself.
        """
        if self._copies is None:
            from skillyard.catalog.copies import copies_by_path

            self._copies = copies_by_path(self._shadowed)
        return self._copies.get(skill.path, ())

    def places(self, skill: Skill) -> tuple[str, ...]:
        """Return the paths where a skill lies: its own first, then those of its copies."""
        return (skill.path, *(copy.path for copy in self.copies(skill)))

    @property
    def counts(self) -> SkillCounts:
        """How many skills there are, and what is not counted among them."""
        if self._counts is None:
            from skillyard.catalog.counts import count_skills

            self._counts = count_skills(self._skills, self._shadowed)
        return self._counts

    @property
    def candidates(self) -> tuple[Skill, ...]:
        """The skills that may be chosen: all but the shadowed ones."""
        if not self._shadowed:
            return self._skills
        return tuple(skill for skill in self._skills if skill not in self._shadowed)

    def below(self, skill: Skill) -> str | None:
        """Return the number of a skill's root and the path below it; None if it has no file.

        It is the same wherever the root lies, so what goes by it does not depend on that.
        """
        entry = self._entries.get(skill.path)
        return None if entry is None else "/".join((str(entry.candidate.root), *entry[0].parts))

    def __len__(self) -> int:
        return len(self._skills)

    def __iter__(self) -> Iterator[Skill]:
        return iter(self._skills)

    def __contains__(self, skill: object) -> bool:
        return skill in self._skills

    def __getstate__(self) -> Any:
        # What scorers made of the skills stays here: some of it is mapped memory.
        state: Any = super().__getstate__()
        return state[0], {**state[1], "bound": {}}

    def __repr__(self) -> str:
        skills = plural(self.counts.skills, "skill")
        return f"<Catalog of {skills}, {plural(len(self.diagnostics), 'diagnostic')}>"

    @check_arguments
    def get(self, name_or_id: str) -> Skill:
        """Return the skill of that name, id or slug, in this order of trying.

        Raises SkillNotFound (with near names) or AmbiguousName (with the paths). Copies are one
        skill: by name, by id and by the slug of any of them the one that wins is returned.
        """
        names, ids = self._lookups()
        found = [skill for skill in names.get(name_or_id, ()) if skill not in self._shadowed]
        # A document about the project is not what somebody means who asks for a skill.
        found = [s for s in found if s.origin != Origin.CONVENTION] or found
        if have_one_content(found):  # built in code, several may be the same
            return found[0]
        if name_or_id in ids:
            return ids[name_or_id]
        if not found:
            found = self._slugs().get(name_or_id, [])
            if have_one_content(found):
                return found[0]
        if found:
            raise AmbiguousName(
                name_or_id, [skill.path for skill in found], [skill.id or "" for skill in found]
            )
        raise self._not_found(name_or_id)

    @check_arguments
    def find(self, tag: str | None = None, origin: str | None = None) -> tuple[Skill, ...]:
        """Return the skills with that tag (ASCII case ignored) and origin, without copies.

        ``origin="oasis"`` is the Oasis registry: one skill for each id, in the order of the ids.
        """
        found = [
            skill
            for skill in self._skills
            if (tag is None or has_tag(skill, (tag,)))
            and (origin is None or skill.origin == origin)
            and not self._is_copy(skill)
        ]
        if origin == Origin.OASIS:
            found = [skill for skill in found if skill not in self._shadowed]
            found.sort(key=lambda skill: (skill.slug or "").encode("utf-8", "surrogatepass"))
        return tuple(found)

    @check_arguments
    def reload(self, progress: Callable[[int, int], None] | None = None) -> CatalogDiff:
        """Look at the roots again, read what changed, and return the difference.

        Raises InvalidSkillsRoot when a root is gone. A catalog built in code never changes.
        """
        if not self._roots and not self._scopes:
            return CatalogDiff((), (), (), self)
        from skillyard.discovery import scan

        found = scan(all_roots(self._roots, self._scopes), self._limits)
        from skillyard.catalog.reading import read_all

        entries = read_all(found.candidates, self._limits, self._entries, progress)
        if found.diagnostics == self._scanned and _same(self._entries, entries):
            self._entries, self._visited = entries, found.visited
            return CatalogDiff((), (), (), self)
        after = _assemble(self._roots, self._scopes, self._limits, found, entries)
        return difference_of(self.skills, after.skills, after)

    @property
    def folders(self) -> tuple[Visited, ...]:
        """The folders that were listed when the roots were last looked at."""
        return self._visited

    def glance(self) -> CatalogDiff:
        """Do as :meth:`reload`, with one system call for each file and folder that is known.

        Where only files have changed, they are read and nothing else: a fifth of the time of a
        reload. What was written too lately for its time to tell counts as changed. Where a folder
        has changed it is a reload. Raises InvalidSkillsRoot when a root is gone.
        """
        if not self._roots and not self._scopes:
            return CatalogDiff((), (), (), self)
        from skillyard.catalog.glancing import glanced

        entries = glanced(self._entries, self._visited, self._limits)
        if entries is None:
            return self.reload()
        if _same(self._entries, entries):
            self._entries = entries
            return CatalogDiff((), (), (), self)
        from skillyard.discovery import Scan

        seen = Scan((), self._scanned, len(self._visited), self._visited)
        after = _assemble(self._roots, self._scopes, self._limits, seen, entries)
        return difference_of(self.skills, after.skills, after)

    def _lookups(self) -> tuple[dict[str, list[Skill]], dict[str, Skill]]:
        if self._by_name is None or self._by_id is None:
            names: dict[str, list[Skill]] = {}
            ids: dict[str, Skill] = {}
            for skill in self._skills:
                names.setdefault(skill.name, []).append(skill)
                if not self._is_copy(skill):
                    ids.setdefault(skill.id or "", skill)
            self._by_name, self._by_id = names, ids
        return self._by_name, self._by_id

    def _is_copy(self, skill: Skill) -> bool:
        if not self._shadowed:
            return False
        winner = self._shadowed.get(skill)
        return winner is not None and is_copy(skill, winner)

    def _slugs(self) -> dict[str, list[Skill]]:
        """Return the skills that may be chosen by slug, and by those of their copies."""
        if self._by_slug is None:
            slugs: dict[str, list[Skill]] = {}
            for skill in self.candidates:
                slugs.setdefault(skill.slug, []).append(skill)
            more: dict[str, list[Skill]] = {}
            for skill in self.candidates:
                for slug in dict.fromkeys(copy.slug for copy in self.copies(skill)):
                    more.setdefault(slug, []).append(skill)
            self._by_slug = {**more, **slugs}
        return self._by_slug

    def _not_found(self, name: str) -> SkillNotFound:
        from difflib import get_close_matches

        names, _ = self._lookups()
        near = get_close_matches(name, sorted(names), _NEAR_NAMES, 0.6)
        error = SkillNotFound(name, near)
        for diagnostic in self.diagnostics:
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


def read_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: str | Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
) -> Catalog:
    """Read every skill below the roots, as ``load_catalog`` does where it uses no index.

    Raises InvalidSkillsRoot for a root that is no folder, InvalidInput for an unknown scope.
    """
    paths, wanted = named_roots(roots, scopes)
    # Here, because who has an index needs neither the walk nor the formats.
    from skillyard.discovery import scan

    found = scan(all_roots(paths, wanted), limits)
    return load_found(paths, wanted, limits, found, progress=progress)


def load_found(
    roots: tuple[str, ...],
    scopes: tuple[str, ...],
    limits: Limits,
    found: Scan,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Catalog:
    """Return the catalog of what a walk over the roots has found."""
    from skillyard.catalog.reading import read_all

    entries = read_all(found.candidates, limits, {}, progress)
    return _assemble(roots, scopes, limits, found, entries)


def named_roots(
    roots: Iterable[str | os.PathLike[str] | Iterable[str | os.PathLike[str]]],
    scopes: Iterable[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (paths, scopes) as :func:`read_catalog` takes them. Raises InvalidInput."""
    paths: list[str] = []
    for root in roots:
        paths.extend([_root(root)] if isinstance(root, str | os.PathLike) else _each_root(root))
    wanted = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    for scope in wanted:
        if scope not in SCOPES:
            raise InvalidInput(f"scopes: unknown scope {scope!r}; known: {', '.join(SCOPES)}")
    return tuple(paths) if roots else (".",), wanted


def _root(root: object) -> str:
    path = os.fspath(root) if isinstance(root, str | os.PathLike) else None
    if not isinstance(path, str) or "\0" in path:
        raise InvalidInput(f"a root must be a path, not {type(root).__name__}")
    return path or "."


def _each_root(roots: object) -> list[str]:
    if isinstance(roots, bytes) or not isinstance(roots, Iterable):
        raise InvalidInput(f"a root must be a path, not {type(roots).__name__}")
    return [_root(root) for root in roots]


def all_roots(paths: tuple[str, ...], scopes: tuple[str, ...]) -> list[Root]:
    """Return the named roots, then those of the scopes."""
    from skillyard.discovery import Root, user_roots

    roots = [Root(path) for path in paths]
    if "user" in scopes:
        roots.extend(user_roots())
    return roots


def _assemble(
    paths: tuple[str, ...],
    scopes: tuple[str, ...],
    limits: Limits,
    found: Scan,
    entries: dict[str, Entry],
) -> Catalog:
    skills = [entry.skill for entry in entries.values() if entry.skill is not None]
    from skillyard.catalog.collisions import settle_names

    shadowed, collisions = settle_names(entries.values())
    diagnostics = [d for entry in entries.values() for d in entry.diagnostics]
    diagnostics += [*found.diagnostics, *collisions]
    diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
    catalog = Catalog(skills, diagnostics, shadowed)
    catalog._roots, catalog._scopes, catalog._limits = paths, scopes, limits
    catalog._entries, catalog._scanned = entries, found.diagnostics
    catalog._visited = found.visited
    return catalog


def _same(before: dict[str, Entry], after: dict[str, Entry]) -> bool:
    """True when both hold the same files with the same skills and the same remarks."""
    return len(before) == len(after) and all(
        (other := before.get(path)) is not None
        and (other is entry or (other.skill is entry.skill and other[2] == entry[2]))
        for path, entry in after.items()
    )


def _order(skill: Skill) -> tuple[str, str]:
    return skill.key


def _digest(skills: Sequence[Skill], entries: dict[str, Entry]) -> str:
    lines = []
    for skill in skills:
        entry = entries.get(skill.path)
        below = "/".join(entry.candidate.parts) if entry is not None else skill.path
        line = f"{skill.origin or ''}\t{below}\t{skill.hash}"
        if skill.install_count or skill.curated:  # facts beside the content that ranking reads
            line += f"\t{skill.install_count}\t{skill.curated}"
        lines.append(line + "\n")
    lines.sort()  # where the roots lie decides the order of skills of one name
    import hashlib

    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def difference_of(before: Sequence[Skill], now: Sequence[Skill], after: Catalog) -> CatalogDiff:
    """Return how the skills of a catalog, ``now``, differ from those of ``before``."""
    old = {skill.path: skill for skill in before}
    new = {skill.path: skill for skill in now}
    added = tuple(skill for skill in now if skill.path not in old)
    removed = tuple(skill for skill in before if skill.path not in new)
    changed = tuple(
        skill
        for skill in now
        if (earlier := old.get(skill.path)) is not None
        and (earlier.hash, earlier.references) != (skill.hash, skill.references)
    )
    return CatalogDiff(added, changed, removed, after)
