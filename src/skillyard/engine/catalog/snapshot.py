"""The Catalog class: loading from roots, lookups, and reloading."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import AmbiguousName, Diagnostic, InvalidInput, SkillNotFound
from skillyard.base.text import ASCII_LOWER, plural
from skillyard.engine.catalog.collisions import (
    have_one_content,
    places_by_path,
    resolve_collisions,
)
from skillyard.engine.catalog.roots import LibrarySpec, parse_roots
from skillyard.engine.skill import Origin, Skill

if TYPE_CHECKING:
    from skillyard.engine.catalog.counts import SkillCounts
    from skillyard.engine.catalog.entries import CatalogEntry
    from skillyard.engine.catalog.roots import Admission
    from skillyard.engine.discovery.layout import Scan

_NEAR_NAMES = 3


class CatalogDiff(NamedTuple):
    """The result of a reload. Skills in ``changed`` and ``added`` are the new versions."""

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
        "_by_slug",
        "_counts",
        "_diagnostics",
        "_digest",
        "_entries",
        "_further",
        "_scanned",
        "_shadowed",
        "_skills",
        "_spec",
        "_variants",
        "bound",
    )

    def __init__(
        self,
        skills: Iterable[Skill],
        diagnostics: Iterable[Diagnostic] = (),
        shadowed: dict[Skill, Skill] | None = None,
        further: frozenset[str] = frozenset(),
    ) -> None:
        self._skills = tuple(sorted(skills, key=lambda skill: skill.key))
        self._diagnostics = tuple(diagnostics)
        self._shadowed = shadowed or {}
        self._further = further
        self._spec: LibrarySpec | None = None
        self._entries: dict[str, CatalogEntry] = {}
        self._scanned: tuple[Diagnostic, ...] = ()
        self._by_name: dict[str, list[Skill]] | None = None
        self._by_id: dict[str, Skill] | None = None
        self._by_slug: dict[str, list[Skill]] | None = None
        self._variants: dict[str, tuple[Skill, ...]] | None = None
        self._counts: SkillCounts | None = None
        self._digest: str | None = None
        self.bound: dict[Any, Any] = {}
        """Bound scorers of this catalog, by scorer; see ``ranking.registry.bind``."""

    @classmethod
    @check_arguments
    def from_skills(cls, skills: Iterable[Skill]) -> Catalog:
        """Return a catalog of skills built in code. Raises InvalidInput for anything else."""
        members = tuple(skills)
        for skill in members:
            if not isinstance(skill, Skill):
                raise InvalidInput(f"skills must hold Skill values, not {type(skill).__name__}")
        return cls(members)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Every skill, sorted by name, then path."""
        return self._skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of loading, sorted by path."""
        return self._diagnostics

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots as passed by the caller."""
        return () if self._spec is None else self._spec.roots

    @property
    def spec(self) -> LibrarySpec | None:
        """What the catalog was read from; None for one that was built in code."""
        return self._spec

    @property
    def digest(self) -> str:
        """SHA-256 over (origin, path below the root, content hash) of every skill, 64 digits."""
        if self._digest is None:
            self._digest = _digest(self._skills, self._entries)
        return self._digest

    @property
    def on_demand(self) -> bool:
        """True when skills are loaded on access, so that iterating over all of them is expensive.

        Such a catalog has no diagnostics and no files that change.
        """
        return False

    @check_arguments
    def difference(self, after: Catalog) -> tuple[tuple[Skill, ...], ...]:
        """Return the (added, changed, removed) skills of a later catalog, by path and content.

        Skills in ``added`` and ``changed`` are the new versions.
        """
        return difference_of(tuple(self), tuple(after), after)[:3]

    @property
    def shadowed(self) -> dict[Skill, Skill]:
        """Skills that lose to one of the same name, each with the winner; copies and variants."""
        return dict(self._shadowed)

    @property
    def further(self) -> frozenset[str]:
        """The paths of the copies and variants: further places of a skill of the catalog."""
        return self._further

    def variants(self, skill: Skill) -> tuple[Skill, ...]:
        """Return a skill's further places: its copies, and its variants with nearly the same text.

        The winning skill is not included. Empty when there are none, or the skill is one of them.
        """
        if self._variants is None:
            self._variants = places_by_path(self._shadowed, self._further)
        return self._variants.get(skill.path, ())

    def copies(self, skill: Skill) -> tuple[Skill, ...]:
        """Return the copies of a skill of this catalog: its variants with the same bytes."""
        return tuple(each for each in self.variants(skill) if each.hash == skill.hash)

    def places(self, skill: Skill) -> tuple[str, ...]:
        """Return the paths of a skill: its own first, then those of its copies and variants."""
        return (skill.path, *(each.path for each in self.variants(skill)))

    @property
    def counts(self) -> SkillCounts:
        """The numbers of skills, of further places and of convention documents."""
        if self._counts is None:
            from skillyard.engine.catalog.counts import count_skills
            from skillyard.engine.catalog.requirements import RequirementChecker

            lack = RequirementChecker(self.named).lack
            self._counts = count_skills(self._skills, self._shadowed, self._further, lack)
        return self._counts

    @property
    def candidates(self) -> tuple[Skill, ...]:
        """The skills that can be selected: all but the shadowed ones."""
        if not self._shadowed:
            return self._skills
        return tuple(skill for skill in self._skills if skill not in self._shadowed)

    def below(self, skill: Skill) -> str | None:
        """Return ``<number of the root>/<path below it>`` of a skill, or None if it has no file.

        The value does not depend on where the root lies.
        """
        entry = self._entries.get(skill.path)
        return None if entry is None else "/".join((str(entry.candidate.root), *entry[0].parts))

    def __len__(self) -> int:
        return len(self._skills)

    def __iter__(self) -> Iterator[Skill]:
        return iter(self._skills)

    def __contains__(self, skill: object) -> bool:
        return bool(self.named(skill)) if isinstance(skill, str) else skill in self._skills

    def __getitem__(self, name_or_id: str) -> Skill:
        return self.get(name_or_id)

    def __getstate__(self) -> Any:
        # Bound scorers are not pickled: some of them hold mapped memory.
        state: Any = super().__getstate__()
        return state[0], {**state[1], "bound": {}}

    def __repr__(self) -> str:
        skills = plural(self.counts.skills, "skill")
        return f"<Catalog of {skills}, {plural(len(self.diagnostics), 'diagnostic')}>"

    @check_arguments
    def get(self, name_or_id: str) -> Skill:
        """Return the skill of that name, id or slug; tried in this order.

        Raises SkillNotFound (with near names) or AmbiguousName (with the paths). Copies and
        variants count as one skill: the name and the slug of any of them return the winner. The id
        of a variant returns the variant.
        """
        matches = self.named(name_or_id)
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise self._not_found(name_or_id)
        raise AmbiguousName(
            name_or_id, [skill.path for skill in matches], [skill.id or "" for skill in matches]
        )

    def named(self, name_or_id: str) -> tuple[Skill, ...]:
        """Return what :meth:`get` returns: one skill, none, or the several that it refuses."""
        names, ids = self._lookups()
        every = names.get(name_or_id, [])
        matches = [skill for skill in every if skill not in self._shadowed]
        if not matches:  # what a plugin's skill is called, where its copy without the plugin wins
            winners = (self._shadowed[skill] for skill in every if skill.path in self._further)
            matches = [skill for skill in dict.fromkeys(winners) if skill not in self._shadowed]
        # A skill is preferred over a convention document of the same name.
        matches = [s for s in matches if s.origin != Origin.CONVENTION] or matches
        if have_one_content(matches):  # a catalog built in code may hold equal skills
            return (matches[0],)
        if name_or_id in ids:
            return (ids[name_or_id],)
        if not matches:
            matches = self._slugs().get(name_or_id, [])
            if have_one_content(matches):
                return (matches[0],)
        return tuple(matches)

    @check_arguments
    def find(self, tag: str | None = None, origin: str | None = None) -> tuple[Skill, ...]:
        """Return the skills with that tag (ASCII case ignored) and origin, without further places.

        ``origin="oasis"`` returns the Oasis registry: one skill for each id, sorted by id.
        """
        matches = [
            skill
            for skill in self._skills
            if (tag is None or has_tag(skill, (tag,)))
            and (origin is None or skill.origin == origin)
            and skill.path not in self._further
        ]
        if origin == Origin.OASIS:
            matches = [skill for skill in matches if skill not in self._shadowed]
            matches.sort(key=lambda skill: (skill.slug or "").encode("utf-8", "surrogatepass"))
        return tuple(matches)

    @check_arguments
    def reload(self, progress: Callable[[int, int], None] | None = None) -> CatalogDiff:
        """Walk the roots again, read the changed files, and return the difference.

        A policy that the catalog follows is read again too. Raises InvalidSkillsRoot when a root is
        gone, SkillIoError for a policy that cannot be read. A catalog built in code never changes.
        """
        if self._spec is None:
            return CatalogDiff((), (), (), self)
        spec = self._spec.renewed()
        scanned = spec.scan()
        from skillyard.engine.catalog.entries import read_all

        known = self._entries if spec == self._spec else {}
        entries = read_all(scanned.candidates, spec, known, progress)
        same = spec == self._spec and scanned.diagnostics == self._scanned
        if same and _same(self._entries, entries):
            self._entries = entries
            return CatalogDiff((), (), (), self)
        after = assemble(spec, scanned, entries)
        return difference_of(self.skills, after.skills, after)

    def _lookups(self) -> tuple[dict[str, list[Skill]], dict[str, Skill]]:
        if self._by_name is None or self._by_id is None:
            names: dict[str, list[Skill]] = {}
            ids: dict[str, Skill] = {}
            for skill in self._skills:
                names.setdefault(skill.name, []).append(skill)
                if skill.path not in self._further:
                    ids.setdefault(skill.id or "", skill)
            for skill in self._skills:
                ids.setdefault(skill.id or "", skill)
            self._by_name, self._by_id = names, ids
        return self._by_name, self._by_id

    def _slugs(self) -> dict[str, list[Skill]]:
        """Return the selectable skills by their own slug and by the slugs of their other places."""
        if self._by_slug is None:
            slugs: dict[str, list[Skill]] = {}
            for skill in self.candidates:
                slugs.setdefault(skill.slug, []).append(skill)
            more: dict[str, list[Skill]] = {}
            for skill in self.candidates:
                for slug in dict.fromkeys(each.slug for each in self.variants(skill)):
                    more.setdefault(slug, []).append(skill)
            self._by_slug = {**more, **slugs}
        return self._by_slug

    def _not_found(self, name: str) -> SkillNotFound:
        from difflib import get_close_matches

        names, _ = self._lookups()
        near = get_close_matches(name, sorted(names), _NEAR_NAMES, 0.6)
        for diagnostic in self.diagnostics:
            not_loaded = diagnostic.severity == "error" or diagnostic.code == "refused_by_policy"
            parts = diagnostic.path.replace("\\", "/").split("/")[-2:]
            if not_loaded and name in (*parts, parts[-1].partition(".")[0]):
                return SkillNotFound(name, near, diagnostic)
        missing = SkillNotFound(name, near)
        missing.hint = missing.hint if names else "there are no skills"
        return missing


