"""Writes an index: adds and deletes documents, and commits them as the next generation.

``verify`` compares every byte of one with its checksum.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from zlib import crc32

from skillyard.base.errors import Diagnostic, IndexDamaged, SkillIoError
from skillyard.base.io.locks import Closeable, HeldLock, file_lock
from skillyard.engine.index.manifest import (
    NAME,
    IndexManifest,
    SegmentEntry,
    SideFile,
    io_error,
    read_manifest,
    render_manifest,
    write_file,
)
from skillyard.engine.index.segment_reader import KEYS, SECTIONS, IndexedDocument, SegmentReader
from skillyard.engine.index.segment_searcher import SegmentSearcher, open_index
from skillyard.engine.index.segment_writer import SegmentWriter, build_segments

LOCK = "lock"
INLINE_BYTES = 192 * 1024
"""Total size of the small segments stored in the manifest. A small commit then writes one file."""
MAX_SMALL_SEGMENTS = 8
"""More small segments than this are merged."""
SMALL_SEGMENT_DOCUMENTS = 8_192
"""Live documents below which a segment counts as small."""
MAX_DEAD_FRACTION = 4
"""A segment is rewritten when more than one in this many of its documents is deleted."""


class IndexWriter(Closeable):
    """The single writer of an index. Use it as a context manager; only :meth:`commit` changes disk.

    ``settings`` describe how the documents were made. An index with other settings or dimensions,
    and a damaged one, is replaced as a whole by the commit; ``fresh`` always replaces it.
    ``max_rewritten`` limits how many live documents a commit may copy for merging. Raises
    SkillIoError when the folder cannot be written, or when another writer still holds the lock
    after ``wait_s`` seconds.
    """

    def __init__(
        self,
        folder: str,
        *,
        dimensions: int,
        settings: Mapping[str, str] | None = None,
        wait_s: float = 0.0,
        fresh: bool = False,
        max_rewritten: int | None = None,
    ) -> None:
        self.folder = folder
        self._max_rewritten = max_rewritten
        self.overdue = False
        """True when the last commit skipped a merge because of ``max_rewritten``."""
        self._dimensions = dimensions
        self._settings = dict(settings or {})
        self._lock = lock_index(folder, wait_s)
        try:
            self._base = None if fresh else self._open()
        except BaseException:
            self._lock.close()
            raise
        self._is_stale = False
        """True after a commit, until the new generation is opened."""
        self._generation = self._last_generation()
        self._dead = {n: set(s.dead) for n, s in enumerate(self._segments)}
        self._builder = SegmentWriter(dimensions)
        self._pending: dict[str, IndexedDocument] = {}
        self._flushed: list[bytes] = []
        self._flushed_keys: dict[str, tuple[int, int]] = {}
        self._flushed_dead: list[set[int]] = []
        self._notes: dict[str, str] = {}
        self._sides: dict[str, bytes] = {}

    @property
    def _segments(self) -> list[SegmentReader]:
        return self._base.segments if self._base is not None else []

    def _open(self) -> SegmentSearcher | None:
        """Return the current generation, or None when it cannot be extended."""
        try:
            current = read_manifest(self.folder)
            if current is None:
                return None
            manifest, data = current
            if manifest.dimensions != self._dimensions or manifest.settings != self._settings:
                return None
            return SegmentSearcher(self.folder, manifest, memoryview(data))
        except (IndexDamaged, FileNotFoundError):
            return None

    def _last_generation(self) -> int:
        if self._base is not None:
            return self._base.generation
        try:
            current = read_manifest(self.folder)
        except IndexDamaged:
            return 0
        return current[0].generation if current is not None else 0

    def close(self) -> None:
        """Release the lock. Uncommitted changes are discarded."""
        self._lock.close()

    def keys(self) -> Iterator[str]:
        """Yield the keys of the committed documents that are not deleted."""
        self._reopen()
        for place, segment in enumerate(self._segments):
            for number in range(segment.documents):
                if number not in self._dead[place]:
                    yield segment.key(number)

    def add(self, document: IndexedDocument) -> None:
        """Add a document. It replaces a document with the same key."""
        self.delete(document.key)
        self._pending[document.key] = document
        if len(self._pending) >= 1_024:
            self._flush_pending()

    def delete(self, key: str) -> bool:
        """Delete a document. Returns False when there is none with that key."""
        self._reopen()
        if self._pending.pop(key, None) is not None:
            return True
        place = self._flushed_keys.pop(key, None)
        if place is not None:
            if place[0] == len(self._flushed):  # still in the open segment
                self._close_builder()
            self._flushed_dead[place[0]].add(place[1])
            return True
        for number, segment in enumerate(self._segments):
            document = segment.find(KEYS, key)
            if document >= 0 and document not in self._dead[number]:
                self._dead[number].add(document)
                return True
        return False

    def side_file(self, name: str, data: bytes) -> None:
        """Store ``data`` under ``name`` with the next generation."""
        self._sides[name] = data

    def note(self, name: str, text: str) -> None:
        """Store a short text under ``name`` in the manifest of the next generation."""
        self._notes[name] = text

    def _flush_pending(self) -> None:
        """Move the pending documents into the open segment, in the order they were added."""
        for key, document in self._pending.items():
            if self._builder.full:
                self._close_builder()
            self._flushed_keys[key] = (len(self._flushed), len(self._builder))
            self._builder.add(document)
        self._pending.clear()

    def _close_builder(self) -> None:
        self._flushed.append(self._builder.build())
        self._flushed_dead.append(set())
        self._builder = SegmentWriter(self._dimensions)

    def commit(self) -> int:
        """Publish all changes atomically. Returns the new generation. Raises SkillIoError."""
        self._reopen()
        self._flush_pending()
        if len(self._builder):
            self._close_builder()
        self._merge()
        parts, inline, files = self._parts()
        sides = self._side_entries(files)
        manifest = IndexManifest(
            self._generation + 1,
            self._dimensions,
            self._settings,
            tuple(parts),
            sides,
            {**(self._base.manifest.notes if self._base is not None else {}), **self._notes},
        )
        body = render_manifest(manifest, inline)
        for name, data in files.items():
            if not _has_content(os.path.join(self.folder, name), data):
                write_file(self.folder, name, data)
        write_file(self.folder, NAME, body)
        self._generation += 1
        self._remove_unreferenced(
            {part.file for part in parts if part.file} | {s.file for s in sides.values()}
        )
        self._flushed, self._flushed_dead, self._flushed_keys = [], [], {}
        self._sides, self._notes = {}, {}
        self._is_stale = True
        return self._generation

    def _merge(self) -> None:
        """Merge segments with many deleted documents, and small ones when there are many."""
        rewritten = self._mergeable()
        live = sum(map(self._live, rewritten))
        self.overdue = self._max_rewritten is not None and live > self._max_rewritten
        if self.overdue:
            rewritten = self._inline() if self._inline_overflow() else set()
        if not rewritten:
            return
        merged = list(build_segments(self._survivors(sorted(rewritten)), self._dimensions))
        for number in rewritten:
            self._dead[number] = set(range(self._segments[number].documents))
        self._flushed += merged
        self._flushed_dead += [set() for _ in merged]

    def _mergeable(self) -> set[int]:
        """Return the positions of the segments to merge.

        Small segments are merged smallest first, and a larger one only together with others of
        similar total size. A document is then copied about once per doubling of its segment.
        """
        dead = self._dead
        worn = {
            n
            for n, s in enumerate(self._segments)
            if len(dead[n]) * MAX_DEAD_FRACTION > s.documents
        }
        if self._inline_overflow():
            worn |= self._inline()
        small = [
            n
            for n in range(len(self._segments))
            if n not in worn and self._live(n) < SMALL_SEGMENT_DOCUMENTS
        ]
        if len(small) + bool(worn) + len(self._flushed) <= MAX_SMALL_SEGMENTS:
            return worn
        total = 0
        for number in sorted(small, key=lambda n: (self._live(n), n)):
            if total and self._live(number) > 2 * total and len(worn) > 1:
                break
            worn.add(number)
            total += self._live(number)
        return worn

    def _inline(self) -> set[int]:
        """Return the positions of the segments stored in the manifest."""
        return {n for n, s in enumerate(self._segments) if s.path.endswith(NAME)}

    def _inline_overflow(self) -> bool:
        """True when the small segments no longer fit into the manifest."""
        inline = sum(self._segments[n].size for n in self._inline())
        inline += sum(len(data) for data in self._flushed if len(data) < INLINE_BYTES)
        return inline > INLINE_BYTES

    def _live(self, number: int) -> int:
        return self._segments[number].documents - len(self._dead[number])

    def _survivors(self, numbers: list[int]) -> Iterator[IndexedDocument]:
        for number in numbers:
            segment, dead = self._segments[number], self._dead[number]
            for place in range(segment.documents):
                if place not in dead:
                    yield segment.document(place)

    def _parts(self) -> tuple[list[SegmentEntry], dict[int, bytes], dict[str, bytes]]:
        """Return the next generation's segments, inline segments by position, and new files."""
        parts: list[SegmentEntry] = []
        inline: dict[int, bytes] = {}
        files: dict[str, bytes] = {}
        for number, segment in enumerate(self._segments):
            dead = frozenset(self._dead[number])
            if len(dead) == segment.documents:
                continue
            file = os.path.basename(segment.path)
            if file == NAME:
                inline[len(parts)] = bytes(segment._data)
                file = ""
            parts.append(SegmentEntry(file, 0, segment.size, dead))
        room = INLINE_BYTES - sum(len(data) for data in inline.values())
        for data, gone in zip(self._flushed, self._flushed_dead, strict=True):
            file = "" if len(data) <= room else f"seg-{sha256(data).hexdigest()[:16]}.seg"
            if file:
                files[file] = data
            else:
                room -= len(data)
                inline[len(parts)] = data
            parts.append(SegmentEntry(file, 0, len(data), frozenset(gone)))
        return parts, inline, files

    def _side_entries(self, files: dict[str, bytes]) -> dict[str, SideFile]:
        sides = dict(self._base.manifest.sides) if self._base is not None else {}
        for name, data in self._sides.items():
            file = f"{name}-{sha256(data).hexdigest()[:16]}.side"
            files[file] = data
            sides[name] = SideFile(file, len(data), crc32(data))
        return sides

    def _remove_unreferenced(self, referenced: set[str]) -> None:
        """Remove files that no generation references. Readers keep the files they have open."""
        for name in os.listdir(self.folder):
            if name.endswith((".seg", ".side", ".tmp")) and name not in referenced:
                with suppress(OSError):  # the next commit tries again
                    os.unlink(os.path.join(self.folder, name))

    def _reopen(self) -> None:
        """Open the generation of the last commit, so that the writer can continue."""
        if self._is_stale:
            self._is_stale = False
            self._base = self._open()
            self._dead = {n: set(s.dead) for n, s in enumerate(self._segments)}


