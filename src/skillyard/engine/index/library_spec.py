"""The index of a described library: its folder and settings, its summary, and whether it is fresh.

The **record of a walk**, stored with the index, shows whether another walk would find the same. It
contains the names and kinds of the entries of each folder that was listed, and the stamp of each
candidate, and of what decided which folders the scopes have: settings of agents, folders that are
there or not, and environment variables. All results of a walk follow from these, so a comparison
sees every change that a walk sees. A folder whose own times are unchanged is not listed again where
folder times can be trusted: on the file system that holds the index, after a file written there
changed the time of its folder.

The **summary** has what every query needs beside the index.
"""

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.configuration import cache_folder
from skillyard.base.errors import Diagnostic, IndexDamaged
from skillyard.base.io.files import ancestors, new_sha256, place_stamp, read_regular, sha256
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.analysis.analyzer import VERSION as ANALYZER_VERSION
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.catalog.roots import LibrarySpec, real_root
from skillyard.engine.index.manifest import NAME
from skillyard.engine.index.token_table import bundled_table
from skillyard.engine.skill import Reference

if TYPE_CHECKING:
    from skillyard.engine.discovery.layout import Candidate, CandidateFile, Observations, Scan
    from skillyard.engine.index.segment_searcher import SegmentSearcher

WALK = "walk"
"""The side file with the record of the walk."""
WEIGHTING_VERSION = 10
"""Version of reading, impacts, facet terms and vectors. A change forces a rebuild."""
VERSION = "16"
"""Version of the formats of records, state, summary and walk record, and of what is read of a
file."""

MAX_ALWAYS_SCANNED = 2_000
"""Libraries up to this number of skills are scanned before each query: a few milliseconds."""
MAX_SETTINGS = 65_536
"""Bytes of a file of settings that are searched for plugins."""
FRESH_S = 30.0
"""Seconds for which a larger library counts as unchanged after a scan."""


def index_folder(spec: LibrarySpec) -> str:
    """Return the folder of the index of a library.

    Libraries of equal resolved roots share it, if the same plugins and extensions are enabled.
    """
    parts = [*map(real_root, spec.roots)]
    if spec.files is not None:
        parts.append(spec.files.resolve().key)
    if "project" in spec.scopes:  # its folders are those above the one of the work
        parts.append(os.path.abspath(spec.folder))
    elif "user" in spec.scopes:
        parts.extend(_disabled_for(spec.folder))
    # Without a policy it is left out, so that no index changes.
    policy = () if spec.policy is None else (repr(spec.policy),)
    text = "\n".join([*parts, *spec.scopes, repr(tuple(spec.limits)), *policy])
    name = new_sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return os.path.join(cache_folder(), "index", name)


def _disabled_for(folder: str) -> tuple[str, ...]:
    """Return the user's plugins and extensions that are not loaded for the work in a folder.

    Discovery is only loaded where a file may disable any: that takes longer than opening an index.
    """
    rules = os.path.expanduser("~/.gemini/extensions/extension-enablement.json")
    settings = (
        os.path.join(above, ".claude", name)
        for above in ancestors(os.path.abspath(folder))
        for name in ("settings.json", "settings.local.json")
    )
    if not os.path.lexists(rules) and not any(map(_names_plugins, settings)):
        return ()
    from skillyard.engine.discovery.scopes import disabled_for

    return disabled_for(folder)


def _names_plugins(path: str) -> bool:
    """True for a file of settings with a word about plugins, and for one that is too large."""
    try:
        return b"enabledPlugins" in read_regular(path, MAX_SETTINGS, follow=True)[0]
    except OSError as error:
        return error.errno == errno.EFBIG


def index_settings(**more: str) -> dict[str, str]:
    """Return the settings of an index, with more of its kind: with others it is rebuilt."""
    return {
        "analyzer": str(ANALYZER_VERSION),
        "weighing": str(WEIGHTING_VERSION),
        "table": bundled_table().id,
        **more,
    }


