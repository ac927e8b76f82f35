"""The command that adds an extra fits how this installation came to be."""

from __future__ import annotations

import json
import tomllib

import pytest

from skillyard.base.extras import _BESIDE_ALL, install_command
from tests.shared_data import REPOSITORY

CHECKOUT = "file:///home/me/a%20checkout"


class _Distribution:
    def __init__(self, noted: object) -> None:
        self._noted = noted

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self._noted is None else json.dumps(self._noted)


@pytest.mark.parametrize(
    ("noted", "command"),
    [
        (None, "pip install 'skillyard[serve,remote]'"),
        ({"url": CHECKOUT, "dir_info": {}}, "pip install '/home/me/a checkout[serve,remote]'"),
        (
            {"url": CHECKOUT, "dir_info": {"editable": True}},
            "pip install -e '/home/me/a checkout[serve,remote]'",
        ),
        (
            {"url": "file:///tmp/skillyard-1-py3-none-any.whl", "archive_info": {}},
            "pip install 'skillyard[serve,remote] @ file:///tmp/skillyard-1-py3-none-any.whl'",
        ),
        (
            {"url": "https://host/r.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "pip install 'skillyard[serve,remote] @ git+https://host/r.git@c0ffee'",
        ),
        ([], "pip install 'skillyard[serve,remote]'"),
    ],
)
def test_it_names_what_this_was_installed_from(
    noted: object, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: _Distribution(noted))
    assert install_command("serve", "remote") == command


def test_the_extras_that_all_leaves_out_are_those_of_the_project() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    named = set(everything.removeprefix("skillyard[").removesuffix("]").split(","))
    assert set(extras) - named == _BESIDE_ALL
