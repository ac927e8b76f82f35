"""The configuration of ``check``: where it is found, what it does, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard.check.validation.config import CheckConfig
from skillyard.errors import InvalidInput
from tests.check.validation.skill_files import codes, text, tree
from tests.tables import for_each

FILES = {
    "skills/pencil/SKILL.md": text(body="See [a](gone.md)."),
    "skills/legacy/pen/SKILL.md": text(
        "pen", "Writes letters in ink. Use for paper.", body="See [a](gone.md)."
    ),
}


def _configured(root: Path, content: str, name: str = "skillyard.toml") -> Path:
    tree(root, {**FILES, f"skills/{name}": content})
    return root / "skills"


def test_an_ignored_code_is_not_reported(tmp_path: Path) -> None:
    skills = _configured(tmp_path, '[check]\nignore = ["reference_missing"]\n')
    assert codes(sy.validate(skills)) == ["reference_missing"] * 2
    assert codes(sy.validate(skills, config=CheckConfig.find(skills))) == []


def test_a_severity_replaces_the_profiles_and_turns_a_rule_on(tmp_path: Path) -> None:
    skills = _configured(
        tmp_path, '[check.severity]\nreference_missing = "error"\ntrailing_blanks = "info"\n'
    )
    tree(tmp_path, {"skills/pencil/SKILL.md": text(description="Use for blunt pencil tips.  ")})
    found = sy.validate(skills, config=CheckConfig.find(skills))
    assert [(each.code, each.severity) for each in found] == [
        ("reference_missing", "error"),
        ("trailing_blanks", "info"),
    ]


def test_a_pattern_ignores_codes_of_the_files_below_the_configuration(tmp_path: Path) -> None:
    skills = _configured(tmp_path, '[check.per_file_ignores]\n"legacy/*" = ["reference_missing"]\n')
    found = sy.validate(skills, config=CheckConfig.find(skills))
    assert [Path(each.path).parts[-2] for each in found] == ["pencil"]


def test_the_nearest_file_with_the_section_counts(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            ".git/HEAD": "",
            "skillyard.toml": '[check]\nignore = ["reference_missing"]\n',
            "a/SKILL.md": text("a"),
            "b/skillyard.toml": "[check]\n",
            "c/skillyard.toml": '[scorer]\nname = "hybrid"\n',
        },
    )
    assert {name: _paths(tmp_path / name) for name in ("a", "a/SKILL.md", "b", "c")} == {
        "a": "skillyard.toml",
        "a/SKILL.md": "skillyard.toml",
        "b": "b/skillyard.toml",
        "c": "skillyard.toml",
    }


def _paths(path: Path) -> str:
    config = CheckConfig.find(path)
    assert config is not None
    root = next(above for above in path.parents if (above / ".git").exists())
    return Path(config.path).relative_to(root).as_posix()


REFUSED = [
    ("check.ignore = [", ":1: this is not TOML: Invalid value", ""),
    ('[checks]\nignore = ["html_comment"]\n', ":1: there is no key checks", "did you mean check?"),
    (
        '[check]\n\nignored = ["html_comment"]\n',
        ":3: there is no key check.ignored",
        "did you mean ignore?",
    ),
    (
        '[check]\nignore = [\n  "html_coment",\n]\n',
        ":3: check.ignore has the unknown code 'html_coment'",
        "html_comment",
    ),
    ('[check]\nignore = "html_comment"\n', ":2: check.ignore must be a list of texts", ""),
    (
        '[check.severity]\nhtml_comment = "off"\n',
        ":2: check.severity.html_comment must be error, warning or info",
        "",
    ),
    (
        '[check.severity]\nhtml = "info"\n',
        ":2: check.severity.html has the unknown code 'html'",
        "",
    ),
    ("[check]\nper_file_ignores = 3\n", ":2: check.per_file_ignores must be a table", ""),
    (
        "[check]\nper-file-ignores = {}\n",
        ":2: there is no key check.per-file-ignores",
        "did you mean per_file_ignores?",
    ),
    (
        '[check.per_file_ignores]\n"" = []\n',
        ":2: check.per_file_ignores. has a pattern that is empty",
        "",
    ),
    ("\ud800", ":1: this is not UTF-8 text", "save it as UTF-8"),
    (
        '[scorer]\nname = "hybrid"\n[log]\nfile = "x"\n',
        ":3: log is not read from the file of a project",
        "move it to your own",
    ),
]


@for_each("content, place, remedy", REFUSED)
def test_a_wrong_configuration_names_file_line_and_remedy(
    content: str, place: str, remedy: str, tmp_path: Path
) -> None:
    file = tmp_path / "skillyard.toml"
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(sy.SkillIoError) as caught:
        CheckConfig.find(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{file.as_posix()}{place}"), message
    assert remedy in message


def test_a_file_that_was_named_must_have_the_section(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("[scorer]\n")
    (tmp_path / "mine.toml").write_text('[check]\nignore = ["html_comment"]\n')
    with pytest.raises(InvalidInput, match=r"there is no section \[check\]; add it"):
        CheckConfig.read(tmp_path / "empty.toml")
    assert CheckConfig.read(tmp_path / "mine.toml").ignore == ("html_comment",)
    with pytest.raises(sy.SkillIoError):
        CheckConfig.read(tmp_path / "none.toml")
