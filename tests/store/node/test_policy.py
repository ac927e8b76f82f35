"""A node offers no skill that the policy of its machine refuses, and follows that policy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillIoError
from skillyard.install.policy import library as places
from skillyard.install.policy.library import find_policy
from skillyard.store.values import Submission
from tests.cli.conftest import run
from tests.serve.http.local_server import running, until
from tests.store.node.nodes import store_in, synced
from tests.store.skills import skill

__all__ = ["run"]
DENY = '[skills]\ndenied = ["evil-*"]\n[sources]\nunlocked = "deny"\n[pins]\nrequired = true\n'


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a node, with a policy; its store has a good and an evil skill."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "skillyard-policy.toml").write_text(DENY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(places, "system_policy_path", lambda: str(tmp_path / "system.toml"))
    monkeypatch.chdir(tmp_path)
    publish(tmp_path, "good", "evil-1")
    return tmp_path


def publish(work: Path, *names: str) -> None:
    with store_in(work) as store:
        store.publish([Submission(skill(each)) for each in names], tenant="acme", publisher="ci")


def names(work: Path) -> list[str]:
    catalog = synced(f"sqlite:///{work}/store.db", work / "node", find_policy)
    return [each.name for each in catalog]


def test_a_node_leaves_out_what_the_policy_refuses_from_pages_and_from_few_changes(
    work: Path,
) -> None:
    assert names(work) == ["good"]  # sources and pins are about lock files, not about stores
    publish(work, "evil-2", "more")
    assert names(work) == ["good", "more"]


def test_a_service_of_a_store_follows_the_policy_and_starts_with_no_broken_one(
    work: Path,
) -> None:
    options: dict[str, Any] = {
        "store": f"sqlite:///{work}/store.db",
        "state_dir": str(work / "node"),
    }
    with running(work / "nowhere", {}, **options) as server:

        def listed() -> list[str]:
            both = ("good", "evil-1")
            return [each for each in both if server.get(f"/skill/{each}").status_code == 200]

        until(lambda: listed() == ["good"])
        (work / "skillyard-policy.toml").write_text('[skills]\ndenied = ["good"]\n')
        until(lambda: listed() == ["evil-1"])
        (work / "skillyard-policy.toml").write_text("[skills")
        until(lambda: "is not TOML" in json.dumps(server.lines()))
        assert listed() == ["evil-1"]
    with pytest.raises(SkillIoError, match="not TOML"), running(work / "nowhere", {}, **options):
        pass
