"""A library of skills as an agent framework uses it: the one thing that all adapters share."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from skillyard.adapters.blocks import (
    carries_block,
    chosen_block,
    file_block,
    joined,
    skill_block,
    without_roots,
)
from skillyard.catalog import Catalog
from skillyard.context.injection import SkillInjector
from skillyard.errors import (
    AmbiguousName,
    InvalidInput,
    ResourceRefused,
    SkillError,
    SkillyardError,
)
from skillyard.index.indexed_catalog import load_catalog
from skillyard.ranking.match import Match
from skillyard.ranking.protocol import Scorer
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER, bind, resolve
from skillyard.resources import list_resources, read_resource
from skillyard.selection import SelectionPolicy
from skillyard.skill import Skill
from skillyard.text import clean_line, escape_frame, plural, shorten
from skillyard.usecases.choosing import rank_skills, select_skills
from skillyard.usecases.prompting import summary_of
from skillyard.usecases.reasons import Why, why_skill

__all__ = ["AgentSkills", "Offer", "SkillOptions"]

_log = logging.getLogger("skillyard.adapters")
T = TypeVar("T")

ENDS_KEPT = 16_000
"""Characters of a long message that are looked at, at its start and again at its end: a request
stands before or behind what is pasted, and the work must not grow with the paste."""
REMEMBERED = 128
"""Messages whose choice is kept: a run asks its model many times about the same one."""
FILES_LISTED = 100
FOUND = 10
"""Skills that ``list_skills`` names for a request."""


@dataclass(frozen=True, slots=True)
class SkillOptions:
    """How skills are chosen and shown. Raises InvalidInput, UnknownName."""

    scorer: str | Scorer | Any = DEFAULT_SCORER
    policy: SelectionPolicy | None = None
    """None: as the scorer's document says; ``hybrid`` abstains below a calibrated floor."""
    max_tokens: int | None = 2_000
    """Estimated tokens of instructions put before a message; cut at a boundary, and marked."""
    max_chars: int | None = None
    """Characters of the same; cut at the exact character, as the adk-skill document says."""
    listing_tokens: int = 2_000
    """Estimated tokens that ``list_skills`` answers with."""
    reading_tokens: int = 8_000
    """Estimated tokens that ``load_skill`` and ``read_skill_file`` answer with."""
    strict: bool = False
    """Raise what goes wrong in skillyard, instead of logging it and going on without a skill."""

    def __post_init__(self) -> None:
        resolve(self.scorer)
        if self.policy is not None and not isinstance(self.policy, SelectionPolicy):
            raise InvalidInput("policy must be None or a SelectionPolicy")
        for field in ("max_tokens", "max_chars", "listing_tokens", "reading_tokens"):
            value = getattr(self, field)
            if value is None and field.startswith("max_"):
                continue
            if type(value) is not int or value < 0:
                raise InvalidInput(f"{field} must be an integer of at least 0")


class Offer(NamedTuple):
    """The skill for one message."""

    match: Match
    block: str
    """What goes before the message: origin, and the instructions in their frame."""

    def before(self, text: str) -> str:
        """Return the message with the block before it."""
        return joined(self.block, text)


