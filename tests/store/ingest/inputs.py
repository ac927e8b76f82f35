"""Skills to ingest: folders and files of JSON lines, and what a store then holds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skillyard.store.ingest.ingest_run import ingest
from skillyard.store.ingest.work_items import IngestResult, Options
from skillyard.store.protocol import CatalogStore
from tests.cli.making import write

__all__ = ["document", "held", "jsonl", "publish", "tree"]


def document(name: str, text: str = "one", fields: str = "") -> str:
    """Return the text of a SKILL.md."""
    return f"---\nname: {name}\ndescription: Says {text}.\n{fields}---\n# {name}\n\n{text}\n"


def tree(root: Path, count: int, text: str = "one") -> Path:
    """Write so many skill folders, s000 and on."""
    names = [f"s{number:03}" for number in range(count)]
    return write(root, {f"{name}/SKILL.md": document(name, text) for name in names})


def jsonl(path: Path, objects: Iterable[Mapping[str, Any] | str | bytes]) -> str:
    """Write objects, and lines as they are, to a file of JSON lines; ``.gz`` packs it."""
    lines = [
        each
        if isinstance(each, bytes)
        else (each if isinstance(each, str) else json.dumps(each)).encode()
        for each in objects
    ]
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def publish(
    store: CatalogStore, *roots: Path | str, lines: Iterable[str] = (), **options: Any
) -> IngestResult:
    """Ingest into the tenant acme."""
    given = Options(**{"tenant": "acme", "publisher": "ci", **options})
    return ingest(store, given, roots=[str(root) for root in roots], lines=list(lines))


def held(store: CatalogStore) -> dict[tuple[str, str, str], tuple[str, int, int]]:
    """Return what stands: namespace, source and place → digest, version and install count."""
    return {
        version.key[1:]: (version.digest, version.version, version.skill.install_count)
        for version in store.snapshot()
    }
