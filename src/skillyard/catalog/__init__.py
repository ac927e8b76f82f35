"""The catalog: a sorted, content-addressed snapshot of skills, with everything that did not load.

A catalog is immutable. :meth:`Catalog.reload` reads again only what changed on disk and returns
the next snapshot with what was added, changed and removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillyard.catalog.snapshot import Catalog, CatalogDiff, has_tag, read_catalog

if TYPE_CHECKING:
    from skillyard.catalog.reading import Progress as Progress
    from skillyard.catalog.reading import refresh as refresh

__all__ = ["Catalog", "CatalogDiff", "Progress", "has_tag", "read_catalog", "refresh"]


def __getattr__(name: str) -> Any:
    if name not in ("Progress", "refresh"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from skillyard.catalog import reading  # it loads every format

    return getattr(reading, name)
