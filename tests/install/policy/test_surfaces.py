"""A skill that a policy refuses is offered by no surface; a broken policy offers none at all."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import SkillIoError
from skillyard.hosts.follow_up import Memory
from skillyard.hosts.hook.choice import HookOptions, choose
from skillyard.hosts.hook.prompt import Prompt, PromptBudget
from skillyard.install.copies.lockfile import read_project_lock
from skillyard.install.policy import library as places
from skillyard.install.policy.decision import locked_source
from skillyard.install.policy.library import MAX_BYTES, open_catalog
from skillyard.serve.runtime.options import ServiceLimits
from skillyard_testkit import FakeServers
from tests.cli.conftest import Run, run
from tests.cli.remotes import remotes
from tests.serve.http.local_server import running, until
from tests.serve.mcp.local_servers import serving, shows
from tests.tables import for_each

__all__ = ["remotes", "run"]
GOOD = "---\nname: {0}\ndescription: Deploys the app with {0}.\n---\nDo it.\n"
LOW_FINDING = "curl -LsSf https://astral.sh/uv/install.sh | sh\n"
DENY = '[skills]\ndenied = ["evil-*"]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose policy refuses one of its two skills, the working folder."""
    for name in ("good-deploy", "evil-deploy"):
        file = tmp_path / "app/lib" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(GOOD.format(name), encoding="utf-8")
    (tmp_path / "app/.git").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "app/skillyard-policy.toml").write_text(DENY, encoding="utf-8")
    for name, value in {"CACHE": "cache", "STATE": "state"}.items():
        monkeypatch.setenv(f"SKILLYARD_{name}", str(tmp_path / value))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(places, "system_policy_path", lambda: str(tmp_path / "system.toml"))
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path / "app"


@for_each(
    "line",
    [
        "list", "rank evil-deploy the app", "rank evil-deploy the app --scorer relevance",
        "select @evil-deploy", "inject @evil-deploy", "summary", "show good-deploy",
    ],
)  # fmt: skip
def test_no_command_offers_a_refused_skill(run: Run, project: Path, line: str) -> None:
    answer = run(*line.split(), "--root", "lib", "--json")
    shown = {k: v for k, v in answer.json.items() if k not in ("query", "prompt", "diagnostics")}
    shape = json.dumps(shown)
    assert "evil-deploy" not in shape
    assert "good-deploy" in shape or line.startswith(("select", "inject"))


def test_the_command_names_files_rules_and_refused_skills(run: Run, project: Path) -> None:
    answer = run("policy", "--root", "lib", "--json")
    assert answer.code == 1
    shape = answer.json
    file = os.path.realpath("skillyard-policy.toml")
    rule = {"rule": "skills.denied", "value": "evil-*", "file": file}
    assert (shape["files"], shape["rules"]) == ([file], [rule])
    assert [each["path"] for each in shape["refused"]] == ["lib/evil-deploy/SKILL.md"]
    Path("skillyard-policy.toml").write_text("# no rules\n", encoding="utf-8")
    assert run("policy", "--root", "lib").code == 0


def test_http_offers_no_refused_skill(project: Path) -> None:
    with running(project / "lib") as server:
        listed = server.get("/", headers={"Accept": "text/html"}).text
        assert "good-deploy" in listed
        assert "evil-deploy" not in listed
        asked = server.post("/select", {"text": "@evil-deploy deploys the app"}).json()
        assert "evil-deploy" not in json.dumps(asked["selected"])
        assert server.get("/skill/good-deploy").status_code == 200
        assert server.get("/skill/evil-deploy").status_code == 404


def test_a_running_service_follows_the_policy_and_keeps_the_last_one_that_could_be_read(
    project: Path,
) -> None:
    policy = project / "skillyard-policy.toml"

    with running(project / "lib", limits=ServiceLimits(look_s=0)) as server:

        def offers() -> list[str]:
            names = ("evil-deploy", "good-deploy")
            return [each for each in names if server.get(f"/skill/{each}").status_code == 200]

        assert offers() == ["good-deploy"]
        policy.write_text(DENY.replace("evil", "good"), encoding="utf-8")
        until(lambda: offers() == ["evil-deploy"])
        policy.write_text("[skills", encoding="utf-8")
        until(lambda: offers() == ["evil-deploy"] and "is not TOML" in str(server.lines()))
        assert offers() == ["evil-deploy"]
        policy.write_bytes(b"\xff")  # another fault of the same kind is said as well
        until(lambda: "is not UTF-8" in str(server.lines()))
        assert offers() == ["evil-deploy"]
        policy.unlink()
        until(lambda: offers() == ["evil-deploy", "good-deploy"])


@for_each("index", ["on", "off"])
def test_a_running_mcp_server_with_a_large_library_follows_the_policy(
    project: Path, monkeypatch: pytest.MonkeyPatch, index: str
) -> None:
    if index == "off":
        monkeypatch.setenv("SKILLYARD_CACHE", os.devnull)
    (project / "skillyard-policy.toml").write_text(DENY)
    with serving(project / "lib") as server:
        assert server.call("load_skill", {"name": "evil-deploy"}).is_error
        (project / "skillyard-policy.toml").write_text(DENY.replace("evil", "good"))

        def ranks(name: str) -> bool:
            return name in shows(server.call("select_skill", {"text": "deploy the app"}))

        until(lambda: ranks("evil-deploy") and not ranks("good-deploy"))
        assert server.call("load_skill", {"name": "good-deploy"}).is_error


