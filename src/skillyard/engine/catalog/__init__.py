"""The catalog: a sorted, content-addressed snapshot of skills, with its diagnostics.

A catalog is immutable. :meth:`Catalog.reload` reads the files that changed on disk, and returns
the next snapshot together with the added, changed and removed skills.
"""

from skillyard.engine.catalog.snapshot import Catalog, CatalogDiff, has_tag, read_catalog

__all__ = ["Catalog", "CatalogDiff", "has_tag", "read_catalog"]
