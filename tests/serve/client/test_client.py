"""Making, sharing and closing a client; what it sends, and what it loads."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

import skillyard.serve.client
from skillyard import InvalidInput
from skillyard.serve.client import AsyncClient, Client
from skillyard.serve.client.call import Service
from tests.serve.client.client_pair import Way, answer, awaiting, lying, waiting
from tests.serve.http.local_server import Running, running
from tests.tables import for_each
from tests.test_imports import loaded_by

TOKEN = "s3cret-token"


# --- where it asks ---


@for_each(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8765", "http://127.0.0.1:8765"),
        ("http://127.0.0.1:8765/", "http://127.0.0.1:8765"),
        ("https://host.example/skills/", "https://host.example/skills"),
        ("http://[::1]:9", "http://[::1]:9"),
    ],
)
def test_an_address_is_taken_with_its_path(url: str, shown: str) -> None:
    assert Service(url, "").url == shown


@for_each(
    "url",
    [
        "host.example", "ftp://host.example", "http://", "http:///x", "http://host.example?q=1",
        "http://host.example#a", "http://ho st", "http://h:99999", "file:///etc/passwd",
        "http://a/b c", "http://a/\x07", "http://h\n.example", "https://é.example/é",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Client(url)
    assert caught.value.field == "url"


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    for url in ("http://user:s3cret@host.example/", "ftp://s3cret@h", "http://h@s3cret:x"):
        with pytest.raises(InvalidInput, match="SKILLYARD_HTTP_TOKEN") as caught:
            Client(url)
        assert "s3cret" not in str(caught.value)


def test_the_default_is_where_the_service_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKILLYARD_HTTP_TOKEN", raising=False)
    with Client() as client:
        assert client.service == Service("http://127.0.0.1:8765", "")
        assert repr(client) == "<Client http://127.0.0.1:8765>"
    assert Service("http://named.example").url == "http://named.example"


@for_each(
    "options",
    [
        {"token": "a b"}, {"token": "a\nb"}, {"token": "é"}, {"token": 5}, {"timeout_s": 0},
        {"timeout_s": float("nan")}, {"deadline_s": "x"}, {"answer_bytes": -1},
        {"retries": 3}, {"base_url": 5},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_is_refused_when_a_client_is_made(options: dict[str, Any]) -> None:
    for client in (Client, AsyncClient):
        with pytest.raises(InvalidInput):
            client(**options)


def test_the_token_is_shown_nowhere() -> None:
    with Client("http://host.example", token=TOKEN) as client:
        assert TOKEN not in repr(client) + repr(client.service) + str(client.service)


def test_a_service_below_a_path_is_asked_there(way: Way) -> None:
    with lying(answer({})) as liar:
        way(f"{liar.url}/below/", lambda c: c.openapi())
        assert liar.requests[0].startswith("GET /below/openapi.json HTTP/1.1\r\n")


def test_a_service_on_this_machine_is_asked_without_a_proxy(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lying(answer({})) as proxy, lying(answer({"a": 1})) as liar:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert way(liar.url, lambda c: c.openapi(), token=TOKEN) == [{"a": 1}]
        assert proxy.requests == []


def test_no_login_of_the_environment_is_sent(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password s3cret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with lying(answer({})) as liar:
        way(liar.url, lambda c: c.openapi())
        assert liar.header("authorization") is None


# --- being shared, closed and described ---


def test_many_threads_share_one_client(served: Running) -> None:
    found: list[str] = []
    names = ["deploy", "pdf-tables", "unit-tests"] * 8
    with Client(served.base, token="") as client:

        def ask(name: str) -> None:
            found.append(client.skill(name).name)
            found.append(client.skill(name).name)

        threads = [threading.Thread(target=ask, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sorted(found) == sorted(names * 2)


def test_many_tasks_share_one_client(served: Running) -> None:
    names = ["deploy", "pdf-tables", "unit-tests"] * 8

    async def run() -> list[str]:
        async with AsyncClient(served.base, token="") as client:
            found = await asyncio.gather(*map(client.skill, names))
            return [each.name for each in found]

    assert asyncio.run(run()) == names


def test_a_task_that_is_given_up_leaves_the_client_of_use(served: Running) -> None:
    async def run() -> str:
        async with AsyncClient(served.base, token="") as client:
            task = asyncio.create_task(client.search("pdf"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await client.skill("deploy")).name

    assert asyncio.run(run()) == "deploy"


def test_a_service_that_was_started_anew_is_asked_over_a_new_connection(tmp_path: Path) -> None:
    with running(tmp_path / "skills") as server:
        client = Client(server.base, token="")
        assert client.health().catalog.skills == 3
    with client, running(tmp_path / "skills", port=server.port):
        assert client.health().catalog.skills == 3


def test_a_closed_client_says_so(served: Running) -> None:
    def closed(c: Any) -> Any:
        c.close()
        return c.health()

    async def awaited(c: Any) -> Any:
        await c.aclose()
        return await c.health()

    for outcome in (*waiting(served.base, closed), *awaiting(served.base, awaited)):
        assert isinstance(outcome, InvalidInput)
        assert "closed" in str(outcome)


def test_every_public_name_says_what_it_is() -> None:
    for name in skillyard.serve.client.__all__:
        value = getattr(skillyard.serve.client, name)
        assert value.__doc__
        assert value.__name__ == name
        for member, function in inspect.getmembers(value, inspect.isfunction):
            if not member.startswith("_"):
                assert function.__doc__, f"{name}.{member}"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        skillyard.serve.client.nothing  # noqa: B018 - looking it up is the test


def test_the_library_that_asks_loads_when_a_client_is_made() -> None:
    names = "from skillyard.serve.client import Client, AsyncClient, Retries, SourcesFailed\n"
    assert "httpx2" not in loaded_by(names)
    assert "httpx2" in loaded_by(names + "Client('http://127.0.0.1:1', token='').close()")


def test_where_that_library_is_missing_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("skillyard.serve.client.client.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"pip install .*\[remote\]( @ [^']*)?'"):
        Client()
