"""What the log says: the cause of every refusal and failure, and never a secret."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillIoError
from skillyard.install.sources.settings import Settings
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.logging import THROTTLE_S, Log, redirect
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.serve.http.local_server import LIBRARY, options_of, running

TOKEN = "a-token-that-nobody-may-read"


def unreadable(tmp_path: Path) -> Settings:
    missing = str(tmp_path / "registry.md")
    return Settings(
        enabled=("registry",), registry_files=(missing,), shipped_registry=False, github_token=TOKEN
    )


@requirement("log:cause")
def test_a_503_has_its_cause_in_the_log_under_its_request_id(tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    with running(tmp_path / "skills", settings=unreadable(tmp_path)) as server:
        answer = server.get("/search?q=private", headers={"X-Request-Id": "mine"})
        assert answer.status_code == 503
        assert "the log of the service says what is wrong" in answer.json()["error"]["hint"]
        (line,) = [line for line in server.lines() if line["event"] == "refused"]
    assert (line["id"], line["level"], line["status"]) == ("mine", "error", 503)
    assert line["error"] == "SkillIoError"
    assert "registry.md" in line["cause"]
    assert "No such file" in line["cause"]
    assert "private" not in str(line)


@requirement("log:cause")
def test_a_failed_tool_of_mcp_has_its_cause_in_the_log(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client

    from skillyard.serve.mcp.server import SkillServer
    from tests.serve.mcp.local_servers import run

    stream = io.StringIO()
    root = write_tree(tmp_path / "skills", LIBRARY)
    options = options_of(root, settings=unreadable(tmp_path))

    async def call() -> list[Any]:
        service = AppContext(options, (), Log("json", stream))
        try:
            async with Client(SkillServer(service), cache=None) as client:
                calls = (("search_skills", {"query": "x"}), ("load_skill", {"name": "nosuch"}))
                return [await client.call_tool(tool, given) for tool, given in calls]
        finally:
            await service.close()

    assert all(result.is_error for result in run(call()))
    refused = [json.loads(line) for line in stream.getvalue().splitlines()]
    refused = [line for line in refused if line["event"] == "refused"]
    assert [(line["tool"], line["level"], line["error"]) for line in refused] == [
        ("search_skills", "error", "SkillIoError"),
        ("load_skill", "warning", "SkillNotFound"),
    ]
    assert "registry.md" in refused[0]["cause"]


@requirement("log:no-secret")
def test_what_the_guards_refuse_is_logged_without_the_token(tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    with running(tmp_path / "skills", token=TOKEN) as server:
        wrong = {"Authorization": f"Bearer {TOKEN}x", "X-Request-Id": "wrong"}
        assert server.get(f"/search?q=x&token={TOKEN}", headers=wrong).status_code == 401
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert server.get("/health", headers={**right, "Host": "evil.example"}).status_code == 403
        assert server.get(f"/search?q=x&{TOKEN}=1", headers=right).status_code == 200
        assert server.get(f"/rank?q=x&{TOKEN}=1", headers=right).status_code == 422
        lines = server.lines()
    refused = [line for line in lines if line["event"] == "refused"]
    assert [(line["code"], line["level"]) for line in refused] == [
        ("token_wrong", "warning"),
        ("host_refused", "warning"),
        ("invalid_field", "warning"),
    ]
    assert refused[0]["id"] == "wrong"
    assert TOKEN not in str(lines)


@requirement("log:no-secret")
@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize(
    "secret",
    [
        "Illegal header value b'Bearer {}'",
        "https://host/x?access_token={}&q=1 answered 500",
        "postgresql://reader:{}@db:5432/skills",
        "the key is known: {}",
    ],
)
def test_an_exception_that_quotes_a_secret_is_logged_without_it(form: str, secret: str) -> None:
    stream = io.StringIO()
    log = Log(form, stream)
    if "known" in secret:
        log.hide(TOKEN)
    try:
        raise ValueError(secret.format(TOKEN))
    except ValueError as error:
        log.write_failure(error, id="x")
    assert "ValueError" in stream.getvalue()
    assert "test_logging.py" in stream.getvalue()
    assert TOKEN not in stream.getvalue()


@requirement("cli:serve-terminal")
def test_a_person_reads_the_address_then_one_line_for_each_request() -> None:
    stream = io.StringIO()
    log = Log("text", stream)
    log.write("listening", url="http://0.0.0.0:8765", library="skills", token=True)
    log.write("catalog", skills=39, generation=1)
    log.write("request", id="a", method="GET", route="/search", status=200, ms=12.3, bytes=9)
    cause = SkillIoError("cannot read: No such file", path="registry.md")
    log.write_refusal("catalog_unavailable", "not now", status=503, cause=cause, route="/search")
    log.write_refusal("not_found", "no such skill", status=404, cause=cause, route="/skill")
    log.write("catalog", skills=1, generation=2)
    lines = stream.getvalue().splitlines()
    assert lines[:2] == [
        "Reading the skills in skills …",
        "Serving 39 skills at http://localhost:8765 (Ctrl+C to stop)",
    ]
    assert [line[10:] for line in lines[2:]] == [
        "GET /search 200 12 ms",
        "refused /search 503 catalog_unavailable: not now",
        "SkillIoError: registry.md: cannot read: No such file",
        "refused /skill 404 not_found: no such skill",
        "1 skill after a change",
    ]


def test_a_quiet_log_holds_errors_alone() -> None:
    stream = io.StringIO()
    log = Log("none", stream)
    log.write("request", id="a")
    log.write_refusal("busy", "too many", status=429)
    assert stream.getvalue() == ""
    log.write_refusal("sources_failed", "none answered", status=502)
    assert "sources_failed" in stream.getvalue()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@requirement("log:repeated")
def test_what_happens_a_thousand_times_is_one_line_and_a_count() -> None:
    stream, clock = io.StringIO(), Clock()
    log = Log("json", stream, clock)
    for number in range(1_000):
        log.write_throttled("connections", "idle_closed", client=str(number))
        log.write_throttled("connections", "other")
    clock.now = THROTTLE_S
    for _ in range(3):
        log.write_throttled("connections", "idle_closed", client="later")
    log.flush()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    told = [(line["code"], line.get("client"), line.get("times")) for line in lines]
    assert told == [
        ("idle_closed", "0", None),
        ("other", None, None),
        ("idle_closed", "later", 1_000),
        ("idle_closed", None, 2),
        ("other", None, 999),
    ]


@requirement("log:repeated")
def test_what_libraries_say_goes_to_the_log_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])  # as in a process that set up nothing
    asyncio_logger = logging.getLogger("asyncio")
    monkeypatch.setattr(asyncio_logger, "handlers", [])
    monkeypatch.setattr(asyncio_logger, "propagate", True)
    redirect(Log("none", io.StringIO()))
    redirect(Log("json", stream))  # a second service of one process has the log from now on
    for number in range(100):
        asyncio_logger.error("socket.accept() out of system resource %d", number)
        logging.getLogger("some.library").warning("%d is odd", number)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["level"], line["message"]) for line in lines] == [
        ("error", "socket.accept() out of system resource 0"),
        ("warning", "0 is odd"),
    ]
    assert capsys.readouterr().err == ""
