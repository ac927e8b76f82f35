"""A service that several tests ask, and the stand-ins for what it asks itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.client.client_pair import WAYS, Way
from tests.serve.http.conftest import settings as settings
from tests.serve.http.conftest import up as up
from tests.serve.http.local_server import LIBRARY, Running, running
from tests.worked_examples.making import document

TWINS = {
    "one/report/SKILL.md": document("report", "Write the weekly report.", "First."),
    "two/report/SKILL.md": document("report", "Write the yearly report.", "Second."),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service of five skills, two of one name, that asks nobody else."""
    with running(tmp_path_factory.mktemp("library") / "skills", {**LIBRARY, **TWINS}) as server:
        yield server


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """Ask with the waiting client, then with the awaiting one."""
    found: Way = WAYS[request.param]
    return found
