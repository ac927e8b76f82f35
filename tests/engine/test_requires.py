"""A skill is chosen only when what it requires is there, on every surface the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.cli import main
from skillyard.engine.catalog.requirements import RequirementChecker
from skillyard.hosts.follow_up import Memory
from skillyard.hosts.hook.answer import context_text
from skillyard.hosts.hook.choice import HookOptions, choose
from skillyard.hosts.hook.index_refresh import bring_up_to_date
from skillyard.hosts.hook.library import library_place
from skillyard.hosts.hook.prompt import Prompt, PromptBudget
from skillyard.serve.client import Client
from tests.parity.trees import write_tree
from tests.serve.http.local_server import running as http_running
from tests.serve.mcp.local_servers import serving as mcp_serving
from tests.serve.mcp.local_servers import shows
from tests.tables import for_each
from tests.worked_examples.making import document

TEXT = "Formats the tables of a report."
WHOLE = sy.SelectionPolicy(min_score=0.0, top_k=20)


def skill(name: str, *requires: str, **fields: Any) -> sy.Skill:
    return sy.Skill(name, TEXT, "Body.", requires=requires, **fields)


def chosen(skills: list[sy.Skill], *tools: str, scorer: str = "overlap") -> set[str]:
    found = sy.select(skills, sy.Query(TEXT, tools=tools), WHOLE, scorer)
    return {match.skill.name for match in found.selected}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put one folder on PATH, with the program ``jq``; running it would leave a trace."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "jq"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@for_each(
    "extra, expected",
    [
        ("requires:\n  skills: [a, b>=1.2]\n", ("skill:a", "skill:b>=1.2")),
        ("metadata:\n  requires:\n    skills: a, b >= 1.2\n", ("skill:a", "skill:b>=1.2")),
        ("requires:\n  tools: A B\n  programs: jq\n", ("tool:A", "tool:B", "program:jq")),
        ("dependencies: [one, a]\n", ()),
        ("dependencies:\n  all: [Bash]\n", ()),
        ("dependencies: python>=3.8, pandas\n", ()),
        ("requires: python\n", ()),
        ("requires:\n  bins: [jq]\n", ()),
        ("requires:\n", ()),
        ("metadata: text\n", ()),
    ],
)
def test_each_form_is_read(tmp_path: Path, extra: str, expected: tuple[str, ...]) -> None:
    write_tree(tmp_path, {"one/SKILL.md": document("one", extra=extra)})
    assert sy.load_catalog(tmp_path).get("one").requires == expected


@for_each(
    "entry, lack",
    [
        ("skill:none", "the skill none is not in the catalog"),
        ("skill:old>=1.10", "the skill old has version 1.9, below 1.10"),
        ("skill:old>=1.9.1", "below 1.9.1"),
        ("skill:pre>=2", "the skill pre has version 2.0rc1, below 2"),
        ("skill:bare>=1", "the skill bare has no version"),
        ("skill:old>=new", "does not end with a version"),
        ("program:awk", "the program awk is not on PATH"),
        ("program:/bin/sh", "not the plain name of a program"),
        ("program:../jq", "not the plain name of a program"),
        ("program:-jq", "not the plain name of a program"),
        ("program:", "not the plain name of a program"),
        ("tool:Write", "the tool Write is not among"),
        ("tool:Write|Edit", "is not among"),
        ("moon:full", "cannot be read"),
        ("skill:\x1b[2Jx", "is not in the catalog"),
    ],
)
@pytest.mark.usefixtures("programs")
def test_what_is_missing_is_said_and_not_chosen(entry: str, lack: str) -> None:
    others = [skill("old", version="1.9"), skill("pre", version="2.0rc1"), skill("bare")]
    found = sy.select(
        [skill("one", entry), *others], sy.Query(TEXT, tools=("Bash",)), WHOLE, "overlap"
    )
    assert "one" not in {match.skill.name for match in found.selected}
    (rejected,) = found.rejected
    assert lack in rejected.rejected_because
    assert rejected.rejected_because.isprintable()


@for_each(
    "entry", ["skill:old>=1.9.0", "skill:old>=v1.9", "program:jq", "tool:Bash", "tool:Write|Bash"]
)
def test_what_is_there_is_met(entry: str, programs: Path) -> None:
    assert "one" in chosen([skill("one", entry), skill("old", version="1.9")], "Bash")
    assert not (programs.parent / "ran").exists()


NAMES = "abcdef"
_GRAPHS = st.lists(st.sets(st.sampled_from(NAMES + "x")), min_size=6, max_size=6)


@given(_GRAPHS)
def test_exactly_the_skills_whose_requirements_are_met_are_chosen(graph: list[set[str]]) -> None:
    needs = dict(zip(NAMES, graph, strict=True))
    usable: set[str] = set()  # grows from those that need nothing, so cycles never enter
    while grown := {name for name in NAMES if needs[name] <= usable} - usable:
        usable |= grown
    skills = [skill(name, *(f"skill:{need}" for need in needs[name])) for name in NAMES]
    found = sy.select(skills, TEXT, WHOLE, "overlap")
    assert {match.skill.name for match in found.selected} == usable
    for match in found.selected:
        order = [each.name for each in match.required]
        assert needs[match.skill.name] <= set(order) <= usable
        assert all(needs[name] <= set(order[:place]) for place, name in enumerate(order))
    whys = {match.skill.name: match.rejected_because for match in found.rejected}
    for each in reversed(skills):  # the reason does not depend on where the search starts
        lack = RequirementChecker(sy.Catalog.from_skills(skills).named).lack(each)
        assert lack == whys.get(each.name, "")


@pytest.mark.usefixtures("programs")
def test_the_command_line_says_what_is_needed_and_what_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = "requires:\n  skills: base\n  tools: Bash\n"
    files = {
        "lib/top/SKILL.md": document("top", TEXT, extra=extra),
        "lib/base/SKILL.md": document("base", "Cleans the kitchen."),
    }
    root = str(write_tree(tmp_path, files) / "lib")

    def run(*arguments: str) -> tuple[int, Any]:
        status = main([*arguments, "--root", root, "--json"])
        return status, json.loads(capsys.readouterr().out)

    status, found = run("select", TEXT)
    assert (status, found["selected"][0]["requires"]) == (0, ["base"])
    assert "tools" not in found["query"]
    status, found = run("select", TEXT, "--tool", "Read")
    assert (status, found["maybe"]) == (1, [])
    assert "Bash" in found["rejected"][0]["rejected_because"]
    status, found = run("why", "top", TEXT, "--tool", "Read")
    assert not found["chosen"]
    assert any("Bash" in hint for hint in found["hints"])
    status, found = run("show", "top")
    assert (status, found["skill"].get("requires")) == (0, ["skill:base", "tool:Bash"])


def test_check_reports_missing_ones_as_warnings_and_cycles_as_errors(tmp_path: Path) -> None:
    files = {
        f"{name}/SKILL.md": document(name, f"Does {name}.", extra=f"requires:\n  skills: {need}\n")
        for name, need in {"aa": "bb", "bb": "aa", "cc": "none", "dd": "aa"}.items()
    }
    found = [each for each in sy.validate(write_tree(tmp_path, files)) if "require" in each.code]
    assert [(each.code, each.severity, each.line) for each in found] == [
        ("requirement_cycle", "error", 4),
        ("requirement_cycle", "error", 4),
        ("requirement_unmet", "warning", 4),
        ("requirement_unmet", "warning", 4),
    ]


@pytest.mark.usefixtures("programs")
def test_every_surface_leaves_out_the_same_skill_and_names_what_is_needed(tmp_path: Path) -> None:
    extra = "requires:\n  skills: base\n  tools: Bash\n"
    files = {
        "top/SKILL.md": document("top", TEXT, extra=extra),
        "base/SKILL.md": document("base", "Cleans the kitchen."),
        "lost/SKILL.md": document("lost", TEXT, extra="requires:\n  programs: awk\n"),
    }
    root = tmp_path / "lib"
    asked = {"text": TEXT, "top_k": 3, "min_score": 0.3}
    with http_running(root, files) as http, mcp_serving(root) as mcp:
        for tools, names in (([], ["top"]), (["Bash"], ["top"]), (["Read"], [])):
            query = sy.Query(TEXT, tools=tools)
            here = sy.select(sy.load_catalog(root), query, min_score=0.3, top_k=3).selected
            over_http = http.post("/select", {**asked, "tools": tools}).json()["selected"]
            answer = mcp.call("select_skill", {**asked, "tools": tools}).structured_content
            assert answer is not None
            assert [match.skill.name for match in here] == names
            for matches in (over_http, answer["selected"]):
                assert [match["name"] for match in matches] == names
                assert all(match["requires"] == ["base"] for match in matches)


def test_a_list_of_packages_hinders_no_skill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = "dependencies: [ledger, tables>=2, requests]\n"
    files = {f"{name}/SKILL.md": document(name, TEXT, extra=extra) for name in ("ledger", "tables")}
    root = str(write_tree(tmp_path, files))
    assert main(["list", "--root", root, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["selectable"] == 2
    assert main(["select", TEXT, "--root", root, "--tool", "Read", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["selected"]
    assert main(["check", root]) == 0


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library whose only skill requires a tool, as the skills of the user of a new home."""
    for name in ("HOME", "SKILLYARD_CACHE", "SKILLYARD_STATE"):
        monkeypatch.setenv(name, str(tmp_path / name.rpartition("_")[2].lower()))
    extra = "requires:\n  tools: Bash\n"
    root = tmp_path / "home/.claude/skills"
    return write_tree(root, {"top/SKILL.md": document("top", TEXT, extra=extra)})


