"""What ``doctor`` says of the library, its index and the folders that skillyard writes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.usecases.conftest import Doctor, User, follow


@pytest.fixture(autouse=True)
def only_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at these subjects alone; the others have files of their own."""
    monkeypatch.setattr("skillyard.usecases.doctor.SUBJECTS", ("library", "storage"))


def test_a_root_is_reported_by_layout_documents_and_diagnostics(doctor: Doctor, user: User) -> None:
    user.add_skill(user.project / "skills")
    user.add_skill(user.project / "skills", "revert")
    (user.project / "AGENTS.md").write_text("# House rules\n", encoding="utf-8")
    found = doctor().one("root")
    assert found.status == "ok"
    assert found.details["skills"] == {"agentskills": 2}
    assert found.details["counts"]["conventions"] == 1
    assert "2 skills, 1 convention document; layouts: 2 agentskills" in found.message


def test_copies_of_a_skill_are_counted_as_everywhere_else(doctor: Doctor, user: User) -> None:
    user.add_skill(user.project / ".claude" / "skills")
    user.add_skill(user.project / ".agents" / "skills")
    found = doctor().one("root")
    assert "has 1 skill, 1 copy; layouts: 1 agentskills" in found.message
    assert (found.details["counts"]["skills"], found.details["counts"]["copies"]) == (1, 1)


def test_files_that_do_not_load_are_a_warning_and_check_says_why(
    doctor: Doctor, user: User, capsys: pytest.CaptureFixture[str]
) -> None:
    path = user.add_skill(user.project / "my skills")
    path.write_text("---\nname: [a, list]\n---\n", encoding="utf-8")
    found = doctor("my skills").one("root")
    assert found.status == "warning"
    assert "1 file did not load" in found.message
    assert found.details["diagnostics"]["error"] == 1
    follow(found, code=1)
    assert str(path.relative_to(user.project)) in capsys.readouterr().out
    user.add_skill(user.project / "my skills")
    assert doctor("my skills").one("root").status == "ok"


def test_a_root_that_is_no_folder_is_an_error_and_the_others_are_read(
    doctor: Doctor, user: User
) -> None:
    user.add_skill(user.project / "skills")
    (user.project / "file").touch()
    report = doctor("gone", "file", "skills")
    assert [found.status for found in report.all("root")] == ["error", "error", "ok"]
    assert not report.diagnosis.healthy
    assert report.all("index") == []


def test_what_lies_below_two_roots_counts_for_the_first(doctor: Doctor, user: User) -> None:
    user.add_skill(user.project / "skills" / "inner")
    user.add_skill(user.project / "skills", "revert")
    counts = [each.details["skills"] for each in doctor("skills/inner", "skills").all("root")]
    assert counts == [{"agentskills": 1}, {"agentskills": 1}]


def test_a_root_without_skills_is_a_warning_where_it_was_named(doctor: Doctor, user: User) -> None:
    assert doctor().one("root").status == "info"
    found = doctor(".").one("root")
    assert found.status == "warning"
    follow(found)


def test_agent_folders_are_counted_whether_they_are_read_or_not(doctor: Doctor, user: User) -> None:
    found = doctor().one("agent-folder")
    assert found.status == "info"
    subprocess.run(["/bin/sh", "-c", found.command], check=True)
    assert doctor().one("agent-folder").status == "ok"
    (user.home / ".agents" / "skills").rmdir()
    user.add_skill(user.home / ".claude" / "skills")
    user.add_skill(user.home / ".codex" / "skills", "revert")
    for scopes in ((), ("user",)):
        listed = doctor(scopes=scopes).all("agent-folder")
        assert [each.details["agent"] for each in listed] == ["Claude Code", "Codex"]
        assert {tuple(each.details["skills"].items()) for each in listed} == {(("agentskills", 1),)}


@pytest.mark.usefixtures("settled")
def test_an_index_is_missing_current_stale_or_damaged(doctor: Doctor, user: User) -> None:
    user.add_skill(user.project / "skills")
    found = doctor("skills").one("index")
    assert (found.status, found.details["state"]) == ("info", "missing")
    follow(found)
    found = doctor("skills").one("index")
    assert (found.status, found.details["state"]) == ("ok", "current"), found
    assert found.details["bytes"] > 0
    user.add_skill(user.project / "skills", "revert")
    assert doctor("skills").one("index").details["state"] == "stale"
    for file in Path(found.path).iterdir():
        file.write_bytes(b"\0" * 64)
    damaged = doctor("skills").one("index")
    assert (damaged.status, damaged.details["state"]) == ("warning", "damaged")
    follow(damaged)
    assert doctor("skills").one("index").status == "ok"


@pytest.mark.usefixtures("settled")
def test_the_index_of_the_scopes_is_another_one(doctor: Doctor, user: User) -> None:
    user.add_skill(user.home / ".claude" / "skills")
    found = doctor(scopes=("user",)).one("index")
    follow(found)
    assert doctor(scopes=("user",)).one("index").status == "ok"
    assert doctor().one("index").details["state"] == "missing"


def test_an_index_that_is_switched_off_is_told(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_INDEX", "off")
    assert doctor().one("index").command == "unset SKILLYARD_INDEX"


def test_folders_that_cannot_be_written_are_warnings(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = doctor()
    assert [report.one(name).status for name in ("cache", "state")] == ["ok", "ok"]
    (user.home / "file").touch()
    monkeypatch.setenv("SKILLYARD_CACHE", str(user.home / "file" / "cache"))
    monkeypatch.setenv("SKILLYARD_STATE", str(user.home / "file"))
    monkeypatch.setenv("SKILLYARD_LOG", str(user.home / "file" / "log"))
    report = doctor()
    statuses = {name: report.one(name).status for name in ("cache", "state", "decision-log")}
    assert statuses == dict.fromkeys(statuses, "warning")
    assert not report.one("index").details["writable"]
    assert report.one("index").status == "warning"
    variables = {"cache": "CACHE", "state": "STATE", "decision-log": "LOG"}
    for name, variable in ((each, f"SKILLYARD_{end}") for each, end in variables.items()):
        done = subprocess.run(
            ["/bin/sh", "-c", f'{report.one(name).command}; printf %s "${variable}"'],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        monkeypatch.setenv(variable, done.stdout)
        assert doctor().one(name).status == "ok"
