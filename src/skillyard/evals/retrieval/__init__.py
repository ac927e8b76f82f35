"""Retrieval evaluation: judged queries, runs of scorers, and measures of their rankings."""
