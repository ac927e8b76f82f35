"""The catalog of a node: one generation of a store, whose skills are read on demand."""

from __future__ import annotations

from typing import Any

from skillyard.base.errors import SkillNotFound
from skillyard.base.io.files import sha256
from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.catalog.collisions import have_one_content
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.catalog.snapshot import CatalogDiff
from skillyard.engine.skill import Origin, Skill
from skillyard.store.node.library import MAX_IN_MEMORY, NodeLibrary
from skillyard.store.values import Position


class NodeCatalog(Catalog):
    """One generation of a store. No skill shadows another; skills of one name exist side by side.

    Operations that need every skill (iterating, ``skills``, scorers other than the default) read
    all records once.
    """

    __slots__ = ("confirmed_at", "follows", "library", "position", "touched")

    def __init__(
        self,
        library: NodeLibrary,
        position: Position,
        follows: Position | None = None,
        touched: frozenset[str] | None = None,
    ) -> None:
        super().__init__(())
        del self._skills  # loaded on first access: see __getattr__
        self.library = library
        self.position = position
        """The generation of the store."""
        self.follows = follows
        """The previous generation, one step earlier."""
        self.touched = touched
        """Paths that this step changed; None when unknown."""
        self.confirmed_at: float | None = None
        """When the store last said that there is nothing newer, by the follower's clock."""

    def __getattr__(self, name: str) -> Any:
        if name != "_skills":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.library.skills

    @property
    def digest(self) -> str:
        """SHA-256 of caller, policy, number and stamp: equal on nodes with the same skills."""
        if self._digest is None:
            settings = self.library.searcher.settings
            named = f"{settings.get('caller', '')}\n{self.position}"
            named += f"\n{settings['policy']}" if "policy" in settings else ""
            self._digest = sha256(named.encode()).hex()
        return self._digest

    @property
    def counts(self) -> SkillCounts:
        """The numbers of skills. A store has neither copies nor shadowed skills."""
        if self._counts is None:
            self._counts = self.library.counts()
        return self._counts

    def copies(self, skill: Skill) -> tuple[Skill, ...]:
        """Return nothing: each place of a store is a skill of its own."""
        return ()

    def __len__(self) -> int:
        return len(self.library)

    def __contains__(self, skill: object) -> bool:
        if not isinstance(skill, Skill):
            return False
        ordinal = self.library.ordinal(skill)
        return ordinal is not None and self.library.skill(ordinal) == skill

    def __repr__(self) -> str:
        skills = plural(self.counts.skills, "skill")
        return f"<NodeCatalog of {skills}, generation {self.position.generation}>"

    def _not_found(self, name: str) -> SkillNotFound:
        return SkillNotFound(name, self.library.near(name))

    def named(self, name_or_id: str) -> tuple[Skill, ...]:
        """Return what :meth:`get` returns: one skill, none, or the several that it refuses."""
        library = self.library
        matches = library.with_name(name_or_id)
        skills = [skill for skill in matches if skill.origin != Origin.CONVENTION] or matches
        if have_one_content(skills):  # published from several places
            return (skills[0],)
        same_id = library.with_id(name_or_id)
        if same_id:
            return (same_id[0],)
        skills = skills or library.with_slug(name_or_id)
        return (skills[0],) if have_one_content(skills) else tuple(skills)

    @property
    def on_demand(self) -> bool:
        """True."""
        return True

    def difference(self, after: Catalog) -> tuple[tuple[Skill, ...], ...]:
        """Return the (added, changed, removed) skills of a later generation.

        When the step between both is known, only the changed paths are compared. Skills in
        ``added`` and ``changed`` are the new versions. For large catalogs without such a step the
        result is empty.
        """
        if not isinstance(after, NodeCatalog):
            return super().difference(after)
        paths = after.touched
        unknown = paths is None or after.follows != self.position
        if unknown and max(len(self), len(after)) > MAX_IN_MEMORY:
            return (), (), ()  # too many to compare, and no list of changed paths
        if paths is None or unknown:
            paths = frozenset(s.path for s in self) | frozenset(s.path for s in after)
        pairs = [(self.library.at(path), after.library.at(path)) for path in sorted(paths)]
        return (
            tuple(new for old, new in pairs if new is not None and old is None),
            tuple(new for old, new in pairs if old is not None and new is not None and old != new),
            tuple(old for old, new in pairs if old is not None and new is None),
        )

    def reload(self, progress: object = None) -> CatalogDiff:
        """Return no difference: a generation never changes. The node opens the next one."""
        return CatalogDiff((), (), (), self)
