"""``skillyard fake-llm``: the server of skillyard-testkit, where that is installed."""

from __future__ import annotations

import pytest

from skillyard.cli import main


def test_without_the_testkit_it_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("skillyard.cli.evaluating.find_spec", lambda name: None)
    assert main(["fake-llm"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("which is not installed: pip install skillyard-testkit")


def test_the_options_reach_the_server_of_the_testkit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fake-llm", "--behaviour", "slot-b", "--fault", "nonsense"]) == 2
    assert "no fault 'nonsense'" in capsys.readouterr().err