def lock_index(folder: str, wait_s: float) -> HeldLock:
    """Acquire and return the writer lock. Raises SkillIoError."""
    path = os.path.join(folder, LOCK)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return file_lock(path, timeout_s=wait_s)
    except BlockingIOError:
        raise SkillIoError(
            "another process is changing this index",
            path=path,
            code="index_busy",
            hint="try again when it has finished",
        ) from None
    except OSError as error:
        raise io_error("lock", folder, error) from None


def _has_content(path: str, data: bytes) -> bool:
    """True when the file already has this content."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read() == data
    return False


def verify(folder: str) -> list[Diagnostic]:
    """Return the faults of the index in ``folder``; an intact index has none.

    Raises SkillIoError when the index cannot be read.
    """
    try:
        searcher = open_index(folder)
        if searcher is None:
            return [_diagnostic("index_missing", folder, "there is no index here")]
        keys: set[str] = set()
        for segment in searcher.segments:
            for name in SECTIONS:
                segment.section(name)
            for number in segment.live():
                key = segment.key(number)
                if key in keys:
                    raise segment.mark_damaged("a document is contained twice")
                keys.add(key)
        for name in searcher.manifest.sides:
            searcher.side_file(name)
    except IndexDamaged as error:
        return [_diagnostic("index_damaged", error.path or folder, error.message)]
    known = {part.file for part in searcher.manifest.parts}
    known |= {side.file for side in searcher.manifest.sides.values()}
    return [
        _diagnostic("index_stray_file", os.path.join(folder, name), "no generation uses it", "info")
        for name in sorted(os.listdir(folder))
        if name.endswith((".seg", ".side", ".tmp")) and name not in known
    ]


def _diagnostic(code: str, path: str, message: str, severity: str = "error") -> Diagnostic:
    return Diagnostic(code, severity, path, message, "rebuild it with `skillyard index build`")
