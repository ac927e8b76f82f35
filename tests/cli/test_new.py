"""``new`` writes a skill that loads, and ``check`` says what of it is to be filled in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.shared_data import REPOSITORY


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_new_skill_passes_check_which_says_what_to_fill_in(run: Run) -> None:
    done = run("new", "csv-cleaning")
    assert (done.code, done.out) == (0, "./csv-cleaning/SKILL.md\n")
    for profile in ("lenient", "spec", "reference"):
        words = ("check", "csv-cleaning", "--profile", profile)
        assert (run(*words).code, run(*words, "--strict").code) == (0, 1)
    assert "the description must still be written" in run("check").out
    assert "3 lines of the body must still be written" in run("check").out
    assert run("scan", "csv-cleaning", "--strict").code == 0
    assert run("select", "csv cleaning", "--root", ".").code == 0
    for query in ("write the steps of a plan", "check the result", "give me examples", "fill it"):
        assert run("select", query, "--root", ".").code == 1
    file = Path("csv-cleaning/SKILL.md")
    text = file.read_text("utf-8").replace(": …", ": Repairs CSV files. Use when one is broken.")
    file.write_text(text.replace("…", "Look at it."), "utf-8")
    assert run("check", "--strict").code == 0


def test_a_template_is_copied_under_the_new_name(run: Run) -> None:
    template = REPOSITORY / "examples" / "skills" / "git-bisect"
    skill = run("new", "our-bisect", "--from", str(template), "--into", "skills", "--json").json
    assert skill["files"] == ["SKILL.md", "scripts/bisect_step.sh"]
    text = (template / "SKILL.md").read_text("utf-8")
    assert Path(skill["path"]).read_text("utf-8") == text.replace(
        "name: git-bisect", "name: our-bisect", 1
    )
    assert run("check", "skills").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("Csv",), "no name of a skill"),
        (("there",), "is there already; nothing was written"),
        (("x", "--from", "empty"), "name the folder of a skill"),
    ],
)
def test_nothing_is_written_for_wrong_use(run: Run, words: tuple[str, ...], told: str) -> None:
    for name in ("there", "empty"):
        Path(name).mkdir()
    done = run("new", *words)
    assert done.code == 2
    assert told in done.err
    assert sorted(each.name for each in Path().iterdir()) == ["empty", "there"]