class AgentSkills:
    """One library of skills for any number of agents and concurrent runs. Thread-safe.

    ``skills`` is a catalog, skills built in code, or a ``SkillInjector``, whose policy, scorer and
    ``max_injected_chars`` then hold. Whatever goes wrong inside is logged to
    ``skillyard.adapters`` and answered with no skill, unless ``strict`` is set.
    """

    def __init__(
        self,
        skills: Catalog | Iterable[Skill] | SkillInjector,
        options: SkillOptions | None = None,
    ) -> None:
        if isinstance(skills, SkillInjector):
            options = options or _as_injected(skills)
            skills = skills.catalog
        catalog = skills if isinstance(skills, Catalog) else Catalog.from_skills(skills)
        self.options = options or SkillOptions()
        self._scorer: Any = resolve(self.options.scorer)
        self._lock = Lock()
        self._binding = Lock()
        self._state = _State(catalog, OrderedDict())

    @classmethod
    def from_root(
        cls,
        *roots: str | os.PathLike[str],
        scopes: Iterable[str] = (),
        options: SkillOptions | None = None,
    ) -> AgentSkills:
        """Load the skills below one or more folders. Raises InvalidSkillsRoot, InvalidInput."""
        return cls(load_catalog(list(roots) or ["."], scopes=scopes), options)

    @property
    def catalog(self) -> Catalog:
        """The snapshot it answers from."""
        return self._state.catalog

    def reload(self) -> bool:
        """Read what changed on disk; True when something did.

        Runs that are on their way go on with the state before. Raises InvalidSkillsRoot.
        """
        before = self._state
        after = before.catalog.reload().catalog
        if after is before.catalog:
            return False
        with self._lock:
            self._state = _State(after, OrderedDict())
        return True

    def choose(self, message: str) -> Offer | None:
        """Return the skill for a message, or None: none fits, or choosing failed.

        Blocks while it ranks; :meth:`offer` is the same for an event loop.
        """
        return self._guarded("choosing a skill", lambda: self._chosen(message), None)

    async def offer(self, message: str) -> Offer | None:
        """Return the same as :meth:`choose`, worked out in a thread."""
        return await self._in_thread(lambda: self.choose(message), None)

    def put_before(self, request: T, read: Callable[[T], str], put: Callable[[T, Offer], T]) -> T:
        """Return a framework's request with the block in it, or the very request that was given.

        ``read`` gives the user's words of a request, ``put`` a new request with a block before
        them; what goes wrong in either is treated like a fault in choosing.
        """

        def work() -> T:
            offer = self._chosen(read(request))
            return request if offer is None else put(request, offer)

        return self._guarded("choosing a skill", work, request)

    async def put_before_async(
        self, request: T, read: Callable[[T], str], put: Callable[[T, Offer], T]
    ) -> T:
        """Return the same as :meth:`put_before`, worked out in a thread."""
        return await self._in_thread(lambda: self.put_before(request, read, put), request)

    def _chosen(self, message: str) -> Offer | None:
        if not message.strip() or carries_block(message):
            return None
        state = self._state
        asked = _ends(message)
        with self._lock:
            if asked in state.offers:
                state.offers.move_to_end(asked)
                return state.offers[asked]
        offer = self._selected(state.catalog, asked)
        with self._lock:
            state.offers[asked] = offer
            if len(state.offers) > REMEMBERED:
                state.offers.popitem(last=False)
        return offer

    def _selected(self, catalog: Catalog, asked: str) -> Offer | None:
        options = self.options
        with self._binding:
            bind(catalog, self._scorer)  # once; whoever comes meanwhile waits instead of repeating
        found = select_skills(catalog, Query(asked), options.policy, scorer=self._scorer)
        if not found.selection.selected:
            return None
        best = found.selection.selected[0]
        return Offer(best, chosen_block(catalog, best, options.max_chars, options.max_tokens))

    def list_skills(self, query: str = "") -> str:
        """List the skills that can be loaded, or those that fit a request.

        Args:
            query: What is to be done, in words; empty lists every skill.

        """
        return self._answered("list_skills", lambda: self._listed(query))

    def load_skill(self, name: str) -> str:
        """Return the instructions of one skill, and the names of its files.

        Args:
            name: Name or id of the skill, as list_skills gives it.

        """
        return self._answered("load_skill", lambda: self._loaded(name))

    def read_skill_file(self, name: str, path: str) -> str:
        """Return one file that belongs to a skill. Nothing is run.

        Args:
            name: Name or id of the skill, as list_skills gives it.
            path: Path of the file inside the skill's folder, as load_skill gives it.

        """
        return self._answered("read_skill_file", lambda: self._read(name, path))

    def why_skill(self, name: str, request: str) -> str:
        """Explain why a skill does or does not fit a request, and what beats it.

        Args:
            name: Name or id of the skill, as list_skills gives it.
            request: What is to be done, in words.

        """
        return self._answered("why_skill", lambda: self._explained(name, request))

    def _listed(self, query: str) -> str:
        catalog = self.catalog
        if not query.strip():
            text = summary_of(catalog, budget_tokens=self.options.listing_tokens).text
            return text or "There are no skills to list."
        with self._binding:
            bind(catalog, self._scorer)
        asked = Query(_ends(query))
        ranked = rank_skills(catalog, asked, scorer=self._scorer, limit=FOUND)
        lines = [
            f"- {_shown(match.skill.name)} ({_shown(match.skill.id)}), score {match.score:.2f}: "
            f"{shorten(_shown(match.skill.description), 300)}"
            for match in ranked.matches
        ]
        return "\n".join(lines) or "No skill has anything to do with this request."

    def _loaded(self, name: str) -> str:
        catalog = self.catalog
        skill = catalog.get(name.removeprefix("@"))
        try:
            files = [item.path for item in list_resources(skill)]
        except SkillError:  # built in code, or a single document: it has no folder
            files = []
        return skill_block(catalog, skill, files[:FILES_LISTED], self.options.reading_tokens)

    def _read(self, name: str, path: str) -> str:
        catalog = self.catalog
        skill = catalog.get(name.removeprefix("@"))
        try:
            text = read_resource(skill, path).decode("utf-8")
        except UnicodeDecodeError:
            raise ResourceRefused(f"{path!r} is not UTF-8 text") from None
        return file_block(catalog, skill, path, text, self.options.reading_tokens)

    def _explained(self, name: str, request: str) -> str:
        query = Query(_ends(request))
        found = why_skill(self.catalog, name.removeprefix("@"), query, scorer=self._scorer, limit=3)
        return without_roots(self.catalog, "\n".join(_why_lines(found)))

    def _answered(self, tool: str, work: Callable[[], str]) -> str:
        """Return a tool's answer; what the model asked wrongly is an answer too."""

        def answer() -> str:
            try:
                return work()
            except AmbiguousName as error:  # its own message holds paths of this machine
                ids = ", ".join(_shown(skill_id) for skill_id in error.ids)
                return f"{tool}: several skills are called that; ask for one of the ids: {ids}"
            except SkillError as error:
                hint = f"; {_shown(error.hint)}" if error.hint else ""
                return f"{tool}: {_shown(error.message)}{hint}"
            except InvalidInput as error:
                return f"{tool}: {_shown(str(error))}"

        failed = f"{tool} does not work at the moment; go on without it."
        return self._guarded(tool, answer, failed)

    def _guarded(self, what: str, work: Callable[[], T], otherwise: T) -> T:
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - see the class: a run goes on
            return self._gone_wrong(what, error, otherwise)

    async def _in_thread(self, work: Callable[[], T], otherwise: T) -> T:
        try:
            return await asyncio.to_thread(work)
        except RuntimeError as error:  # no thread to be had: another kind of loop, or the end
            return self._gone_wrong("choosing a skill", error, otherwise)

    def _gone_wrong(self, what: str, error: Exception, otherwise: T) -> T:
        """Raise the error if that is wanted; else log it; a fault of ours with its trace."""
        if self.options.strict:
            raise error
        ours = not isinstance(error, SkillyardError)
        _log.warning("%s failed, the run goes on without: %s", what, error, exc_info=ours)
        return otherwise


class _State(NamedTuple):
    """A snapshot and what was chosen from it, replaced together."""

    catalog: Catalog
    offers: OrderedDict[str, Offer | None]


def _as_injected(injector: SkillInjector) -> SkillOptions:
    config = injector.config
    return SkillOptions(config.scorer, config.policy, None, config.max_injected_chars)


def _ends(text: str) -> str:
    if len(text) <= 2 * ENDS_KEPT:
        return text
    return f"{text[:ENDS_KEPT]}\n{text[-ENDS_KEPT:]}"


def _shown(text: str) -> str:
    return escape_frame(clean_line(text))


def _why_lines(found: Why) -> Iterable[str]:
    yield from map(_shown, found.sentences)
    for ahead in found.ahead:
        signals = ", ".join(_shown(signal.label) for signal in ahead.signals[:3])
        lead = f" (by {signals})" if signals else ""
        yield f"ahead of it: {_shown(ahead.match.skill.name)}, {ahead.match.score:.2f}{lead}"
    yield from (f"note: {_shown(hint)}" for hint in found.advice)
    if found.before > len(found.ahead):
        yield f"and {plural(found.before - len(found.ahead), 'more skill')} ahead of it"
