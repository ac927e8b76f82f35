"""Rules with ids over skills: three profiles, library-level advice, and four output formats.

``validate`` says what is wrong with a skill or a library, ``library_rules`` what its skills do to
each other, ``report`` prints both, ``RULES`` says what each code means.
"""

from __future__ import annotations

from skillyard.validation import report
from skillyard.validation.catalogue import RULES, RuleText
from skillyard.validation.checking import validate
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
