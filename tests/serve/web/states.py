"""The states that a page can be in, each served for a browser to look at."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import urlsplit

from skillyard.engine.index.library_spec import Progress
from skillyard.serve.web.pages import building_page
from skillyard.serve.web.rendering import MEDIA, POLICY
from tests.worked_examples.making import document

__all__ = ["LONG_NAME", "LONG_REQUEST", "Builds", "building", "odd_library"]

LONG_NAME = "a-name-of-sixty-four-characters-which-is-as-long-as-the-spec-has"
LONG_REQUEST = "\n\n".join(
    f"{n}. Clean the CSV export of week {n}: broken quotes, doubled rows, dates in three forms."
    for n in range(1, 31)
)
"""A prompt of many lines."""


def odd_library() -> Mapping[str, str]:
    """Return files of skills whose texts are hard to set: long, right to left, without a break."""
    body = "# Steps\n\nDo it."
    files = {
        f"{LONG_NAME}/SKILL.md": document(LONG_NAME, "Sort mail by sender. " * 40, body),
        "arabic/SKILL.md": document(
            "arabic", "تنظيف ملفات CSV المعطوبة وإصلاح الاقتباسات and a word in English.", body
        ),
        "hebrew/SKILL.md": document("hebrew", "עורך מסמכים ומכתבים רשמיים", body),
        "unbroken/SKILL.md": document("unbroken", "x" * 900, body),
    }
    tags = [f"tag-{n}" for n in range(40)]
    for n in range(120):
        listed = ", ".join([tags[n % 40], tags[(n * 7) % 40], "shared"])
        files[f"skill-{n:03}/SKILL.md"] = (
            f"---\nname: skill-{n:03}\ndescription: Handles parcels of kind {n}.\n"
            f"tags: [{listed}]\n---\n\nBody.\n"
        )
    return files


class Builds:
    """A service whose index is being made: 503 with the page of it, until it is told that it is."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.progress: Progress | None = Progress(1_200, 10_471, 20.0)
        """None once it is ready."""


@contextmanager
def building() -> Iterator[Builds]:
    """Serve the page of an index in the making, on loopback, until the context ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = Path(urlsplit(self.path).path)
            if path.parent.name == "static":
                asset = files("skillyard.serve.web").joinpath("static", path.name)
                self.answer(200, guess_type(path.name)[0] or "", asset.read_bytes())
            elif state.progress is None:
                self.answer(200, MEDIA, b"<!DOCTYPE html><html lang=en><title>Ready</title>Ready")
            else:
                self.answer(503, MEDIA, building_page(state.progress))

        def answer(self, status: int, media: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state = Builds(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
