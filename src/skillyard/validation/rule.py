"""What a rule is: a code, a title, where it comes from, a hint, and a small function.

A rule looks at one :class:`~skillyard.validation.view.View` and yields findings. How severe a
finding is says the profile (``profiles.py``), never the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from skillyard.errors import Diagnostic
from skillyard.text import clean_line, shorten
from skillyard.validation.view import View

__all__ = ["Finding", "Rule", "check_of", "diagnostic", "quoted"]

_SHOWN_CHARS = 80


class Finding(NamedTuple):
    """One thing that a rule found in one file."""

    message: str
    line: int | None = None
    found: str = ""
    hint: str = ""
    """Instead of the rule's own hint, where something better can be said here."""
    column: int | None = None


Find = Callable[[View], Iterable[Finding]]


class Rule(NamedTuple):
    """One rule over one file."""

    code: str
    title: str
    source: str
    hint: str
    kinds: frozenset[str]
    """The kinds of document (:class:`~skillyard.validation.view.Kind`) that it speaks of."""
    find: Find


def check_of(
    code: str, title: str, source: str, hint: str, *, kinds: Iterable[str]
) -> Callable[[Find], Rule]:
    """Return a decorator that makes a function over a view the rule of that code."""

    def made(find: Find) -> Rule:
        return Rule(code, title, source, hint, frozenset(kinds), find)

    return made


def diagnostic(rule: Rule, view: View, finding: Finding, severity: str) -> Diagnostic:
    """Return the finding as the diagnostic that surfaces print."""
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


def quoted(text: str) -> str:
    """Return untrusted text cleaned, shortened and in quotes, for use in a message."""
    return f"'{shorten(clean_line(text), _SHOWN_CHARS)}'"
