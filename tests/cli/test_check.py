"""``check``: its exit codes, its configuration, what it mends, and lines that programs read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.making import write

TEXT = "Use when: pencils are blunt and dull."
MESSY = f"---\nname: pencil\ndescription: {TEXT}\n---\nSee [a](gone.md).\n"
FIXED = MESSY.replace(TEXT, f"'{TEXT}'")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of one skill with two warnings, one of them fixable, in ``lib``."""
    write(tmp_path, {"lib/pencil/SKILL.md": MESSY})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_finding_is_one_line_that_an_editor_opens(run: Run, folder: Path) -> None:
    answer = run("check", "lib")
    lines = [line for line in answer.out.split("\n") if line.startswith("lib/")]
    form = re.compile(r"lib/pencil/SKILL\.md:\d+:\d+: (error|warning|info) [a-z_]+ \S.*")
    assert len(lines) == 2
    assert all(form.fullmatch(line) for line in lines)
    assert "2 fixable" not in answer.out
    assert "1 fixable: run again with --fix" in answer.out


def test_strict_fails_on_warnings_and_not_on_remarks(run: Run, folder: Path) -> None:
    assert run("check", "lib").code == 0
    assert run("check", "lib", "--strict").code == 1
    remarks = '[check.severity]\nyaml_repaired = "info"\nreference_missing = "info"\n'
    write(folder, {"lib/skillyard.toml": remarks})
    answer = run("check", "lib", "--strict")
    assert (answer.code, "2 info" in answer.out) == (0, True)


def test_the_configuration_is_used_named_and_left_aside(run: Run, folder: Path) -> None:
    write(folder, {"skillyard.toml": '[check]\nignore = ["reference_missing"]\n'})
    ignored = run("check", "lib").out
    assert "reference_missing" not in ignored
    assert ignored.rstrip().split("\n")[-2].endswith("profile lenient, skillyard.toml)")
    assert run("check", "lib", "--json").json["configs"] == ["skillyard.toml"]
    everything = run("check", "lib", "--no-config", "--json").json
    assert everything["configs"] == []
    assert len(everything["diagnostics"]) == 2
    write(folder, {"other.toml": '[check]\nignore = ["yaml_repaired"]\n'})
    other = run("check", "lib", "--config", "other.toml", "--json").json
    assert [each["code"] for each in other["diagnostics"]] == ["reference_missing"]


def test_a_wrong_configuration_ends_the_run_with_2(run: Run, folder: Path) -> None:
    write(folder, {"lib/skillyard.toml": '[check]\nignore = ["reference_mising"]\n'})
    answer = run("check", "lib")
    assert (answer.code, answer.out) == (2, "")
    expected = (
        "skillyard: lib/skillyard.toml:2: check.ignore has the unknown code 'reference_mising';"
        " did you mean"
    )
    assert answer.err.startswith(f"{expected} reference_missing")


def test_fix_says_what_it_changed_and_checks_what_is_left(run: Run, folder: Path) -> None:
    answer = run("check", "lib", "--fix")
    assert answer.out.startswith("lib/pencil/SKILL.md:3: fixed yaml_repaired put a value in quotes")
    assert (folder / "lib/pencil/SKILL.md").read_text() == FIXED
    assert (answer.code, run("check", "lib", "--fix", "--strict").code) == (0, 1)
    again = run("check", "lib", "--fix", "--json").json
    assert (again["fixes"], again["refused"], again["fixable"]) == ([], [], 0)


def test_diff_shows_and_writes_nothing(run: Run, folder: Path) -> None:
    answer = run("check", "lib", "--diff")
    assert answer.code == 1
    assert f"-description: {TEXT}\n+description: '{TEXT}'\n" in answer.out
    assert answer.err == "1 fixable in 1 file: run with --fix instead\n"
    assert (folder / "lib/pencil/SKILL.md").read_text() == MESSY
    run("check", "lib", "--fix")
    clean = run("check", "lib", "--diff")
    assert (clean.code, clean.out, clean.err) == (0, "", "nothing is fixable\n")


def test_a_repair_that_cannot_be_written_fails_the_check(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skillyard.check.validation.fixes.atomic_write", full)
    answer = run("check", "lib", "--fix")
    assert answer.code == 1
    refused = "lib/pencil/SKILL.md: not fixed cannot write: No space left on device"
    assert answer.out.startswith(refused)
    assert (folder / "lib/pencil/SKILL.md").read_text() == MESSY


@pytest.mark.parametrize(
    "options",
    [
        ("--fix", "--diff"),
        ("--diff", "--json"),
        ("--json", "--format", "github"),
        ("--diff", "--format", "sarif"),
        ("--config", "x.toml", "--no-config"),
    ],
    ids=" ".join,
)
def test_options_that_contradict_each_other_are_refused(
    options: tuple[str, ...], run: Run, folder: Path
) -> None:
    answer = run("check", "lib", *options)
    assert (answer.code, answer.out) == (2, "")
    assert (folder / "lib/pencil/SKILL.md").read_text() == MESSY
