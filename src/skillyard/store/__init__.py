"""Persistent catalogs: versions of skills, in generations, for tenants and callers.

:func:`~skillyard.store.opening.open_store` opens a store by its address, on SQLite (embedded) or on
PostgreSQL (shared). Both pass one set of tests.
"""
