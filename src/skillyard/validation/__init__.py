"""Validation of skills: rules with ids, three profiles, rules over a library, and reports.

``validate`` returns the diagnostics of a skill or a library, ``library_rules`` those between the
skills of a library. ``report`` prints them. ``RULES`` describes each code.
"""

from __future__ import annotations

from skillyard.validation import report
from skillyard.validation.checker import validate
from skillyard.validation.codes import RULES, RuleText
from skillyard.validation.library import library_rules
from skillyard.validation.profiles import DEFAULT_PROFILE, PROFILES

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "RULES",
    "RuleText",
    "library_rules",
    "report",
    "validate",
]
