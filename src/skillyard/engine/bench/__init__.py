"""Judged queries, runs of scorers over them, and measures of the rankings."""
