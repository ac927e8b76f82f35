"""Skill folders to publish, and what a store then holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skillyard.store.operations.folder_publish import (
    PublishOptions,
    StorePublished,
    publish_folders,
)
from skillyard.store.sql_store import CatalogStore
from tests.cli.making import write
from tests.store.skills import standing

__all__ = ["document", "held", "publish", "tree"]


def document(name: str, text: str = "one", fields: str = "") -> str:
    """Return the text of a SKILL.md."""
    return f"---\nname: {name}\ndescription: Says {text}.\n{fields}---\n# {name}\n\n{text}\n"


def tree(root: Path, count: int, text: str = "one") -> Path:
    """Write so many skill folders, s000 and on. Each file differs from all others."""
    names = [f"s{number:03}" for number in range(count)]
    return write(root, {f"{name}/SKILL.md": document(name, text) for name in names})


def publish(store: CatalogStore, *roots: Path | str, **options: Any) -> StorePublished:
    """Publish folders into the tenant acme."""
    words = PublishOptions(**{"tenant": "acme", "publisher": "ci", **options})
    return publish_folders(store, [str(root) for root in roots], words)


def held(store: CatalogStore) -> dict[tuple[str, str, str], tuple[str, int, int]]:
    """Return what stands: namespace, source and place → digest, version and install count."""
    return {
        version.key[1:]: (version.digest, version.version, version.skill.install_count)
        for version in standing(store)
    }
