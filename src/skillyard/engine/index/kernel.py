"""The optional C kernel, or None. It returns the same results as the Python code, faster.

The build compiles it when a C compiler is available. ``SKILLYARD_KERNEL=off`` disables it.
"""

from __future__ import annotations

import os
from typing import Any

KERNEL: Any = None
"""The module ``skillyard.engine.index._kernel``, or None."""

if os.environ.get("SKILLYARD_KERNEL", "").lower() not in ("off", "0", "no"):
    try:
        from skillyard.engine.index import _kernel as KERNEL  # type: ignore[attr-defined,no-redef]  # noqa: N812, F401
    except ImportError:
        pass
