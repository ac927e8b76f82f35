"""What the cache keeps open and in memory: never more than it may, never older than the disk."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skillyard.remote.sources import database as database_module
from skillyard.remote.sources.database import Database
from skillyard.remote.sources.responses import CachedResponse, MemoryCache, ResponseCache
from tests.remote.sources.clients import python
from tests.remote.sources.test_responses import NOW, bodies, database, filled, key, stored
from tests.tables import for_each

MOMENT_NS = 600 * 10**9
"""A moment that no test outlasts."""


@pytest.fixture(params=["written a moment ago", "written long ago"])
def settled(request: pytest.FixtureRequest) -> bool:
    """Whether the list on disk looks as if nobody had written it lately."""
    return bool(request.param == "written long ago")


def warm(folder: Path, settled: bool, count: int = 4) -> ResponseCache:
    """Return a cache that has read all of its answers."""
    cache = filled(folder, count)
    if settled:
        aged(folder)
    for _ in range(2):
        assert [cache.get(key(n), NOW) for n in range(count)] == [stored(n) for n in range(count)]
    return cache


def aged(folder: Path) -> None:
    """Let the list look as if it had been written ten seconds earlier."""
    found = database(folder).stat()
    earlier = found.st_mtime_ns - 10_000_000_001
    os.utime(database(folder), ns=(earlier, earlier))


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """Return the calls of a function, as they come."""
    calls: list[tuple[Any, ...]] = []
    real = getattr(owner, name)

    def call(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, call)
    return calls


# --- what it saves ---


def test_the_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = counted(monkeypatch, sqlite3, "connect")
    cache = filled(tmp_path)
    for number in range(4):
        cache.get(key(number), NOW)
    cache.confirm(key(1), NOW + 1)
    cache.stats()
    assert len(opened) == 1


def test_a_body_is_read_once_even_when_it_was_confirmed(
    tmp_path: Path, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = warm(tmp_path, settled)
    read = counted(monkeypatch, ResponseCache, "_body")
    cache.confirm(key(1), NOW + 5)
    assert cache.get(key(1), NOW + 5) == stored(1)._replace(checked=NOW + 5)
    assert cache.get(key(2), NOW) == stored(2)
    assert not read


def test_a_list_that_nobody_has_written_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = warm(tmp_path, settled=True)
    asked = counted(monkeypatch, Database, "row")
    assert [cache.get(key(n), NOW) for n in range(4)] == [stored(n) for n in range(4)]
    assert not asked
    ResponseCache(str(tmp_path)).confirm(key(0), NOW + 1)
    assert cache.get(key(0), NOW) == stored(0)._replace(checked=NOW + 1)
    assert len(asked) == 1


def test_a_list_that_was_written_a_moment_ago_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next change might leave the same time behind."""
    cache = warm(tmp_path, settled=False)
    asked = counted(monkeypatch, Database, "row")
    monkeypatch.setattr(database_module, "SETTLED_NS", MOMENT_NS)
    for ahead in (-60, 3_600):  # by the clock of the file system, which may not be ours
        at = time.time() + ahead
        os.utime(database(tmp_path), (at, at))
        for _ in range(2):
            cache.get(key(0), NOW)
    assert len(asked) == 4


def test_a_change_that_leaves_the_same_time_behind_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "SETTLED_NS", MOMENT_NS)
    cache = warm(tmp_path, settled=False)
    at = time.time_ns()
    os.utime(database(tmp_path), ns=(at, at))
    assert cache.get(key(1), NOW) == stored(1)
    ResponseCache(str(tmp_path)).put(key(1), stored(1, b"another body"))
    os.utime(database(tmp_path), ns=(at, at))
    found = cache.get(key(1), NOW)
    assert found is not None
    assert found.body == b"another body"


# --- what it must see ---


def test_another_answer_is_seen(tmp_path: Path, settled: bool) -> None:
    cache = warm(tmp_path, settled)
    changed = stored(1, b"another body", NOW + 1)._replace(headers={"etag": '"other"'})
    ResponseCache(str(tmp_path)).put(key(1), changed)
    if settled:
        aged(tmp_path)
    assert cache.get(key(1), NOW + 1) == changed
    assert cache.get(key(0), NOW + 1) == stored(0)


PUTS = """
import sys
from hashlib import sha256
from skillyard.remote.sources.responses import ResponseCache, CachedResponse

cache = ResponseCache(sys.argv[1])
what, number, text = sys.argv[2:]
key = sha256(number.encode()).digest()
if what == "put":
    cache.put(key, CachedResponse("https://a.test/" + number, 200, {}, text.encode(), 1.8e9, 1.8e9))
elif what == "clear":
    cache.clear()
found = cache.get(key, 1.8e9)
print(None if found is None else found.body.decode())
"""


