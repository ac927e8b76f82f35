"""``skillyard.toml``: whose file counts, where a fault is, and what a stranger's file may say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import SkillIoError
from skillyard.base.configuration import SECTIONS, own_file_only, record_of
from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import SomeText, keys_of, parse_toml, read_record
from skillyard.cli import main
from skillyard.engine.ranking.registry import default_scorer
from tests.configuration import configure
from tests.tables import for_each


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which the work is; the user has no file."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("SKILLYARD_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    return folder


def scorer_in(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "skillyard.toml").write_text(f'[scorer]\nname = "{name}"\n', encoding="utf-8")


def test_the_nearest_file_with_the_section_counts_up_to_the_root_of_the_repository(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer_in(tmp_path, "overlap")
    assert default_scorer() == "hybrid"  # what lies above the repository is somebody else's
    scorer_in(project, "triggers")
    (project / "a" / "b").mkdir(parents=True)
    (project / "a" / "skillyard.toml").write_text("[check]\n", encoding="utf-8")
    monkeypatch.chdir(project / "a" / "b")
    assert default_scorer() == "triggers"
    scorer_in(project / "a" / "b", "relevance")
    assert default_scorer() == "relevance"


def test_the_project_goes_before_the_user_key_by_key(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, project, scorer={"name": "overlap"})
    assert default_scorer() == "overlap"
    (project / "skillyard.toml").write_text("[scorer]\n", encoding="utf-8")
    assert default_scorer() == "overlap"
    scorer_in(project, "triggers")
    assert default_scorer() == "triggers"


@for_each("section", [name for name, section in SECTIONS.items() if not section.of_project])
def test_a_project_has_no_section_of_the_user(project: Path, section: str) -> None:
    (project / "skillyard.toml").write_text(f"[scorer]\n\n[{section}]\n", encoding="utf-8")
    with pytest.raises(SkillIoError) as caught:
        default_scorer()
    fault = caught.value
    assert (fault.path, fault.line) == (str(project / "skillyard.toml"), 3)
    assert fault.message == f"{section} is not read from the file of a project"
    assert fault.hint.endswith(os.path.join("mine", "skillyard", "skillyard.toml"))


def test_a_project_sends_no_request_to_an_embedder(project: Path) -> None:
    scorer_in(project, "hybrid+other")
    with pytest.raises(SkillIoError, match="names an embedder, which only your own file may"):
        default_scorer()


def test_no_section_of_a_project_names_an_address_a_token_or_a_log() -> None:
    """What is added to a section later is decided here again."""
    keys = {
        name: set(keys_of(record_of(name))) for name, each in SECTIONS.items() if each.of_project
    }
    assert keys.pop("eval") >= {"base_url", "paths"}
    assert keys == {
        "scopes": {"read"},
        "scorer": {"name", "encoder"},
        "check": {"ignore", "severity", "per_file_ignores"},
    }


def test_the_scopes_hold_where_no_root_and_no_scope_is_named(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for place in (tmp_path / "home" / ".claude" / "skills" / "mine", project / "skills" / "ours"):
        place.mkdir(parents=True)
        text = f"---\nname: {place.name}\ndescription: Does it.\n---\nSteps.\n"
        (place / "SKILL.md").write_text(text, encoding="utf-8")

    def listed(*options: str) -> set[str]:
        assert main(["list", "--quiet", *options]) == 0
        said = capsys.readouterr().out.split()
        return {"mine", "ours"} & set(said)

    assert listed() == {"mine", "ours"}
    configure(monkeypatch, tmp_path, scopes={"read": []})
    assert listed() == {"ours"}
    configure(monkeypatch, tmp_path, scopes={"read": ["user"]})
    assert listed() == {"mine", "ours"}
    assert listed("--root", "skills") == {"ours"}
    assert listed("--scope", "project") == {"ours"}


@for_each("content", [b"\xff", b"[scorer", b"scorer = 1", b"[scorer]\nname = 1"])
def test_a_broken_file_ends_a_command_with_2_and_is_named(
    project: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "skillyard.toml").write_bytes(content)
    assert main(["select", "anything"]) == 2
    assert "skillyard.toml:" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_and_a_huge_file_are_refused(project: Path) -> None:
    file = project / "skillyard.toml"
    file.symlink_to(project / "gone")
    with pytest.raises(SkillIoError, match="no such file"):
        default_scorer()
    file.unlink()
    file.write_bytes(b"#" * 1_000_000)
    with pytest.raises(SkillIoError, match="cannot be read"):
        default_scorer()


class Inner(NamedTuple):
    number: Annotated[int, Bounds(1, 5)] = 1
    words: tuple[SomeText, ...] = ()


class Outer(NamedTuple):
    inner: Inner = Inner()
    named: Literal["a", "b"] = "a"
    either: bool | tuple[str, ...] = False
    cap: Annotated[float | None, Bounds(0)] = 1.0
    table: dict[str, Any] = {}  # noqa: RUF012
    needed: tuple[Inner, ...] = ()


TEXT = """\
named = "b" # = "x"

either = [
  "one",
  "two",
]
cap = "none"
[ inner ]
"number" = 9
words = [ "a",
"" ]
"""


def test_a_fault_has_the_line_of_the_key_or_of_the_item() -> None:
    def fault(text: str) -> SkillIoError:
        file = parse_toml(text.encode(), "p.toml")
        with pytest.raises(SkillIoError) as caught:
            read_record(Outer, [(file, file.tables)])
        return caught.value

    found = fault(TEXT)
    assert (found.line, found.message) == (9, "inner.number must be at least 1 and at most 5")
    found = fault(TEXT.replace("= 9", "= 5"))
    assert (found.line, found.message) == (10, "inner.words is empty; write some text")
    good = TEXT.replace("= 9", "= 5").replace('"" ]', "]")
    found = fault(good.replace('  "two",', "  2,"))
    assert (found.line, found.message) == (3, "either must be a text in quotes")
    found = fault(good.replace('"none"', '"nothing"'))
    assert (found.line, found.message) == (7, 'cap must be a number or "none"')
    found = fault("inner.numbr = 1\n")
    assert (found.line, found.message, found.hint) == (
        1,
        "there is no key inner.numbr",
        "did you mean number?",
    )
    assert fault("needed = [1]").message == "needed must be a table"


@given(st.binary(max_size=80))
def test_any_bytes_are_values_or_a_fault_with_the_path(data: bytes) -> None:
    said = "p.toml:"
    try:
        file = parse_toml(data, "p.toml")
        read_record(Outer, [(file, file.tables)])
    except SkillIoError as fault:
        said = str(fault)
    assert said.startswith("p.toml:")


def test_hooks_and_services_read_no_file_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "skillyard.toml").write_text('[scorer]\nname = "triggers"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert default_scorer() == "triggers"
    with own_file_only():
        assert default_scorer() == "hybrid"
        (tmp_path / "skillyard.toml").write_text("[sources]\nx = 1\n", encoding="utf-8")
        assert default_scorer() == "hybrid"
