"""How good a ranking is: runs, judged queries, and the measures of the field."""
