"""``skillyard eval improve``: proposes descriptions and judges the best one on unseen cases.

The cases are split into two halves. Proposals are composed from the first half and the best one is
chosen there. Only this one is judged, on the held-out half, so the verdict is not about the cases
from which the proposal was made.
"""

from skillyard.usecases.improvement.improve import ImproveOptions, improve, plan_improvement

__all__ = ["ImproveOptions", "improve", "plan_improvement"]
