"""The two databases that a store can be kept in: SQLite (one file) and PostgreSQL (a server)."""
