"""Judges: two answers and a rubric give scores and a winner, or the reason why there is none."""
