"""The skills of the shared corpus, written out as folders the way people keep them.

    python -m benchmarks.corpus DIR [--count N] [--shared DIR]

writes ``DIR/<owner>/<folder>/SKILL.md`` for the first N records and leaves them there.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import Skipped

COUNT = 10_000
SETTLED_S = 2.1
"""A file younger than 2 s is read again by a reload: its stamp cannot tell every later change."""


class Library(NamedTuple):
    """A folder of skills on disk."""

    root: Path
    files: int
    size: int
    """Bytes of all files."""
    written: float
    """``time.monotonic()`` when the last file was written."""

    @property
    def megabytes(self) -> float:
        return self.size / 1e6

    def settle(self) -> None:
        """Wait, outside of anything measured, until the files are old enough to be trusted."""
        time.sleep(max(0.0, self.written + SETTLED_S - time.monotonic()))


def shared_folder(folder: str | None = None) -> Path:
    """Return the shared folder: as given, by SKILLYARD_SHARED, or beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    return Path(folder or os.environ.get("SKILLYARD_SHARED") or beside)


def corpus_file(shared: Path) -> Path:
    return shared / "corpus" / "skills.jsonl.gz"


def require_corpus(shared: Path) -> Path:
    """Return the file of the corpus. Raises Skipped where it is absent."""
    path = corpus_file(shared)
    if not path.is_file():
        raise Skipped(f"the corpus is absent: {path}")
    return path


def records(shared: Path, count: int = COUNT, step: int = 1) -> Iterator[dict[str, Any]]:
    """Yield ``count`` records of the corpus: the first, and then every ``step``-th."""
    with gzip.open(corpus_file(shared), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, islice(lines, 0, count * step, step))


def skill_md(record: dict[str, Any]) -> str:
    """Return a record as a SKILL.md: frontmatter made from its fields, then its text."""
    lines = [f"{field}: {quoted(record[field])}" for field in ("name", "description")]
    if record.get("license"):
        lines.append(f"license: {quoted(record['license'])}")
    if record.get("tags"):
        lines.append("tags:")
        lines += [f"  - {quoted(tag)}" for tag in record["tags"]]
    lines.append("metadata:")
    lines += [f"  {field}: {quoted(record[field])}" for field in ("source", "path")]
    return "\n".join(["---", *lines, "---", "", record["text"], ""])


def quoted(text: str) -> str:
    """Return the text as a YAML double-quoted scalar on one line."""
    literal = json.dumps(text, ensure_ascii=False)
    if literal.isprintable():
        return literal
    return "".join(char if char.isprintable() else _escape(char) for char in literal)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def write(target: Path, chosen: Iterable[dict[str, Any]]) -> Library:
    """Write the records below ``target`` and return what was written."""
    files = size = 0
    for record in chosen:
        folder = target / record["id"]
        folder.mkdir(parents=True, exist_ok=True)
        size += (folder / "SKILL.md").write_bytes(skill_md(record).encode("utf-8", "replace"))
        files += 1
    return Library(target, files, size, time.monotonic())


@contextlib.contextmanager
def written_out(chosen: Iterable[dict[str, Any]], *, keep: bool = False) -> Iterator[Library]:
    """Write the records into a temporary folder, which is removed at the end unless kept."""
    target = Path(tempfile.mkdtemp(prefix="skillyard-corpus-"))
    try:
        yield write(target, chosen)
    finally:
        if not keep:
            shutil.rmtree(target)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.corpus", description="Write the corpus out as skill folders."
    )
    parser.add_argument("target", metavar="DIR", type=Path, help="folder to write into")
    parser.add_argument("--count", type=int, default=COUNT, help=f"skills (default {COUNT:,})")
    parser.add_argument("--shared", help="the shared folder (default: SKILLYARD_SHARED)")
    options = parser.parse_args(arguments)
    shared = shared_folder(options.shared)
    if not corpus_file(shared).is_file():
        parser.exit(2, f"no corpus: {corpus_file(shared)} is absent\n")
    library = write(options.target, records(shared, options.count))
    print(f"{library.files:,} skills, {library.megabytes:.1f} MB, below {library.root}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
