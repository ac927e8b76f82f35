"""Runs one request in this process and prints which of our files and functions it passed.

``python -m tests.engine.journey cli|http|mcp FOLDER`` selects in a library with a current index. A
service is asked several times, and the shortest journey counts: the first request loads what every
later one uses, and a thread of the service may look at the files meanwhile.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
import threading
from contextlib import redirect_stdout
from copy import copy
from pathlib import Path
from types import FrameType
from typing import Any

import skillyard

HOME = os.path.dirname(skillyard.__file__) + os.sep
REQUEST = "fill in this pdf form"
TURNS = 24
_NEW_LOCALS = 0x02
"""``co_flags`` of functions; the bodies of classes and modules lack it."""


class Journey:
    """The functions of skillyard that were called, and how deep the calls were nested."""

    def __init__(self) -> None:
        self.is_recording = False
        self.shortest: Journey | None = None
        self._begin()

    def _begin(self) -> None:
        self.functions: set[tuple[str, str, int]] = set()
        self.depth = 0
        self.deepest: list[str] = []

    def take(self, turn: int) -> None:
        """Begin to record the next request, and keep the journey of the one before it."""
        self.finish()
        self.is_recording = turn > 0

    def finish(self) -> None:
        """End recording, and keep the journey when it is the shortest so far."""
        if self.is_recording:
            self.is_recording = False
            best = self.shortest
            if best is None or len(self.functions) < len(best.functions):
                self.shortest = copy(self)
            self._begin()

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call, as :func:`sys.setprofile` says it."""
        if event != "call" or not self.is_recording or not _is_ours(frame):
            return
        nested = []
        above: FrameType | None = frame
        while above is not None:
            if above.f_code.co_name == "<module>" and above.f_code.co_filename.startswith(HOME):
                return  # what a module does while it loads is no stop of a request
            if _is_ours(above):
                nested.append(_name(above)[:2])
            above = above.f_back
        self.functions.add(_name(frame))
        if len(nested) > self.depth:
            self.depth = len(nested)
            self.deepest = [f"{file} {function}" for file, function in reversed(nested)]

    def report(self) -> dict[str, Any]:
        """Return the figures, the names and the deepest nesting."""
        files = {file for file, _, _ in self.functions}
        return {
            "files": len(files),
            "functions": len(self.functions),
            "depth": self.depth,
            "names": sorted(f"{file} {function}" for file, function, _ in self.functions),
            "deepest": self.deepest,
        }


def _is_ours(frame: FrameType) -> bool:
    code = frame.f_code
    is_function = code.co_flags & _NEW_LOCALS and not code.co_name.startswith("<")
    return bool(is_function) and code.co_filename.startswith(HOME)


def _name(frame: FrameType) -> tuple[str, str, int]:
    code = frame.f_code
    return code.co_filename.removeprefix(HOME), code.co_qualname, code.co_firstlineno


def ask_cli(journey: Journey, folder: Path) -> None:
    """Run ``select --json``."""
    from skillyard.cli import main

    os.chdir(folder)
    with redirect_stdout(io.StringIO()):
        sys.setprofile(journey.profile)
        journey.take(1)
        assert main(["select", "--json", "--scope", "none", REQUEST]) == 0
        journey.finish()
        sys.setprofile(None)


def ask_http(journey: Journey, folder: Path) -> None:
    """Ask ``POST /select`` of a service on loopback."""
    threading.setprofile(journey.profile)  # threads that start from here
    from tests.serve.http.local_server import running

    with running(folder) as server:
        for turn in range(TURNS):
            journey.take(turn)
            assert server.post("/select", {"query": REQUEST}).status_code == 200
        journey.finish()


def ask_mcp(journey: Journey, folder: Path) -> None:
    """Call ``select_skill`` of a server in this process."""
    threading.setprofile(journey.profile)
    sys.setprofile(journey.profile)
    from tests.serve.mcp.local_servers import in_process

    async def call() -> None:
        async with in_process(folder) as (client, _):
            for turn in range(TURNS):
                journey.take(turn)
                result = await client.call_tool("select_skill", {"query": REQUEST})
                assert not result.is_error
            journey.finish()

    asyncio.run(call())
    sys.setprofile(None)


ASKS = {"cli": ask_cli, "http": ask_http, "mcp": ask_mcp}

if __name__ == "__main__":
    taken = Journey()
    ASKS[sys.argv[1]](taken, Path(sys.argv[2]))
    assert taken.shortest is not None
    sys.stdout.write(json.dumps(taken.shortest.report()) + "\n")
    sys.stdout.flush()
    os._exit(0)
