"""Which roots are read strictly: those called ``.skills``, wherever they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.making import write

BROKEN = "---\nname: sail\ndescription: Use when: it is time.\n---\nSail.\n"
"""Lenient reading repairs it; strict reading refuses it."""


@pytest.mark.parametrize("above", ["plain", ".skills", ".skills/deep"])
def test_what_lies_above_a_root_counts_for_nothing(
    above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    write(tmp_path / above / "team", {"sail/SKILL.md": BROKEN})
    monkeypatch.chdir(tmp_path)
    spellings = [f"{above}/team", f"./{above}/team/", str(tmp_path / above / "team")]
    results = [run("list", "--root", each, "--json") for each in spellings]
    monkeypatch.chdir(tmp_path / above / "team")
    results += [run("list", "--root", ".", "--json"), run("list", "--root", "../team", "--json")]
    for result in results:
        assert [each["name"] for each in result.json["skills"]] == ["sail"]
        assert [each["code"] for each in result.json["diagnostics"]] == ["yaml_repaired"]
    assert run("check", ".").code == 0


def test_a_root_called_skills_is_strict_however_it_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    folder = tmp_path / ".skills"
    write(folder, {"sail/SKILL.md": BROKEN, "row.md": "---\nname: row\ndescription: Rows.\n---\nX"})
    for here, root in ((tmp_path, ".skills"), (folder, "."), (folder / "sail", ".."), (folder, "")):
        monkeypatch.chdir(here)
        result = run("list", "--root", root or str(folder), "--json")
        assert [each["name"] for each in result.json["skills"]] == ["row"]
        assert {each["code"] for each in result.json["diagnostics"]} >= {"yaml_invalid"}
        assert run("check", root or str(folder)).code == 1


def test_a_single_file_is_read_by_its_whole_path_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    folder = tmp_path / ".skills" / "sail"
    write(folder, {"SKILL.md": BROKEN})
    for here in (tmp_path, folder.parent, folder):
        monkeypatch.chdir(here)
        file = (folder / "SKILL.md").relative_to(here)
        result = run("check", str(file), "--json")
        assert [each["code"] for each in result.json["diagnostics"]] == ["yaml_invalid"]
