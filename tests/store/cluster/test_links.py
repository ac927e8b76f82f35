"""A cut wire between a node and its store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from skillyard.store.opening import open_store
from tests.store.cluster.cluster import DATABASE, PASSWORD
from tests.store.cluster.journal import FAMILIES, TENANT
from tests.store.cluster.links import Proxies, proxies
from tests.store.cluster.nodes import Node, until
from tests.store.conftest import need_server
from tests.store.servers import USER, Server

pytestmark = pytest.mark.slow

AMBER = FAMILIES[0]
CUT_S = 3.0


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[tuple[Proxies, Node, Server]]:
    """A link, the node behind it and the server before it."""
    need_server()
    with ExitStack() as stack:
        server = Server.make()
        stack.callback(server.destroy)
        link = stack.enter_context(proxies([server.port]))
        open_store(server.url(DATABASE), migrate=True).close()
        url = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{link.ports[0]}/{DATABASE}"
        made = Node(f"{url}?connect_timeout=2", tmp_path, "--max-stale", "1")
        stack.callback(made.close)
        made.start()
        yield link, made, server


def test_a_cut_off_node_answers_says_its_age_and_catches_up_without_a_restart(
    linked: tuple[Proxies, Node, Server],
) -> None:
    link, made, server = linked
    with open_store(server.url(DATABASE)) as store:
        before = store.publish(AMBER.skills(1), tenant=TENANT, publisher="p").generation
        made.wait_generation(before)
        made.wait_ready()
        link.cut()
        cut = time.monotonic()
        missed = store.publish(AMBER.skills(2), tenant=TENANT, publisher="p").generation
        until(lambda: time.monotonic() - cut > CUT_S)
        answer = made.get("/search?q=polish+amber+stones&limit=20")
        told = time.monotonic() - cut
        assert AMBER.numbers_in(answer.text) == {1}
        assert answer.headers["skillyard-generation"] == str(before)
        assert told - 2 <= int(answer.headers["skillyard-age"]) <= told + 2
        assert (made.probe("/livez")[0], made.probe("/readyz")) == (200, (503, "stale"))
        link.heal()
        made.wait_generation(missed)
        made.wait_ready()
        until(lambda: not made.failure)
