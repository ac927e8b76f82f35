"""The reports of evaluations: pages, summaries, and what machines read."""
