"""Persistent catalogs: versions of skills, in generations, for tenants and callers.

:func:`~skillyard.store.opening.open_store` opens a store by its address. ``protocol.py`` is the
contract; SQLite (embedded) and PostgreSQL (shared) implement it under one set of tests.
"""
