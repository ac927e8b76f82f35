"""The commands that score: arguments, exit codes, and the shapes of their JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.requirements import requirement
from tests.worked_examples.running import Command

MATCH_FIELDS = {"name", "id", "slug", "path", "score", "level", "reason", "signals"}
SCORERS = ["overlap", "triggers", "confidence", "relevance"]


def named(matches: list[dict[str, Any]]) -> list[str]:
    return [match["name"] for match in matches]


@requirement("cli:rank")
def test_rank_prints_the_documented_shape(run: Command) -> None:
    answer = run("rank", "deploy the app", "--scorer", "overlap", "--json")
    assert answer.code == 0
    shown = answer.json
    assert {"schema", "query", "scorer", "matches", "diagnostics"} <= set(shown)
    assert shown["scorer"] == "overlap"
    assert shown["query"]["text"] == "deploy the app"
    assert set(shown["query"]) >= {"text", "files"}
    assert named(shown["matches"])[0] == "deploy-app"
    for match in shown["matches"]:
        assert set(match) >= MATCH_FIELDS
        assert "explanation" not in match
    scores = [match["score"] for match in shown["matches"]]
    assert scores == sorted(scores, reverse=True)
    limited = run("rank", "deploy the database", "--scorer", "overlap", "--limit", "1", "--json")
    assert len(limited.json["matches"]) == 1
    assert "deploy-app" in run("rank", "deploy the app", "--scorer", "overlap").out


@requirement("cli:rank:empty")
def test_rank_answers_one_when_nothing_is_found(run: Command) -> None:
    answer = run("rank", "xylophone", "--scorer", "overlap", "--json")
    assert (answer.code, answer.json["matches"]) == (1, [])


@requirement("cli:rank:explain")
def test_explain_adds_the_tree_to_every_match(run: Command) -> None:
    answer = run("rank", "deploy the app", "--scorer", "overlap", "--explain", "--json")
    for match in answer.json["matches"]:
        assert match["explanation"]["value"] == match["score"]
        assert match["explanation"]["label"]


@requirement("cli:rank:scorers")
@pytest.mark.parametrize("command", [["rank", "deploy"], ["select", "deploy"]])
def test_a_wrong_scorer_is_wrong_use_and_lists_the_known_ones(
    run: Command, command: list[str]
) -> None:
    answer = run(*command, "--scorer", "overlapp")
    assert (answer.code, answer.out) == (2, "")
    assert all(name in answer.err for name in SCORERS)


@requirement("cli:default-scorer")
def test_the_default_scorer_says_its_name(run: Command) -> None:
    for command in ("rank", "select"):
        assert run(command, "deploy the app", "--json").json["scorer"] in {"overlap", "hybrid"}


@requirement("cli:select")
def test_select_prints_the_documented_shape(run: Command) -> None:
    answer = run("select", "query the database", "--scorer", "overlap", "--json")
    shown = answer.json
    assert answer.code == 0
    assert {"schema", "query", "scorer", "selected", "rejected", "diagnostics"} <= set(shown)
    assert named(shown["selected"]) == ["query-db"]
    assert (shown["abstained"], shown["fallback"]) == (False, False)
    assert isinstance(shown["considered"], int)
    assert set(shown["selected"][0]) >= MATCH_FIELDS
    assert "query-db" in run("select", "query the database", "--scorer", "overlap").out


@requirement("cli:select:abstain")
def test_select_answers_one_when_it_abstains(run: Command) -> None:
    answer = run("select", "weather on mars", "--scorer", "overlap", "--json")
    assert answer.code == 1
    assert (answer.json["selected"], answer.json["abstained"]) == ([], True)
    assert answer.json["fallback"] is False


@requirement("cli:select:policy")
def test_the_policy_comes_from_the_flags(run: Command) -> None:
    def chosen(*flags: str) -> list[str]:
        found = run("select", "deploy the database", "--scorer", "overlap", "--json", *flags)
        return sorted(named(found.json["selected"]))

    many = ("--top-k", "9", "--min-score", "0.1")
    assert len(chosen()) == 1
    assert {"deploy-app", "query-db"} <= set(chosen(*many))
    assert chosen(*many, "--tag", "ops", "--tag", "nobody") == ["deploy-app"]
    assert "deploy-app" not in chosen(*many, "--not-tag", "OPS")
    assert chosen("--min-score", "99") == []


@requirement("cli:select:fallback")
def test_a_fallback_is_a_selection_that_says_so(run: Command) -> None:
    answer = run(
        "select", "weather on mars", "--scorer", "overlap", "--fallback", "fallback", "--json"
    )
    assert answer.code == 0
    assert answer.json["fallback"] is True
    assert named(answer.json["selected"]) == ["generalist"]


@requirement("cli:evaluate")
def test_evaluate_prints_the_documented_answer(run: Command) -> None:
    answer = run(
        "evaluate", "--text", "release the app", "--files", "src/Dockerfile", "--details", "--json"
    )
    shown = answer.json
    assert answer.code == 0
    assert set(shown) == {"schema", "results", "message"}
    assert shown["results"][0]["skillName"] == "deploy-app"
    assert set(shown["results"][0]) == {"skillName", "confidence", "level", "reason"}
    assert shown["message"].startswith("## Skill Evaluation Results (")
    assert "Match Details" in shown["message"]
    assert "deploy-app" in run("evaluate", "--text", "release the app").out


@requirement("cli:evaluate:empty")
def test_evaluate_answers_one_when_nothing_matches(run: Command) -> None:
    answer = run("evaluate", "--text", "xylophone", "--json")
    assert (answer.code, answer.json["results"]) == (1, [])
    assert answer.json["message"] == "No skills matched the current context."


@requirement("cli:evaluate:missing")
def test_evaluate_without_text_and_files_names_both(run: Command) -> None:
    answer = run("evaluate")
    assert (answer.code, answer.out) == (2, "")
    assert "files" in answer.err
    assert "text" in answer.err


@requirement("cli:why")
def test_why_explains_one_skill_and_names_what_beats_it(run: Command) -> None:
    answer = run("why", "deploy-app", "query the database of the app", "--explain")
    assert answer.code == 0
    assert "description" in answer.out
    assert "query-db" in answer.out
    shown = run("why", "deploy-app", "deploy", "--json").json
    assert "explanation" in json.dumps(shown)
