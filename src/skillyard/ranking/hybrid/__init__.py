"""``hybrid``, the default scorer: words, meaning and evidence, with a calibrated probability.

The formula in the order in which it runs: :mod:`.query_analysis` reads the request, :mod:`.evidence`
asks the index, :mod:`.fusion` mixes what came back, :mod:`.calibration` says what it is worth, and
:mod:`.explanation` takes it apart again. The numbers stand in :mod:`.constants`.
"""

from __future__ import annotations

from skillyard.ranking.hybrid.constants import Calibration, Fusion
from skillyard.ranking.hybrid.scorer import HYBRID, Hybrid

__all__ = ["HYBRID", "Calibration", "Fusion", "Hybrid"]