OF_FILES = {"keeping": VERSION}
"""What the settings of an index of files have more."""


def scan_fingerprint(files: "Scan") -> str:
    """Return a digest of a scan: paths, stamps and diagnostics."""
    text = json.dumps([files.candidates, files.diagnostics], separators=(",", ":"))
    return str(new_sha256(text.encode("ascii")).hexdigest())


class Progress(NamedTuple):
    """The progress of building an index."""

    done: int
    """Files indexed so far."""
    total: int | None
    """Files in all; None before they are counted."""
    seconds_left: float | None = None
    """Estimate from the rate so far; None without an estimate."""


class LibrarySummary(NamedTuple):
    """Properties of a library that every query needs beside the index."""

    documents: int
    """Number of files that loaded."""
    reported: str
    """The diagnostics, as JSON until somebody reads them."""
    prefixes: tuple[str, ...]
    """What the paths below each root begin with, on the machine that wrote the index."""
    hidden: tuple[str, ...]
    """Keys of skills that are selected only when called by name."""
    patterns: dict[str, tuple[str, ...]]
    """File patterns by key."""
    fingerprint: str
    """Digest of the scan; see :func:`skillyard.engine.index.library_spec.scan_fingerprint`."""
    is_final: bool
    """False when a file was modified shortly before it was read: its stamp may hide a change."""
    counts: SkillCounts
    """Numbers of skills by kind, as if all requirements were met."""
    requiring: tuple[str, ...]
    """Keys of the skills that a request can select, if what they require is there."""
    variants: dict[str, tuple[str, ...]]
    """Keys of the copies and variants of a skill, by its key."""
    files: int
    """Number of candidate files in the library."""
    known: int
    """Number of candidate files indexed so far; fewer than ``files`` during the first build."""


def encode_summary(summary: LibrarySummary) -> bytes:
    """Return the summary as bytes: one line of JSON, then the diagnostics."""
    head = json.dumps(summary._replace(reported=""), separators=(",", ":"))
    return f"{head}\n{summary.reported}".encode("ascii")


def decode_summary(data: bytes) -> LibrarySummary:
    """Return the summary of :func:`encode_summary`. Raises ValueError for anything else."""
    try:
        head, between, reported = str(data, "ascii").partition("\n")
        if not between or (reported[:1], reported[-1:]) != ("[", "]"):
            raise ValueError("not a summary: no diagnostics")
        read = LibrarySummary(*json.loads(head))
        return read._replace(
            reported=reported,
            prefixes=tuple(read.prefixes),
            hidden=tuple(read.hidden),
            patterns={key: tuple(globs) for key, globs in read.patterns.items()},
            counts=SkillCounts(*read.counts),
            requiring=tuple(read.requiring),
            variants={key: tuple(keys) for key, keys in read.variants.items()},
        )
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not a summary: {error}") from None


def encode_diagnostics(diagnostics: Iterable[Diagnostic], prefixes: Sequence[str]) -> str:
    """Return diagnostics as one line of JSON, with the numbers of roots in place of prefixes."""
    import re  # a query only decodes

    def without_roots(text: str) -> str:
        for number, prefix in enumerate(prefixes):
            if text == prefix.rstrip("/"):
                return f"\0{number}\0"
            # Not within a path: /a/b names nothing below the root /b.
            start = re.compile(rf"(?<![^\s\"'(`\[]){re.escape(prefix)}")
            text = start.sub(f"\0{number}\0", text)
        return text

    rows = [_with_texts(each, without_roots) for each in diagnostics]
    return json.dumps(rows, separators=(",", ":"))


def _with_texts(each: Diagnostic, change: Callable[[str], str]) -> Diagnostic:
    path, message, hint = map(change, (each.path, each.message, each.hint))
    return each._replace(path=path, message=message, hint=hint)


