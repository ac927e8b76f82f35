"""Clauses and sentences of a description: what a proposal leaves out, and what it leaves alone."""

from __future__ import annotations

from skillyard.usecases.improvement.evidence import _without_clauses, statement_of
from tests.tables import for_each


@for_each(
    ("description", "statement"),
    [
        ("Use when a table is broken. Repairs tables.", "Repairs tables."),
        ("Runs on Linux servers. Use for servers.", "Runs on Linux servers."),
        ("Loads data into a warehouse.", "Loads data into a warehouse."),
        ("Only reads files, never writes.", "Only reads files, never writes."),
        ("Reads tables, e.g. CSV. Use it for CSV.", "Reads tables, e.g. CSV."),
        ("Not for images. Triggers: png.", ""),
    ],
)
def test_the_statement_says_what_the_skill_does(description: str, statement: str) -> None:
    assert statement_of(description) == statement


def test_only_the_clause_with_the_term_goes() -> None:
    text = "Repairs tables. iPads work too. Use for text, e.g. CSV, or for invoices; also for logs."
    shorter, removed = _without_clauses(text, ["invoices"])
    assert removed == ("invoices",)
    assert shorter == "Repairs tables. iPads work too. Use for text, e.g. CSV, also for logs."
