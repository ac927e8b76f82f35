"""A framework for the tests of its adapter, or a skip that says which one is missing."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import pytest

__all__ = ["adapter"]


def adapter(name: str) -> Any:
    """Return ``skillyard.hosts.adapters.<name>``; where its framework is missing, skip the module.

    ``SKILLYARD_ADAPTERS=1`` (``make adapters``) makes a missing framework a failure instead. What
    a framework warns about while it is imported is not this project's business.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(f"skillyard.hosts.adapters.{name}")
        except ModuleNotFoundError:
            raise
        except ImportError as error:
            if os.environ.get("SKILLYARD_ADAPTERS") == "1":
                raise
            pytest.skip(f"{error} (make adapters has all of them)", allow_module_level=True)
