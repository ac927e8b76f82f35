"""The scan of skills for malicious techniques: rules, and the engine that applies them.

``scan_files`` returns the findings in the files of one skill. ``RULES`` describes each rule.
"""

from __future__ import annotations

from skillyard.check.scanning.engine import scan_files
from skillyard.check.scanning.files import SkillFile, files_of_folder, files_of_package, single_file
from skillyard.check.scanning.rule import HIGH, LOW, MEDIUM, SEVERITIES, Rule
from skillyard.check.scanning.rules import RULES

__all__ = [
    "HIGH",
    "LOW",
    "MEDIUM",
    "RULES",
    "SEVERITIES",
    "Rule",
    "SkillFile",
    "files_of_folder",
    "files_of_package",
    "scan_files",
    "single_file",
]
