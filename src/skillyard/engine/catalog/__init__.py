"""The catalog: a sorted, content-addressed snapshot of skills, with its diagnostics.

A catalog is immutable. :meth:`Catalog.reload` reads the files that changed on disk, and returns
the next snapshot together with the added, changed and removed skills.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillyard.engine.catalog.snapshot import Catalog, CatalogDiff, has_tag, read_catalog

if TYPE_CHECKING:
    from skillyard.engine.catalog.entries import Progress as Progress
    from skillyard.engine.catalog.entries import refresh as refresh

__all__ = ["Catalog", "CatalogDiff", "Progress", "has_tag", "read_catalog", "refresh"]


def __getattr__(name: str) -> Any:
    if name not in ("Progress", "refresh"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skillyard.engine.catalog import entries  # deferred: it imports every format

    return getattr(entries, name)
