"""Validation of skills: rules with ids, three profiles, rules over a library, and reports.

``validate`` returns the diagnostics of a skill or a library, ``library_rules`` those between the
skills of a library. ``report`` renders them for other programs. ``RULES`` describes each code.
"""

from __future__ import annotations

from skillyard.check.validation import report
from skillyard.check.validation.checker import validate
from skillyard.check.validation.codes import DEFAULT_PROFILE, PROFILES, RULES, RuleText
from skillyard.check.validation.library import library_rules

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "RULES",
    "RuleText",
    "library_rules",
    "report",
    "validate",
]
