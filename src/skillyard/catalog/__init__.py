"""The catalog: a sorted, content-addressed snapshot of skills, with everything that did not load.

A catalog is immutable. :meth:`Catalog.reload` reads again only what changed on disk and returns
the next snapshot with what was added, changed and removed.
"""

from __future__ import annotations

from skillyard.catalog.reading import Progress, refresh
from skillyard.catalog.snapshot import Catalog, CatalogDiff, has_tag, load_catalog

__all__ = ["Catalog", "CatalogDiff", "Progress", "has_tag", "load_catalog", "refresh"]
