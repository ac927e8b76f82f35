"""``hybrid``, the default scorer: BM25F and vectors, fused and calibrated to a probability.

The steps in order: :mod:`.query_analysis` → :mod:`.retrieval` → :mod:`.fusion` →
:mod:`.calibration`.
:mod:`.explanation` builds the explanation tree, and :mod:`.constants` contains all constants.
"""

from __future__ import annotations

from skillyard.engine.ranking.hybrid.constants import Calibration, Fusion
from skillyard.engine.ranking.hybrid.scorer import HYBRID, Hybrid

__all__ = ["HYBRID", "Calibration", "Fusion", "Hybrid"]
