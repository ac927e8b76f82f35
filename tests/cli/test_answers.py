"""What the commands answer beyond the documented minimum: sections, reasons, policies."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.making import write
from tests.worked_examples.making import document


@pytest.mark.parametrize(
    ("wanted", "begins"),
    [("Encoding", "### Encoding"), ("enc", "### Encoding"), ("Steps", "## Steps")],
)
def test_a_section_is_found_by_its_heading(
    run: Run, skills: Path, wanted: str, begins: str
) -> None:
    shown = run("show", "csv-cleaning", "--section", wanted, "--root", "skills")
    assert shown.code == 0
    assert shown.out.startswith(begins)
    assert "### Encoding" in shown.out
    assert "## Check" not in shown.out


def test_a_section_that_is_not_there_lists_those_that_are(run: Run, skills: Path) -> None:
    answer = run("show", "csv-cleaning", "--section", "nowhere", "--root", "skills")
    assert answer.code == 2
    assert "CSV cleaning, Steps, Encoding, Check" in answer.err
    assert "outline" in answer.err


def test_a_heading_in_a_fence_is_no_heading(run: Run, skills: Path) -> None:
    shown = run("show", "csv-cleaning", "--root", "skills", "--json").json
    assert [heading["title"] for heading in shown["outline"]] == [
        "CSV cleaning",
        "Steps",
        "Encoding",
        "Check",
    ]
    assert shown["body"].split("\n")[shown["outline"][1]["line"] - 1] == "## Steps"


def test_references_are_shown_with_their_text(run: Run, skills: Path) -> None:
    shown = run("show", "csv-cleaning", "--references", "--root", "skills", "--json").json
    assert shown["references"] == [
        {"path": "references/dates.md", "text": "# Dates\n\nISO 8601.\n"}
    ]
    assert run("show", "csv-cleaning", "--root", "skills", "--json").json["references"] == []


def test_a_reference_that_leads_out_is_named_and_not_read(run: Run, skills: Path) -> None:
    notes = skills / "csv-cleaning" / "references" / "dates.md"
    (skills.parent / "secret.md").write_text("secret", encoding="utf-8")
    listed = run("show", "csv-cleaning", "--references", "--root", "skills", "--json")
    notes.unlink()
    notes.symlink_to(skills.parent / "secret.md")
    answer = run("show", "csv-cleaning", "--references", "--root", "skills", "--json")
    assert "ISO 8601" in listed.out
    assert "secret" not in answer.json["body"]
    assert all(document["text"] is None for document in answer.json["references"])


def test_list_keeps_a_tag(run: Run, skills: Path) -> None:
    def named(*options: str) -> list[str]:
        shown = run("list", "--root", "skills", "--json", *options).json
        return [card["name"] for card in shown["skills"]]

    assert named("--tag", "ETL", "--tag", "debugging") == ["csv-cleaning", "git-bisect"]


def test_a_card_says_what_is_hidden_and_what_is_shadowed(run: Run, skills: Path) -> None:
    write(skills.parent, {"later/git-bisect/SKILL.md": document("git-bisect", body="Another.")})
    shown = run("list", "--root", "skills", "--root", "later", "--json").json
    cards = {card["path"]: card for card in shown["skills"]}
    later = cards["later/git-bisect/SKILL.md"]
    assert later["shadowed_by"] == "skills/git-bisect/SKILL.md"
    assert cards["skills/.skills/wipe-disk.md"]["hidden"] is True
    assert "shadowed" in run("list", "--root", "skills", "--root", "later").out


def test_copies_are_one_card_with_all_places(run: Run, skills: Path) -> None:
    body = (skills / "git-bisect" / "SKILL.md").read_text(encoding="utf-8")
    write(skills.parent, {"later/git-bisect/SKILL.md": body})
    both = ("--root", "skills", "--root", "later")
    places = ["skills/git-bisect/SKILL.md", "later/git-bisect/SKILL.md"]
    shown = run("list", *both, "--json").json
    assert [card["places"] for card in shown["skills"] if card["name"] == "git-bisect"] == [places]
    assert (shown["counts"]["skills"], shown["counts"]["copies"]) == (6, 1)
    listed = run("list", *both).out
    assert "2 places" in listed
    assert "6 skills (1 by name only), 1 copy, 1 convention document" in listed
    assert f"also at   {places[1]}" in run("show", "git-bisect", *both).out
    assert "rank 1 of" in run("why", "git-bisect", "find the broken commit", *both).out
    chosen = run("select", "find the commit that broke the build", *both, "--json").json
    names = [each["name"] for each in (*chosen["selected"], *chosen["rejected"])]
    assert names.count("git-bisect") == 1


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("list",), 0, ""),
        (("rank", "csv"), 1, "There are no skills to rank."),
        (("rank", "csv", "--scorer", "overlap"), 1, "There are no skills to rank."),
        (("select", "csv"), 1, "There are no skills to choose from."),
        (
            ("search", "csv", "--source", "local"),
            1,
            "No skill was found\n0 skills from local 0; no remote asked; ranked by hybrid",
        ),
        (("inject", "csv"), 0, "csv"),
        (("why", "x", "csv"), 2, ""),
    ],
)
def test_an_empty_folder_is_said_to_hold_no_skills_and_what_to_do_next(
    command: tuple[str, ...],
    code: int,
    said: str,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run(*command)
    assert (answer.code, answer.out.strip()) == (code, said)
    first = answer.err.split("\n")[0]
    where = "this project's and the user's agent folders"
    assert first.startswith(f"no skills below {os.getcwd()} and in {where}: ")
    assert "--root" in first
    assert "no skill fits" not in answer.err
    assert "skillyard list names every skill" not in answer.err
    machine = run(*command, "--json")
    assert machine.code == code
    assert machine.out == "" if code == 2 else machine.json["schema"].startswith("skillyard.")
    assert machine.err.split("\n")[0] == first
    scoped = run(*command, "--scope", "user").err
    assert "in the user's agent folders" in scoped or "no skills below" not in scoped


def test_why_says_what_beats_a_skill_and_by_which_signals(run: Run, skills: Path) -> None:
    query = "find the commit that broke the build"
    words = (query, "--root", "skills", "--json", "--scorer", "overlap")
    shown = run("why", "git-bisect", *words).json
    assert (shown["rank"], shown["before"], shown["chosen"]) == (2, 1, False)
    (first,) = shown["ahead"]
    assert first["match"]["name"] == "git-revert"
    for signal in first["by"]:
        assert signal["lead"] == pytest.approx(signal["theirs"] - signal["ours"])
    lead = sum(signal["lead"] for signal in first["by"])
    assert lead == pytest.approx(first["match"]["score"] - shown["match"]["score"])
    assert shown["sentences"][1].startswith("git-revert (")


def test_why_explains_the_same_score_that_rank_gives(run: Run, skills: Path) -> None:
    words = ("find the commit", "--root", "skills", "--json")
    ranked = run("rank", *words).json["matches"]
    for place, match in enumerate(ranked, 1):
        shown = run("why", match["name"], *words).json
        assert (shown["rank"], shown["match"]["score"]) == (place, match["score"])
        assert shown["match"]["explanation"]["value"] == match["score"]
        assert [ahead["match"]["name"] for ahead in shown["ahead"]] == [
            earlier["name"] for earlier in ranked[: place - 1]
        ]


@pytest.mark.parametrize(
    ("name", "words", "hint"),
    [
        ("wipe-disk", ("erases a disk",), "hidden"),
        ("git-bisect", ("xylophone",), "no word of the query matches"),
        ("git-bisect", ("--files", "a.py"), "declares no file patterns"),
        ("csv-cleaning", ("--files", "a.py"), "no file of the query matches"),
        ("git-bisect", ("commit", "--tag", "data"), "none of the tags data"),
        ("git-bisect", ("commit", "--not-tag", "git"), "was excluded"),
        ("agents", ("house rules",), "convention document"),
    ],
)
def test_why_hints_at_what_the_numbers_do_not_show(
    run: Run, skills: Path, name: str, words: tuple[str, ...], hint: str
) -> None:
    shown = run("why", name, *words, "--root", "skills", "--json").json
    assert any(hint in said for said in shown["hints"]), shown["hints"]


def test_an_explanation_has_words_of_the_field_and_those_of_the_request_as_they_are_written(
    run: Run, skills: Path
) -> None:
    words = ("cleaning the commits", "--root", "skills", "--explain", "--json")
    labels = {*re.findall(r'"label": "([^"]+)"', run("rank", *words).out)}
    assert {"cleaning", "words", "meaning", "log-odds"} <= labels
    assert not {"both", "plain", "rest", "beyond", "lead", "said", "clean", "commit"} & labels
    assert "candidates" not in run("select", "xyzzy", "--root", "skills").out


def test_why_says_that_a_skill_is_not_for_the_request(run: Run, skills: Path) -> None:
    about = "Maps a repository. Do not use for commits that broke the build."
    write(skills, {"ink/SKILL.md": f"---\nname: ink\ndescription: {about}\n---\nDraw.\n"})
    query = "which commit broke the build of the repository"
    shown = run("why", "ink", query, "--root", "skills").out
    assert "ink says that it is not for a part of the request, so it has no rank." in shown
    assert "reranking +" in shown
    assert "no word of the query matches" not in shown


def test_why_says_that_a_skill_is_shadowed_and_by_which(run: Run, skills: Path) -> None:
    content = "---\nname: git-bisect\ndescription: Another.\n---\nOther text.\n"
    write(skills.parent, {"later/git-bisect/SKILL.md": content})
    both = ("--root", "skills", "--root", "later")
    cards = run("list", *both, "--json").json["skills"]
    later = next(card for card in cards if card["path"].startswith("later/"))
    shown = run("why", later["id"], "another", *both, "--json").json
    assert shown["rank"] is None
    assert any("skills/git-bisect/SKILL.md" in hint for hint in shown["hints"])


def test_equal_scores_say_what_decided(run: Run, skills: Path) -> None:
    twin = "---\nname: {0}\ndescription: Bake bread.\n---\nKnead.\n"
    write(skills, {"a/SKILL.md": twin.format("bake-a"), "b/SKILL.md": twin.format("bake-b")})
    shown = run("why", "bake-b", "knead bread", "--root", "skills", "--json").json
    assert "name, path" in shown["ahead"][0]["because"]


def test_a_menu_asks_the_user_without_markup(run: Run, skills: Path) -> None:
    words = ("commit that broke the build", "--root", "skills", "--scorer", "overlap")
    shown = run("select", *words, "--json").json
    assert shown["question"].startswith("Several skills could help.")
    assert len(shown["menu"]) == 2
    assert "git-revert or git-bisect?" in run("select", *words).out


def test_the_policy_that_was_applied_is_in_the_answer(run: Run, skills: Path) -> None:
    words = ("commit", "--root", "skills", "--json")
    assert run("select", *words).json["policy"] == {"min_score": 2 / 3, "top_k": 5}
    found = run("select", *words, "--scorer", "overlap").json
    assert found["policy"] == {"min_score": 1.0, "top_k": 1}
    asked = run("select", *words, "--min-score", "0.5", "--top-k", "0").json
    assert asked["policy"] == {"min_score": 0.5, "top_k": 0}
    assert asked["abstained"] is True
    assert run("select", *words, "--wrong-cost", "1").json["policy"]["min_score"] == 0.5
    assert "--top-k is 0" in run("select", "commit", "--root", "skills", "--top-k", "0").out


def test_limits_bound_what_is_named(run: Run, skills: Path) -> None:
    words = ("the csv commit", "--root", "skills", "--json", "--scorer", "overlap")
    ranked = run("rank", *words, "--limit", "1").json
    assert (len(ranked["matches"]), ranked["total"]) == (1, 3)
    assert run("rank", *words, "--limit", "0").code == 0
    assert run("select", *words, "--limit", "1").json["rejected"][1:] == []
    assert run("why", "csv-cleaning", *words, "--limit", "0").json["ahead"] == []


def test_a_hidden_skill_is_called_by_its_name(run: Run, skills: Path) -> None:
    words = ("erases a disk", "--root", "skills")
    assert run("select", *words).code == 1
    called = run("select", f"@wipe-disk {words[0]}", *words[1:], "--json").json
    assert called["selected"][0]["name"] == "wipe-disk"


def test_a_folder_is_listed_beside_those_of_root(run: Run, skills: Path) -> None:
    write(skills.parent / "more", {"extra/SKILL.md": document("extra", "Extra.", "x")})
    shown = run("list", "more", "--root", "skills", "--json").json
    assert {"extra", "csv-cleaning"} <= {card["name"] for card in shown["skills"]}
    assert "before --root" in run("list", "--help").out


def test_a_section_without_anything_says_so(run: Run, skills: Path) -> None:
    answer = run("show", "git-bisect", "--section", "files", "--root", "skills")
    assert (answer.code, answer.out) == (0, "")
    assert "git-bisect has no files beside its instructions" in answer.err


def test_inject_without_room_for_instructions_is_refused(run: Run, skills: Path) -> None:
    answer = run("inject", "clean this csv", "--max-chars", "0", "--root", "skills")
    assert (answer.code, answer.out) == (2, "")
    assert "--max-chars 0 leaves no instructions" in answer.err


def test_add_without_a_place_says_what_a_dry_run_would_install(
    run: Run, skills: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "nobody"))
    answer = run("add", "./skills/csv-cleaning", "--dry-run")
    assert answer.code == 0
    assert answer.out.startswith("csv-cleaning  would be added: .agents/skills/csv-cleaning")
    assert "references/dates.md" in answer.out
    assert "nothing was written" in answer.out
    assert "# CSV cleaning" not in answer.out


def test_without_a_root_the_project_and_the_users_agent_folders_are_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    for folder, name in ((home, "mine"), (project, "ours")):
        write(folder / f".claude/skills/{name}", {"SKILL.md": document(name, "Does it.")})
    below = project / "src"
    below.mkdir()
    (project / ".git").mkdir()
    monkeypatch.chdir(below)

    def names(*more: str) -> set[str]:
        return {each["name"] for each in run("list", "--json", *more).json["skills"]}

    assert names() == {"mine", "ours"}
    assert names("--scope", "none") == set()
    assert names("--scope", "project") == {"ours"}
    assert names("--root", str(home)) == {"mine"}
    write(home, {"skillyard.toml": "[scopes]\nread = []\n"})
    monkeypatch.setenv("SKILLYARD_CONFIG", str(home / "skillyard.toml"))
    assert names() == set()
