"""The library of skills behind every framework adapter."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from skillyard.base.errors import (
    AmbiguousName,
    InvalidInput,
    ResourceRefused,
    SkillError,
    SkillyardError,
)
from skillyard.base.io.files import sha256
from skillyard.base.text import plural
from skillyard.engine.catalog import Catalog
from skillyard.engine.operations.skill_explanation import WhyResult, why_skill
from skillyard.engine.ranking.match import Match
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, bind, resolve
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.selection import Selection, SelectionPolicy
from skillyard.engine.skill import Skill
from skillyard.hosts.adapters.blocks import (
    file_block,
    has_block,
    offer_block,
    own_words,
    prepend_block,
    reminder,
    safe_line,
    skill_block,
    without_roots,
)
from skillyard.hosts.follow_up import Memory, follow_up
from skillyard.hosts.injector import SkillInjector
from skillyard.hosts.operations.prompts import summary_of
from skillyard.hosts.operations.skill_selection import rank_skills, select_skills
from skillyard.install.policy.library import load_catalog

_log = logging.getLogger("skillyard.hosts.adapters")
T = TypeVar("T")

MAX_END_CHARS = 16_000
"""Characters used from each end of a long message. Users write their request before or after pasted
text, and the ranking time must not grow with the paste."""
MAX_STEPS = 1_024
"""Messages whose block is remembered: every call of a model repeats those before it."""
MAX_REPLAYED = 32
"""Messages of a conversation begun elsewhere for which skills are chosen again."""
WAIT_S = 10.0
"""Seconds for which no second look begins while one is taken."""
PAUSES = 9.0
"""Looks at the files take a tenth of the time at most: 9 times as long as one, none is taken."""
MAX_FILES_LISTED = 100
MAX_SKILLS_LISTED = 10
"""Skills that ``list_skills`` returns for a request."""


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
    """Raise errors of skillyard. By default they are logged and the run continues without a
    skill."""

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
    """The text put before the message: the origin and the framed instructions."""

    def before(self, text: str) -> str:
        """Return the message with the block before it."""
        return prepend_block(self.block, text)


class _Step(NamedTuple):
    """A conversation up to one message of the user."""

    block: str = ""
    """What stands before the message."""
    memory: Memory = Memory()


class AgentSkills:
    """One library of skills for any number of agents and concurrent runs. Thread-safe.

    ``skills`` is a catalog, the path of a folder, skills built in code, or a ``SkillInjector``,
    whose policy, scorer and ``max_injected_chars`` are used. Errors are logged to
    ``skillyard.hosts.adapters`` and no skill is returned, unless ``strict`` is set.
    """

    def __init__(
        self,
        skills: Catalog | str | os.PathLike[str] | Iterable[Skill] | SkillInjector,
        options: SkillOptions | None = None,
    ) -> None:
        if isinstance(skills, SkillInjector):
            config, skills = skills.config, skills.catalog
            options = options or SkillOptions(
                config.scorer, config.policy, None, config.max_injected_chars
            )
        elif isinstance(skills, str | os.PathLike):
            skills = load_catalog(skills)
        self._catalog = skills if isinstance(skills, Catalog) else Catalog.from_skills(skills)
        self.options = options or SkillOptions()
        self._scorer: Any = resolve(self.options.scorer)
        self._binding = Lock()
        self._next_look = 0.0
        self._steps: OrderedDict[bytes, _Step] = OrderedDict()
        self._remembering = Lock()

    @classmethod
    def of(cls, skills: AnySkills) -> AgentSkills:
        """Return the library of whatever an adapter takes."""
        return skills if isinstance(skills, AgentSkills) else cls(skills)

    @classmethod
    def from_root(
        cls,
        *roots: str | os.PathLike[str],
        scopes: Iterable[str] = (),
        options: SkillOptions | None = None,
    ) -> AgentSkills:
        """Load the skills below one or more folders. Raises InvalidSkillsRoot, InvalidInput."""
        return cls(load_catalog(*roots, scopes=scopes), options)

    @property
    def catalog(self) -> Catalog:
        """The catalog that skills are chosen from."""
        return self._catalog

    def reload(self) -> bool:
        """Read the files that changed on disk. Returns True when there were any.

        Every new message and every tool does so by itself. Calls in progress finish with the
        previous catalog. Raises InvalidSkillsRoot.
        """
        before = self._catalog
        after = before.reload().catalog
        if after is not before:
            self._catalog = after
        return after is not before

    def current_catalog(self) -> Catalog:
        """Return the catalog of the files as they are now, or as they were a moment ago."""
        start = monotonic()
        if start >= self._next_look:
            self._next_look = start + WAIT_S  # others go on meanwhile
            self._run_guarded("looking at the files", self.reload, otherwise=False)
            now = monotonic()
            self._next_look = now + PAUSES * (now - start)
        return self._catalog

    def choose(self, message: str) -> Offer | None:
        """Return the skill for a message, or None when none fits or an error was logged.

        Blocks while ranking.
        """

        def work() -> Offer | None:
            if not message.strip() or has_block(message):
                return None
            catalog = self.current_catalog()
            best = self._select(catalog, message, lambda _: True).best
            return None if best is None else Offer(best, self._block(catalog, best.skill, best))

        return self._run_guarded("choosing a skill", work, None)

    def put_before(
        self, items: Sequence[T], read: Callable[[T], str], put: Callable[[T, str], Sequence[T]]
    ) -> Sequence[T]:
        """Return the items of a request with a block before what the user said; else the same list.

        ``read`` returns the user's text in an item, which is empty in most. ``put`` returns what
        stands for an item with its block. What was put before a message stays before it in later
        requests, so that the provider's cache of them holds. Errors in either are handled like
        errors while choosing.
        """

        def work() -> Sequence[T]:
            texts = [read(item) for item in items]
            steps = zip(texts, self._steps_of(texts), strict=True)
            blocks = ["" if has_block(text) else step.block for text, step in steps]
            if not any(blocks):
                return items
            pairs = zip(items, blocks, strict=True)
            return [
                each for item, block in pairs for each in (put(item, block) if block else [item])
            ]

        return self._run_guarded("choosing a skill", work, items)

    async def put_before_async(
        self, items: Sequence[T], read: Callable[[T], str], put: Callable[[T, str], Sequence[T]]
    ) -> Sequence[T]:
        """Run :meth:`put_before` in a thread."""
        try:
            return await asyncio.to_thread(self.put_before, items, read, put)
        except RuntimeError as error:  # no thread available: not asyncio, or at shutdown
            return self._handle_failure("choosing a skill", error, items)

    def task_skill(self, texts: Sequence[str]) -> tuple[str, str]:
        """Return name and text of the skill of the task that the user's texts have come to.

        Both are empty without one, or when an error was logged. Blocks while ranking.
        """

        def work() -> tuple[str, str]:
            *_, (_, memory) = (_Step(), *self._steps_of(texts))
            skills = self._catalog.named(memory.name) if memory.name else ()
            return next(((s.name, s.body or "") for s in skills if memory.is_of(s)), ("", ""))

        return self._run_guarded("choosing a skill", work, ("", ""))

    def _steps_of(self, texts: Sequence[str]) -> Iterator[_Step]:
        """Yield the conversation up to each text."""
        step, key = _Step(), b""
        left = sum(map(bool, map(str.strip, texts)))
        for place, text in enumerate(texts, 1):
            if not text.strip():
                yield _Step("", step.memory)
                continue
            left -= 1
            words = own_words(text)
            key = sha256(key + words.encode("utf-8", "surrogatepass"))
            is_new = place == len(texts)  # nothing follows: the model has not seen it
            known = None if is_new else self._steps.get(key)
            if known is None:
                known = _Step() if left >= MAX_REPLAYED else self._next(step, words, is_new=is_new)
                self._remember(key, known)
            step = known
            yield step

    def _remember(self, key: bytes, step: _Step) -> None:
        with self._remembering:
            self._steps[key] = step
            while len(self._steps) > MAX_STEPS:
                self._steps.popitem(last=False)

    def _next(self, step: _Step, text: str, *, is_new: bool) -> _Step:
        """Return the step after a message.

        Only the choice for a new one is logged, and no follow-up: it is no request of its own.
        """
        if not text.strip():
            return _Step("", step.memory)
        catalog = self.current_catalog() if is_new else self._catalog

        def is_request(selection: Selection) -> bool:
            memory, is_due = follow_up(step.memory, text, selection)
            return is_new and not (is_due and memory.turns)

        selection = self._select(catalog, text, is_request)
        memory, is_due = follow_up(step.memory, text, selection)
        if not is_due:
            return _Step("", memory)
        best = selection.best
        match = best if best is not None and memory.is_of(best.skill) else None
        skills = catalog.named(memory.name) if match is None else (match.skill,)
        skill = next(filter(memory.is_of, skills), None)
        if skill is None:
            return _Step("", memory.end())
        if skill.hash in memory.texts:
            return _Step(reminder(skill), memory)
        return _Step(self._block(catalog, skill, match), memory.with_text(skill))

    def _select(
        self, catalog: Catalog, text: str, is_logged: Callable[[Selection], bool]
    ) -> Selection:
        with self._binding:
            bind(catalog, self._scorer)  # under a lock, so that concurrent calls bind only once
        query, policy = Query(_keep_ends(text)), self.options.policy
        return select_skills(
            catalog, query, policy, scorer=self._scorer, is_logged=is_logged
        ).selection

    def _block(self, catalog: Catalog, skill: Skill, match: Match | None) -> str:
        options = self.options
        return offer_block(catalog, skill, match, options.max_chars, options.max_tokens)

    def rank(self, query: str) -> tuple[Match, ...]:
        """Return the ten skills that fit a request best. Raises what the scorer raises."""
        catalog = self.current_catalog()
        with self._binding:
            bind(catalog, self._scorer)
        request = Query(_keep_ends(query))
        return rank_skills(catalog, request, scorer=self._scorer, limit=MAX_SKILLS_LISTED).matches

    def list_skills(self, query: str = "") -> str:
        """List the skills that can be loaded, or those that fit a request.

        Args:
            query: What is to be done, in words; empty lists every skill.

        """
        return self._answer("list_skills", lambda: self._list_text(query))

    def load_skill(self, name: str) -> str:
        """Return the instructions of one skill, and the names of its files.

        Args:
            name: Name or id of the skill, as list_skills gives it.

        """
        return self._answer("load_skill", lambda: self._load_text(name))

    def read_skill_file(self, name: str, path: str) -> str:
        """Return one file that belongs to a skill. Nothing is run.

        Args:
            name: Name or id of the skill, as list_skills gives it.
            path: Path of the file inside the skill's folder, as load_skill gives it.

        """
        return self._answer("read_skill_file", lambda: self._file_text(name, path))

    def why_skill(self, name: str, request: str) -> str:
        """Explain why a skill does or does not fit a request, and what beats it.

        Args:
            name: Name or id of the skill, as list_skills gives it.
            request: What is to be done, in words.

        """
        return self._answer("why_skill", lambda: self._explanation_text(name, request))

    def _list_text(self, query: str) -> str:
        catalog = self.current_catalog()
        if not query.strip():
            text = summary_of(catalog, budget_tokens=self.options.listing_tokens).text
            return text or "There are no skills to list."
        lines = [
            f"- {safe_line(match.skill.name)} ({safe_line(match.skill.id)}),"
            f" score {match.score:.2f}: {safe_line(match.skill.description)}"
            for match in self.rank(query)
        ]
        return "\n".join(lines) or "No skill has anything to do with this request."

    def _load_text(self, name: str) -> str:
        catalog = self.current_catalog()
        skill = catalog.get(name.removeprefix("@"))
        try:
            files = [item.path for item in list_resources(skill)]
        except SkillError:  # built in code, or a single document: it has no folder
            files = []
        return skill_block(catalog, skill, files[:MAX_FILES_LISTED], self.options.reading_tokens)

    def _file_text(self, name: str, path: str) -> str:
        catalog = self.current_catalog()
        skill = catalog.get(name.removeprefix("@"))
        try:
            text = read_resource(skill, path).decode("utf-8")
        except UnicodeDecodeError:
            raise ResourceRefused(f"{path!r} is not UTF-8 text") from None
        return file_block(catalog, skill, path, text, self.options.reading_tokens)

    def _explanation_text(self, name: str, request: str) -> str:
        query = Query(_keep_ends(request))
        catalog = self.current_catalog()
        why = why_skill(catalog, name.removeprefix("@"), query, scorer=self._scorer, limit=3)
        return without_roots(catalog, "\n".join(_why_lines(why)))

    def _answer(self, tool: str, work: Callable[[], str]) -> str:
        """Return a tool's answer. Wrong arguments are answered with a message to the model."""

        def answer() -> str:
            try:
                return work()
            except AmbiguousName as error:  # the error's message contains local paths
                ids = ", ".join(safe_line(skill_id) for skill_id in error.ids)
                return f"{tool}: several skills are called that; ask for one of the ids: {ids}"
            except SkillError as error:
                hint = f"; {safe_line(error.hint)}" if error.hint else ""
                return f"{tool}: {safe_line(error.message)}{hint}"
            except InvalidInput as error:
                return f"{tool}: {safe_line(str(error))}"

        failed = f"{tool} does not work at the moment; go on without it."
        return self._run_guarded(tool, answer, failed)

    def _run_guarded(self, what: str, work: Callable[[], T], otherwise: T) -> T:
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - a failing skill must not end an agent's run
            return self._handle_failure(what, error, otherwise)

    def _handle_failure(self, what: str, error: Exception, otherwise: T) -> T:
        """Raise the error in strict mode, else log it. Unexpected ones with a trace."""
        if self.options.strict:
            raise error
        ours = not isinstance(error, SkillyardError)
        _log.warning("%s failed, the run goes on without: %s", what, error, exc_info=ours)
        return otherwise


AnySkills = AgentSkills | Catalog | str | os.PathLike[str] | Iterable[Skill] | SkillInjector
"""What every adapter takes: a library, or what one is made of."""


def _keep_ends(text: str) -> str:
    if len(text) <= 2 * MAX_END_CHARS:
        return text
    return f"{text[:MAX_END_CHARS]}\n{text[-MAX_END_CHARS:]}"


def _why_lines(why: WhyResult) -> Iterable[str]:
    yield from map(safe_line, why.sentences)
    for ahead in why.ahead:
        signals = ", ".join(safe_line(signal.signal) for signal in ahead.signals[:3])
        lead = f" (by {signals})" if signals else ""
        yield f"ahead of it: {safe_line(ahead.match.skill.name)}, {ahead.match.score:.2f}{lead}"
    yield from (f"note: {safe_line(hint)}" for hint in why.advice)
    if why.before > len(why.ahead):
        yield f"and {plural(why.before - len(why.ahead), 'more skill')} ahead of it"
