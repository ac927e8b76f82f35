"""Selects the skill for a prompt, and checks that it may be used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from skillyard.base.errors import InvalidInput, SkillError, SkillIoError
from skillyard.base.io.files import sha256
from skillyard.base.io.processes import shell_command
from skillyard.base.operation import Spelling
from skillyard.base.text import clean_line
from skillyard.engine.ranking.match import Match, MinScore, Tools, WrongCost
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import DEFAULT_SCORER, default_scorer
from skillyard.engine.selection import Selection, SelectionPolicy, select
from skillyard.hosts.decisions import is_enabled, with_feedback
from skillyard.hosts.follow_up import Memory, follow_up
from skillyard.hosts.hook.admission import CODE, NotApproved, approved_content, needs_approval
from skillyard.hosts.hook.answer import KnownSkill, SkillOffer
from skillyard.hosts.hook.hosts import host_of
from skillyard.hosts.hook.journal import log_event, print_message, report_once
from skillyard.hosts.hook.library import library_place, open_library
from skillyard.hosts.hook.prompt import DEFAULT_MS, Prompt, PromptBudget
from skillyard.hosts.hook.trust import Project, project_above, untrusted_skills

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillyard.engine.catalog import Catalog
    from skillyard.engine.skill import Skill

NOT_APPROVED = "not approved"
MAX_NAMES = 5
"""Skills that one message names."""
MAX_OFFERED = 3
"""Skills that one answer names: the best, and those that come near."""


@dataclass(frozen=True, eq=False, repr=False)
class HookOptions:
    """The command-line options of the hook."""

    roots: tuple[str, ...] = ()
    """Additional libraries. The user trusts them by naming them."""
    tools: Tools = ()
    max_chars: Annotated[
        int, "Include at most N characters of the instructions.", Spelling(metavar="N")
    ] = 0
    min_score: MinScore = None
    wrong_cost: WrongCost = None
    budget_ms: Annotated[int, "Print nothing after this time.", Spelling(metavar="N")] = DEFAULT_MS
    perhaps: Annotated[
        bool, "Print nothing when a skill is only a possible fit.", Spelling(flag="--no-perhaps")
    ] = True
    refresh: Annotated[
        bool, "Do not update the index in the background.", Spelling(flag="--no-refresh")
    ] = True


def choose(
    host: str, prompt: Prompt, options: HookOptions, budget: PromptBudget, memory: Memory
) -> tuple[SkillOffer | KnownSkill | None, Memory]:
    """Return the skill that fits a prompt and may be used, and the session's memory after it.

    When no skill reaches the floor, a follow-up gets the skill of its task. Else the best one below
    the floor is returned and marked as uncertain, unless the option ``perhaps`` is off. Raises
    BudgetExceeded.
    """
    query = with_feedback(Query(prompt.query, tools=options.tools))
    if query.empty:
        return None, memory
    project = project_above(prompt.folder) if prompt.folder else None
    if project is None and prompt.folder:
        _report_untrusted(host, prompt.folder)
    roots = tuple(os.path.abspath(root) for root in options.roots)
    try:
        where = project.path if project else None
        place = library_place(roots, where, prompt.folder)
    except SkillIoError as error:  # a broken policy: nothing is offered
        log_event(host, "error", clean_line(f"{error.path}: {error.message}; {error.hint}"))
        return None, memory
    catalog = open_library(place, refresh=options.refresh)
    budget.check("opening the index")
    if catalog is None:
        making = "it is being made" if options.refresh else "make it with: skillyard hook install"
        log_event(host, "no_index", f"there is no index yet; {making}")
        return None, memory
    library = _Library(host, catalog, project, roots)
    library.report_left_out()
    policy = SelectionPolicy(min_score=options.min_score, wrong_cost=options.wrong_cost)
    selection, note = _select(host, catalog, query, policy, budget)
    budget.check("ranking")
    offer, refused = library.first_usable(selection, body=options.max_chars > 0)
    if options.perhaps and not selection.selected:
        offer = library.uncertain_offer(selection)
    answer, memory = library.in_session(prompt.query, selection, offer, memory)
    budget.check("looking at the skill")
    # Nothing comes after this that takes time: what is logged is shown. Without a session it is a
    # trial, and a follow-up is no request of its own.
    is_follow_up = memory.turns > 0 and isinstance(answer, KnownSkill)
    if prompt.session and not is_follow_up and is_enabled():
        _log(catalog, query, policy, selection, offer, refused, note)
    return answer, memory


def _select(
    host: str, catalog: Catalog, query: Query, policy: SelectionPolicy, budget: PromptBudget
) -> tuple[Selection, str]:
    """Select by the default scorer, or by ``hybrid``, with the reason why the default cannot.

    A hook never computes the vectors of skills: the update of the index does.
    """
    try:
        scorer = default_scorer()
        if "+" in scorer:
            from skillyard.hosts.hook.timed_selection import select_in_time

            selection, why = select_in_time(catalog, query, policy, budget)
        else:
            selection, why = select(catalog, query, policy, scorer), ""
    except (InvalidInput, SkillIoError) as error:
        selection, why = select(catalog, query, policy), str(error)
    if why:
        why = clean_line(f"{DEFAULT_SCORER} ranks instead: {why}")
        log_event(host, "scorer", why)
    return selection, why


def _report_untrusted(host: str, folder: str) -> None:
    """Report once that a project has skills that are not approved."""
    project = untrusted_skills(folder)
    if project is not None and report_once(project, "untrusted"):
        message = f"skills of {project} are not used until: {_trust(project)}"
        log_event(host, "untrusted", clean_line(message))
        print_message(message)


def _trust(project: str) -> str:
    return shell_command(["skillyard", "trust", project])


class _Library(NamedTuple):
    """The skills of one answer, and what says whether they may be used."""

    host: str
    catalog: Catalog
    project: Project | None
    roots: tuple[str, ...]
    """Named libraries."""

    def first_usable(
        self, selection: Selection, *, body: bool
    ) -> tuple[SkillOffer | None, list[Match]]:
        """Return the first selected skill that may be used, and those before it that may not."""
        refused: list[Match] = []
        for match in selection.selected:
            usable = self._usable_place(match.skill, body=body)
            if usable is None:
                refused.append(match)
                continue
            others = [each for each in selection.close if each not in (match, *refused)]
            near = self._offered(others[: MAX_OFFERED - 1])
            return SkillOffer(usable[0], match, usable[1], near), refused
        return None, refused

    def _offered(self, matches: Sequence[Match]) -> list[tuple[Skill, Match]]:
        """Return the skills that may be used: a name is untrusted text too."""
        places = ((self._usable_place(match.skill), match) for match in matches)
        return [(place[0], match) for place, match in places if place is not None]

    def in_session(
        self, text: str, selection: Selection, offer: SkillOffer | None, memory: Memory
    ) -> tuple[SkillOffer | KnownSkill | None, Memory]:
        """Return what is new to the session, or the skill of its task, and the memory after it."""
        if offer is not None and not offer.is_uncertain:
            is_known = offer.skill.hash in memory.texts
            memory = memory.begin(offer.match.skill).with_text(offer.skill)
            if self._loads_itself(text, offer.skill):
                return None, memory
            return KnownSkill(offer.skill, has_changed=False) if is_known else offer, memory
        memory, is_due = follow_up(memory, text, selection)
        if selection.selected or not memory.name:  # none that may be used, or none at all
            return offer, memory.end()
        if not is_due:
            return None, memory
        # The index would read every file for the name of one that is gone.
        skills = self.catalog.named(memory.name) if os.path.lexists(memory.path) else ()
        for skill in filter(memory.is_of, skills):
            if (usable := self._usable_place(skill)) is not None:
                known = KnownSkill(usable[0], has_changed=usable[0].hash not in memory.texts)
                return known, memory.with_text(usable[0])
        return offer, memory.end()

    def _loads_itself(self, text: str, skill: Skill) -> bool:
        """True when the prompt makes the host load the skill, so that it needs no second copy."""
        sign, words = host_of(self.host).sign, text.casefold().split()
        for word in words[:1] if sign == "/" else words:
            plugin, _, name = word[1:].rpartition(":")
            if word.startswith(sign) and name == skill.name.casefold():
                from skillyard.engine.discovery.hosts import is_read_by  # deferred: rarely called

                return bool(plugin) or is_read_by(self.host, skill.path)
        return False

    def uncertain_offer(self, selection: Selection) -> SkillOffer | None:
        """Return the best skill below the floor that may be used, and the next ones."""
        offered = self._offered(selection.maybe[:MAX_OFFERED])
        if not offered:
            return None
        (skill, match), *others = offered
        return SkillOffer(skill, match, None, others, is_uncertain=True)

    def _usable_place(self, skill: Skill, *, body: bool = False) -> tuple[Skill, str | None] | None:
        """Return the first copy of a skill that may be used, else report the refused ones.

        Those that the host reads come first. The instructions are read if ``body`` is set.
        """
        places = [skill, *self.catalog.variants(skill)]
        if len(places) > 1:
            from skillyard.engine.discovery.hosts import is_read_by  # deferred: few have several

            places.sort(key=lambda place: not is_read_by(self.host, place.path))
        refused: list[str] = []
        for place in places:
            if (usable := self._usable(place, refused, body=body)) is not None:
                return usable
        self._report_refused(refused)
        return None

    def _usable(
        self, skill: Skill, refused: list[str], *, body: bool
    ) -> tuple[Skill, str | None] | None:
        """Return the skill as in its current file, with its instructions if ``body`` is set."""
        if self.project is None or not needs_approval(skill.path, skill.scope, self.roots):
            return _as_it_is(skill, body=body)
        below = os.path.relpath(skill.path, self.project.path)
        try:
            content = approved_content(self.project, skill.path)
        except NotApproved:
            refused.append(below)
            return None
        except OSError:
            return None  # removed since it was indexed
        if sha256(content.data).hex() != skill.hash:
            return None  # the indexed content is not the approved one
        if not body:
            return skill, None
        from skillyard.engine.formats.frontmatter import decode, split, unify_lines

        try:
            return skill, split(unify_lines(decode(content.data, below)), below).body
        except SkillError:
            return skill, None

    def report_left_out(self) -> None:
        if self.project is not None:
            left_out = [each.path for each in self.catalog.diagnostics if each.code == CODE]
            self._report_refused([os.path.relpath(path, self.project.path) for path in left_out])

    def _report_refused(self, paths: Sequence[str]) -> None:
        """Report once, until the next approval, that skills of a project are not used."""
        if (project := self.project) is None:
            return
        fresh = [path for path in paths if report_once(project.path, path)]
        changed = [path for path in fresh if path in project.skills]
        new = [path for path in fresh if path not in project.skills]
        for some, what in ((changed, "changed since approval"), (new, "not approved")):
            if some:
                names = ", ".join(some[:MAX_NAMES])
                more = f" and {len(some) - MAX_NAMES:,} more" if len(some) > MAX_NAMES else ""
                message = f"not used, as {what}: {names}{more}; look, then: {_trust(project.path)}"
                log_event(self.host, "changed", clean_line(message))
                print_message(message)


def _as_it_is(skill: Skill, *, body: bool) -> tuple[Skill, str | None] | None:
    """Return the skill, read from its file again if that changed since it was indexed."""
    try:
        status = os.stat(skill.path)
    except OSError:
        return None
    if not body and skill.last_modified == int(status.st_mtime):
        return skill, None
    from skillyard.engine.catalog.entries import refresh

    try:
        now = refresh(skill)
    except SkillError:
        return None
    return now, now.body


def _log(
    catalog: object,
    query: Query,
    policy: SelectionPolicy,
    selection: Selection,
    offer: SkillOffer | None,
    refused: list[Match],
    note: str,
) -> None:
    """Log the skill that was offered. Refused skills that ranked higher are logged as rejected."""
    from skillyard.engine.selection import bounds
    from skillyard.hosts.decisions.recorder import record

    best = () if offer is None or offer.is_uncertain else (offer.match,)
    first = [
        Match(m.skill, m.score, m.level, m._scored, NOT_APPROVED) if m in refused else m
        for m in selection.selected
        if m not in best
    ]
    offered = selection._replace(
        selected=best, rejected=(*first, *selection.rejected), abstained=not best
    )
    floor, _ = bounds(policy, selection.scorer)
    record("hook", cast(Any, catalog), query, policy, (floor, 1), offered, note=note)
