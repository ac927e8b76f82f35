"""What publishers did, in their own words, beside what the store says of it afterwards.

A family is some skills that always change together and all say the same number, so that an answer
which shows two numbers of one family is a mixture of generations. One more skill of the family,
the guest, is withdrawn after each publish and comes back with the next.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from skillyard import Skill
from skillyard.base.errors import NoStandby, StoreFailed
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Durability, Published, StoreKey

__all__ = ["FAMILIES", "MEMBERS", "TENANT", "Entry", "Family", "Publisher", "State", "crowd"]

TENANT = "acme"
MEMBERS = 5
"""Skills of a family that are always there."""
PAUSE_S = 0.25
"""Between two generations of one publisher."""
RETRY_S = 0.1
_SAID = re.compile(r"State (\d+)\.")


class State(NamedTuple):
    """What a family says in one generation."""

    number: int
    guest: bool
    """True while the guest is there."""


class Family(NamedTuple):
    """Skills that change together."""

    name: str
    words: str
    """What to ask to be shown all of them, and no other family."""

    def skill(self, member: int, number: int) -> Skill:
        """Return a member (``MEMBERS``: the guest) as it is when the family says ``number``."""
        name = f"{self.name}-{member}"
        text = f"How to {self.words}, part {member}. State {number}."
        return Skill(name, text, f"# {name}\n\nFirst {self.words}. State {number}.\n")

    def skills(self, number: int) -> list[Skill]:
        """Return all of them, the guest too."""
        return [self.skill(member, number) for member in range(MEMBERS + 1)]

    @property
    def guest(self) -> str:
        """The name of the guest."""
        return f"{self.name}-{MEMBERS}"

    def numbers_in(self, text: str) -> set[int]:
        """Return the numbers that a text of members says."""
        return {int(number) for number in _SAID.findall(text)}


FAMILIES = (Family("amber", "polish amber stones"), Family("basil", "plant basil seeds"))


def crowd(count: int) -> list[Skill]:
    """Return skills that nobody changes: with them a node's rebuild is one of many skills."""
    return [
        Skill(f"crowd-{n:05}", f"Fills row {n} of the ledger.", f"# Row {n}\n\nWrite {n * n}.\n")
        for n in range(count)
    ]


class Entry(NamedTuple):
    """One change as its publisher saw it."""

    family: str
    state: State
    generation: int | None
    """None: nobody could say whether it stands, or under which number."""
    safe: bool
    """Acknowledged as synchronous."""
    era: int
    """0 before the standby took over, 1 after it."""
    at: float
    """``time.monotonic()`` when the answer had come."""


class Publisher(threading.Thread):
    """Publishes one family's next number, withdraws the guest, and so on; again until told.

    Every change is tried until it stands. Every other one asks for a standby, and makes do with
    the one server where none answers.
    """

    def __init__(self, family: Family, url: str) -> None:
        super().__init__(name=f"publisher-{family.name}", daemon=True)
        self.family = family
        self.journal: list[Entry] = []
        self.faults: list[str] = []
        """What must not happen: an error without a name."""
        self.era = 0
        self._url = url
        self._store: CatalogStore | None = None
        self._done = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._resting = threading.Event()

    def pause(self) -> None:
        """Return when it is between two tries, and stays there."""
        self._go.clear()
        assert self._resting.wait(60), "the publisher does not come to rest"

    def resume(self, era: int) -> None:
        """Let it go on, in an era."""
        self.era = era
        self._resting.clear()
        self._go.set()

    def finish(self) -> None:
        """Let it end after the change at hand."""
        self._done.set()
        self._go.set()
        self.join(60)
        assert not self.is_alive(), "the publisher does not end"

    def run(self) -> None:
        number = 0
        try:
            while not self._done.is_set():
                number += 1
                era = self.era
                self._publish(number)
                if self.era == era:  # else what was published may be lost, and comes again
                    self._withdraw(number)
        except Exception as error:  # noqa: BLE001 - the test that started it has to hear of it
            self.faults.append(f"{type(error).__name__}: {error}")
        finally:
            self._resting.set()
            if self._store is not None:
                self._store.close()

    def _publish(self, number: int) -> None:
        skills = self.family.skills(number)

        def change(store: CatalogStore, durability: Durability) -> Published:
            return store.publish(
                skills, tenant=TENANT, publisher=self.family.name, durability=durability
            )

        self._stands(State(number, True), change)

    def _withdraw(self, number: int) -> None:
        key = StoreKey(TENANT, "", "", self.family.guest)

        def change(store: CatalogStore, durability: Durability) -> Published:
            return store.withdraw(
                [key], tenant=TENANT, publisher=self.family.name, durability=durability
            )

        self._stands(State(number, False), change)

    def _stands(
        self, state: State, change: Callable[[CatalogStore, Durability], Published]
    ) -> None:
        """Try a change until it stands, and note every answer to it.

        A withdrawal whose publish may be lost, as the standby took over, is given up.
        """
        durability: Durability = "synchronous" if state.number % 2 else "local"
        begun = self.era
        while not self._done.is_set():
            self._rest()
            era = self.era
            if era != begun and not state.guest:
                return
            try:
                if self._store is None:
                    self._store = open_store(self._url, connections=1, standby_wait_s=2)
                done = change(self._store, durability)
            except NoStandby as error:
                durability = "local"
                if error.committed:
                    self._note(state, error.generation, False, era)
                    return
            except StoreFailed as error:
                if error.committed is None:
                    self._note(state, None, False, era)
                self._wait(RETRY_S)
            else:
                changed = done.added + done.changed + done.withdrawn
                # Where nothing had to change, an earlier try stands under a number unknown.
                self._note(state, done.generation if changed else None, durability != "local", era)
                self._wait(PAUSE_S)
                return

    def _note(self, state: State, generation: int | None, safe: bool, era: int) -> None:
        safe = safe and generation is not None
        entry = Entry(self.family.name, state, generation, safe, era, time.monotonic())
        self.journal.append(entry)

    def _rest(self) -> None:
        while not self._go.is_set():
            self._resting.set()
            self._go.wait(0.05)

    def _wait(self, seconds: float) -> None:
        self._done.wait(seconds)
