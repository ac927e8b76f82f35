"""What reads strangers' bytes in this process or over a pipe, and what it promises of them."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from skillyard.base.errors import SkillError
from skillyard.base.text import find_hidden
from skillyard.engine.formats.agentskills import parse_skill
from skillyard.engine.formats.frontmatter import decode
from skillyard.hosts.hook.prompt import PromptBudget
from skillyard.hosts.hook.runner import HookOptions, answer
from skillyard.hosts.operations.project_trust import review_trust
from skillyard.install.copies.archives import ArchiveRefused, read_archive
from skillyard.install.copies.file_paths import checked_path
from tests.hostile.archive_cases import CASES
from tests.hostile.test_fuzz import _made as document
from tests.serve.mcp.messages import INITIALIZE, INITIALIZED, MESSAGES

__all__ = ["TARGETS", "Target"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "skills"
MAX_S = 2.0
"""One input may take so long; the slowest that is known takes a twentieth of it."""
PATIENCE_S = 20.0

Check = Callable[[bytes], None]


class Target(NamedTuple):
    """One reader."""

    name: str
    make: Callable[[random.Random], bytes]
    """Makes one input."""
    ready: Callable[[], AbstractContextManager[Check]]
    """Gives what takes one input and raises where a promise is broken."""


def mutated(source: random.Random, data: bytes) -> bytes:
    """Return bytes with a few changes: flipped, cut, repeated, exchanged for others."""
    changed = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 4, 16))):
        at = source.randrange(len(changed) + 1)
        match source.randrange(5):
            case 0 if changed:
                changed[at - 1] ^= 1 << source.randrange(8)
            case 1:
                del changed[at : at + source.choice((1, 4, 64, 4096))]
            case 2:
                changed[at:at] = source.randbytes(source.choice((1, 4, 64)))
            case 3:
                changed[at:at] = changed[at : at + source.choice((2, 16, 256))]
            case _:
                word = source.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"../", b"\n---\n", b'"'))
                changed[at : at + len(word)] = word
    return bytes(changed)


@contextmanager
def timed(check: Check) -> Iterator[Check]:
    """Give a check that fails where the other takes too long."""

    def within(data: bytes) -> None:
        began = time.process_time()
        check(data)
        seconds = time.process_time() - began
        assert seconds < MAX_S, f"{seconds:.1f} s"

    yield within


# --- skill files ---

FILES = tuple(path.read_bytes() for path in sorted(EXAMPLES.rglob("*.md")))


def a_skill_file(source: random.Random) -> bytes:
    if source.random() < 0.5:
        return document(source).encode("utf-8", "surrogatepass")
    return mutated(source, source.choice(FILES))


def read_skill_file(data: bytes) -> None:
    """A skill, or an error with path, code and hint."""
    try:
        skill = parse_skill("x/SKILL.md", decode(data, "x/SKILL.md"))
    except SkillError as error:
        assert error.path
        assert error.code
        return
    assert skill.name.strip()
    assert find_hidden(skill.name + skill.description) is None


# --- archives ---

ARCHIVES = tuple((case.kind, case.make()) for case in CASES if len(case.make()) < 100_000)


def an_archive(source: random.Random) -> bytes:
    """The first byte says which kind it is; half of the tars are changed before they are packed."""
    kind, data = source.choice(ARCHIVES)
    if kind != "zip" and source.random() < 0.5:
        with suppress(OSError, EOFError):
            return b"t" + gzip.compress(mutated(source, gzip.decompress(data)), 1)
    return (b"z" if kind == "zip" else b"t") + mutated(source, data)


def read_packed(data: bytes) -> None:
    """Files under plain paths, or a refusal with a code."""
    try:
        files = read_archive(data[1:], "zip" if data[:1] == b"z" else "tar.gz")
    except ArchiveRefused as error:
        assert error.code
        assert find_hidden(str(error)) is None
        return
    for file in files:
        assert checked_path(file.path) == file.path


# --- MCP over standard input ---


def a_message(source: random.Random) -> bytes:
    data = source.choice(list(MESSAGES.values()))
    if len(data) < 20_000 and source.random() < 0.8:
        data = mutated(source, data)
    return data.replace(b"\n", b" ").replace(b"\r", b" ")


@contextmanager
def an_mcp_server() -> Iterator[Check]:
    """The server lives, and answers a ping after whatever it was sent."""
    command = [sys.executable, "-m", "skillyard", "serve", "--mcp", "stdio", "--local-only"]
    with subprocess.Popen(
        [*command, "--tools", "all", str(EXAMPLES)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for message in (INITIALIZE, INITIALIZED):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        number = 0

        def check(data: bytes) -> None:
            nonlocal number
            number += 1
            assert process.stdin is not None
            assert process.stdout is not None
            ping = {"jsonrpc": "2.0", "id": f"ping-{number}", "method": "ping"}
            process.stdin.write(data + b"\n" + json.dumps(ping).encode() + b"\n")
            process.stdin.flush()
            end = time.monotonic() + PATIENCE_S
            while time.monotonic() < end:
                line = process.stdout.readline()
                assert line, f"the server ended with {process.wait()}"
                answer = json.loads(line)
                assert answer["jsonrpc"] == "2.0"
                if answer.get("id") == ping["id"]:
                    assert "result" in answer
                    return
            raise AssertionError("no answer to a ping")

        yield check
        process.stdin.close()


# --- the prompt hook ---

PAYLOAD = ROOT / "tests" / "hook" / "payloads" / "claude-code.json"


def a_payload(source: random.Random) -> bytes:
    shape = json.loads(PAYLOAD.read_bytes())
    shape["cwd"] = source.choice(
        [str(EXAMPLES), "/", "", "\0", "x" * 5_000, str(EXAMPLES / "gone")]
    )
    shape["prompt"] = document(source)
    text = json.dumps(shape, ensure_ascii=source.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass")
    return data if source.random() < 0.3 else mutated(source, data)


@contextmanager
def a_hook() -> Iterator[Check]:
    """No error and no output but an answer in the host's format."""
    with tempfile.TemporaryDirectory() as home, timed(rank) as check:
        os.environ.update(
            HOME=home, SKILLYARD_STATE=f"{home}/state", SKILLYARD_CACHE=f"{home}/cache"
        )
        review_trust(str(EXAMPLES), {}).approve()
        yield check
        log = Path(home, "state", "hook.log")
        errors = [line for line in log.read_text().splitlines() if '"event":"error"' in line]
        assert not errors, errors[0]


def rank(data: bytes) -> None:
    text = answer("claude-code", HookOptions(refresh=False), PromptBudget(60_000), data)
    if text:
        context = json.loads(text)["hookSpecificOutput"]["additionalContext"]
        assert find_hidden(context) is None
        assert context.count("[/skill]") <= 1


TARGETS = (
    Target("reader", a_skill_file, lambda: timed(read_skill_file)),
    Target("archives", an_archive, lambda: timed(read_packed)),
    Target("mcp", a_message, an_mcp_server),
    Target("hook", a_payload, a_hook),
)
