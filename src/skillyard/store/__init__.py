"""Where catalogs persist: skills by version, in generations, for tenants and callers.

:func:`~skillyard.store.opening.open_store` opens one by its address. ``protocol.py`` says what a
store promises; SQLite (embedded) and PostgreSQL (shared) keep it, under one set of tests.
"""
