"""Files of the catalog are served as they were when its generation was read, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.serve.runtime.options import ServiceLimits
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, Running, running, until
from tests.serve.http.shapes import conforms
from tests.worked_examples.making import document

SERVED = "/.well-known/agent-skills/deploy/SKILL.md"
RAW = ("/skill/deploy?include_raw=true", SERVED)
CHANGED = document("deploy", "Deploy the app.", "Changed.")


@pytest.fixture
def unlooking(tmp_path: Path) -> Iterator[tuple[Running, Path]]:
    """A service that looks at its files only when it stumbles over a change."""
    root = write_tree(tmp_path / "skills", LIBRARY)
    with running(root, limits=ServiceLimits(look_s=1e9), local_only=True) as server:
        yield server, root


@pytest.mark.parametrize("path", RAW)
def test_a_file_that_changed_is_not_served_as_the_old_one_and_is_soon_the_new_one(
    unlooking: tuple[Running, Path], path: str
) -> None:
    server, root = unlooking
    assert "Ship it." in server.get(path).text
    write_tree(root, {"deploy/SKILL.md": CHANGED})
    answer = server.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    conforms(answer.json(), "Error")
    assert str(root) not in answer.text
    until(lambda: "Changed." in server.get(path).text)


@pytest.mark.parametrize("path", RAW)
def test_a_file_that_became_a_link_out_of_the_library_is_never_followed(
    unlooking: tuple[Running, Path], path: str, tmp_path: Path
) -> None:
    server, root = unlooking
    secret = tmp_path / "secret"
    secret.write_text(document("deploy", "Secret.", "SECRET"), encoding="utf-8")
    (root / "deploy/SKILL.md").unlink()
    (root / "deploy/SKILL.md").symlink_to(secret)
    for _ in range(3):
        answer = server.get(path)
        assert answer.status_code in (404, 503)
        assert "SECRET" not in answer.text
