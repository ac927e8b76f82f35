"""The policy in force, and the skills of a library that it refuses."""

from __future__ import annotations

from collections.abc import Callable

from skillyard.base.shapes.upkeep import PolicyReport, PolicyRule, RefusedSkill
from skillyard.engine.catalog import Catalog
from skillyard.install.policy.decision import REFUSED
from skillyard.install.policy.library import find_policy


def policy_report(library: Callable[[], Catalog]) -> PolicyReport:
    """Return the policy of the working folder; the library is only read where one holds."""
    policy = find_policy()
    if policy is None:
        return PolicyReport(files=(), rules=(), refused=())
    return PolicyReport(
        files=policy.files,
        rules=tuple(
            PolicyRule(rule=rule, value=policy.rules.value(rule), file=file)
            for rule, file in sorted(policy.rules.where.items())
        ),
        refused=tuple(
            RefusedSkill(path=each.path, why=each.message, fix=each.hint)
            for each in library().diagnostics
            if each.code == REFUSED
        ),
    )
