"""Servers take feedback only when they are told to, and no client moves much with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard.engine.ranking.hybrid.constants import FEEDBACK_POINTS
from skillyard.engine.ranking.hybrid.user_feedback import CLIENT_SHARE
from skillyard.hosts.decisions.feedback_file import add_feedback, list_feedback
from tests.serve.http.local_server import running
from tests.serve.mcp.local_servers import run, serving

REQUEST = "extract the tables from this pdf"
BODY = {"name": "pdf-tables", "right": False, "request": REQUEST}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of this test for the file of feedback."""
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))


def test_a_service_neither_takes_nor_counts_it_by_default(tmp_path: Path) -> None:
    with running(tmp_path / "skills") as server:
        before = server.post("/select", {"text": REQUEST}).json()
        add_feedback("pdf-tables", REQUEST, right=False)
        assert server.post("/select", {"text": REQUEST}).json() == before
        refused = server.post("/feedback", BODY)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "feedback_off")
        assert "--feedback" in refused.json()["error"]["hint"]
    assert len(list_feedback().entries) == 1


def test_a_client_learns_of_its_own_judgement_only_and_moves_little(tmp_path: Path) -> None:
    add_feedback("deploy", "a secret request of the user", right=True)
    with running(tmp_path / "skills", feedback=True) as server:

        def score() -> float:
            (match,) = server.get("/rank", params={"q": REQUEST, "limit": 1}).json()["matches"]
            return float(match["score"])

        before = score()
        for number in range(150):
            answer = server.post("/feedback", {**BODY, "request": f"{REQUEST} {number}"})
            assert answer.status_code == 200
        assert set(answer.json()) == {"schema", "skill", "right", "time"}
        after = score()
        assert before - 0.02 < after < before
        why = server.get("/why", params={"name": "pdf-tables", "q": REQUEST}).json()
        assert why["match"]["signals"]["feedback"] == pytest.approx(-CLIENT_SHARE * FEEDBACK_POINTS)
        assert why["chosen"] is True
    entries = list_feedback().entries
    assert [each.by for each in entries] == ["user"] + ["http"] * 100


def test_other_sites_and_clients_without_the_token_cannot_give_it(tmp_path: Path) -> None:
    with running(tmp_path / "skills", feedback=True, token="secret") as server:
        headers = {"Authorization": "Bearer secret"}
        assert server.post("/feedback", BODY, headers={"Authorization": ""}).status_code == 401
        foreign = {**headers, "Origin": "https://evil.example"}
        assert server.post("/feedback", BODY, headers=foreign).status_code == 403
        assert server.post("/feedback", BODY, headers=headers).status_code == 200
    assert len(list_feedback().entries) == 1


def test_the_tool_is_there_only_where_the_server_takes_feedback(tmp_path: Path) -> None:
    from mcp import Client

    async def tools(url: str) -> dict[str, object]:
        async with Client(url) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    with serving(tmp_path / "skills") as server:
        assert "skill_feedback" not in run(tools(server.url))
    with serving(tmp_path / "more", feedback=True) as server:
        tool = run(tools(server.url))["skill_feedback"]
        assert tool.annotations.read_only_hint is False  # type: ignore[attr-defined]
        result = server.call("skill_feedback", BODY)
        assert result.structured_content["skill"] == "pdf-tables"
        why = server.call("why_skill", {"name": "pdf-tables", "query": REQUEST})
        assert why.structured_content["match"]["signals"]["feedback"] < 0
        failed = server.call("skill_feedback", {**BODY, "name": "pdf-tabels"})
        assert failed.is_error is True
    assert [each.by for each in list_feedback().entries] == ["mcp"]
