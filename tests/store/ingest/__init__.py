"""Bulk ingest: from folders and JSON lines into a store, also through kills and in parts."""
