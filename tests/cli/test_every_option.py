"""Every option of every command changes something that can be seen, or is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from skillyard.cli.grammar import CommandParser, command_parsers
from skillyard_testkit import FakeServers
from skillyard_testkit.fake_llm import FakeLlm
from tests.cli.option_project import PREPARED, build
from tests.cli.option_rows import (
    EVAL_BASES,
    EVAL_ROWS,
    HOOK_BASES,
    HOOK_ROWS,
    SERVE_BASE,
    SERVE_ROWS,
)
from tests.cli.option_world import TOKEN, Row, Seen, World, row
from tests.cli.remotes import text
from tests.configuration import configure
from tests.shared_data import REPOSITORY


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    tmp = tmp_path_factory.mktemp("options")
    with FakeServers() as up, FakeLlm() as models, pytest.MonkeyPatch.context() as patch:
        for name in ("pdf", "docx"):
            files = {f"skills/{name}/SKILL.md": text(name, f"A skill for {name}.")}
            up.add_repository(f"acme/{name}", {**files, f"skills/{name}/references/a.md": "A."})
            up.list_skill(f"acme/{name}", name, name=name, installs=5)
        configure(patch, tmp, sources=up.sources())
        for name in ("SKILLYARD_CACHE", "SKILLYARD_STATE", "XDG_CONFIG_HOME", "HOME"):
            patch.setenv(name, str(tmp / "world" / name.lower().rpartition("_")[2]))
        for name, url in (("ANTHROPIC", models.url), ("OPENAI", models.openai_url)):
            patch.setenv(f"{name}_BASE_URL", url)
            patch.setenv(f"{name}_API_KEY", "a-key")
        patch.setenv("SKILLYARD_HTTP_TOKEN", TOKEN)
        patch.chdir(tmp)
        yield World(tmp, up, models, build, PREPARED)


BASES = {
    "list": "--root skills",
    "check": "skills/messy",
    "scan": "skills",
    "show": "csv-cleaning --root skills",
    "rank": "clean this csv file --root skills",
    "select": "clean this csv file --root skills",
    "evaluate": "--text csv --root skills",
    "why": "git-bisect broke the build --root skills",
    "summary": "--root skills",
    "inject": "clean this csv file --root skills",
    "search": "pdf",
    "add": "./other/paint",
    "sync": "",
    "update": "",
    "outdated": "",
    "verify": "",
    "remove": "paint",
    "policy": "",
    "trust": "",
    "usage": "--log log.jsonl --root skills",
    "feedback": "csv-cleaning --wrong --for csv --root skills",
    "bench run": "--skills b.jsonl --queries q.jsonl --out run.json",
    "bench score": "--run run1.json --queries q.jsonl",
    "bench compare": "run1.json run2.json --queries q.jsonl",
    "eval plan": "",
    "eval init": "--root skills",
    "index build": "skills",
    "index status": "skills",
    "index verify": "skills",
    "doctor": "skills",
    "hook install": "codex --file hooks.json",
    "setup": "",
    "new": "fresh",
    "hook uninstall": "codex --file installed.json",
    "store init": "--store sqlite:///new.db",
    "store migrate": "--store sqlite:///store.db",
    "store publish": "skills --store sqlite:///store.db --tenant acme --publisher me",
    "store withdraw": "csv-cleaning --store sqlite:///store.db --tenant acme --publisher me",
    "store rollback": "1 --store sqlite:///store.db --tenant acme --publisher me",
    "store log": "--store sqlite:///store.db",
    "store history": "csv-cleaning --store sqlite:///store.db --tenant acme",
    "store status": "--store sqlite:///store.db",
    "store grant": "team --store sqlite:///store.db --tenant acme",
    "store revoke": "team --store sqlite:///store.db --tenant acme",
    "store grants": "--store sqlite:///store.db",
    "completion": "bash",
    "serve": SERVE_BASE,
    **HOOK_BASES,
    **EVAL_BASES,
}
"""Command -> its arguments. A command without a row is in :data:`ELSEWHERE`."""

OPTIONS: dict[str, Row] = {
    "--root": row("--root other"),
    "--scope": row("--scope user"),
    "--json": row("--json"),
    "--color": row("--color always"),
    "--quiet": row("--quiet"),
    "--tag": row("--tag git"),
    "--not-tag": row("--not-tag git"),
    "--files": row("--files a.csv"),
    "--recent": row("--recent csv"),
    "--scorer": row("--scorer overlap"),
    "--limit": row("--limit 0"),
    "--references": row("--references"),
    "--tool": row("--tool Nothing"),
    "--explain": row("--explain"),
    "--min-score": row("--min-score 0.999"),
    "--wrong-cost": row("--wrong-cost 500"),
    "--top-k": row("--top-k 0"),
    "--fallback": row("--fallback fallback"),
    "--store": row("--store sqlite:///other.db"),
    "--tenant": row("--tenant other"),
    "--namespace": row("--namespace web"),
    "--dry-run": row("--dry-run"),
    "--strict": row("--strict"),
    "--format": row("--format github"),
    "--into": row("--into elsewhere"),
    "--agent": row("--agent codex"),
    "--global": row("--global"),
    "--queries": row("--queries q2.jsonl"),
    "--measure": row("--measure P@1"),
}
"""Option -> how it is shown, where a command has no row of its own."""


COMMANDS = command_parsers()


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_changes_something_or_is_refused(command: CommandParser, world: World) -> None:
    problems = []
    for flag in flags_of(command):
        if (command.name, flag) in ELSEWHERE:
            continue
        shown = row_of(command, flag)
        given = BASES[command.name].split() if shown.base is None else shown.base
        words = (*command.words, *given)
        seen = world.run((*words, *shown.given), shown.prompt)
        base = world.base(words, shown.prompt)
        if problem := problem_of(command.name, flag, shown, base, seen):
            problems.append(f"{' '.join((*words, *shown.given))}: {problem}: {seen.err[:200]}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_has_a_row_that_shows_what_it_does(command: CommandParser) -> None:
    for flag in flags_of(command):
        place = ELSEWHERE.get((command.name, flag))
        if not place:
            shown = row_of(command, flag)
            known = shown.base is not None or command.name in BASES
            assert known, f"add the arguments of {command.name} to BASES"
        else:
            assert flag in source_of(place), f"{place} does not show {flag}"


@cache
def source_of(place: str) -> str:
    """Return the text of a test, as ``folder/test_file.py::Class::test_name``."""
    path, *names = place.split("::")
    content = (REPOSITORY / "tests" / path).read_text("utf-8")
    node: Any = ast.parse(content)
    for name in names:
        node = next((each for each in node.body if getattr(each, "name", "") == name), None)
        assert node is not None, f"there is no {place}"
    return ast.get_source_segment(content, node) or ""


def flags_of(command: CommandParser) -> list[str]:
    return [
        each.option_strings[-1]
        for each in command._actions
        if each.option_strings[1:] != ["--help"] and each.option_strings
    ]


def row_of(command: CommandParser, flag: str) -> Row:
    shown = ROWS.get((command.name, flag)) or OPTIONS.get(flag)
    assert shown, f"add a row for {command.name} {flag} to ROWS that shows what it changes"
    return shown


def problem_of(command: str, flag: str, shown: Row, plain: Seen, seen: Seen) -> str:
    """Return why a pair of runs does not show what the option does; empty where it does."""
    if shown.refused:
        return "" if seen.code == 2 and shown.refused in seen.err else "is not refused"
    if seen.code == 2:
        return "is refused, and no row says so"
    if flag == "--quiet":
        return "prints notes" if seen.err and not seen.code else ""
    if seen == plain and not (flag == "--color" and command in COLORLESS):
        return "changes nothing"
    return ""


ROWS: dict[tuple[str, str], Row] = {
    ("check", "--profile"): row("--profile spec"),
    ("check", "--fix"): row("--fix"),
    ("check", "--diff"): row("--diff"),
    ("check", "--config"): row("--config rules.toml"),
    ("check", "--no-config"): row("--no-config", "skills"),
    ("scan", "--lock"): row("--lock nowhere.json", refused="does not exist"),
    ("scan", "--strict"): row("--strict", "risky/env"),
    ("show", "--section"): row("--section card"),
    ("show", "--root"): row("--root other", "paint --root skills"),
    ("show", "--scope"): row("--scope user", "pencil --root skills"),
    **{
        (each, "--recent"): row("--recent x", refused="counts only with --scorer confidence")
        for each in ("rank", "select", "why")
    },
    **{
        (each, "--references"): row("--references", refused="counts only with --scorer relevance")
        for each in ("rank", "select", "why")
    },
    ("rank", "--not-tag"): row("--not-tag data"),
    ("rank", "--tool"): row("--tool Nothing", "paint a fence --root needy"),
    ("select", "--not-tag"): row("--not-tag data"),
    ("select", "--tool"): row("--tool Nothing", "paint a fence --root needy"),
    ("select", "--fallback"): row("--fallback fallback", "xyzzy --root skills"),
    ("evaluate", "--text"): row("--text csv", "--files a.csv --root skills"),
    ("evaluate", "--threshold"): row("--threshold 0.99"),
    ("evaluate", "--details"): row("--details"),
    ("why", "--files"): row("--files a.csv", "csv-cleaning rows --root skills"),
    ("why", "--limit"): row("--limit 0", "git-revert commit that broke the build --root skills"),
    ("why", "--tool"): row("--tool Nothing", "fence paint a fence --root needy"),
    ("why", "--scope"): row("--scope user", "git-revert draw a line --root skills"),
    ("summary", "--format"): row("--format xml"),
    ("summary", "--budget-tokens"): row("--budget-tokens 20"),
    ("summary", "--query"): row("--query git", "--budget-tokens 60 --root skills"),
    ("summary", "--scorer"): row("--scorer overlap", refused="--no-encoder are for --query"),
    ("summary", "--host"): row("--host codex"),
    ("summary", "--window"): row("--window 900", "--host codex --root skills"),
    ("summary", "--budget"): row("--budget 10", "--host codex --root skills"),
    ("inject", "--max-chars"): row("--max-chars 20"),
    ("inject", "--file"): row("--file prompt.txt", "git --root skills"),
    ("inject", "--fence"): row("--fence"),
    ("inject", "--min-score"): row("--min-score 1.01"),
    ("inject", "--wrong-cost"): row("--wrong-cost 99999"),
    ("inject", "--fallback"): row("--fallback fallback", "xyzzy --root skills"),
    ("inject", "--not-tag"): row("--not-tag data"),
    ("inject", "--tool"): row("--tool Nothing", "paint a fence --root needy"),
    ("search", "--source"): row("--source skills.sh"),
    ("search", "--limit"): row("--limit 1", "skill"),
    ("search", "--references"): row("--references", "pdf --json"),
    **{
        ("search", flag): row(
            f"{flag} {value}", refused=f"{flag} has no effect without --source local"
        )
        for flag, value in (("--root", "other"), ("--scope", "user"))
    },
    ("add", "--global"): row("--global", "./other/paint --agent codex"),
    ("add", "--copy"): row("--copy", "./skills/csv-cleaning --agent codex --agent claude-code"),
    ("add", "--link"): row("--link", "./skills/csv-cleaning --agent codex"),
    ("add", "--all"): row("--all", "./kitchen/skills --dry-run"),
    ("add", "--dry-run"): row("--dry-run", "./skills/csv-cleaning --agent codex"),
    ("add", "--yes"): row("--yes", "./look/palnt --agent claude-code"),
    ("add", "--accept"): row("--accept download_and_run=mine", "./risky/fetch --agent codex"),
    ("sync", "--global"): row("--global", refused="there is no lock file"),
    ("update", "--global"): row("--global", refused="there is no lock file"),
    ("outdated", "--global"): row("--global", refused="there is no lock file"),
    ("verify", "--global"): row("--global", refused="there is no lock file"),
    ("remove", "--global"): row("--global", refused="there is no lock file"),
    ("update", "--yes"): row("--yes"),
    ("trust", "--accept"): row("--accept download_and_run=mine"),
    ("trust", "--revoke"): row("--revoke"),
    ("trust", "--list"): row("--list"),
    ("policy", "--root"): row("--root skills", "--root other"),
    ("policy", "--scope"): row("--scope user", "--root other"),
    ("usage", "--log"): row("--log nothing.jsonl", "--root skills", refused="cannot read nothing"),
    ("feedback", "--wrong"): row(
        "--wrong", refused="not allowed with", base="csv-cleaning --right"
    ),
    ("feedback", "--right"): row("--right", "csv-cleaning --list", refused="not allowed with"),
    ("feedback", "--list"): row("--list", refused="not allowed with"),
    ("feedback", "--undo"): row("--undo", refused="not allowed with"),
    ("feedback", "--clear"): row("--clear", refused="not allowed with"),
    ("feedback", "--root"): row("--root skills", "csv-cleaning --wrong --for x --root other"),
    ("feedback", "--scope"): row("--scope user", "pencil --wrong --for x --root other"),
    ("feedback", "--for"): row("--for other"),
    ("feedback", "--note"): row("--note why"),
    ("bench run", "--skills"): row("--skills skills"),
    ("bench run", "--out"): row("--out b.json"),
    **{
        ("bench run", flag): row(f"{flag} {value}", refused=f"{flag} has no effect with --skills")
        for flag, value in (("--root", "other"), ("--scope", "user"))
    },
    ("bench score", "--queries"): row("--queries q.jsonl", "--run run1.json"),
    ("bench compare", "--queries"): row("--queries q.jsonl", "run1.json run2.json"),
    ("usage", "--days"): row("--days 1"),
    **{
        (f"store {command}", "--durability"): row(
            "--durability synchronous", refused="durability local"
        )
        for command in ("withdraw", "rollback")
    },
    ("store publish", "--durability"): row(
        "--durability synchronous",
        "skills --store sqlite:///other.db --tenant acme --publisher me",
        refused="durability local",
    ),
    ("store publish", "--jobs"): row("--jobs 0", refused="jobs"),
    **SERVE_ROWS,
    **HOOK_ROWS,
    **EVAL_ROWS,
    ("verify", "--allow-extra"): row("--allow-extra"),
    ("sync", "--frozen"): row("--frozen"),
    ("sync", "--allow-extra"): row("--allow-extra", "--frozen"),
    ("bench score", "--run"): row("--run run2.json"),
    ("bench compare", "--tolerance"): row(
        "--tolerance 0", "run1.json worse.json --queries q.jsonl"
    ),
    ("eval plan", "--effect"): row("--effect 1"),
    ("eval plan", "--skills"): row("--skills 9"),
    ("eval init", "--evals-dir"): row("--evals-dir cases"),
    ("eval init", "--model"): row("--model claude-x"),
    ("new", "--from"): row("--from skills/csv-cleaning"),
    ("setup", "--yes"): row("--yes"),
    ("setup", "--dry-run"): row("--yes --dry-run", "--yes"),
    ("setup", "--undo"): row("--undo"),
    ("hook install", "--file"): row("--file b.json"),
    ("hook install", "--max-chars"): row("--max-chars 9"),
    ("hook install", "--no-perhaps"): row("--no-perhaps"),
    ("hook install", "--budget-ms"): row("--budget-ms 9"),
    ("hook install", "--no-refresh"): row("--no-refresh"),
    ("hook uninstall", "--file"): row("--file hooks.json"),
    ("store publish", "--publisher"): row(
        "--publisher you", "other --store sqlite:///store.db --tenant acme"
    ),
    ("store publish", "--source"): row("--source a/b"),
    ("store publish", "--batch"): row(
        "--batch 1", "skills --store sqlite:///other.db --tenant acme --publisher me"
    ),
    ("store publish", "--prune"): row(
        "--prune", "other --store sqlite:///store.db --tenant acme --publisher me"
    ),
    ("store withdraw", "--source"): row("--source a/b"),
    ("store withdraw", "--publisher"): row("--publisher you"),
    ("store rollback", "--store"): row(
        "--store sqlite:///other.db", refused="to_generation must be"
    ),
    ("store rollback", "--publisher"): row("--publisher you"),
    ("store log", "--limit"): row("--limit 1"),
    ("store history", "--store"): row("--store sqlite:///other.db", refused="no skill named"),
    ("store history", "--tenant"): row("--tenant other", refused="no skill named"),
    ("store history", "--namespace"): row("--namespace web", refused="no skill named"),
    ("store history", "--source"): row("--source a/b", refused="no skill named"),
    ("store grant", "--place"): row("--place csv-cleaning"),
    ("store revoke", "--place"): row("--place csv-cleaning"),
}
"""(command, option) -> how it is shown."""

_COMMANDS_TESTS = "cli/installation/test_commands.py"
ELSEWHERE: dict[tuple[str, str], str] = {
    **{
        (each, "--no-encoder"): (
            "engine/ranking/test_default_scorer.py::test_no_encoder_leaves_any_embedder_out"
        )
        for each in ("rank", "select", "why", "summary", "inject", "search", "bench run")
    },
    ("eval run effectiveness", "--sandbox"): "evals/agent/test_agent.py::line",
    ("serve", "--trust-proxy"): "cli/test_serving.py::test_every_flag_reaches_the_service",
    ("serve", "--tools"): (
        "serve/test_offline.py::test_no_tool_of_the_mcp_server_asks_another_machine"
    ),
    ("update", "--accept"): (
        f"{_COMMANDS_TESTS}::TestUpdate::test_a_high_finding_is_shown_and_refused"
    ),
    ("sync", "--accept"): (
        f"{_COMMANDS_TESTS}::TestSync::test_a_high_finding_stops_a_skill_and_not_the_others"
    ),
    ("remove", "--backup"): (
        f"{_COMMANDS_TESTS}::TestRemove::test_local_changes_are_refused_or_moved_aside"
    ),
    ("sync", "--dry-run"): (
        f"{_COMMANDS_TESTS}::TestSync::test_frozen_and_dry_run_write_nothing_and_ask_nobody"
    ),
    ("bench compare", "--margin"): (
        "cli/test_bench.py::test_a_verdict_follows_from_p_and_from_the_margin"
    ),
    ("eval compare", "--gate"): (
        "cli/test_eval_compare.py::test_a_regression_is_told_and_gates_only_when_asked"
    ),
}
"""(command, option) -> the test that fails where the option is dropped."""

COLORLESS = frozenset(
    [
        *("evaluate", "summary", "inject", "add", "completion", "new"),
        *("serve", "hook claude-code", "hook codex"),
    ]
)
"""They print a text for others to read, and have nothing to colour here."""
