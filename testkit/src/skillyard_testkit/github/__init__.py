"""GitHub: its REST API, its raw-content host, and the repositories that both serve."""
