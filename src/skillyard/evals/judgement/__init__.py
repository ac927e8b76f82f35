"""Two answers and a rubric → scores, a winner, or the reason why there is none."""
