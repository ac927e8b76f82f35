"""``feedback``: stored, listed, undone; and what it changes in the commands that rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.making import library
from tests.configuration import configure

REQUEST = "find the commit that broke the build"
LIKE_IT = "which commit broke our build"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library in ``skills``, and no feedback yet."""
    library(tmp_path / "skills")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    return tmp_path


def ask(run: Run, *words: str) -> str:
    return run("--root", "skills", *words).out


def test_a_judgement_is_shown_by_why_and_gone_after_undo(run: Run) -> None:
    before = ask(run, "why", "git-bisect", LIKE_IT, "--explain")
    answer = run("--root", "skills", "feedback", "git-bisect", "--wrong", "--for", REQUEST)
    assert (answer.code, answer.out) == (0, f"stored  1  git-bisect  wrong for: {REQUEST}\n")
    after = ask(run, "why", "git-bisect", LIKE_IT, "--explain")
    assert "feedback: wrong for a similar request" in after
    assert "feedback  you said it is wrong for a similar request" in after
    assert "feedback" not in ask(run, "why", "csv-cleaning", "clean this csv", "--explain")
    assert run("feedback", "--undo").out == f"removed  1  git-bisect  wrong for: {REQUEST}\n"
    assert ask(run, "why", "git-bisect", LIKE_IT, "--explain") == before


def test_select_rank_and_inject_use_it(run: Run) -> None:
    commands = [("select", REQUEST), ("rank", REQUEST), ("inject", REQUEST)]
    documents = [run("--root", "skills", *command, "--json").json for command in commands]
    run("--root", "skills", "feedback", "git-bisect", "--wrong", "--for", REQUEST)
    changed = [run("--root", "skills", *command, "--json").json for command in commands]

    def first(document: dict[str, object]) -> object:
        some = [document.get("match"), *document.get("selected", []), *document.get("matches", [])]  # type: ignore[misc]
        return next(each for each in some if each)

    for before, after in zip(documents, changed, strict=True):
        assert first(before)["score"] > first(after)["score"]  # type: ignore[index]


def test_the_request_is_the_last_logged_one_for_the_skill(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run("--root", "skills", "feedback", "git-bisect", "--wrong")
    assert answer.code == 2
    assert "add --for REQUEST" in answer.err
    configure(monkeypatch, folder, log={"file": "log.jsonl"})
    run("--root", "skills", "select", REQUEST)
    assert (
        "no request for it with text"
        in run("--root", "skills", "feedback", "git-bisect", "--wrong").err
    )
    configure(monkeypatch, folder, log={"text": True})
    run("--root", "skills", "select", REQUEST)
    run("--root", "skills", "select", "clean this csv file with a broken delimiter")
    answer = run("--root", "skills", "feedback", "git-bisect", "--wrong")
    assert answer.out == f"stored  1  git-bisect  wrong for: {REQUEST}\n"


def test_list_and_clear_name_what_there_is(run: Run) -> None:
    answer = run("feedback", "--list")
    assert (answer.code, answer.out) == (0, "")
    assert "there is no feedback" in answer.err
    for name in ("git-bisect", "csv-cleaning"):
        run("--root", "skills", "feedback", name, "--right", "--for", f"{name} \x1b[2J please")
    listed = run("feedback", "--list")
    assert "\x1b" not in listed.out
    assert "csv-cleaning" in listed.out
    document = run("feedback", "--list", "git-bisect", "--json").json
    assert document["schema"] == "skillyard.feedback-list/1"
    assert [each["skill"] for each in document["entries"]] == ["git-bisect"]
    assert run("feedback", "csv-cleaning", "--clear", "--json").json["total"] == 1
    assert run("feedback", "--clear").code == 0
    assert run("feedback", "--clear").code == 1


def test_wrong_use_says_what_to_do(run: Run) -> None:
    for words, hint in (
        (("feedback",), "required"),
        (("feedback", "x", "--right", "--wrong"), "not allowed"),
        (("feedback", "--wrong", "--for", "x"), "which skill"),
        (("feedback", "--list", "--for", "x"), "belong to --wrong and --right"),
        (("feedback", "git-bisekt", "--wrong", "--for", "x"), "git-bisect"),
        (("feedback", "--undo", "7"), "--list shows"),
        (("feedback", "--list", "--root", "skills"), "--root has no effect without --wrong"),
    ):
        judges = {"--wrong", "--right"} & {*words}
        answer = run(*(("--root", "skills") if judges else ()), *words)
        assert answer.code == 2
        assert hint in answer.err