def decode_diagnostics(text: str, prefixes: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of :func:`encode_diagnostics`, sorted by path.

    ``prefixes`` are those of the roots as the caller names them. Raises ValueError for other text.
    """

    def with_roots(text: str) -> str:
        for number, prefix in enumerate(prefixes):
            text = text.replace(f"\0{number}\0", prefix)
        return text

    try:
        rows = [_with_texts(Diagnostic(*fields), with_roots) for fields in json.loads(text)]
    except TypeError as error:
        raise ValueError(f"no diagnostics: {error}") from None
    diagnostics = [each._replace(path=each.path.rstrip("/") or ".") for each in rows]
    return tuple(sorted(diagnostics, key=lambda d: (d.path, d.line or 0, d.column or 0, d.code)))


def decode_candidate(fields: "Sequence[Any]") -> "Candidate":
    """Return the candidate of JSON. Raises TypeError for anything else."""
    from skillyard.engine.discovery.layout import Candidate, Stamp

    file = Candidate(*fields)
    references = tuple(Reference(*each) for each in file.references)
    parts, stamp = tuple(file.parts), Stamp(*file.stamp)
    pages = tuple(Stamp(*each) for each in file.pages)
    return file._replace(parts=parts, stamp=stamp, references=references, pages=pages)


def read_files(searcher: "SegmentSearcher", prefixes: Sequence[str]) -> "dict[str, CandidateFile]":
    """Return every file of an index by its path, which begins with the prefix of its root.

    Raises IndexDamaged where one is no longer as it was indexed, or the state cannot be read.
    """
    from skillyard.engine.discovery.layout import CandidateFile

    files = {}
    try:
        for fields, facts, *_ in json.loads(searcher.side_file("state") or b"")[0]:
            found = decode_candidate(fields)
            data, now = read_regular(found.target or found.path, DEFAULT_LIMITS.skill_file_bytes)
            stamp = [now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev]
            # A file that is no skill has no facts, of which the last but one is the digest.
            if sha256(data).hex() != facts[-2] if facts else [*found.stamp] != stamp:
                raise ValueError(found.path)
            path = prefixes[found.root] + "/".join(found.parts)
            files[path] = CandidateFile(found._replace(path=path), data, now, bool(facts))
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise IndexDamaged(f"not as it was indexed: {error}", path=searcher.folder) from None
    return files


def is_fresh(
    searcher: "SegmentSearcher",
    spec: LibrarySpec,
    summary: LibrarySummary,
    *,
    force_scan: bool = False,
    touch: bool = True,
) -> bool:
    """Return True when the index matches the files.

    Small libraries are checked each time, larger ones after :data:`FRESH_S` seconds, and all of
    them with ``force_scan``. The check compares the files with the record of the last walk, and
    walks again where that shows a change. The index is stale when a file was modified shortly
    before it was read. ``touch`` records the time of the check as the modification time of the
    manifest.
    """
    trusted = summary.documents > MAX_ALWAYS_SCANNED and not force_scan
    if trusted and seconds_since_scan(searcher.folder) < FRESH_S:
        return True
    same = summary.is_final and (
        is_unchanged(searcher.side_file(WALK), summary.fingerprint)
        or scan_fingerprint(spec.scan_resolved()) == summary.fingerprint
    )
    if same and touch:
        with suppress(OSError):  # a read-only cache is scanned each time
            os.utime(os.path.join(searcher.folder, NAME))
    return same


def seconds_since_scan(folder: str) -> float:
    """Return the seconds since an index was last compared with its files; infinite where unknown.

    The modification time of the manifest records it.
    """
    try:
        age = time.time() - os.stat(os.path.join(folder, NAME)).st_mtime
    except OSError:
        return inf
    return age if age >= 0 else inf


MAX_ENTRIES = 100_000
"""Entries of all folders in a record: some megabytes."""
STABLE_AFTER_NS = 2_000_000_000
"""The same value as in ``discovery.layout``, which a query does not import."""
_PROBE = "folder-times.tmp"


def encode_walk(scan: "Scan", fingerprint: str, index_folder: str) -> bytes:
    """Return the record of a walk as bytes (JSON); ``fingerprint`` is that of the scan.

    Empty for a walk that met links, or something that it could not read: what it found depends on
    more than listings. Empty on Windows too, where a listing does not show junctions.
    """
    observations = scan.observations
    if observations is None or sys.platform == "win32":
        return b""
    if sum(len(entries) for _, _, entries in observations.listings) > MAX_ENTRIES:
        return b""
    from skillyard.engine.discovery.hosts import HOST_FOLDERS

    places = observations.places
    names = {"HOME", *(row.variable for row in HOST_FOLDERS)} - {""} if places else ()
    changes = [stamp[1] for stamp in places.values() if isinstance(stamp, list)]
    if max(changes, default=0) + STABLE_AFTER_NS >= observations.began_ns:
        return b""  # a file of settings may have changed once more within a tick of the clock
    record = {
        "fingerprint": fingerprint,
        "variables": {name: os.environ.get(name) for name in sorted(names)},
        "places": dict(places),
        "folders": _encode_folders(observations, index_folder),
        "files": [each for candidate in scan.candidates for each in candidate.stamps()],
        "absent": observations.absent,
    }
    return json.dumps(record, separators=(",", ":")).encode("ascii")


def _encode_folders(observations: "Observations", index_folder: str) -> list[tuple[Any, ...]]:
    device = _device_with_folder_times(index_folder)

    def stamp(status: os.stat_result) -> list[int] | None:
        is_stable = status.st_ctime_ns + STABLE_AFTER_NS < observations.began_ns
        if not is_stable or status.st_dev != device:
            return None
        return [status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]

    return [
        (path, stamp(status), _marked_names(entries))
        for path, status, entries in observations.listings
    ]


def _device_with_folder_times(folder: str) -> int | None:
    """Return the device of a folder; None when a new file does not change the folder's time."""
    try:
        os.utime(folder, (0, 0))
        probe = os.path.join(folder, _PROBE)
        with open(probe, "wb"):
            pass
        os.unlink(probe)
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev if status.st_mtime_ns > 0 else None


def is_unchanged(record: bytes | None, fingerprint: str) -> bool:
    """Return True when a walk would give the scan with this fingerprint.

    False when something changed, and when ``record`` belongs to another scan or is empty.
    """
    if not record:
        return False
    known = json.loads(record)
    environment = {name: os.environ.get(name) for name in known["variables"]}
    if (known["fingerprint"], known["variables"]) != (fingerprint, environment):
        return False
    try:
        for path, stamp in known["places"].items():
            if place_stamp(path) != stamp:
                return False
        for path, stamp, names in known["folders"]:
            now = os.stat(path, follow_symlinks=False)
            if stamp != [now.st_mtime_ns, now.st_ctime_ns, now.st_ino, now.st_dev]:
                with os.scandir(path) as entries:
                    if _marked_names(entries) != names:
                        return False
        for path, stamp in known["files"]:  # in the order of ``discovery.Stamp``
            now = os.stat(path, follow_symlinks=False)
            if stamp != [now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev]:
                return False
        return not any(map(os.path.lexists, known["absent"]))
    except OSError:
        return False


def _marked_names(entries: "Iterable[os.DirEntry[str]]") -> list[str]:
    """Return the names of the entries, sorted, each with a mark of its kind.

    The marks contain a slash, which no name contains.
    """
    return sorted([entry.name + _mark(entry) for entry in entries])


def _mark(entry: "os.DirEntry[str]") -> str:
    if entry.is_file(follow_symlinks=False):
        return ""
    if entry.is_dir(follow_symlinks=False):
        return "/"
    return "/link" if entry.is_symlink() else "/other"
