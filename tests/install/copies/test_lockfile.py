"""The installer and skillyard share lock files: neither may lose what the other wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillIoError
from skillyard.install.copies.lockfile import (
    LockedSkill,
    ProjectLock,
    UserLock,
    portable_source,
    read_project_lock,
    render_project_lock,
    source_folder,
    user_lock_path,
)
from tests.install.copies.asking_node import Questions, stored
from tests.tables import for_each

PDF = LockedSkill(
    "pdf", "anthropics/skills", "github", skill_path="skills/pdf/SKILL.md", computed_hash="ab" * 32
)


def file_of(folder: Path, content: str | bytes | Any, name: str = "skills-lock.json") -> str:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def entry(**changes: Any) -> dict[str, Any]:
    return {"source": "a/b", "sourceType": "github", "computedHash": "00", **changes}


def project(**entries: Any) -> dict[str, Any]:
    return {"version": 1, "skills": entries}


def compare(asked: Questions, answers: Questions, folder: Path) -> None:
    for text, said in zip(asked["lock"], answers["lock"], strict=True):
        assert render_project_lock(read_project_lock(file_of(folder, text))) == said.encode()


def test_stored_locks_are_written_as_node_writes_them(tmp_path: Path) -> None:
    asked, answers = stored()
    assert len(asked["lock"]) > 10
    compare(asked, answers, tmp_path)


def test_unknown_fields_and_the_order_of_keys_are_kept(tmp_path: Path) -> None:
    stored = {
        "version": 1,
        "skills": {"a": {"sourceType": "npm", "version": "1.0", "source": "p", "via": ["x", {}]}},
        "later": {"z": 1, "a": None},
    }
    path = file_of(tmp_path, stored)
    lock = read_project_lock(path)
    assert lock.skills[0].extra == {"version": "1.0", "via": ["x", {}]}
    assert render_project_lock(lock).decode() == json.dumps(stored, indent=2) + "\n"


def test_the_users_lock_is_read_with_its_own_fields(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        {
            "version": 3,
            "skills": {
                "pdf": entry(
                    sourceUrl="u", skillFolderHash="5a", pluginName="p", installedAt="t1",
                    updatedAt="t2", wellKnownDigest="sha256:1", sourceBaseUrl="b",
                )
            },
            "dismissed": {"findSkillsPrompt": True},
            "lastSelectedAgents": ["codex"],
        },
        ".skill-lock.json",
    )  # fmt: skip
    lock = UserLock(path).read()
    skill = lock.skills[0]
    assert (skill.skill_folder_hash, skill.plugin_name) == ("5a", "p")
    assert (skill.installed_at, skill.updated_at) == ("t1", "t2")
    assert skill.well_known_digest == "sha256:1"
    assert skill.extra == {"sourceBaseUrl": "b"}
    assert list(lock.extra) == ["dismissed", "lastSelectedAgents"]


@for_each(
    ("kind", "version"),
    [(UserLock, 2), (UserLock, 1), (UserLock, 4), (ProjectLock, 0), (ProjectLock, 3)],
)
def test_another_version_is_reported_and_the_file_stays(
    tmp_path: Path, kind: Any, version: int
) -> None:
    path = file_of(tmp_path, {"version": version, "skills": {}})
    before = Path(path).read_bytes()
    with pytest.raises(SkillIoError, match=f"version {version}, and") as caught:
        kind(path).read()
    assert (caught.value.code, caught.value.path) == ("lock_version", path)
    assert caught.value.hint
    assert Path(path).read_bytes() == before


DEEP = '{"version":1,"skills":{},"x":' + "[" * 50_000 + "]" * 50_000 + "}"
DAMAGED: list[Any] = [
    b"", b"{", b"\xff\xfe{\x00}\x00", b'{"version":1,"skills":{"\xff":{}}}', "[]", "null", '"x"',
    "1", DEEP, '{"version":1,"version":1,"skills":{}}',
    '{"version":1,"skills":{"a":{"source":"x","source":"y","sourceType":"z"}}}',
    '{"version":1,"skills":{"a":{},"a":{}}}', '{"version":NaN,"skills":{}}',
    {"skills": {}}, {"version": "1", "skills": {}}, {"version": True, "skills": {}},
    {"version": 1.5, "skills": {}}, {"version": None, "skills": {}}, {"version": 1},
    {"version": 1, "skills": []}, {"version": 1, "skills": None}, project(a=1), project(a=[]),
    project(a=None), project(a={}), project(a={"source": "x"}), project(a={"sourceType": "x"}),
    project(a=entry(source=1)), project(a=entry(source=None)), project(a=entry(sourceType={})),
    project(a=entry(ref=[])), project(a=entry(computedHash=0)), project(a=entry(skillPath=1)),
]  # fmt: skip


@for_each("content", DAMAGED, ids=lambda content: str(content)[:40])
def test_a_damaged_file_is_a_named_error_and_is_never_overwritten(
    tmp_path: Path, content: Any
) -> None:
    path = file_of(tmp_path, content)
    before = Path(path).read_bytes()
    with pytest.raises(SkillIoError) as caught:
        read_project_lock(path)
    assert (caught.value.code, caught.value.path) == ("lock_damaged", path)
    assert caught.value.hint
    str(caught.value).encode()
    with pytest.raises(SkillIoError):
        ProjectLock(path).note(PDF)
    assert Path(path).read_bytes() == before
    assert os.listdir(tmp_path) == [os.path.basename(path)]


def test_marks_of_a_merge_conflict_are_named(tmp_path: Path) -> None:
    path = file_of(tmp_path, '{\n<<<<<<< HEAD\n"a":1\n=======\n"b":1\n>>>>>>> x\n}')
    with pytest.raises(SkillIoError, match="merge conflict") as caught:
        read_project_lock(path)
    assert caught.value.code == "lock_conflict"


HOSTILE_NAMES = [
    "__proto__", "constructor", "hasOwnProperty", "../../evil", "/etc/passwd", "..", ".", "",
    "a\x00b", "\x1b[2J", "con.", "\ud800", "-rf", "x" * 10_000, "\u202eabc",
]  # fmt: skip


def test_hostile_names_are_harmless_values(tmp_path: Path) -> None:
    path = file_of(tmp_path, project(**{name: entry() for name in HOSTILE_NAMES}))
    lock = read_project_lock(path)
    assert {skill.name for skill in lock.skills} == set(HOSTILE_NAMES)
    text = render_project_lock(lock)
    assert set(json.loads(text)["skills"]) == set(HOSTILE_NAMES)


@for_each("make", ["link", "pipe", "folder"])
def test_what_is_no_plain_file_is_neither_read_nor_replaced(tmp_path: Path, make: str) -> None:
    target = Path(file_of(tmp_path, project(), "elsewhere.json"))
    path = tmp_path / "skills-lock.json"
    if make == "link":
        path.symlink_to(target)
    elif make == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    before = target.read_bytes()
    with pytest.raises(SkillIoError):
        read_project_lock(str(path))
    with pytest.raises(SkillIoError):
        ProjectLock(str(path)).note(PDF)
    assert target.read_bytes() == before
    assert path.is_symlink() == (make == "link")


@for_each("step", ["fsync", "replace", "fchmod"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = file_of(tmp_path, project())
    before = Path(path).read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(f"skillyard.install.copies.lockfile.os.{step}", fail)
        with pytest.raises(SkillIoError, match="No space left") as caught:
            ProjectLock(path).note(PDF)
    assert caught.value.code == "lock_unwritable"
    assert Path(path).read_bytes() == before
    assert os.listdir(tmp_path) == ["skills-lock.json"]


@for_each(
    ("source", "wanted"),
    [("/p/skills", "./skills"), ("./skills", "./skills"), ("skills", "./skills"),
     (".skills/x/", "./.skills/x"), ("/p", "./"), (".", "./"), ("/p/../q", "../q"),
     ("/", ".."), ("a/../b", "./b"), ("..x", "./..x"), ("C:\\skills", "C:\\skills")],
)  # fmt: skip
def test_a_local_source_is_relative_to_the_lock(source: str, wanted: str) -> None:
    assert portable_source(source, "/p") == wanted
    assert portable_source(wanted, "/p") == wanted


def test_writing_makes_local_sources_portable_and_only_these(tmp_path: Path) -> None:
    path = str(tmp_path / "skills-lock.json")
    local = LockedSkill("own", str(tmp_path / "skills" / "own"), "local")
    ProjectLock(path).note(local)
    ProjectLock(path).note(PDF)
    read = read_project_lock(path)
    own = read.get("own")
    assert own is not None
    assert own.source == "./skills/own"
    assert read.get("pdf") == PDF
    assert source_folder(own, str(tmp_path)) == local.source
    assert source_folder(PDF, str(tmp_path)) is None


@for_each(
    ("environment", "wanted"),
    [
        ({"HOME": "/h"}, "/h/.agents/.skill-lock.json"),
        ({"HOME": "/h", "XDG_STATE_HOME": ""}, "/h/.agents/.skill-lock.json"),
        ({"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.agents/.skill-lock.json"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/skills/.skill-lock.json"),
    ],
)
def test_the_users_lock_lies_where_the_installer_keeps_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], wanted: str
) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert user_lock_path() == wanted.replace("/", os.sep)