def test_two_processes_see_what_the_other_writes(tmp_path: Path) -> None:
    cache = ResponseCache(str(tmp_path))
    for turn in range(2):
        mine, theirs = f"mine-{turn}", f"theirs-{turn}"
        assert told(tmp_path, f"put 1 {theirs}") == theirs
        found = cache.get(key(1), NOW)
        assert found is not None
        assert found.body == theirs.encode()
        cache.put(key(1), stored(1, mine.encode()))
        assert told(tmp_path, "get 1 -") == mine
    assert told(tmp_path, "clear 1 -") == "None"
    assert cache.get(key(1), NOW) is None


def told(folder: Path, line: str) -> str:
    """Return what another process has after it did what it was told."""
    out, error = python(PUTS, str(folder), *line.split()).communicate(timeout=30)
    assert not error
    return out.strip()


def test_nothing_survives_clearing(tmp_path: Path, settled: bool) -> None:
    cache = warm(tmp_path, settled)
    assert ResponseCache(str(tmp_path)).clear() == 4
    assert [cache.get(key(n), NOW) for n in range(4)] == [None] * 4
    again = warm(tmp_path, settled)
    again.clear()
    assert [again.get(key(n), NOW) for n in range(4)] == [None] * 4
    assert again._known.bytes == 0


@pytest.mark.parametrize("lost", ["folder", "list"])
def test_nothing_survives_deletion(tmp_path: Path, settled: bool, lost: str) -> None:
    cache = warm(tmp_path / "cache", settled)
    if lost == "folder":
        shutil.rmtree(tmp_path / "cache")
    else:
        database(tmp_path / "cache").unlink()
    assert [cache.get(key(n), NOW) for n in range(4)] == [None] * 4
    cache.put(key(1), stored(1))
    assert cache.get(key(1), NOW) == stored(1)


def test_another_list_in_its_place_is_the_one_that_counts(tmp_path: Path, settled: bool) -> None:
    cache = warm(tmp_path / "a", settled)
    other = ResponseCache(str(tmp_path / "b"))
    other.put(key(1), stored(1, b"of the other"))
    other.close()
    shutil.copytree(tmp_path / "b" / "content", tmp_path / "a" / "content", dirs_exist_ok=True)
    os.replace(database(tmp_path / "b"), database(tmp_path / "a"))
    found = cache.get(key(1), NOW)
    assert found is not None
    assert found.body == b"of the other"
    assert cache.get(key(0), NOW) is None


@for_each("damage", [b"", b"no database at all, whatever it was" * 200])
def test_a_list_that_is_overwritten_while_it_is_open_heals(tmp_path: Path, damage: bytes) -> None:
    cache = warm(tmp_path, settled=False)
    database(tmp_path).write_bytes(damage)
    for number in range(4):
        assert cache.get(key(number), NOW) in (None, stored(number))
    cache.put(key(1), stored(1))
    cache.put(key(1), stored(1))
    assert cache.get(key(1), NOW) == stored(1)


def test_age_is_looked_at_every_time(tmp_path: Path, settled: bool) -> None:
    cache = warm(tmp_path, settled)
    assert cache.get(key(1), NOW + cache.oldest_s + 1) is None
    assert cache.get(key(1), NOW) is None


@for_each("where", ["disk", "memory"])
def test_its_state_is_another_one_after_every_change(tmp_path: Path, where: str) -> None:
    cache = ResponseCache(str(tmp_path)) if where == "disk" else MemoryCache()
    states = []
    changes: list[Callable[[], object]] = [
        lambda: cache.put(key(1), stored(1)),
        lambda: cache.put(key(1), stored(1, b"another body")),
        lambda: cache.put(key(2), stored(2)),
        lambda: cache.confirm(key(1), NOW + 1),
    ]
    if isinstance(cache, ResponseCache):
        changes += [
            lambda: ResponseCache(str(tmp_path)).confirm(key(2), NOW + 2),
            lambda: told(tmp_path, "put 3 theirs"),
            lambda: told(tmp_path, "clear 1 -"),
        ]
    for change in changes:
        change()
        if where == "disk":
            aged(tmp_path)
        for number in range(3):
            cache.get(key(number), NOW)
        states.append(cache.state())
        assert cache.state() == states[-1]
    assert None not in states
    assert len(set(states)) == len(changes)


