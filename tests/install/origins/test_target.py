"""What each form of a target means, and which are errors that name the readings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillyard.errors import SkillyardError
from skillyard.install.origins.target import SkillTarget, parse_target
from tests.tables import for_each

GITLAB = {"kind": "git", "source_type": "gitlab"}
GIT = {"kind": "git", "source_type": "git"}
GITHUB = {"kind": "github", "source": "acme/skills"}

TARGETS: dict[str, dict[str, Any]] = {
    "pdf": {"kind": "name", "name": "pdf"},
    "acme/skills": GITHUB,
    "acme/skills/pdf": GITHUB | {"skill_id": "pdf"},
    "acme/skills/tools/pdf": GITHUB | {"path": "tools/pdf"},
    "acme/skills@v1": GITHUB | {"ref": "v1"},
    "acme/skills#pdf": GITHUB | {"skill_id": "pdf"},
    "acme/skills@v1#pdf": GITHUB | {"ref": "v1", "skill_id": "pdf"},
    "acme/skills@feature/x#pdf": GITHUB | {"ref": "feature/x", "skill_id": "pdf"},
    "acme/skills@@scope/pdf@1.0.0": GITHUB | {"ref": "@scope/pdf@1.0.0"},
    "acme/skills#@scope/pdf@1.0.0@pdf": GITHUB | {"ref": "@scope/pdf@1.0.0", "skill_id": "pdf"},
    "acme/skills#feature/x@pdf": GITHUB | {"ref": "feature/x", "skill_id": "pdf"},
    "acme/skills#main@pdf": GITHUB | {"ref": "main", "skill_id": "pdf"},
    "acme/skills/tools#pdf": GITHUB | {"path": "tools", "skill_id": "pdf"},
    "github:acme/skills@v1": GITHUB | {"ref": "v1"},
    "https://github.com/acme/skills": GITHUB,
    "https://github.com/acme/skills.git#v1@pdf": GITHUB | {"ref": "v1", "skill_id": "pdf"},
    "https://github.com/acme/skills/tree/main/a/pdf": GITHUB | {"ref": "main", "path": "a/pdf"},
    "https://github.com/acme/skills/blob/v1/a/pdf/SKILL.md": GITHUB
    | {"ref": "v1", "path": "a/pdf"},
    "https://github.com/acme/skills/archive/refs/tags/v1.0.zip": GITHUB | {"ref": "v1.0"},
    "https://raw.githubusercontent.com/acme/skills/refs/heads/main/pdf/SKILL.md": GITHUB
    | {"ref": "main", "path": "pdf"},
    "https://skills.sh/acme/skills/pdf": GITHUB | {"skill_id": "pdf"},
    "https://gitlab.com/group/sub/repo": GITLAB | {"url": "https://gitlab.com/group/sub/repo.git"},
    "gitlab:group/repo": GITLAB | {"url": "https://gitlab.com/group/repo.git"},
    "https://git.corp/g/s/r/-/tree/main/a/pdf": GITLAB
    | {"url": "https://git.corp/g/s/r.git", "ref": "main", "path": "a/pdf"},
    "https://git.corp:8443/g/r/-/blob/v1/SKILL.md": GITLAB
    | {"url": "https://git.corp:8443/g/r.git", "ref": "v1"},
    "https://codeberg.org/o/r": GIT | {"url": "https://codeberg.org/o/r.git"},
    "https://forge.example/o/r/src/branch/main/a/pdf": GIT
    | {"url": "https://forge.example/o/r.git", "ref": "main", "path": "a/pdf"},
    "https://forge.example/o/r/src/tag/v1": GIT
    | {"url": "https://forge.example/o/r.git", "ref": "v1"},
    "https://bitbucket.org/o/r/src/main/pdf/": GIT
    | {"url": "https://bitbucket.org/o/r.git", "ref": "main", "path": "pdf"},
    "https://dev.azure.com/org/my%20project/_git/r?path=/x#v1@pdf": GIT
    | {"url": "https://dev.azure.com/org/my%20project/_git/r", "ref": "v1", "skill_id": "pdf"},
    "https://host.example/r.git": GIT | {"url": "https://host.example/r.git"},
    "https://host.example/r.git#v1": GIT | {"url": "https://host.example/r.git", "ref": "v1"},
    "https://host.example/r.git#v1@pdf": GIT
    | {"url": "https://host.example/r.git", "ref": "v1", "skill_id": "pdf"},
    "https://host.example/r.git#@pdf": GIT
    | {"url": "https://host.example/r.git", "skill_id": "pdf"},
    "https://host.example/r.git@v1#pdf": GIT
    | {"url": "https://host.example/r.git", "ref": "v1", "skill_id": "pdf"},
    "git+https://host.example/r@v1": GIT | {"url": "https://host.example/r", "ref": "v1"},
    "git+https://host.example/r@pdf@1.0#pdf": GIT
    | {"url": "https://host.example/r", "ref": "pdf@1.0", "skill_id": "pdf"},
    "https://host.example/r.git#pdf@1.0@pdf": GIT
    | {"url": "https://host.example/r.git", "ref": "pdf@1.0", "skill_id": "pdf"},
    "git@host.example:o/r.git": GIT | {"url": "git@host.example:o/r.git"},
    "git@host.example:o/r.git#v1@pdf": GIT
    | {"url": "git@host.example:o/r.git", "ref": "v1", "skill_id": "pdf"},
    "ssh://git@host.example:2222/o/r.git@v1": GIT
    | {"url": "ssh://git@host.example:2222/o/r.git", "ref": "v1"},
    "git://host.example/r.git": GIT | {"url": "git://host.example/r.git"},
    "file:///srv/git/r.git": GIT | {"url": "file:///srv/git/r.git"},
    "https://host.example/x.zip#pdf": {
        "kind": "archive", "site": "https://host.example/x.zip", "skill_id": "pdf"
    },
    "https://host.example/x.tar.gz": {"kind": "archive", "site": "https://host.example/x.tar.gz"},
    "https://github.com/acme/skills/releases/download/v1/pdf.zip": {
        "kind": "archive", "site": "https://github.com/acme/skills/releases/download/v1/pdf.zip"
    },
    "https://example.com#notes": {
        "kind": "site", "site": "https://example.com", "skill_id": "notes"
    },
    "./x": {"kind": "folder", "path": "./x"},
    "../x": {"kind": "folder", "path": "../x"},
    "..": {"kind": "folder", "path": ".."},
    "~/x": {"kind": "folder", "path": "~/x"},
    "/srv/x": {"kind": "folder", "path": "/srv/x"},
    r"C:\skills\x": {"kind": "folder", "path": r"C:\skills\x"},
}  # fmt: skip


@for_each("text", TARGETS)
def test_each_form_has_one_meaning(text: str) -> None:
    target = parse_target(text)
    found = {
        key: value
        for key, value in target._asdict().items()
        if value != SkillTarget._field_defaults[key] and key not in ("address", "page")
    }
    if target.address is not None:
        found["url"] = target.address.url
    assert {"kind": "name"} | found == TARGETS[text]


PAGES = (
    "https://github.com/acme/skills/tree/feature/x/pdf",
    "https://github.com/acme/skills/tree/refs/heads/feature/x/pdf",
    "https://git.corp/g/r/-/tree/feature/x/pdf",
    "https://forge.example/o/r/src/branch/feature/x/pdf",
)


@for_each("text", PAGES)
def test_the_address_of_a_page_is_read_with_ever_longer_branches(text: str) -> None:
    readings = [(each.ref, each.path) for each in parse_target(text).readings()]
    assert readings == [("feature", "x/pdf"), ("feature/x", "pdf"), ("feature/x/pdf", "")]


ERRORS = {
    "": "names no skill",
    "a/b/../c": "leads upwards",
    "acme/skills@": "without a branch",
    "acme/skills@--upload-pack=x": "not a branch, tag or commit",
    "acme/skills@a..b": "not a branch, tag or commit",
    "https://host.example/r.git#-x": "not a branch, tag or commit",
    "https://github.com/acme/skills/tree/main/../../x": "leads upwards",
    "https://git.corp/g/r/-/tree/main/%2e%2e/x": "leads upwards",
    "https://me:s3cret@host.example/r.git": "user name or password",
    "https://s3cret@github.com/acme/skills": "user name or password",
    "https://host.example/x.zip?token=s3cret": "parameters",
    "http://example.com": "only https",
    "ftp://example.com/x.zip": "only https",
    "ext::sh://x.git": "only https",
    "git+ext::sh": "not the address of a git repository",
    "https://github.com/a b/c": "not owner/repo",
    "/".join(["a"] * 30): "folders deep",
}


@for_each("text", ERRORS)
def test_errors_say_what_is_wrong_and_repeat_no_secret(text: str) -> None:
    with pytest.raises(SkillyardError) as caught:
        parse_target(text)
    assert ERRORS[text] in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_repository_and_a_folder_of_one_name_are_both_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme" / "skills").mkdir(parents=True)
    assert parse_target("acme/skills").kind == "github"
    (tmp_path / "acme" / "skills" / "SKILL.md").write_text("x")
    with pytest.raises(SkillyardError, match=r"\./acme/skills .* https://github.com/acme/skills"):
        parse_target("acme/skills")
    assert parse_target("./acme/skills").kind == "folder"
