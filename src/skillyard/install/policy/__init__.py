"""The policy of a team: which skills may be offered and installed."""
