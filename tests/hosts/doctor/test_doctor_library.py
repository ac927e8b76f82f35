"""What ``doctor`` says of the library and its index."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.doctor.conftest import Doctor, User, follow


def test_a_root_is_reported_with_its_documents(doctor: Doctor, user: User) -> None:
    user.add_skill(user.project / "skills")
    user.add_skill(user.project / "skills", "revert")
    (user.project / "AGENTS.md").write_text("# House rules\n", encoding="utf-8")
    found = doctor().one("root")
    assert found.status == "ok"
    assert found.details["counts"]["conventions"] == 1
    assert "2 skills, 1 convention document" in found.message


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


def test_a_root_without_skills_is_a_warning_where_it_was_named(doctor: Doctor, user: User) -> None:
    assert doctor().one("root").status == "info"
    found = doctor(".").one("root")
    assert found.status == "warning"
    follow(found)
    assert doctor(".").one("root").status == "ok"


def test_skills_of_the_user_are_enough_and_the_index_is_that_of_index_build(
    doctor: Doctor, user: User, capsys: pytest.CaptureFixture[str]
) -> None:
    user.add_skill(user.home / ".claude" / "skills")
    assert doctor().one("root").status == "ok"
    found = doctor().one("index")
    follow(found)
    assert found.path in capsys.readouterr().out


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