def test_the_hook_offers_no_refused_skill_and_nothing_under_a_broken_policy(
    project: Path, tmp_path: Path
) -> None:
    from skillyard.hosts.hook.index_refresh import bring_up_to_date
    from skillyard.hosts.hook.library import library_place

    root = str(project / "lib")
    asked = Prompt("deploy the app with evil-deploy or good-deploy", str(project))
    options = HookOptions((root,), refresh=False)
    bring_up_to_date(library_place((root,), None, str(project)))
    offer, _ = choose("claude-code", asked, options, PromptBudget(60_000), Memory())
    assert offer is not None
    assert offer.skill.name == "good-deploy"
    (project / "skillyard-policy.toml").write_text("[skills", encoding="utf-8")
    assert choose("claude-code", asked, options, PromptBudget(60_000), Memory())[0] is None
    assert "this is not TOML" in (tmp_path / "state/hook.log").read_text(encoding="utf-8")


def test_index_and_files_agree_and_a_changed_policy_is_not_answered_from_the_old_index(
    project: Path,
) -> None:
    def names() -> list[list[str]]:
        found = (sy.load_catalog("lib"), open_catalog("lib"), sy.load_catalog("lib", index=False))
        return [[skill.name for skill in catalog] for catalog in found]

    assert names() == [["good-deploy"]] * 3
    (project / "skillyard-policy.toml").unlink()
    assert names() == [["evil-deploy", "good-deploy"]] * 3


def test_the_lock_says_from_where_a_skill_is(project: Path) -> None:
    lock = {"good-deploy": {"source": "acme/x", "sourceType": "github", "commit": "c" * 40},
            "evil-deploy": {"source": "acme/x", "sourceType": "github"}}  # fmt: skip
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": lock}))
    (project / "skillyard-policy.toml").write_text("[pins]\nrequired = true\n")
    assert [skill.name for skill in sy.load_catalog("lib")] == ["good-deploy"]
    (project / "skillyard-policy.toml").write_text('[sources]\nallowed = ["github:else/*"]\n')
    assert len(sy.load_catalog("lib")) == 0
    (project / "skills-lock.json").write_text("<<<<<<< ours\n")
    with pytest.raises(SkillIoError, match="lock file"):
        sy.load_catalog("lib")


def test_the_lock_says_who_signed_a_skill(project: Path) -> None:
    signer = {"digest": "sha256:1", "identity": "ann@acme", "issuer": "https://id"}
    entry = {"source": "acme/x", "sourceType": "github", "digest": "sha256:1"}
    policy = project / "skillyard-policy.toml"

    def listed(record: object, rules: str) -> list[str]:
        lock = {"good-deploy": {**entry, "sigstoreSigner": record}, "evil-deploy": entry}
        (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": lock}))
        policy.write_text(f"[signatures]\n{rules}\n")
        return [skill.name for skill in sy.load_catalog("lib")]

    assert listed(signer, "required = true") == ["good-deploy"]
    assert listed(signer, 'required = ["local:*"]') == ["evil-deploy", "good-deploy"]
    bob = 'identity = [{ identity = "bob@*", issuer = "*" }]'
    assert listed(signer, bob) == ["evil-deploy"]
    records: tuple[object, ...] = (
        {**signer, "digest": "sha256:2"},
        {**signer, "identity": 1},
        "",
        [],
    )
    for wrong in records:
        assert listed(wrong, "required = true") == []


def test_what_is_fetched_decides_and_not_what_an_entry_says_beside_it(project: Path) -> None:
    entry = {"source": "https://git.corp.invalid/x.git", "sourceType": "git", "commit": "c" * 40}
    disguised = {**entry, "sourceUrl": "https://evil.invalid/x.git"}
    (project / "skillyard-policy.toml").write_text(
        '[sources]\nallowed = ["git:https://git.corp.invalid/*"]\n'
    )
    for name, each in {"good-deploy": entry, "evil-deploy": disguised}.items():
        lock = {"version": 1, "skills": {name: each}}
        (project / "skills-lock.json").write_text(json.dumps(lock))
        (locked,) = read_project_lock(str(project / "skills-lock.json")).skills
        assert name.startswith("evil") == ("evil.invalid" in locked_source(locked, None).source)
        offered = [skill.name for skill in sy.load_catalog("lib")]
        assert (name in offered) == name.startswith("good")


def test_the_users_own_policy_hides_skills_and_allows_none(project: Path) -> None:
    own = Path(places.user_policy_path())
    own.parent.mkdir(parents=True)
    own.write_text('[skills]\ndenied = ["good-*"]\n')
    assert len(sy.load_catalog("lib")) == 0
    own.write_text("[skills]\ndenied = []\n")
    assert [skill.name for skill in sy.load_catalog("lib")] == ["good-deploy"]


def _link(path: Path) -> None:
    target = path.with_name("other.toml")
    target.write_text("")
    path.symlink_to(target)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "huge": lambda path: path.write_bytes(b"#" * (MAX_BYTES + 1)),
    "bytes": lambda path: path.write_bytes(b"\xff\xfe"),
    "folder": lambda path: path.mkdir(),
}
if sys.platform != "win32":
    HOSTILE |= {"fifo": os.mkfifo, "link": _link}


