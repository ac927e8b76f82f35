"""Names that occur twice: which skill wins, which stay ambiguous, and the diagnostics for both."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.engine.skill import Origin, Skill

if TYPE_CHECKING:
    from skillyard.engine.catalog.entries import CatalogEntry

MAX_COMPARED = 16
"""Different texts of one name that a further one is compared with. Real libraries have up to 6."""

_PLACE_TEXTS = {
    "identical_copy": (
        "is the same file as",
        "nothing to do; delete one of them if you do not need both",
    ),
    "variant": ("has nearly the text of, or translates,", "nothing to do; load this one by its id"),
}


class Collisions(NamedTuple):
    """What was decided between skills of one name."""

    shadowed: dict[Skill, Skill]
    """The skills that lose, each with the winner."""
    further: frozenset[str]
    """The paths of those that are the winner itself in another place: its copies and variants."""
    diagnostics: list[Diagnostic]


def resolve_collisions(
    entries: Iterable[CatalogEntry], comparison: TextComparison | None = None
) -> Collisions:
    """Return the shadowed skills, each with the winner, and the diagnostics.

    Files with the same name and the same bytes are copies of one skill, and those with nearly the
    same text its variants: the first place wins. The name of a plugin before a name does not count.
    Between different skills of one name, an earlier root wins over a later one (so the project over
    the user). Within one root ``.skills/<name>.md`` wins over ``<name>/SKILL.md``; any other pair
    stays ambiguous. Of two Oasis skills with one id, the one whose folder has the id as its name
    wins, else the first.
    """
    comparison = comparison or TextComparison(
        lambda entry: (entry.skill and entry.skill.body) or ""
    )
    by_name: dict[str, list[CatalogEntry]] = {}
    by_oasis_id: dict[str, list[CatalogEntry]] = {}
    for entry in entries:
        skill = entry.skill
        if skill is None or skill.origin == Origin.CONVENTION:
            continue
        by_name.setdefault(base_name(skill.name, entry.candidate.plugin), []).append(entry)
        if skill.origin == Origin.OASIS:
            by_oasis_id.setdefault(skill.slug or "", []).append(entry)
    shadowed: dict[Skill, Skill] = {}
    diagnostics: list[Diagnostic] = []
    for group in by_name.values():
        if len(group) > 1:
            _unite_places(group, comparison, shadowed, diagnostics)
    further = frozenset(skill.path for skill in shadowed)
    for group in by_oasis_id.values():
        remaining = [entry for entry in group if entry.skill not in shadowed]
        if len(remaining) > 1:
            _shadow(remaining, _oasis_winner(remaining), "oasis_id_twice", shadowed, diagnostics)
    for group in by_name.values():
        same: dict[str, list[CatalogEntry]] = {}
        for entry in group if len(group) > 1 else ():
            if entry.skill is not None and entry.skill not in shadowed:
                same.setdefault(entry.skill.name, []).append(entry)
        for remaining in same.values():
            if len(remaining) > 1:
                _resolve_name(remaining, shadowed, diagnostics)
    return Collisions(shadowed, further, diagnostics)


def _unite_places(
    group: list[CatalogEntry],
    comparison: TextComparison,
    shadowed: dict[Skill, Skill],
    diagnostics: list[Diagnostic],
) -> None:
    """Shadow the copies and variants of each skill. All entries of ``group`` have the same name."""
    winners: list[CatalogEntry] = []
    by_hash: dict[str, CatalogEntry] = {}
    for entry in sorted(group, key=_place_order):
        if entry.skill is None:
            continue
        original = by_hash.get(entry.skill.hash)
        near = (each for each in winners[:MAX_COMPARED] if comparison.is_variant(entry, each))
        winner = original or next(near, None)
        by_hash.setdefault(entry.skill.hash, winner or entry)
        if winner is None or winner.skill is None:
            winners.append(entry)
            continue
        shadowed[entry.skill] = winner.skill
        code = "identical_copy" if entry.skill.hash == winner.skill.hash else "variant"
        what, hint = _PLACE_TEXTS[code]
        message = (
            f"{entry.skill.name!r} {what} {winner.candidate.path}: one skill in several places"
        )
        diagnostics.append(Diagnostic(code, "info", entry.candidate.path, message, hint))


def _place_order(entry: CatalogEntry) -> tuple[int, int, bool, int, tuple[str, ...]]:
    """Return the sort key of the places of one skill: root, kind of place, language, path.

    A runtime document ``<name>.md`` comes first, then a folder with the name of the skill, then any
    other place. Translations follow, and of other paths the one with fewer folders goes first.
    """
    candidate, skill = entry.candidate, entry.skill
    kind = 3
    if skill is not None:
        own = skill.slug if skill.origin == Origin.OASIS else skill.name
        kind = 1 if candidate.folder == base_name(own, candidate.plugin) else 2
        if candidate.origin == Origin.RUNTIME and candidate.parts[-1] == f"{skill.name}.md":
            kind = 0
    translated = language_of(entry)[:2] not in ("", "en")
    return candidate.root, kind, translated, len(candidate.parts), candidate.parts


def _oasis_winner(group: list[CatalogEntry]) -> CatalogEntry:
    first = [entry for entry in group if entry.candidate.root == group[0].candidate.root]
    for entry in first:
        if entry.skill is not None and entry.candidate.folder == entry.skill.slug:
            return entry
    return first[0]


def _resolve_name(
    group: list[CatalogEntry], shadowed: dict[Skill, Skill], diagnostics: list[Diagnostic]
) -> None:
    first_root = min(entry.candidate.root for entry in group)
    here = [entry for entry in group if entry.candidate.root == first_root]
    twin = _runtime_twin(here)
    winner = twin or here[0]
    losers = [entry for entry in group if entry.candidate.root != first_root]
    if twin is not None:
        losers = [entry for entry in group if entry is not twin]
    # Oasis names are display names. Its registry uses ids, which are already resolved.
    losers = [entry for entry in losers if not (_is_oasis(entry) and _is_oasis(winner))]
    if losers:
        _shadow([winner, *losers], winner, "name_shadowed", shadowed, diagnostics)
    if twin is not None and len(losers) == 1:  # the pair that adk-skill recommends
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


def _is_oasis(entry: CatalogEntry) -> bool:
    return entry.skill is not None and entry.skill.origin == Origin.OASIS


def _runtime_twin(group: list[CatalogEntry]) -> CatalogEntry | None:
    """Return ``.skills/<name>.md`` when the group is that file and one ``<name>/SKILL.md``."""
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
    group: list[CatalogEntry],
    winner: CatalogEntry,
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


def base_name(name: str, plugin: str | None) -> str:
    """Return a skill's name without that of its plugin."""
    return name.partition(":")[2] or name if plugin else name


