"""Whether what clients saw is what the store held: the laws of the fault run."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from tests.store.cluster.clients import Seen
from tests.store.cluster.journal import FAMILIES, MEMBERS, Entry, State
from tests.store.servers import Server

__all__ = ["Past", "backwards", "lost", "past_of", "untrue", "wrong"]

SLACK_S = 0.5
"""What a busy machine may put between an event and its time."""

Line = list[tuple[int, State]]
"""What a family said from a generation on, by generation."""


class Past:
    """What each generation held, before and after the standby took over."""

    def __init__(self, kept: Mapping[str, Line], journal: Sequence[Entry], taken_over: int) -> None:
        """``kept`` is the past of the server in the end; ``taken_over`` the last generation that
        the standby had when it was promoted."""
        self.taken_over = taken_over
        self._kept = kept
        self._lost: dict[str, list[tuple[int | None, State]]] = {name: [] for name in kept}
        """Changes that only the killed primary had; None: under a number that nobody was told."""
        for entry in journal:
            after = entry.generation is None or entry.generation > taken_over
            if entry.era == 0 and after:
                self._lost[entry.family].append((entry.generation, entry.state))

    def after(self, family: str, generation: int) -> State | None:
        """Return what a family says in a generation of the server that there is in the end."""
        line = self._kept[family]
        place = bisect_right(line, generation, key=lambda item: item[0])
        return line[place - 1][1] if place else None

    def before(self, family: str, generation: int) -> set[State | None]:
        """Return what a family may have said in a generation of the primary that was killed.

        It is one state, but for changes whose publisher got no answer.
        """
        if generation <= self.taken_over:
            return {self.after(family, generation)}
        found = {self.after(family, self.taken_over)}
        for number, state in self._lost[family]:
            if number is None:
                found.add(state)
            elif number <= generation:
                found = {state}
        return found


def past_of(server: Server, database: str, journal: Sequence[Entry], taken_over: int) -> Past:
    """Read from a server's tables, without the store, what each of its generations held."""
    rows = server.sql(
        "SELECT v.generation, v.place, c.description FROM skillyard.versions v"
        " LEFT JOIN skillyard.contents c ON c.tenant = v.tenant AND c.digest = v.digest"
        " ORDER BY v.generation, v.ordinal",
        database,
    )
    kept: dict[str, Line] = {}
    for family in FAMILIES:
        line: Line = []
        for generation, place, description in rows:
            if not place.startswith(f"{family.name}-"):
                continue
            if description is None:  # only the guest is ever withdrawn
                state = State(line[-1][1].number, False)
            else:
                (number,) = family.numbers_in(description)
                state = State(number, True)
            if line and line[-1][0] == generation:
                assert line[-1][1] == state, f"generation {generation} is no whole publish"
            else:
                line.append((generation, state))
        kept[family.name] = line
    return Past(kept, journal, taken_over)


def lost(past: Past, journal: Sequence[Entry], end: int) -> Iterator[str]:
    """Yield what was acknowledged and is not what the server has in the end.

    A change that is only on the killed primary counts where it was acknowledged as synchronous,
    and not where it was acknowledged as local.
    """
    for entry in journal:
        if entry.generation is None:
            continue
        expected = entry.era == 1 or entry.generation <= past.taken_over or entry.safe
        held = past.after(entry.family, entry.generation)
        if expected and (held != entry.state or entry.generation > end):
            yield f"{entry}: the server has {held}"


def wrong(
    past: Past, seen: Sequence[Seen], killed: Mapping[tuple[int, int], float]
) -> Iterator[str]:
    """Yield the answers that are no generation's: errors, mixtures, other states, bad ages.

    ``killed`` says when a process of a node was ended: what it did not answer any more is no fault.
    """
    for one in seen:
        if one.status != 200:
            dead = not one.status and one.ended >= killed.get((one.node, one.life), math.inf)
            if not dead:
                yield f"{one}: not answered"
            continue
        allowed = past.before(one.family.name, one.generation)
        allowed.add(past.after(one.family.name, one.generation))
        if not any(_shows(one, state) for state in allowed):
            yield f"{one}: that generation says {sorted(map(str, allowed))}"
        if not one.age.isdecimal():
            yield f"{one}: an age of {one.age!r}"


def _shows(one: Seen, state: State | None) -> bool:
    if state is None:
        return not one.names
    if one.numbers != {state.number}:
        return False
    members = {f"{one.family.name}-{member}" for member in range(MEMBERS + state.guest)}
    if one.kind in ("rank", "search"):
        return one.names == members
    return bool(one.names) and one.names <= members


def backwards(past: Past, seen: Sequence[Seen], taken_over_at: float) -> Iterator[str]:
    """Yield the answers of a node that are older than what it had answered before they were asked.

    A process of a node may go back once, after the standby took over; from then on it answers
    nothing that only the killed primary had.
    """
    for place in sorted({(one.node, one.life) for one in seen}):
        mine = [one for one in seen if (one.node, one.life) == place and one.status == 200]
        fell = next(_older(mine), None)
        if fell is None:
            continue
        if fell.ended < taken_over_at:
            yield f"{fell}: older than an answer before it"
            continue
        yield from (
            f"{one}: older than an answer before it, once more"
            for part in (
                [one for one in mine if one.ended <= fell.began],
                [one for one in mine if one.began >= fell.ended],
            )
            for one in _older(part)
        )
        for one in mine:
            state = past.after(one.family.name, one.generation)
            if one.began >= fell.ended and not _shows(one, state):
                yield f"{one}: what only the killed primary had"


def _older(seen: Sequence[Seen]) -> Iterator[Seen]:
    """Yield what is older than an answer that had come when it was asked, as they ended."""
    ended = sorted(seen, key=lambda one: one.ended)
    times = [one.ended for one in ended]
    newest = list(accumulate((one.generation for one in ended), max))
    for one in ended:
        before = bisect_left(times, one.began)
        if before and one.generation < newest[before - 1]:
            yield one


def untrue(past: Past, journal: Sequence[Entry], seen: Sequence[Seen]) -> Iterator[str]:
    """Yield the answers that are older than they say.

    An answer of age A says that nothing newer was there A seconds ago; ages are whole seconds.
    """
    stands = sorted(
        (entry.at, entry.generation)
        for entry in journal
        if entry.generation is not None and (entry.era or entry.generation <= past.taken_over)
    )
    times = [at for at, _ in stands]
    newest = list(accumulate((generation for _, generation in stands), max))
    for one in seen:
        if one.status != 200:
            continue
        heard = min(one.began, one.ended - float(one.age) - 0.5) - SLACK_S
        before = bisect_left(times, heard)
        if before and newest[before - 1] > one.generation:
            yield f"{one}: generation {newest[before - 1]} stood before that"