@for_each("kind", list(HOSTILE))
def test_a_policy_that_cannot_be_read_stops_every_command(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = project / kind / "skillyard-policy.toml"
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    HOSTILE[kind](path)
    for command in ("list", "summary", "policy", "serve"):
        answer = run(command, "--root", "../lib")
        assert (answer.code, answer.out) == (2, "")
        assert str(path) in answer.err
        assert ("it is a link, and the file itself must lie there" in answer.err) == (
            kind == "link"
        )


@for_each(
    ("rules", "names"),
    [
        ('[sources]\nallowed = ["github:else/*"]\n', "sources.allowed"),
        ('[licences]\nmissing = "deny"\n', "licences.missing"),
        ('[skills]\ndenied = ["PDF"]\n', "skills.denied"),
    ],
)
def test_add_writes_nothing_that_the_policy_refuses(
    run: Run, remotes: FakeServers, project: Path, rules: str, names: str
) -> None:
    (project / "skillyard-policy.toml").write_text(rules, encoding="utf-8")
    answer = run("add", "pdf", "--into", "mine")
    assert answer.code == 2
    assert "the policy refuses pdf" in answer.err
    assert names in answer.err
    assert not (project / "mine/pdf").exists()
    assert not (project / "skills-lock.json").exists()
    (project / "skillyard-policy.toml").write_text('[sources]\nallowed = ["github:acme/*"]\n')
    assert run("add", "pdf", "--into", "mine/more").code == 0
    for lock in project.rglob("skills-lock.json"):
        lock.unlink()
    shutil.rmtree(project / "mine")


INSTALLED = {
    "sources.allowed": '[sources]\nallowed = ["github:else/*"]\n',
    "licences.missing": '[licences]\nmissing = "deny"\n',
    "scan.max_severity": '[scan]\nmax_severity = "none"\n',
    "pins.required": "[pins]\nrequired = true\n",
}


def test_verify_outdated_and_a_frozen_sync_name_the_rule_that_refuses_an_installed_skill(
    run: Run, remotes: FakeServers, project: Path
) -> None:
    policy = project / "skillyard-policy.toml"
    policy.unlink()
    files = {"skills/pdf/SKILL.md": GOOD.format("pdf"), "skills/pdf/get.sh": LOW_FINDING}
    remotes.add_repository("acme/skills", files)
    assert run("add", "pdf", "--into", ".agents/skills").code == 0
    assert (run("verify").code, run("outdated").code) == (0, 0)
    for rule, text in INSTALLED.items():
        policy.write_text(text)
        if rule == "pins.required":
            lock = json.loads((project / "skills-lock.json").read_text())
            del lock["skills"]["pdf"]["commit"], lock["skills"]["pdf"]["digest"]
            (project / "skills-lock.json").write_text(json.dumps(lock))
        # The newest version is pinned when it is taken.
        commands = ("verify", "sync --frozen", "outdated")
        for command in commands[:2] if rule == "pins.required" else commands:
            answer = run(*command.split(), "--json")
            (skill,) = answer.json["skills"]
            assert (answer.code, skill["state"]) == (1, "refused")
            assert f"({rule} in {policy})" in skill["problem"]["message"]
            assert f"change {rule} in {policy}" in skill["problem"]["hint"]


def test_a_signer_that_only_the_lock_names_satisfies_no_rule(
    run: Run, remotes: FakeServers, project: Path
) -> None:
    policy = project / "skillyard-policy.toml"
    policy.unlink()
    assert run("add", "acme/one", "--into", ".agents/skills").code == 0
    path = project / "skills-lock.json"
    lock = json.loads(path.read_text())
    entry = lock["skills"]["one"]
    signer = {"identity": "ann@acme", "issuer": "https://id"}
    entry["sigstoreSigner"] = {"digest": entry["digest"], **signer}
    entry["note"] = "kept"  # behind the signer
    path.write_text(json.dumps(lock))
    policy.write_text("[signatures]\nrequired = true\n")
    answer = run("update", "--yes", "--json")
    (skill,) = answer.json["skills"]
    assert (answer.code, skill["state"]) == (1, "refused")
    assert skill["problem"]["code"] == "refused_by_policy"
    policy.write_text('[signatures]\nrequired = ["local:*"]\n')
    assert run("update", "--json").json["skills"][0]["state"] == "available"  # nobody said yes
    assert json.loads(path.read_text()) == lock
    answer = run("update", "--yes")
    assert (answer.code, "no longer signed by  ann@acme" in answer.out) == (0, True)
    del entry["sigstoreSigner"]
    assert json.loads(path.read_text()) == lock
    assert run("update", "--json").json["skills"][0]["state"] == "current"