@for_each("tools, state", [((), "unchecked"), (("Bash",), "met"), (("Read",), "lacking")])
def test_known_tools_count_everywhere_and_unknown_ones_are_said_to_be(
    library: Path, capsys: pytest.CaptureFixture[str], tools: tuple[str, ...], state: str
) -> None:
    given = [word for tool in tools for word in ("--tool", tool)]

    def shown(*arguments: str) -> str:
        main([*arguments, *given, "--root", str(library)])
        return " ".join(capsys.readouterr().out.split())

    def run(*arguments: str) -> tuple[int, Any, str]:
        status = main([*arguments, *given, "--root", str(library), "--json"])
        out, err = capsys.readouterr()
        return status, json.loads(out), err

    words = "needs Bash, which was not checked: name your tools with --tool"
    assert (words in shown("rank", TEXT)) == (state == "unchecked")
    assert (f"tools {words}" in shown("select", TEXT)) == (state == "unchecked")

    _, ranked, _ = run("rank", TEXT)
    (match,) = ranked["matches"]
    assert ("tool Bash" in match.get("rejected_because", "")) == (state == "lacking")
    assert match.get("unchecked_tools", []) == (["Bash"] if state == "unchecked" else [])
    status, selected, _ = run("select", TEXT)
    assert (status, selected["abstained"]) == (int(state == "lacking"), state == "lacking")
    assert [each.get("unchecked_tools") for each in selected["selected"]] == {
        "unchecked": [["Bash"]], "met": [None], "lacking": [],
    }[state]  # fmt: skip
    _, injected, said = run("inject", TEXT)
    assert injected["injected"] == (state != "lacking")
    assert ("needs Bash, which was not checked" in said) == (state == "unchecked")
    bring_up_to_date(library_place((), None))
    asked, options = Prompt(TEXT, ""), HookOptions(refresh=False, tools=tools, perhaps=False)
    offer, _ = choose("claude-code", asked, options, PromptBudget(60_000), Memory())
    assert (offer is not None) == (state != "lacking")
    if offer is not None:
        assert ("needs the tools: Bash" in context_text(offer)) == (state == "unchecked")


def test_services_say_which_tools_were_not_checked(tmp_path: Path) -> None:
    extra = "requires:\n  tools: Bash\n"
    files = {"top/SKILL.md": document("top", TEXT, extra=extra)}
    root = tmp_path / "lib"
    with http_running(root, files) as http, mcp_serving(root) as mcp:
        (match,) = http.get("/rank", params={"q": TEXT}).json()["matches"]
        assert match["unchecked_tools"] == ["Bash"]
        (match,) = http.get("/rank", params={"q": TEXT, "tools": "Read"}).json()["matches"]
        assert "tool Bash" in match["rejected_because"]
        with Client(http.base, token="") as client:
            (card,) = client.rank(TEXT, tools=("Read",)).matches
            assert card.rejected_because == match["rejected_because"]
        assert "top needs the tools Bash" in shows(mcp.call("select_skill", {"text": TEXT}))
        why = {"name": "top", "query": TEXT, "tools": ["Read"]}
        assert "tool Bash" in shows(mcp.call("why_skill", why))
