"""The catalog of a node: one generation of a store, whose skills are read on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from skillyard.catalog import Catalog
from skillyard.catalog.copies import have_one_content
from skillyard.catalog.counts import SkillCounts
from skillyard.catalog.snapshot import CatalogDiff
from skillyard.errors import AmbiguousName, InvalidInput, SkillNotFound
from skillyard.io.sha256 import sha256
from skillyard.skill import Origin, Skill
from skillyard.store.node.library import EVERY, NodeLibrary
from skillyard.store.values import Position
from skillyard.text import plural

__all__ = ["NodeCatalog"]


class NodeCatalog(Catalog):
    """One generation of a store. No skill shadows another: those of one name stand side by side.

    What needs every skill (iterating, ``skills``, scorers other than the default) reads every
    record once.
    """

    __slots__ = ("follows", "library", "position", "touched")

    def __init__(
        self,
        library: NodeLibrary,
        position: Position,
        follows: Position | None = None,
        touched: frozenset[str] | None = None,
    ) -> None:
        super().__init__(())
        del self._skills  # read by the first who needs them: see __getattr__
        self.library = library
        self.position = position
        """Which generation of the store this is."""
        self.follows = follows
        """Which one it came from by one step."""
        self.touched = touched
        """Paths that this step changed; None where that is not known."""

    def __getattr__(self, name: str) -> Any:
        if name != "_skills":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.library.skills

    @property
    def digest(self) -> str:
        """SHA-256 of caller, number and stamp: the same on every node that shows this."""
        if self._digest is None:
            caller = self.library.searcher.settings.get("caller", "")
            self._digest = sha256(f"{caller}\n{self.position}".encode()).hex()
        return self._digest

    @property
    def identity(self) -> str:
        """The digest: nothing shadows anything, and it tells all else."""
        return self.digest

    @property
    def counts(self) -> SkillCounts:
        """How many skills there are. A store has no copies, and nothing shadows anything."""
        if self._counts is None:
            self._counts = self.library.counts()
        return self._counts

    def copies(self, skill: Skill) -> tuple[Skill, ...]:
        """Return nothing: each place of a store is a skill of its own."""
        return ()

    def __len__(self) -> int:
        return len(self.library)

    def __iter__(self) -> Iterator[Skill]:
        return iter(self.library.skills)

    def __contains__(self, skill: object) -> bool:
        if not isinstance(skill, Skill):
            return False
        ordinal = self.library.ordinal(skill)
        return ordinal is not None and self.library.skill(ordinal) == skill

    def __repr__(self) -> str:
        skills = plural(self.counts.skills, "skill")
        return f"<NodeCatalog of {skills}, generation {self.position.generation}>"

    def get(self, name_or_id: str) -> Skill:
        """Return the skill of that name, id or slug, in this order of trying.

        Raises SkillNotFound, or AmbiguousName where skills with several contents are meant.
        """
        if not isinstance(name_or_id, str):
            raise InvalidInput(f"name must be a string, not {type(name_or_id).__name__}")
        library = self.library
        named = library.named(name_or_id)
        skills = [skill for skill in named if skill.origin != Origin.CONVENTION] or named
        if have_one_content(skills):  # published from several places
            return skills[0]
        same_id = library.with_id(name_or_id)
        if same_id:
            return same_id[0]
        skills = skills or library.with_slug(name_or_id)
        if not skills:
            raise SkillNotFound(name_or_id, library.near(name_or_id))
        if have_one_content(skills):
            return skills[0]
        raise AmbiguousName(
            name_or_id, [skill.path for skill in skills], [skill.id for skill in skills]
        )

    @property
    def on_demand(self) -> bool:
        """True."""
        return True

    def difference(self, after: Catalog) -> tuple[tuple[Skill, ...], ...]:
        """Return (added, changed, removed) skills of a later generation.

        Where the step between them says what it touched, nothing else is looked at; skills of
        ``added`` and ``changed`` are the new ones. Of large catalogs without such a step nothing
        is named.
        """
        if not isinstance(after, NodeCatalog):
            return super().difference(after)
        paths = after.touched
        unknown = paths is None or after.follows != self.position
        if unknown and max(len(self), len(after)) > EVERY:
            return (), (), ()  # too many to compare, and there is no list of them
        if paths is None or unknown:
            paths = frozenset(s.path for s in self) | frozenset(s.path for s in after)
        pairs = [(self.library.at(path), after.library.at(path)) for path in sorted(paths)]
        return (
            tuple(new for old, new in pairs if new is not None and old is None),
            tuple(new for old, new in pairs if old is not None and new is not None and old != new),
            tuple(old for old, new in pairs if old is not None and new is None),
        )

    def reload(self, progress: object = None) -> CatalogDiff:
        """Return no difference: a generation never changes, and its node takes the next one."""
        return CatalogDiff((), (), (), self)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Every skill, sorted by name, then path."""
        skills: Sequence[Skill] = self.library.skills
        return tuple(skills)