def have_one_content(skills: Sequence[Skill]) -> bool:
    """True when all skills are copies of one. False for no skills."""
    return len({(skill.hash, skill.name) for skill in skills}) == 1


def places_by_path(
    shadowed: Mapping[Skill, Skill], further: Collection[str]
) -> dict[str, tuple[Skill, ...]]:
    """Return the copies and variants of each skill that has any, by the path of the skill."""
    by_path: dict[str, list[Skill]] = {}
    for loser, winner in shadowed.items():
        if loser.path in further:
            by_path.setdefault(winner.path, []).append(loser)
    return {path: tuple(places) for path, places in by_path.items()}


MIN_OVERLAP = 0.4
"""Jaccard index of the word trigrams from which two texts of one name are one skill.

Measured on 2,000 same-named skills of 27 repositories and of a public corpus: copies for other
hosts have a median of 0.99 and are above 0.58 but for rewritten ones; different skills of one name
within a repository are below 0.02, or below 0.39 where they share a template."""
MAX_CHARS = 20_000
"""Characters that are compared: nine of ten skills are shorter."""

_LANGUAGE = (
    r"/(?:(?:docs|i18n|l10n|lang|locales?|translations?)/([a-z]{2})"
    r"|([a-z]{2}[-_](?:[A-Z]{2}|Han[st]))|(zh|ja|ko|zh-cn|zh-tw|pt-br))/"
)
"""A folder of translations, as ``docs/tr``, ``ja-JP`` or ``zh``. Two letters alone may be anything
else, as ``go``."""


def language_of(entry: CatalogEntry) -> str:
    """Return the name of the folder of translations that a file lies in; empty for none."""
    match = re.search(_LANGUAGE, "/" + "/".join(entry.candidate.parts[:-1]) + "/")
    return "" if match is None else next(filter(None, match.groups()))


class TextComparison:
    """Which files of one name are variants of one skill. Each pair of texts is compared once."""

    def __init__(
        self, text_of: Callable[[CatalogEntry], str], known: Mapping[str, bool] | None = None
    ):
        """``text_of`` returns the instructions of an entry, ``known`` are earlier ``results``."""
        self.results: dict[str, bool] = {}
        """By the beginnings of both hashes."""
        self._known = known or {}

        @lru_cache(maxsize=32)
        def trigrams(entry: CatalogEntry) -> frozenset[tuple[str, ...]]:
            words = re.findall(r"\w+", text_of(entry)[:MAX_CHARS].lower())
            return frozenset(zip(words, words[1:], words[2:], strict=False))

        self._trigrams = trigrams

    def is_variant(self, entry: CatalogEntry, other: CatalogEntry) -> bool:
        """True for translations, and for nearly equal texts. Oasis tells skills apart by ids."""
        if entry.skill is None or other.skill is None:
            return False
        if Origin.OASIS in (entry.skill.origin, other.skill.origin):
            return False
        folder = entry.candidate.folder
        if folder and folder == other.candidate.folder and language_of(entry) != language_of(other):
            return True
        key = "".join(sorted((entry.skill.hash[:16], other.skill.hash[:16])))
        if key not in self.results:
            known = self._known.get(key)
            self.results[key] = self._is_near(entry, other) if known is None else known
        return self.results[key]

    def _is_near(self, entry: CatalogEntry, other: CatalogEntry) -> bool:
        ours, theirs = self._trigrams(entry), self._trigrams(other)
        return len(ours & theirs) >= MIN_OVERLAP * max(1, len(ours | theirs))
