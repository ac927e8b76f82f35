"""The C kernel under test: what may be left out without it, and how to do without it."""

from __future__ import annotations

import os
import shutil
import sysconfig

import pytest

from skillyard.engine.index import (
    document_builder,
    kernel,
    library,
    segment_reader,
    segment_searcher,
    segment_writer,
    token_table,
)

__all__ = ["ABSENT", "MAY_SKIP", "without_kernel"]

ABSENT = "the kernel was not built here: the ordinary build makes it where a compiler is"
_BUILDS = shutil.which("cc") is not None and os.path.isfile(
    os.path.join(sysconfig.get_path("include"), "Python.h")
)
MAY_SKIP = kernel.KERNEL is None and not (os.environ.get("CI") and _BUILDS)
"""False on CI with a compiler: without a kernel these tests fail then, or nobody would notice."""


def without_kernel(patch: pytest.MonkeyPatch) -> None:
    """Let the Python beside the kernel answer while `patch` holds."""
    for module in (
        document_builder,
        segment_reader,
        segment_searcher,
        segment_writer,
        token_table,
    ):
        patch.setattr(module, "KERNEL", None)
    for module in (segment_searcher, library):
        patch.setattr(module, "SEARCHER", segment_searcher.SegmentSearcher)
