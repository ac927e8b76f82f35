"""The sentence encoder for its tests, or a skip that says how to install it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from skillyard_encoder import Encoder

__all__ = ["load"]


def load() -> Encoder:
    """Return the encoder; without its package or runtime, skip the module.

    ``SKILLYARD_ENCODER=1`` (``make encoder``) makes a missing one a failure instead.
    """
    try:
        import numpy  # noqa: F401
        import onnxruntime  # noqa: F401
        import sentencepiece  # noqa: F401
        import tokenizers  # noqa: F401

        import skillyard_encoder
    except ModuleNotFoundError as error:
        if os.environ.get("SKILLYARD_ENCODER") == "1":
            raise
        pytest.skip(f"{error.name} is not installed (make encoder has it)", allow_module_level=True)
    return skillyard_encoder.Encoder()
