"""The configuration of ``check``: where it is found, what it does, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard.base.errors import InvalidInput
from skillyard.check.validation.config import CheckConfig, find_check_config, read_check_config
from tests.check.validation.skill_files import codes, text, tree
from tests.tables import for_each

FILES = {
    "skills/pencil/SKILL.md": text(description="Sharpens.", body="See [a](gone.md)."),
    "skills/legacy/pen/SKILL.md": text("pen", "Writes in ink.", body="See [a](gone.md)."),
}


def _configured(root: Path, content: str, name: str = ".skillyard.toml") -> Path:
    tree(root, {**FILES, f"skills/{name}": content})
    return root / "skills"


def test_an_ignored_code_is_not_reported(tmp_path: Path) -> None:
    skills = _configured(tmp_path, 'ignore = ["reference_missing"]\n')
    assert codes(sy.validate(skills)) == ["reference_missing"] * 2
    assert codes(sy.validate(skills, config=find_check_config(skills))) == []


def test_a_severity_replaces_the_profiles_and_turns_a_rule_on(tmp_path: Path) -> None:
    skills = _configured(
        tmp_path, '[severity]\nreference_missing = "error"\ntrailing_blanks = "info"\n'
    )
    tree(tmp_path, {"skills/pencil/SKILL.md": "---\nname: pencil\ndescription: x  \n---\nb\n"})
    found = sy.validate(skills, config=find_check_config(skills))
    assert [(each.code, each.severity) for each in found] == [
        ("reference_missing", "error"),
        ("trailing_blanks", "info"),
    ]


def test_a_pattern_ignores_codes_of_the_files_below_the_configuration(tmp_path: Path) -> None:
    skills = _configured(tmp_path, '[per-file-ignores]\n"legacy/*" = ["reference_missing"]\n')
    found = sy.validate(skills, config=find_check_config(skills))
    assert [Path(each.path).parts[-2] for each in found] == ["pencil"]


def test_the_nearest_file_counts_and_skillyard_toml_before_pyproject(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            ".git/HEAD": "",
            "pyproject.toml": '[tool.skillyard]\nignore = ["reference_missing"]\n',
            "a/SKILL.md": text("a"),
            "b/.skillyard.toml": "",
            "b/pyproject.toml": '[tool.skillyard]\nignore = ["html_comment"]\n',
            "c/pyproject.toml": "[tool.other]\nx = 1\n",
        },
    )
    assert {name: _paths(tmp_path / name) for name in ("a", "a/SKILL.md", "b", "c")} == {
        "a": "pyproject.toml",
        "a/SKILL.md": "pyproject.toml",
        "b": "b/.skillyard.toml",
        "c": "pyproject.toml",
    }


def _paths(path: Path) -> str:
    config = find_check_config(path)
    assert config is not None
    root = next(above for above in path.parents if (above / ".git").exists())
    return Path(config.path).relative_to(root).as_posix()


def test_the_search_ends_at_the_repository(tmp_path: Path) -> None:
    tree(tmp_path, {".skillyard.toml": "", "inner/.git/HEAD": "", "inner/a/SKILL.md": text("a")})
    assert find_check_config(tmp_path / "inner/a") is None


def test_a_path_outside_repository_and_working_folder_has_only_its_own(tmp_path: Path) -> None:
    tree(tmp_path, {".skillyard.toml": "", "a/SKILL.md": text("a")})
    assert find_check_config(tmp_path / "a") is None
    assert find_check_config(tmp_path) is not None


def test_the_search_ends_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, {".skillyard.toml": "", "work/lib/a/SKILL.md": text("a"), "work/x": ""})
    monkeypatch.chdir(tmp_path / "work")
    assert find_check_config("lib/a") is None
    tree(tmp_path, {"work/.skillyard.toml": 'ignore = ["html_comment"]'})
    config = find_check_config("lib/a")
    assert config is not None
    assert config.path == ".skillyard.toml"
    assert config.ignore == {"html_comment"}


REFUSED = [
    ("ignore = [", ":1: Invalid value", ""),
    ("a = 1\nb = = 2", ":2:5: Invalid value", ""),
    ('\nignored = ["html_comment"]\n', ":2: unknown setting 'ignored'", "did you mean ignore?"),
    ('ignore = [\n  "html_coment",\n]\n', ":2: unknown code 'html_coment'", "html_comment"),
    ('ignore = "html_comment"\n', ":1: ignore must be a list of codes", ""),
    ('[severity]\nhtml_comment = "off"\n', ":2: the severity of html_comment", "under ignore"),
    ('[severity]\nhtml = "info"\n', ":2: unknown code 'html'", ""),
    ("severity = 3\n", ":1: severity must be a table", ""),
    ('[per-file-ignores]\n"a" = "html_comment"\n', ":2: a must be a list of codes", ""),
    ("per-file-ignores = 3\n", ":1: per-file-ignores must be a table", ""),
    ('[per-file-ignores]\n"" = []\n', ":1: a pattern is empty", ""),
    ("\ud800", ": not a TOML file in UTF-8", ""),
]


@for_each("content, place, remedy", REFUSED)
def test_a_wrong_configuration_names_file_line_and_remedy(
    content: str, place: str, remedy: str, tmp_path: Path
) -> None:
    file = tmp_path / ".skillyard.toml"
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidInput) as caught:
        find_check_config(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{file.as_posix()}{place}"), message
    assert remedy in message


def test_the_line_is_that_of_the_table_and_not_of_another_tools(tmp_path: Path) -> None:
    content = '[tool.other]\nignore = ["x"]\n\n[tool.skillyard]\nignore = ["x"]\n'
    (tmp_path / "pyproject.toml").write_text(content)
    with pytest.raises(InvalidInput, match=r"pyproject\.toml:5: unknown code 'x'"):
        find_check_config(tmp_path)


def test_a_file_that_was_named_must_have_the_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "mine.toml").write_text('ignore = ["html_comment"]\n')
    with pytest.raises(InvalidInput, match=r"there is no table \[tool\.skillyard\]; add it"):
        read_check_config(tmp_path / "pyproject.toml")
    assert read_check_config(tmp_path / "mine.toml").ignore == {"html_comment"}
    with pytest.raises(sy.SkillIoError):
        read_check_config(tmp_path / "none.toml")


def test_a_configuration_as_a_value_is_checked_too() -> None:
    with pytest.raises(InvalidInput, match="unknown code 'nothing' in ignore"):
        CheckConfig(ignore=["nothing"])
    with pytest.raises(InvalidInput, match="severity of html_comment"):
        CheckConfig(severity={"html_comment": "fatal"})
    with pytest.raises(InvalidInput, match="a pattern is empty"):
        CheckConfig(per_file_ignores={"": ["html_comment"]})
