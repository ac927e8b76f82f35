"""A profile narrows what the policy allows, and a project's file adds no folder of strangers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard import SkillIoError
from skillyard.hosts.hook.choice import HookOptions, choose
from skillyard.hosts.hook.index_refresh import bring_up_to_date
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.prompt import Prompt, PromptBudget
from skillyard.install.policy import library as places
from skillyard.install.policy.library import find_policy
from tests.cli.conftest import Run, run
from tests.serve.http.local_server import running
from tests.serve.mcp.local_servers import serving, shows
from tests.tables import for_each

__all__ = ["run"]
SKILL = "---\nname: {0}\ndescription: Deploys the app.\ntags: [{1}]\n---\nDo it.\n"
PROJECT = """
[skills]
denied = ["wipe"]

[profiles.backend]
roots = ["api"]
tags = ["Server"]

[profiles.strict.skills]
denied = ["*"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with skills for two roles, the working folder; no other policy holds."""
    for folder, tag in {"api/deploy": "server", "api/look": "web", "api/wipe": "server",
                        "web/style": "web"}.items():  # fmt: skip
        file = tmp_path / "app" / folder / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(SKILL.format(file.parent.name, tag), encoding="utf-8")
    (tmp_path / "app/.git").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "app/skillyard-policy.toml").write_text(PROJECT, encoding="utf-8")
    for name, value in {"CACHE": "cache", "STATE": "state"}.items():
        monkeypatch.setenv(f"SKILLYARD_{name}", str(tmp_path / value))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(places, "system_policy_path", lambda: str(tmp_path / "system.toml"))
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path / "app"


def own_policy(text: str) -> None:
    path = Path(places.user_policy_path())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def names(catalog: sy.Catalog) -> list[str]:
    return [skill.name for skill in catalog]


@for_each("index", [True, False])
def test_a_profile_gives_roots_and_narrows_by_tags_and_rules(project: Path, index: bool) -> None:
    assert names(sy.load_catalog(index=index)) == ["deploy", "look", "style"]
    catalog = sy.load_catalog(index=index, profile="backend")
    assert (names(catalog), catalog.profile) == (["deploy"], "backend")
    assert [os.path.basename(root) for root in catalog.roots] == ["api"]
    assert names(sy.load_catalog("web", index=index, profile="backend")) == []
    assert names(sy.load_catalog(index=index, profile="strict")) == []


def test_the_variable_names_a_profile_and_an_empty_option_none(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_PROFILE", "backend")
    answer = run("list", "--json").json
    assert ([each["name"] for each in answer["skills"]], answer["profile"]) == (
        ["deploy"], "backend",
    )  # fmt: skip
    without = run("list", "--json", "--profile", "").json
    assert len(without["skills"]) == 3
    assert "profile" not in without


@for_each(
    "line",
    [
        "list", "rank deploys the app", "select deploys the app", "why deploy deploys",
        "summary", "show deploy", "inject deploys the app", "policy",
        "index build", "index status", "scan", "evaluate --text deploys",
        "search deploys the app --source local",
    ],
)  # fmt: skip
def test_each_command_that_takes_roots_takes_a_profile_and_names_it_in_json(
    run: Run, project: Path, line: str
) -> None:
    answer = run(*line.split(), "--profile", "backend", "--json")
    assert answer.json["profile"] == "backend"
    assert "style" not in answer.out
    assert run("--profile", "backend", *line.split(), "--json").json["profile"] == "backend"
    unknown = run(*line.split(), "--profile", "frontend")
    assert (unknown.code, unknown.out) == (2, "")
    file = os.path.realpath("skillyard-policy.toml")
    assert f"{file}: there is no profile frontend" in unknown.err
    assert "known profiles: backend, strict" in unknown.err


def test_services_answer_from_the_profile_and_say_so(project: Path) -> None:
    with running(project / "api", profile="backend") as server:
        assert server.get("/health").json()["profile"] == "backend"
        assert server.get("/skill/deploy").status_code == 200
        assert server.get("/skill/look").status_code == 404
    with serving(project / "api", profile="backend") as mcp:
        listed = shows(mcp.call("list_skills"))
        assert "deploy" in listed
        assert "look" not in listed
        asked = {
            "select_skill": {"text": "deploys the app"},
            "why_skill": {"name": "deploy", "query": "deploys the app"},
            "list_skills": {},
            "skill_evaluate": {"text": "deploys the app"},
        }
        for tool, values in asked.items():
            content = mcp.call(tool, values).structured_content
            assert content is not None
            assert content["profile"] == "backend"


def test_a_project_adds_nothing_to_a_profile_of_the_user(run: Run, project: Path) -> None:
    """Its rules narrow the profile; its roots, even faulty ones, are not looked at."""
    own = project.parent / "own/tidy/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text(SKILL.format("tidy", "x"), encoding="utf-8")
    own_policy(f"[profiles.x]\nroots = ['{project.parent}/own']\n")
    file = project / "skillyard-policy.toml"
    file.write_text('[profiles.x]\nroots = ["api", "/"]\n', encoding="utf-8")
    assert [skill.name for skill in sy.load_catalog(profile="x")] == ["tidy"]
    file.write_text('[profiles.x.skills]\ndenied = ["tidy"]\n', encoding="utf-8")
    answer = run("list", "--profile", "x")
    assert "a policy refuses 1 skill: `skillyard policy` names them" in answer.err


def test_a_hook_with_an_unknown_profile_is_not_installed(
    run: Run, project: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.json"
    answer = run("hook", "install", "claude-code", "--file", str(settings), "--profile", "nope")
    assert answer.code == 2
    assert not settings.exists()


@for_each(
    "line", ['roots = ["../other"]', 'roots = ["/"]', 'roots = ["link"]', 'scopes = ["user"]']
)
def test_a_projects_file_names_nothing_outside_of_the_project_unless_the_users_does(
    project: Path, line: str
) -> None:
    other = project.parent / "other/tidy/SKILL.md"
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text(SKILL.format("tidy", "x"), encoding="utf-8")
    if not (project / "link").is_symlink():
        (project / "link").symlink_to(project.parent / "other")
    file = project / "skillyard-policy.toml"
    file.write_text(f"\n[profiles.x]\n{line}\n", encoding="utf-8")
    own_policy("# no rules\n")
    with pytest.raises(SkillIoError, match="outside of the project") as caught:
        sy.load_catalog(profile="x")
    assert (caught.value.path, caught.value.line) == (os.path.realpath(file), 2)
    assert places.user_policy_path() in caught.value.hint
    if "/" in line or "link" in line:
        assert len(sy.load_catalog()) == 4  # only who asks for the profile is refused
    if "other" in line:
        own_policy(f'[profiles.x]\nroots = ["{project.parent}/other"]\n')
        assert names(sy.load_catalog(profile="x")) == ["tidy"]
    if "scopes" in line:
        own_policy('[profiles.x]\nscopes = ["user"]\n')
        assert find_policy(None, "x") is not None


def test_the_hook_trusts_only_the_roots_that_the_users_own_file_names(
    project: Path, tmp_path: Path
) -> None:
    asked = Prompt("deploys the app", str(project))

    def offer() -> str | None:
        options = HookOptions(refresh=False, profile="backend")
        bring_up_to_date(library_place((), None, str(project), "backend"))
        found = choose("claude-code", asked, options, PromptBudget(60_000))
        return None if found is None else found.skill.name

    assert offer() is None  # the project is not approved
    own_policy(f'[profiles.backend]\nroots = ["{project}/api"]\n')
    assert offer() == "deploy"
    own_policy("# no rules\n")
    choose("codex", asked, HookOptions(refresh=False, profile="other"), PromptBudget(60_000))
    assert "there is no profile other" in (tmp_path / "state/hook.log").read_text("utf-8")


def test_doctor_says_which_policy_and_profile_are_in_force_or_what_is_wrong(
    run: Run, project: Path
) -> None:
    def finding(*words: str) -> dict[str, Any]:
        findings = run("doctor", "--json", *words).json["findings"]
        (policy,) = [each for each in findings if each["id"] == "policy"]
        assert not [each for each in findings if each["id"].startswith("doctor.")]
        return dict(policy)

    assert finding()["status"] == "ok"
    assert finding("--profile", "backend")["details"]["profile"] == "backend"
    unknown = finding("--profile", "nobody")
    assert (unknown["status"], unknown["path"]) == (
        "error", os.path.realpath("skillyard-policy.toml"),
    )  # fmt: skip
    assert "backend" in unknown["remedy"]
