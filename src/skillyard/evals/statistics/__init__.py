"""Statistics of a run: intervals, shares of the 5 % of false statements, verdicts, plans."""
