"""The HTTP embedder against a real server on this machine."""

from __future__ import annotations

import json
import shlex
import threading
import tomllib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from skillyard import EmbedderFailed, InvalidInput
from skillyard.cli import main
from skillyard.engine.embedding.endpoint import HttpEmbedder, configured_endpoint
from skillyard.engine.embedding.protocol import embed_checked, resolve_embedder
from tests.configuration import configure
from tests.docs.pages import blocks
from tests.shared_data import REPOSITORY
from tests.tables import for_each

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, str], bytes]]


class Request(NamedTuple):
    path: str
    authorization: str | None
    body: dict[str, Any]


class Server:
    """Answers what the test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: list[Answer] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                server.requests.append(Request(self.path, self.headers["Authorization"], body))
                answer = server.answers.pop(0) if server.answers else vectors
                status, headers, data = answer(body)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1/embeddings"
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def vectors(body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """Vectors in another order than asked, as servers may."""
    data = [
        {"object": "embedding", "index": place, "embedding": [float(len(text)), 1.0]}
        for place, text in enumerate(body["input"])
    ]
    return 200, {}, json.dumps({"object": "list", "data": data[::-1]}).encode()


def saying(status: int, data: bytes = b"", **headers: str) -> Answer:
    return lambda body: (status, headers, data)


def test_texts_become_vectors_in_their_order(server: Server) -> None:
    embedder = HttpEmbedder(server.url, "small", key="secret")
    assert embedder.embed(["a", "bcd"]) == [[1.0, 1.0], [3.0, 1.0]]
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.authorization == "Bearer secret"
    assert request.body == {"model": "small", "input": ["a", "bcd"], "encoding_format": "float"}


def test_many_texts_are_asked_for_in_portions(server: Server) -> None:
    texts = ["x" * (number % 9) for number in range(150)]
    found = embed_checked(HttpEmbedder(server.url, "m"), texts)
    assert [vector[0] for vector in found] == [len(text) for text in texts]
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 22]
    assert server.requests[0].authorization is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: Server, status: int) -> None:
    server.answers = [saying(status, b"", **{"Retry-After": "7"}), saying(status)]
    waited: list[float] = []
    embedder = HttpEmbedder(server.url, "m", sleep=waited.append)
    assert embedder.embed(["a"]) == [[1.0, 1.0]]
    assert waited == [7.0, 1.0, 2.0]


@pytest.mark.parametrize("status", [301, 400, 401, 404])
def test_other_answers_end_it_at_once(server: Server, status: int) -> None:
    server.answers = [saying(status, Location=server.url)]
    with pytest.raises(EmbedderFailed, match=f"answered {status}"):
        HttpEmbedder(server.url, "m", key="secret").embed(["a"])
    assert len(server.requests) == 1  # a redirect would carry the key elsewhere


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b"[" * 100_000,
        b'{"data": 3}',
        b'{"data": []}',
        b'{"data": [{"embedding": [1]}, {"embedding": [1]}]}',
        b'{"data": ["text"]}',
        b'{"data": [{"embedding": "text"}]}',
        b'{"data": [{"embedding": ["text"]}]}',
        b'{"data": [{"embedding": [true]}]}',
        b'{"data": [{"embedding": [NaN]}]}',
        b'{"data": [{"embedding": [1e999]}]}',
        b'{"data": [{"embedding": [1], "index": 1}]}',
        b'{"data": [{"embedding": [1], "index": "0"}]}',
        b'{"data": [{"embedding": [1], "index": -1}]}',
        b'{"data": [{}]}',
    ],
)
def test_answers_of_another_shape_are_refused(server: Server, answer: bytes) -> None:
    server.answers = [saying(200, answer)]
    with pytest.raises(EmbedderFailed):
        HttpEmbedder(server.url, "m").embed(["a"])


def test_an_answer_without_end_is_cut_off(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillyard.engine.embedding.endpoint.MAX_RESPONSE_BYTES", 10_000)
    server.answers = [saying(200, b" " * 1_000_000)]
    with pytest.raises(EmbedderFailed, match="more than 10000 bytes"):
        HttpEmbedder(server.url, "m").embed(["a"])


def test_a_server_that_is_not_there_is_named(server: Server) -> None:
    url = server.url
    server.http.server_close()
    with pytest.raises(EmbedderFailed, match="cannot be reached"):
        HttpEmbedder(url, "m", sleep=lambda _: None).embed(["a"])


@for_each(
    "url", ["", "localhost", "ftp://host/x", "file:///etc/passwd", "http:///x", "http://u:p@host/"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        HttpEmbedder(url, "m")


def test_the_configuration_names_the_endpoint(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmbedderFailed, match=r"set url and model in \[embeddings\]"):
        resolve_embedder("http")
    section = {"url": server.url, "model": "small", "key": "very-secret"}
    configure(monkeypatch, tmp_path, embeddings=section)
    embedder = resolve_embedder("http")
    assert embedder == configured_endpoint()
    assert embedder.id == f"{server.url}#small"
    assert "very-secret" not in repr(embedder)
    embedder.embed(["a"])
    assert server.requests[0].authorization == "Bearer very-secret"


def test_the_commands_of_the_guide_rank_with_a_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    page = (REPOSITORY / "docs" / "concepts" / "ranking.md").read_text(encoding="utf-8")
    (file,) = (each for each in blocks(page) if "[embeddings]" in each.text)
    (command,) = (each.text for each in blocks(page) if "--scorer hybrid+http" in each.text)
    section = tomllib.loads(file.text)["embeddings"]
    configure(monkeypatch, tmp_path, embeddings={**section, "url": server.url})
    monkeypatch.chdir(REPOSITORY)
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["matches"][0]
    assert (best["name"], "embedder" in best["signals"]) == ("git-bisect", True)
    assert {request.body["model"] for request in server.requests} == {"all-minilm"}
