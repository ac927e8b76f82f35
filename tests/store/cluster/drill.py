"""The fault run: nodes, clients and publishers go on while servers, nodes and links do not."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from skillyard.store.opening import open_store
from tests.store.cluster.clients import Lives, Seen, Target, asking
from tests.store.cluster.cluster import DATABASE, Cluster, cluster
from tests.store.cluster.journal import FAMILIES, TENANT, Entry, Publisher, crowd
from tests.store.cluster.laws import backwards, lost, past_of, untrue, wrong
from tests.store.cluster.links import Proxies, proxies
from tests.store.cluster.nodes import Node, until
from tests.store.servers import Server

__all__ = ["Drill", "Outcome", "Plan", "drill"]

LOST = 3
"""Generations at least that the primary takes with it."""
CUT_AGE_S = 2
"""What a node says at least of its age while its link is cut."""


class Plan(NamedTuple):
    """How much, and for how long."""

    nodes: int
    clients: int
    seconds: float
    think_s: float
    """Mean pause of a client."""
    crowd: int
    """Skills that stand beside those that change."""
    cut_s: float
    """How long a link is cut."""
    standby_again: bool
    """A new standby is made of the server that took over, so that publishes are safe again."""


class Outcome(NamedTuple):
    """What came of it."""

    answers: int
    generations: int
    safe: int
    """Publishes that were acknowledged as synchronous."""
    given_up: int
    """Generations that only the killed primary had."""
    unanswered: int
    """Requests to a node that was killed while it had them."""
    faults: dict[str, list[str]]
    """What must not be, by law; every list is empty in a good run."""


class Drill:
    """One run; its steps are told by :meth:`events`, in a thread of their own."""

    def __init__(
        self, plan: Plan, pair: Cluster, link: Proxies, nodes: Sequence[Node], stack: ExitStack
    ) -> None:
        self.plan = plan
        self.pair = pair
        self.link = link
        self.nodes = nodes
        self._stack = stack
        self.lives: Lives = dict.fromkeys(range(len(nodes)), 1)
        self.killed: dict[tuple[int, int], float] = {}
        self.taken_over = 0
        self.taken_over_at = 0.0
        self.publishers = [Publisher(family, pair.url()) for family in FAMILIES]
        self.faults: list[str] = []
        self._began = 0.0

    def run(self) -> Outcome:
        """Run it and check it."""
        for number, node in enumerate(self.nodes):
            node.wait_ready()
            self.lives[number] = 1
        for publisher in self.publishers:
            publisher.start()
        until(lambda: all(len(p.journal) > 1 for p in self.publishers), "the first publishes")
        for node in self.nodes:
            node.wait_generation_at_least(3)
        try:
            seen = asyncio.run(self._asked())
        finally:
            for publisher in self.publishers:
                publisher.finish()
        return self._outcome(seen)

    async def _asked(self) -> list[Seen]:
        self._began = time.monotonic()
        end = self._began + self.plan.seconds
        clients = [
            asking(
                Target(number % len(self.nodes), *self._place(number % len(self.nodes))),
                self.lives,
                self.plan.think_s,
                end,
                random.Random(number),
            )
            for number in range(self.plan.clients)
        ]
        events = asyncio.create_task(asyncio.to_thread(self.events))
        seen = await asyncio.gather(*clients)
        await events
        return [one for some in seen for one in some]

    def _place(self, number: int) -> tuple[str, int]:
        return self.nodes[number].host, self.nodes[number].port

    def events(self) -> None:
        """Do to them what happens to servers, one after the other."""
        self._at(0.1)
        self.cut_and_heal()
        self._at(0.4)
        self.kill_a_node(len(self.nodes) - 1)
        self._at(0.55)
        self.lose_the_primary()
        if self.plan.standby_again:
            made = self.pair.make_standby_of_the_promoted()
            self._stack.callback(made.destroy)
            self._at(0.75)
            self.kill_a_node(0)
            self._at(0.85)
            self.cut_and_heal()

    def _at(self, share: float) -> None:
        """Return when so much of the time is over."""
        due = self._began + share * self.plan.seconds
        threading.Event().wait(max(0.0, due - time.monotonic()))

    def cut_and_heal(self) -> None:
        """Cut the first node off; it answers on and says its age, and then catches up."""
        node = self.nodes[0]
        self.link.cut()
        try:
            threading.Event().wait(self.plan.cut_s)
            told = node.get("/rank?q=stone&limit=1")
            assert told.status_code == 200, told.text
            assert int(told.headers["skillyard-age"]) >= CUT_AGE_S, told.headers
            assert node.probe("/livez")[0] == 200
            assert node.probe("/readyz") == (503, "stale")
        finally:
            self.link.heal()
        node.wait_ready()
        self._caught_up(node)

    def kill_a_node(self, number: int) -> None:
        """End a node; started again on its folder it goes on from there."""
        node, life = self.nodes[number], self.lives[number]
        before = node.store()["generation"]
        self.killed[number, life] = time.monotonic()
        node.kill()
        self.lives[number] = 0
        node.start()
        node.wait_ready()
        assert node.store()["generation"] >= before
        self.lives[number] = life + 1
        self._caught_up(node)

    def lose_the_primary(self) -> None:
        """Kill the primary with generations that it alone has, which nodes have answered from."""
        self.pair.lose_the_standby()
        alone = self._stands()
        until(lambda: self._stands() >= alone + LOST, "local publishes")
        for node in self.nodes:
            node.wait_generation_at_least(alone + LOST)
        self.pair.primary.kill()
        for publisher in self.publishers:
            publisher.pause()
        self.pair.promote()
        self.taken_over_at = time.monotonic()
        with open_store(self.pair.standby.url(DATABASE)) as promoted:
            self.taken_over = promoted.generation()
        for publisher in self.publishers:
            publisher.resume(1)

    def _stands(self) -> int:
        """Return the newest generation that a publisher was told of."""
        return max(entry.generation or 0 for p in self.publishers for entry in p.journal)

    def _caught_up(self, node: Node) -> None:
        node.wait_generation_at_least(self._stands())

    def _outcome(self, seen: Sequence[Seen]) -> Outcome:
        journal: list[Entry] = [entry for p in self.publishers for entry in p.journal]
        server: Server = self.pair.standby
        with open_store(server.url(DATABASE)) as store:
            end = store.generation()
            digest = {}
            for number, node in enumerate(self.nodes):
                try:
                    node.wait_generation(end)
                    digest[number] = node.get("/health").json()["catalog"]["digest"]
                except AssertionError as error:
                    self.faults.append(f"node {number}: {error}")
        past = past_of(server, DATABASE, journal, self.taken_over)
        faults = {
            "what happened": [*self.faults, *(f for p in self.publishers for f in p.faults)],
            "wrong answers": list(wrong(past, seen, self.killed)),
            "older than before": list(backwards(past, seen, self.taken_over_at)),
            "older than they say": list(untrue(past, journal, seen)),
            "lost publishes": list(lost(past, journal, end)),
            "nodes that differ": [str(digest)] if len(set(digest.values())) != 1 else [],
        }
        gone = {
            e.generation for e in journal if not e.era and (e.generation or 0) > self.taken_over
        }
        return Outcome(
            sum(one.status == 200 for one in seen),
            end,
            sum(entry.safe for entry in journal),
            len(gone),
            sum(not one.status for one in seen),
            faults,
        )


@contextmanager
def drill(plan: Plan, folder: Path) -> Iterator[Drill]:
    """Give a run with its servers and nodes; nothing of it is left at the end."""
    with ExitStack() as stack:
        pair = stack.enter_context(cluster())
        link = stack.enter_context(proxies(pair.ports))
        with open_store(pair.url()) as store:
            store.publish(crowd(plan.crowd), tenant=TENANT, publisher="crowd")
        nodes = []
        for number in range(plan.nodes):
            url = pair.url(ports=link.ports) if number == 0 else pair.url()
            node = Node(url, folder / f"node-{number}", "--max-stale", "2")
            stack.callback(node.close)
            node.start()
            nodes.append(node)
        yield Drill(plan, pair, link, nodes, stack)
