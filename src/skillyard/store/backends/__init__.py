"""The two databases of a store: SQLite (one file) and PostgreSQL (a server)."""
