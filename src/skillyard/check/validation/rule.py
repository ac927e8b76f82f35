"""A rule: a code, a title, a source, a hint, and a function.

The function takes one :class:`~skillyard.check.validation.view.View` and yields findings. The
severity of a finding is set by the profile (``profiles.py``), not by the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from skillyard.base.errors import Diagnostic
from skillyard.base.text import clean_line, shorten
from skillyard.check.validation.view import View

_MAX_QUOTED_CHARS = 80


class Finding(NamedTuple):
    """One finding of a rule in one file."""

    message: str
    line: int | None = None
    found: str = ""
    hint: str = ""
    """A more specific hint than the rule's, or empty."""
    column: int | None = None


Find = Callable[[View], Iterable[Finding]]


class Rule(NamedTuple):
    """One rule over one file."""

    code: str
    title: str
    source: str
    hint: str
    kinds: frozenset[str]
    """The kinds of document (:class:`~skillyard.check.validation.view.Kind`) that it applies to."""
    find: Find


def define_rule(
    code: str, title: str, source: str, hint: str, *, kinds: Iterable[str]
) -> Callable[[Find], Rule]:
    """Return a decorator that turns a function over a view into a Rule."""

    def decorate(find: Find) -> Rule:
        return Rule(code, title, source, hint, frozenset(kinds), find)

    return decorate


def diagnostic(rule: Rule, view: View, finding: Finding, severity: str) -> Diagnostic:
    """Return the finding as a diagnostic."""
    return Diagnostic(
        rule.code,
        severity,
        view.path,
        finding.message,
        finding.hint or rule.hint,
        finding.line,
        finding.column,
        finding.found,
    )


def quote(text: str) -> str:
    """Return untrusted text cleaned, shortened and quoted, for a message."""
    return f"'{shorten(clean_line(text), _MAX_QUOTED_CHARS)}'"
