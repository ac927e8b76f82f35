"""What hosts list: worked examples of each rule, and laws that hold for every library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.context.hosts import HOSTS, listed_skills
from skillyard.engine.context.listing import (
    CUT,
    LEFT_OUT,
    NAME_ONLY,
    NOT_READ,
    WHOLE,
    HostListing,
    host_listing,
)
from tests.parity.trees import write_tree
from tests.worked_examples.making import catalog, document, skill

CLAUDE = HOSTS["claude-code"]._replace(own=0)
"""Without skills of its own, so that the numbers below are those of the examples."""
CODEX, COPILOT = HOSTS["codex"], HOSTS["copilot-cli"]
VSCODE = HOSTS["vscode"]


def made(name: str, description: str = "x" * 20, **fields: Any) -> sy.Skill:
    return skill(name, description, path=f"/s/{name}/SKILL.md", **fields)


THREE = catalog(made("a"), made("b"), made("c"))
"""Each entry ``- a: `` and 20 letters takes 26 characters with its line end, its name alone 4."""


def states(found: HostListing) -> dict[str, str]:
    return {entry.skill.name: entry.state for entry in found.entries}


class TestClaudeCode:
    def test_a_library_that_fits_is_listed_whole_in_the_order_of_names(self) -> None:
        found = host_listing(THREE, CLAUDE)
        assert found.text == "\n".join(f"- {name}: {'x' * 20}" for name in "abc")
        assert (found.needed, found.used, found.budget) == (78, 78, 8_000)
        assert set(states(found).values()) == {WHOLE}

    def test_past_the_budget_names_stay_and_descriptions_go_whole(self) -> None:
        found = host_listing(THREE, CLAUDE, budget=77)
        assert states(found) == {"a": WHOLE, "b": WHOLE, "c": NAME_ONLY}
        assert found.text.endswith("\n- c")
        assert (found.needed, found.used) == (78, 56)

    def test_a_description_that_does_not_fit_is_passed_over_for_one_that_does(self) -> None:
        skills = catalog(made("a"), made("b", "y" * 200), made("c"), made("d"))
        found = host_listing(skills, CLAUDE, budget=4 * 4 + 22 * 2)
        assert states(found) == {"a": WHOLE, "b": NAME_ONLY, "c": WHOLE, "d": NAME_ONLY}
        assert found.used == 4 * 4 + 22 * 2

    def test_what_comes_with_the_host_has_its_part_of_the_budget(self) -> None:
        rule = CLAUDE._replace(own=30)
        found = host_listing(THREE, rule, budget=4 * 3 + 22 + 30)
        assert states(found) == {"a": WHOLE, "b": NAME_ONLY, "c": NAME_ONLY}
        assert (found.own, found.used) == (30, 34)
        assert host_listing(THREE, rule, budget=10).text == "- a\n- b\n- c"

    def test_one_entry_is_cut_at_1536_characters(self) -> None:
        found = host_listing(catalog(made("a", "x" * 1_537)), CLAUDE)
        assert states(found) == {"a": CUT}
        assert len(found.entries[0].text) == 1_536
        assert found.entries[0].chars == 1_537

    def test_when_to_use_is_shown_and_counts(self) -> None:
        text = "---\nname: a\ndescription: Does it.\nwhen_to_use: On demand.\n---\nBody."
        one = sy.Catalog.from_skills([sy.parse_skill("a/SKILL.md", text)])
        assert host_listing(one, CLAUDE).text == "- a: Does it. - On demand."
        assert host_listing(one, COPILOT).text.count("On demand.") == 0

    def test_skills_for_the_user_alone_are_not_listed(self) -> None:
        skills = catalog(made("a", disable_model_invocation=True), made("b", trigger=True))
        found = host_listing(skills, CLAUDE)
        assert states(found) == {"b": WHOLE, "a": NOT_READ}
        assert "only the user" in found.entries[1].why


class TestCodex:
    def test_an_entry_has_its_path(self) -> None:
        found = host_listing(THREE, CODEX)
        assert found.text.startswith(f"- a: {'x' * 20} (file: r0/a/SKILL.md)\n")
        assert found.budget == 5_440

    def test_descriptions_are_shortened_alike_and_short_ones_leave_their_share(self) -> None:
        skills = catalog(made("a", "x" * 400), made("b", "y" * 400), made("c", "z" * 8))
        found = host_listing(skills, CODEX, budget=100)
        shown = {entry.skill.name: len(entry.text) for entry in found.entries}
        assert shown["c"] == 8
        assert abs(shown["a"] - shown["b"]) <= 4  # a token
        assert 100 < shown["a"] < 400
        assert found.used <= 100

    def test_what_a_repository_brings_goes_before_what_the_user_has(self) -> None:
        skills = catalog(made("a", scope="user"), made("b"))
        assert [entry.skill.name for entry in host_listing(skills, CODEX).entries] == ["b", "a"]

    def test_what_came_with_it_goes_before_what_the_user_has_from_a_folder_of_its_own(self) -> None:
        system = skill("z", "Came along.", path="/h/skills/.system/z/SKILL.md", scope="user")
        mine = skill("a", "Mine.", path="/h/skills/a/SKILL.md", scope="user")
        rule = CODEX._replace(host="")
        assert host_listing(catalog(mine, system), rule).text.split("\n") == [
            "- z: Came along. (file: r1/z/SKILL.md)",
            "- a: Mine. (file: r0/a/SKILL.md)",
        ]

    def test_files_are_named_below_the_folder_of_skills_where_they_lie_in_one(
        self, tmp_path: Path
    ) -> None:
        for place in ("skills/one", "skills/group/two", "other/three"):
            name = place.rpartition("/")[2]
            write_tree(tmp_path, {f"{place}/SKILL.md": document(name, "Does it.")})
        text = host_listing(sy.load_catalog(tmp_path), CODEX).text
        assert sorted(re.findall(r"file: (r\d/[^)]*)", text)) == [
            "r0/other/three/SKILL.md",
            "r1/group/two/SKILL.md",
            "r1/one/SKILL.md",
        ]

    def test_a_table_of_long_folders_takes_of_the_budget(self) -> None:
        def used(folder: str) -> int:
            one = skill("a", "x" * 1_000, path=f"{folder}/a/SKILL.md")
            return host_listing(catalog(one), CODEX, budget=100).used

        # - `r0` = `/fff…`, and two line ends: 36 tokens of four characters are free.
        assert used("/" + "f" * 130) == 100
        assert used("/" + "f" * 131) == 99
        assert used("/" + "f" * 134) == 99
        assert used("/" + "f" * 135) == 98

    def test_a_skill_that_only_the_user_may_call_is_not_listed(self, tmp_path: Path) -> None:
        said = {"hidden": "false", "open": "true", "odd": "[", "none": None}
        for name, allowed in said.items():
            files = {f"{name}/SKILL.md": document(name, f"Does {name}.")}
            if allowed is not None:
                policy = f"policy:\n  allow_implicit_invocation: {allowed}\n"
                files[f"{name}/agents/openai.yaml"] = policy
            write_tree(tmp_path, files)
        skills = sy.load_catalog(tmp_path)
        found = host_listing(skills, CODEX)
        assert states(found) == {"none": WHOLE, "odd": WHOLE, "open": WHOLE, "hidden": NOT_READ}
        assert found.entries[-1].why == "agents/openai.yaml: only the user calls it"
        assert host_listing(skills, CLAUDE).count(WHOLE) == 4


class TestCopilot:
    def test_entries_are_elements_and_what_is_not_ours_is_escaped(self) -> None:
        found = host_listing(catalog(made("a", "Tom & <b>")), COPILOT)
        assert found.text == (
            "<skill>\n  <name>a</name>\n  <description>Tom &amp; &lt;b&gt;</description>\n"
            "  <location>project</location>\n</skill>"
        )
        assert found.needed == len(found.text) + 1

    def test_the_end_of_the_alphabet_loses_its_descriptions(self) -> None:
        cost = host_listing(catalog(made("a")), COPILOT).needed
        found = host_listing(THREE, COPILOT, budget=2 * cost)
        assert states(found) == {"a": WHOLE, "b": WHOLE, "c": NAME_ONLY}


class TestVsCode:
    def test_names_that_it_does_not_like_are_not_listed(self) -> None:
        skills = catalog(made("ok"), made("a.b"), made("Upper"))
        found = host_listing(skills, VSCODE)
        assert states(found) == {"ok": WHOLE, "Upper": NOT_READ, "a.b": NOT_READ}
        assert found.budget is None

    def test_there_is_no_budget_to_replace(self) -> None:
        with pytest.raises(sy.errors.InvalidInput, match="no budget of VS Code is known"):
            host_listing(THREE, VSCODE, budget=100)


class TestWhatIsRead:
    def test_a_folder_that_loses_to_a_document_of_ours_is_what_the_host_finds(self) -> None:
        root = sy.load_catalog("examples/skills")
        listed, unread = listed_skills(root, CLAUDE)
        name = "contract-clause-review"
        assert [found.origin for found in listed if found.name == name] == ["agentskills"]
        assert [found.origin for found, _ in unread if found.name == name] == ["runtime"]

    def test_a_host_looks_into_no_folder_of_another_agent(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("CODEX_HOME", raising=False)
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
        for folder in ("elsewhere", ".codex", ".agents", ".cursor"):
            name = folder.strip(".")
            write_tree(tmp_path / folder / "skills", {
                f"{name}/SKILL.md": document(name, "Its own."),
                "both/SKILL.md": document("both", f"As {name} has it."),
            })  # fmt: skip
        (tmp_path / "project").mkdir()
        skills = sy.load_catalog(tmp_path / "project", scopes=("user",))
        claude, codex = host_listing(skills, CLAUDE), host_listing(skills, CODEX)
        assert claude.text == "- both: As elsewhere has it.\n- elsewhere: Its own."
        assert {n for n, state in states(codex).items() if state == WHOLE} >= {"agents", "codex"}
        assert "cursor: Its own" not in codex.text
        assert any("another agent, which Codex" in entry.why for entry in codex.entries)


NAMES = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), max_size=12, unique=True
)


@st.composite
def libraries(draw: st.DrawFn) -> sy.Catalog:
    found = []
    for number, name in enumerate(draw(NAMES)):
        description = draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=120))
        try:
            found.append(skill(name, description, path=f"/s/{number}/SKILL.md"))
        except sy.errors.InvalidInput:
            continue
    return sy.Catalog.from_skills(found)


@given(libraries(), st.sampled_from(sorted(HOSTS)), st.integers(0, 600))
def test_every_skill_is_accounted_for_and_budgets_hold(
    skills: sy.Catalog, host: str, budget: int
) -> None:
    rule = HOSTS[host]
    if rule.budget() is None:
        found = host_listing(skills, rule)
    else:
        found = host_listing(skills, rule, budget=budget)
    assert sorted(entry.skill.path for entry in found.entries) == sorted(s.path for s in skills)
    if rule is CODEX:
        assert found.used <= budget or not found.text
    for entry in found.entries:
        assert entry.state in {WHOLE, CUT, NAME_ONLY, LEFT_OUT, NOT_READ}
        assert (entry.state == WHOLE) <= (len(entry.text) <= entry.chars)
        assert (entry.state in {NAME_ONLY, LEFT_OUT, NOT_READ}) <= (entry.text == "")
    assert "\x00" not in found.text
    if found.budget is None or found.needed + found.own <= found.budget:
        assert found.count(WHOLE) + found.count(NOT_READ) == len(skills)


@given(libraries(), st.integers(0, 400))
def test_codex_gives_every_description_the_same_but_for_a_token(
    skills: sy.Catalog, budget: int
) -> None:
    found = host_listing(skills, CODEX, budget=budget)
    cut = [len(entry.text) for entry in found.entries if entry.state == CUT]
    # They grow in turns, so they differ by one when the tokens are used up; then each may fill the
    # token it is in (three bytes at most), and a blank at the end is not shown.
    assert not cut or max(cut) - min(cut) <= 1 + 3 + 1