def has_tag(skill: Skill, tags: Sequence[str]) -> bool:
    """True when the skill has one of the tags. ASCII case is ignored."""
    lowered = {tag.translate(ASCII_LOWER) for tag in tags}
    return any(tag.translate(ASCII_LOWER) in lowered for tag in skill.tags)


def read_catalog(
    *roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    scopes: str | Iterable[str] = (),
    policy: Admission | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Catalog:
    """Read every skill below the roots, as ``load_catalog`` does without an index.

    No policy file is looked for: only the skills that ``policy`` allows are read, None allows all.
    Raises InvalidSkillsRoot for a root that is not a folder, InvalidInput for an unknown scope.
    """
    spec = LibrarySpec(*parse_roots(roots, scopes), policy=policy)
    return build_catalog(spec, spec.scan(), progress=progress)


def build_catalog(
    spec: LibrarySpec, scanned: Scan, *, progress: Callable[[int, int], None] | None = None
) -> Catalog:
    """Return the catalog of the candidates of a scan of a library."""
    from skillyard.engine.catalog.entries import read_all

    return assemble(spec, scanned, read_all(scanned.candidates, spec, {}, progress))


def assemble(spec: LibrarySpec, scanned: Scan, entries: dict[str, CatalogEntry]) -> Catalog:
    """Return the catalog of the entries of a scan, by path."""
    skills = [entry.skill for entry in entries.values() if entry.skill is not None]
    collisions = resolve_collisions(entries.values())
    diagnostics = [d for entry in entries.values() for d in entry.diagnostics]
    diagnostics += [*scanned.diagnostics, *collisions.diagnostics]
    diagnostics.sort(key=lambda d: (d.path, d.line or 0, d.column or 0, d.code, d.message))
    catalog = Catalog(skills, diagnostics, collisions.shadowed, collisions.further)
    catalog._spec = spec
    catalog._entries, catalog._scanned = entries, scanned.diagnostics
    return catalog


def _same(before: dict[str, CatalogEntry], after: dict[str, CatalogEntry]) -> bool:
    """True when both have the same files with the same skills and diagnostics."""
    return len(before) == len(after) and all(
        (other := before.get(path)) is not None
        and (other is entry or (other.skill is entry.skill and other[2] == entry[2]))
        for path, entry in after.items()
    )


def _digest(skills: Sequence[Skill], entries: dict[str, CatalogEntry]) -> str:
    lines = []
    for skill in skills:
        entry = entries.get(skill.path)
        below = "/".join(entry.candidate.parts) if entry is not None else skill.path
        line = f"{skill.origin or ''}\t{below}\t{skill.hash}"
        if skill.install_count or skill.curated:  # ranking also reads these
            line += f"\t{skill.install_count}\t{skill.curated}"
        lines.append(line + "\n")
    lines.sort()  # the order of skills of one name depends on where the roots lie
    import hashlib

    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def difference_of(before: Sequence[Skill], now: Sequence[Skill], after: Catalog) -> CatalogDiff:
    """Return the difference between the skills ``before`` and the skills ``now`` of a catalog."""
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
