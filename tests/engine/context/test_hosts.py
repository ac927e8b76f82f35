"""The rules of the hosts: known names, budgets that are right, words that the code knows."""

from __future__ import annotations

import pytest

import skillyard as sy
from skillyard.cli.grammar import command_parsers
from skillyard.engine.context import hosts
from tests.tables import for_each


@for_each(
    ("host", "window", "budget"),
    [
        ("claude-code", 200_000, 8_000),
        ("claude-code", 1_000_000, 40_000),
        ("codex", 272_000, 5_440),  # as its own log says (openai/codex#24299)
        ("copilot-cli", 200_000, 15_000),
        ("copilot-cli", 1_000_000, 15_000),
        ("vscode", 200_000, None),
    ],
)
def test_the_budgets_that_the_hosts_themselves_report(
    host: str, window: int, budget: int | None
) -> None:
    assert hosts.rule_of(host).budget(window) == budget


def test_an_unknown_host_names_the_known_ones() -> None:
    with pytest.raises(sy.errors.UnknownName, match="claude-code, codex, copilot-cli, vscode"):
        hosts.rule_of("emacs")


def test_the_command_line_offers_every_host() -> None:
    summary = next(command for command in command_parsers() if command.name == "summary")
    options = {flag: option for option in summary.arguments for flag in option.option_strings}
    assert set(options["--host"].choices or ()) == set(hosts.HOSTS)
    assert options["--window"].default is None  # each host has its own
