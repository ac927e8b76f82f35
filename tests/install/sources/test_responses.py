"""The cache of answers: wrong content never comes out of it, whatever happened to its files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random

from skillyard.install.sources.responses import CachedResponse, ResponseCache
from tests.install.sources.clients import Network
from tests.tables import for_each

NOW = 1_800_000_000.0


def key(number: int) -> str:
    return sha256(b"%d" % number).hexdigest()


def stored(number: int, body: bytes | None = None, at: float = NOW) -> CachedResponse:
    return CachedResponse(
        status=200,
        headers={"content-type": "text/plain", "etag": f'"{number}"'},
        body=f"body {number} ".encode() * 40 if body is None else body,
        checked=at,
    )


def filled(folder: Path, count: int = 4) -> ResponseCache:
    cache = ResponseCache(str(folder))
    for number in range(count):
        cache.put(key(number), stored(number))
    return cache


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# --- damage ---


def flipped(data: bytes, random: Random) -> bytes:
    if not data:
        return b"x"
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 8, 200])):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


DAMAGE: list[Callable[[bytes, Random], bytes]] = [flipped, cut]


def test_a_damaged_answer_is_fetched_again(net: Network) -> None:
    random = Random(20_260_103)
    net.up.add_repository("demo/skills", {"a.md": "the right text"})
    path = "/demo/skills/HEAD/a.md"
    net.get("github-raw", path)
    good = net.folder.parent / "good"
    shutil.copytree(net.folder, good)
    for _ in range(20):
        shutil.rmtree(net.folder)
        shutil.copytree(good, net.folder)
        victim = random.choice(files(net.folder))
        victim.write_bytes(random.choice(DAMAGE)(victim.read_bytes(), random))
        reply = net.get("github-raw", path, fresh_s=600)
        assert (reply.status, reply.body) == (200, b"the right text")


def test_a_body_that_is_a_link_gives_nothing_away(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    cache = filled(tmp_path / "cache", 1)
    (body,) = files(tmp_path / "cache")
    body.unlink()
    body.symlink_to(secret)
    assert cache.get(key(0), NOW) is None
    cache.put(key(0), stored(0))
    assert secret.read_text() == "secret"  # nothing was written through it


@for_each("blocked", ["parent is a file", "folder is a file", "no such device"])
def test_a_folder_that_cannot_be_written_costs_nothing_but_speed(
    net: Network, tmp_path: Path, blocked: str
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    folder = {
        "parent is a file": file / "cache",
        "folder is a file": file,
        "no such device": Path("/dev/null/cache"),
    }[blocked]
    cache = ResponseCache(str(folder))
    cache.put(key(1), stored(1))
    cache.confirm(key(1), NOW)
    assert cache.get(key(1), NOW) is None
    assert cache.stats().entries == 0
    assert file.read_text() == "mine"
    net.up.add_repository("demo/skills", {"a.md": "a"})
    assert net._replace(folder=folder).get("github-raw", "/demo/skills/HEAD/a.md").body == b"a"


# --- bounds ---


def test_the_bodies_never_take_more_than_they_may(tmp_path: Path) -> None:
    cache = ResponseCache(str(tmp_path), max_bytes=10_000)
    for number in range(60):
        body = b"body " + number.to_bytes(4, "big") * 250
        cache.put(key(number), stored(number, body, NOW + number))
        assert cache.stats().bytes <= 10_000
        assert cache.get(key(number), NOW + number) is not None
    assert sum(path.stat().st_size for path in files(tmp_path)) <= 10_000
    assert cache.get(key(0), NOW + 60) is None
    assert cache.stats().entries >= 5