def test_a_list_that_was_written_a_moment_ago_or_is_gone_has_no_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next change might leave the same one behind."""
    cache = warm(tmp_path, settled=True)
    assert cache.state() is not None
    monkeypatch.setattr(database_module, "SETTLED_NS", MOMENT_NS)
    os.utime(database(tmp_path))
    assert cache.state() is None
    database(tmp_path).unlink()
    assert cache.state() is None


# --- what it must not do ---


def test_reading_holds_nobody_up(tmp_path: Path, settled: bool) -> None:
    warm(tmp_path, settled)
    with closing(sqlite3.connect(database(tmp_path), timeout=0)) as other, other:
        other.execute("begin exclusive")
    other.close()


def test_the_memory_is_bounded_by_bytes(tmp_path: Path) -> None:
    cache = ResponseCache(str(tmp_path), max_bytes=1_000_000)
    for number in range(40):
        cache.put(key(number), stored(number, bytes([number]) * 20_000))
    cache._known.max_bytes = 100_000
    for number in range(40):
        found = cache.get(key(number), NOW)
        assert found is not None
        assert found.body == bytes([number]) * 20_000
        assert cache._known.bytes <= 100_000
    assert 1 <= len(cache._known) <= 4


@for_each("where", ["disk", "memory"])
def test_nobody_can_change_what_others_get(tmp_path: Path, where: str) -> None:
    cache = ResponseCache(str(tmp_path)) if where == "disk" else MemoryCache()
    headers = {"etag": '"1"'}
    cache.put(key(1), stored(1)._replace(headers=headers))
    headers["etag"] = "changed"
    found = cache.get(key(1), NOW)
    assert found is not None
    with pytest.raises(TypeError):
        found.headers["etag"] = "changed"  # type: ignore[index]
    assert dict(found.headers) == {"etag": '"1"'}


def test_it_can_be_used_after_it_was_closed(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    cache.close()
    cache.close()
    assert cache.get(key(1), NOW) == stored(1)


def test_many_threads_get_what_was_put(tmp_path: Path) -> None:
    cache = ResponseCache(str(tmp_path))

    def use(thread: int) -> int:
        hits = 0
        for turn in range(60):
            number = (turn + thread) % 6
            found = cache.get(key(number), NOW)
            assert found is None or found == stored(number)
            hits += found is not None
            if turn % 5 == thread % 5:
                cache.put(key(number), stored(number))
            if turn == 30 and thread == 0:
                cache.close()
        return hits

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(use, range(6))) > 100


FORKS = """
import os, sys
from hashlib import sha256
from skillyard.remote.sources.responses import ResponseCache, CachedResponse

cache = ResponseCache(sys.argv[1])
keys = [sha256(b"%d" % number).digest() for number in range(2)]
cache.put(keys[0], CachedResponse("https://a.test/0", 200, {}, b"parent", 1.8e9, 1.8e9))
child = os.fork()
if child == 0:
    if cache._database._slot.connection is not None:
        os._exit(2)  # it is the parent's
    found = cache.get(keys[0], 1.8e9)
    cache.put(keys[1], CachedResponse("https://a.test/1", 200, {}, b"child", 1.8e9, 1.8e9))
    os._exit(0 if found is not None and found.body == b"parent" else 1)
_, status = os.waitpid(child, 0)
print(status, cache.get(keys[0], 1.8e9).body, cache.get(keys[1], 1.8e9).body)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_opens_the_file_anew(tmp_path: Path) -> None:
    out, error = python(FORKS, str(tmp_path)).communicate(timeout=30)
    assert (out.split(), error) == (["0", "b'parent'", "b'child'"], "")


def test_a_damaged_body_that_was_read_before_answers_from_memory(tmp_path: Path) -> None:
    cache = warm(tmp_path, settled=False)
    for path in bodies(tmp_path):
        path.write_bytes(b"another text")
    assert [cache.get(key(n), NOW) for n in range(4)] == [stored(n) for n in range(4)]
    assert [ResponseCache(str(tmp_path)).get(key(n), NOW) for n in range(4)] == [None] * 4


def test_a_row_that_was_changed_by_hand_is_not_believed(tmp_path: Path) -> None:
    cache = warm(tmp_path, settled=False)
    with closing(sqlite3.connect(database(tmp_path))) as other, other:
        other.execute("update responses set url = 'https://evil.test/'")
    other.close()
    assert [cache.get(key(n), NOW) for n in range(4)] == [None] * 4
    assert cache.stats().entries == 0


def test_what_was_written_meanwhile_is_not_thrown_away_with_a_damaged_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    for path in bodies(tmp_path):
        path.write_bytes(b"another text")
    cache = ResponseCache(str(tmp_path))
    newer = stored(1, b"newer", NOW + 1)

    def read(self: ResponseCache, *_: object) -> CachedResponse | None:
        ResponseCache(str(tmp_path)).put(key(1), newer)
        return None

    with monkeypatch.context() as patched:
        patched.setattr(ResponseCache, "_read", read)
        assert cache.get(key(1), NOW) is None
    assert cache.get(key(1), NOW + 1) == newer
