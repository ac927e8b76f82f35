"""Any history of a store, beside a model of two dictionaries, with followers on the way."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from skillyard.base.errors import StoreConflict
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant, StoreKey
from tests.store.follower_contract import Follower
from tests.store.servers import Server
from tests.store.skills import seen_by, skill

SOAK = os.environ.get("SKILLYARD_SOAK") == "1"
TENANTS = ("acme", "other")
NAMESPACES = ("", "team", "team/eu")
PLACES = ("a", "b", "c")

_tenants = st.sampled_from(TENANTS)
_namespaces = st.sampled_from(NAMESPACES)
_places = st.sampled_from(PLACES)
_keys = st.builds(StoreKey, _tenants, _namespaces, st.just(""), _places)


class Held(NamedTuple):
    """What the model knows of one skill; no text: it was withdrawn."""

    text: str | None
    version: int
    installs: int


State = dict[StoreKey, Held]
Shown = dict[StoreKey, tuple[str, int, int]]


def live(state: State) -> Shown:
    return {
        key: (f"Says {held.text}.", held.version, held.installs)
        for key, held in state.items()
        if held.text is not None
    }


def shown(versions: object) -> Shown:
    return {
        v.key: (v.skill.description, v.version, v.skill.install_count)
        for v in versions  # type: ignore[attr-defined]
    }


class Histories(RuleBasedStateMachine):
    """Publishes, withdrawals, rollbacks, grants; a follower of all and one of a view."""

    fresh: Callable[[], tuple[CatalogStore, Callable[[], None]]]

    def __init__(self) -> None:
        super().__init__()
        self.store, self.clean = type(self).fresh()
        self.states: list[State] = [{}]
        self.granted: set[tuple[str, str, str]] = set()
        self.all = Follower(self.store)
        self.view = Follower(seen_by(self.store, "bob"))

    def teardown(self) -> None:
        self.store.close()
        self.clean()

    @property
    def now(self) -> State:
        return self.states[-1]

    def become(self, state: State, generation: int) -> None:
        """Note what the store should be after an action that gave this generation."""
        if state != self.now:
            self.states.append(state)
        assert generation == len(self.states) - 1

    @rule(
        tenant=_tenants,
        namespace=_namespaces,
        given=st.dictionaries(_places, st.tuples(st.sampled_from("xyz"), st.integers(0, 1))),
        expected=st.none() | st.integers(0, 3),
    )
    def publish(
        self,
        tenant: str,
        namespace: str,
        given: dict[str, tuple[str, int]],
        expected: int | None,
    ) -> None:
        state = dict(self.now)
        conflict = False
        for place, (text, installs) in given.items():
            key = StoreKey(tenant, namespace, "", place)
            old = state.get(key, Held(None, 0, 0))
            same = old.text == text
            found = 0 if old.text is None else old.version
            conflict |= expected is not None and not same and expected != found
            state[key] = Held(text, old.version + (not same), installs)
        skills = [skill(place, text, install_count=n) for place, (text, n) in given.items()]
        try:
            done = self.store.publish(
                skills, tenant=tenant, publisher="p", namespace=namespace, expected=expected
            )
        except StoreConflict:
            assert conflict
            return
        assert not conflict
        assert done.added + done.changed + done.unchanged == len(given)
        self.become(state, done.generation)

    @initialize(texts=st.lists(st.sampled_from("xyz"), min_size=2, max_size=4))
    def begin(self, texts: list[str]) -> None:
        """Give it a past, so that there is something to withdraw and to go back to."""
        for text in texts:
            self.publish("acme", "team", {"a": (text, 0), text: ("x", 0)}, None)

    @rule(data=st.data(), tenant=_tenants)
    def withdraw(self, data: st.DataObject, tenant: str) -> None:
        there = sorted(key for key in live(self.now) if key.tenant == tenant)
        keys = data.draw(st.lists(st.sampled_from(there) if there else _keys, max_size=2))
        keys = [key._replace(tenant=tenant) for key in (*keys, data.draw(_keys))]
        state = dict(self.now)
        for key in keys:
            if key in state:
                state[key] = state[key]._replace(text=None)
        done = self.store.withdraw(keys, tenant=tenant, publisher="p")
        assert done.withdrawn == len(live(self.now)) - len(live(state))
        self.become(state, done.generation)

    @rule(data=st.data(), tenant=_tenants)
    def rollback(self, data: st.DataObject, tenant: str) -> None:
        to = data.draw(st.integers(0, len(self.states) - 1))
        state = dict(self.now)
        for key, held in self.now.items():
            if key.tenant == tenant:
                text = self.states[to].get(key, Held(None, 0, 0)).text
                again = text is not None and text != held.text
                state[key] = Held(text, held.version + again, held.installs)
        done = self.store.rollback(to, tenant=tenant, publisher="p")
        self.become(state, done.generation)

    @rule(key=_keys, every=st.booleans(), add=st.booleans())
    def grant(self, key: StoreKey, every: bool, add: bool) -> None:
        grant = Grant("bob", key.tenant, key.namespace, () if every else (key.place,))
        rows = {(key.tenant, key.namespace, "" if every else key.place)}
        before = set(self.granted)
        if add:
            generation = self.store.grant(grant)
            self.granted |= rows
        else:
            generation = self.store.revoke(grant)
            if every:
                rows = {row for row in self.granted if row[:2] == (key.tenant, key.namespace)}
            self.granted -= rows
        if self.granted != before:
            self.states.append(self.now)
        assert generation == len(self.states) - 1

    def visible(self, key: StoreKey) -> bool:
        return any(
            tenant == key.tenant
            and (not namespace or f"{key.namespace}/".startswith(f"{namespace}/"))
            and place in ("", key.place)
            for tenant, namespace, place in self.granted
        )

    @rule(limit=st.integers(1, 4), pages=st.integers(1, 3))
    def follow_a_little(self, limit: int, pages: int) -> None:
        for follower in (self.all, self.view):
            for _ in range(pages):
                follower.page(limit)
        state = live(self.states[self.all.generation])
        if not isinstance(self.all.position, int) and not self.all.position.until:
            assert shown(self.all.held.values()) == state

    @rule(limit=st.integers(1, 4))
    def follow_to_the_end(self, limit: int) -> None:
        for follower in (self.all, self.view):
            follower.follow(limit)
            follower.follow(limit)  # the round may have led to where the store was before
            assert follower.generation == len(self.states) - 1
        now = live(self.now)
        assert shown(self.all.held.values()) == now
        expected = {key: held for key, held in now.items() if self.visible(key)}
        assert shown(self.view.held.values()) == expected

    @invariant()
    def the_number_is_right(self) -> None:
        assert self.store.generation() == len(self.states) - 1


def run(
    fresh: Callable[[], tuple[CatalogStore, Callable[[], None]]], examples: int, steps: int
) -> None:
    machine = type("Machine", (Histories,), {"fresh": staticmethod(fresh)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples * (40 if SOAK else 1),
            stateful_step_count=steps,
            deadline=None,
            derandomize=not SOAK,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
            database=None,
        ),
    )


def test_any_history_of_a_sqlite_store_is_the_models() -> None:
    def fresh() -> tuple[CatalogStore, Callable[[], None]]:
        folder = tempfile.mkdtemp()
        store = open_store(f"sqlite:///{folder}/store.db", migrate=True)
        return store, lambda: shutil.rmtree(folder)

    run(fresh, examples=min(40, settings().max_examples), steps=30)


@pytest.mark.slow
def test_any_history_of_a_postgresql_store_is_the_models(
    server: Server, database: str, postgres_url: str
) -> None:
    tables = ("versions", "contents", "generations", "grants", "callers")
    emptied = ", ".join(f"skillyard.{table}" for table in tables)

    def empty() -> None:
        server.sql(f"TRUNCATE {emptied}", database)

    def fresh() -> tuple[CatalogStore, Callable[[], None]]:
        store = open_store(postgres_url, migrate=True)
        return store, empty

    run(fresh, examples=12, steps=30)
