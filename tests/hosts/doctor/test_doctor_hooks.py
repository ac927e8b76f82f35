"""What ``doctor`` says of the prompt hooks, the index they answer from, and trusted projects."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from skillyard.hosts.hook import installation
from skillyard.hosts.hook.hosts import HOSTS
from tests.hosts.doctor.conftest import Doctor, User, follow
from tests.requirements import requirement


def claude_settings(user: User) -> Path:
    path = user.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    return path


@pytest.mark.parametrize("host", [host.name for host in HOSTS])
def test_a_host_is_absent_then_without_hook_then_with_it(
    doctor: Doctor, user: User, host: str
) -> None:
    name = f"hook.{host}"
    assert doctor().one(name).details == {"installed": False}
    assert doctor().one(name).status == "ok"
    (user.home / ("." + host.partition("-")[0])).mkdir()
    found = doctor().one(name)
    assert found.status == "info"
    follow(found)
    found = doctor().one(name)
    assert found.status == "ok"
    assert found.details["resolved"] == str(user.programs / "skillyard")


def test_a_hook_whose_program_is_gone_is_an_error_and_keeps_its_options(
    doctor: Doctor, user: User
) -> None:
    path = claude_settings(user)
    path.parent.mkdir(exist_ok=True)
    user.add_skill(user.home / "more")
    follow(replace(doctor().one("hook.claude-code"),
        command=f"skillyard hook install claude-code --max-chars 900 --root {user.home / 'more'}"
    ))  # fmt: skip
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(str(user.programs), "/gone"), encoding="utf-8")
    found = doctor().one("hook.claude-code")
    assert found.status == "error"
    assert "/gone/skillyard" in found.message
    follow(found)
    assert doctor().one("hook.claude-code").status == "ok"
    assert path.read_text(encoding="utf-8") == text
    shutil.rmtree(user.home / "more")
    found = doctor().one("hook.claude-code")
    assert (found.status, str(user.home / "more") in found.message) == ("error", True)
    follow(found)
    assert doctor().one("hook.claude-code").status == "ok"


def test_a_hook_with_arguments_that_nobody_knows_is_a_warning(doctor: Doctor, user: User) -> None:
    path = claude_settings(user)
    follow(doctor().one("hook.claude-code"))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("hook claude-code", "hook claude-code --odd"), encoding="utf-8")
    found = doctor().one("hook.claude-code")
    assert found.status == "warning"
    follow(found)
    assert doctor().one("hook.claude-code").status == "ok"


def test_a_host_that_runs_no_hooks_is_told(doctor: Doctor, user: User) -> None:
    path = claude_settings(user)
    (user.home / ".codex").mkdir()
    follow(doctor().one("hook.claude-code"))
    follow(doctor().one("hook.codex"))
    shape = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**shape, "disableAllHooks": True}), encoding="utf-8")
    (user.home / ".codex" / "config.toml").write_text("[features]\nhooks = false\n", "utf-8")
    report = doctor()
    assert "disableAllHooks" in report.one("hook.claude-code").message
    assert "features.hooks" in report.one("hook.codex").message
    assert report.one("hook.codex").status == "warning"


@requirement("cli:doctor:settings")
def test_settings_that_cannot_be_used_are_an_error_with_file_and_line(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = claude_settings(user)
    path.write_text('{\n  "hooks": {},\n  oops\n}\n', encoding="utf-8")
    found = doctor().one("hook.claude-code")
    assert (found.status, found.path, found.line) == ("error", str(path), 3)
    hostile = ["[]", '{"hooks": []}', '{"hooks": {"UserPromptSubmit": 1}}', "[" * 100_000,
               '{"a": ' + "9" * 5_000 + "}", "\udc80"]  # fmt: skip
    for text in hostile:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        assert doctor().one("hook.claude-code").status == "error", text[:40]
    path.unlink()
    path.symlink_to(path)  # a loop
    assert doctor().one("hook.claude-code").status == "error"
    path.unlink()
    path.mkdir()
    assert doctor().one("hook.claude-code").status == "error"
    path.rmdir()
    path.write_text("{}" + " " * 100, encoding="utf-8")
    path.chmod(0o444)  # nothing is written, so it need not be writable
    assert doctor().one("hook.claude-code").status == "info"
    monkeypatch.setattr(installation, "MAX_BYTES", 50)
    assert "larger than 50 bytes" in doctor().one("hook.claude-code").message


@pytest.mark.usefixtures("settled")
def test_the_index_of_a_hook_is_looked_at_once_it_is_installed(doctor: Doctor, user: User) -> None:
    claude_settings(user)
    user.add_skill(user.home / ".claude" / "skills")
    report = doctor()
    assert report.all("index.hook") == []
    follow(report.one("hook.claude-code"))
    assert doctor().one("index.hook").status == "ok"
    shutil.rmtree(user.cache)
    follow(doctor().one("index.hook"))
    assert doctor().one("index.hook").status == "ok"
    user.add_skill(user.project / ".claude" / "skills", "revert")
    follow(doctor().one("trust"))
    shutil.rmtree(user.cache)
    found = doctor().one("index.hook")
    assert found.details["state"] == "missing"
    follow(found)  # the index of the user's and the project's skills together
    found = doctor().one("index.hook")
    assert (found.status, found.details["skills"]) == ("ok", 2)


def test_a_project_waits_is_approved_changes_and_goes(doctor: Doctor, user: User) -> None:
    assert doctor().one("trust").details == {"state": "none"}
    path = user.add_skill(user.project / ".claude" / "skills")
    found = doctor().one("trust")
    assert (found.status, found.details) == ("info", {"state": "waiting"})
    claude_settings(user)
    follow(doctor().one("hook.claude-code"))
    found = doctor().one("trust")
    assert found.status == "warning"  # somebody would use them
    follow(found)
    found = doctor().one("trust")
    assert (found.status, found.details["state"]) == ("ok", "approved")
    path.write_text(path.read_text("utf-8") + "More.\n", encoding="utf-8")
    user.add_skill(user.project / ".claude" / "skills", "revert")
    found = doctor().one("trust")
    assert (found.status, found.details["state"]) == ("warning", "changed")
    assert "1 added, 1 changed" in found.message
    follow(found)
    assert doctor().one("trust").status == "ok"
    shutil.rmtree(user.project / ".claude")
    assert doctor().one("trust").details["state"] == "changed"
    assert doctor().one("trust").status == "ok"  # what is gone is not offered
