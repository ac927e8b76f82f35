"""Analysis: text to terms, the same chain for skills and for queries."""

from __future__ import annotations

from skillyard.engine.analysis.analyzer import STANDARD, Analyzer

__all__ = ["STANDARD", "Analyzer"]
