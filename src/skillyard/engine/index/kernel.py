"""The optional C kernel, or None. It returns the same results as the Python code, faster.

The build compiles it when a C compiler is available.
"""

from __future__ import annotations

from typing import Any

KERNEL: Any = None
"""The module ``skillyard.engine.index._kernel``, or None."""

try:
    from skillyard.engine.index import _kernel as KERNEL  # type: ignore[attr-defined,no-redef]  # noqa: N812, F401
except ImportError:
    pass
