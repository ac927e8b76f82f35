"""The extra ``sigstore``, or a skip that says what is missing."""

from __future__ import annotations

import os

import pytest

__all__ = ["need_sigstore"]


def need_sigstore() -> None:
    """Skip the module without the extra; with ``SKILLYARD_SIGNATURES=1`` that is a failure."""
    try:
        import sigstore.verify  # noqa: F401
    except ImportError:
        if os.environ.get("SKILLYARD_SIGNATURES") == "1":
            raise
        pytest.skip("sigstore is not installed (make signatures has it)", allow_module_level=True)
