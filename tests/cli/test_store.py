"""``store``: every command over a real store, its JSON and exit codes, and no password anywhere."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.making import write
from tests.configuration import configure
from tests.store.conftest import database, postgres_url, server
from tests.store.servers import PASSWORD

__all__ = ["database", "postgres_url", "server"]

SECRET = "Geheim-42"


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a store that is not there yet, in the environment."""
    url = f"sqlite:///{tmp_path}/store.db"
    monkeypatch.setenv("SKILLYARD_STORE", url)
    configure(monkeypatch, tmp_path, store={"publisher": "ci"})
    return url


@pytest.fixture
def kept(named: str, run: Run, skills: Path) -> Run:
    """The small library, published; seven skills, one of them broken, are six and a document."""
    assert run("store", "init").code == 0
    assert run("store", "publish", "skills", "--tenant", "acme").code == 1
    return run


def test_init_makes_a_store_once_and_migrate_brings_it_up_to_date(run: Run, named: str) -> None:
    absent = run("store", "migrate")
    assert (absent.code, "store init" in absent.err) == (2, True)
    made = run("store", "init", "--json").json
    assert (made["before"], made["now"], made["reader_role"]) == (None, 2, None)
    again = run("store", "init", "--json").json
    assert (again["before"], again["now"]) == (2, 2)
    assert "is there already" in run("store", "migrate").out


def test_an_old_schema_is_not_touched_by_init_and_is_migrated_on_purpose(
    run: Run, named: str, tmp_path: Path
) -> None:
    import sqlite3
    from contextlib import closing

    from tests.store.schema_release import RELEASED

    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        database.executescript((RELEASED / "sqlite-1.sql").read_text(encoding="utf-8"))
    refused = run("store", "init")
    assert (refused.code, "store migrate" in refused.err) == (2, True)
    done = run("store", "migrate", "--json").json
    assert (done["before"], done["now"]) == (1, 2)
    assert run("store", "status").code == 0


def test_a_publish_tells_what_it_did_and_what_it_could_not(kept: Run) -> None:
    again = kept("store", "publish", "skills", "--tenant", "acme", "--json")
    told = again.json
    assert (again.code, told["added"], told["unchanged"], told["refused"]) == (1, 0, 6, 1)
    assert [found["code"] for found in told["diagnostics"]] == ["description_not_string"]
    plain = kept("store", "publish", "skills", "--tenant", "acme")
    assert "6 unchanged" in plain.out
    assert "broken/SKILL.md" in plain.out
    assert "error description_not_string" in plain.out


def test_pruning_is_done_or_refused_and_said(kept: Run, skills: Path) -> None:
    shutil.rmtree(skills / "git-bisect")
    refused = kept("store", "publish", "skills", "--tenant", "acme", "--prune")
    assert (refused.code, "nothing was pruned" in refused.err) == (1, True)
    shutil.rmtree(skills / "broken")
    planned = kept("store", "publish", "skills", "--tenant", "acme", "--prune", "--dry-run")
    assert (planned.code, "it would be" in planned.out) == (0, True)
    done = kept("store", "publish", "skills", "--tenant", "acme", "--prune", "--json")
    assert (done.code, done.json["withdrawn"], done.json["pruned"]) == (0, 1, True)


def test_the_past_is_listed_taken_back_and_told(kept: Run) -> None:
    gone = kept("store", "withdraw", "git-bisect", "--tenant", "acme", "--json")
    assert (gone.code, gone.json["withdrawn"], gone.json["generation"]) == (0, 1, 2)
    assert kept("store", "withdraw", "git-bisect", "--tenant", "acme").code == 1
    assert kept("store", "withdraw", "--tenant", "acme").code == 2
    back = kept("store", "rollback", "1", "--tenant", "acme", "--publisher", "me", "--json").json
    assert (back["added"], back["generation"]) == (1, 3)
    assert kept("store", "rollback", "99", "--tenant", "acme").code == 2
    log = kept("store", "log", "--json").json["generations"]
    assert [(each["action"], each["publisher"]) for each in log] == [
        *(("rollback", "me"), ("withdraw", "ci"), ("publish", "ci")),
    ]
    assert len(kept("store", "log", "--limit", "1", "--json").json["generations"]) == 1
    assert kept("store", "log").out.splitlines()[1].split()[:4][0] == "3"
    versions = kept("store", "history", "git-bisect", "--tenant", "acme", "--json").json
    assert [each["version"] for each in versions["versions"]] == [1, 2]
    assert versions["place"] == "git-bisect"
    assert len(kept("store", "history", "git-bisect", "--tenant", "acme").out.splitlines()) == 4
    assert kept("store", "history", "never", "--tenant", "acme").code == 2


def test_an_empty_log_says_so(run: Run, named: str) -> None:
    run("store", "init")
    assert run("store", "log").out == "nothing was published yet\n"
    assert run("store", "grants").out.startswith("nothing was granted")


def test_the_status_is_told(kept: Run, named: str) -> None:
    told = kept("store", "status", "--json").json
    assert told["schema"] == "skillyard.store-status/1"
    assert (told["skills"], told["generation"], told["schema_version"]) == (6, 1, 2)
    assert told["store"] == named
    assert "6 skills, generation 1" in kept("store", "status").out


def test_grants_are_given_listed_and_taken_back(kept: Run) -> None:
    kept("store", "grant", "team-a", "--tenant", "acme")
    given = kept("store", "grant", "bob", "--tenant", "acme", "--place", "b", "--place", "a")
    assert given.out == "bob  acme: b, a; since generation 3\n"
    told = kept("store", "grants", "--json").json["grants"]
    assert [(each["caller"], each["places"]) for each in told] == [
        ("bob", ["a", "b"]),
        ("team-a", []),
    ]
    kept("store", "revoke", "bob", "--tenant", "acme", "--place", "a")
    assert kept("store", "grants", "bob", "--json").json["grants"][0]["places"] == ["b"]
    last = kept("store", "revoke", "bob", "--tenant", "acme", "--json").json
    assert (last["generation"], last["schema"]) == (5, "skillyard.store-granted/1")
    assert kept("store", "grants", "bob", "--json").json["grants"] == []


def test_without_a_store_the_command_says_how_to_name_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SKILLYARD_STORE", raising=False)
    answer = run("store", "status")
    assert (answer.code, "SKILLYARD_STORE" in answer.err) == (2, True)
    assert run("store", "publish", "--store", "sqlite:///x.db").code == 2  # whose skills?


def test_an_option_goes_before_the_environment(run: Run, named: str, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path}/other.db"
    run("store", "init", "--store", other)
    assert run("store", "status", "--store", other).code == 0
    assert run("store", "status").code == 2


ADDRESSES = [
    f"postgresql://u:{SECRET}@127.0.0.1:1/db",
    f"postgresql://u:{SECRET}/x@127.0.0.1:1/db",
    f"postgresql://u:x@{SECRET}@127.0.0.1:1/db",
    f"postgresql://u:{SECRET} @127.0.0.1:1/db",
    f"postgresql://u:{SECRET}%zz@127.0.0.1:1/db",
    f"postgresql://u@127.0.0.1:1/db?password={SECRET}",
    f"postgresql://u@127.0.0.1:1/db?sslpassword={SECRET}&odd={SECRET}",
    f"mysql://u:{SECRET}@h/db",
    f"u:{SECRET}@h/db",
    f"sqlite:///none?password={SECRET}",
]
COMMANDS = [
    ("init",),
    ("migrate",),
    ("publish", "skills", "--tenant", "acme"),
    ("withdraw", "a", "--tenant", "acme"),
    ("rollback", "1", "--tenant", "acme"),
    ("log",),
    ("history", "a", "--tenant", "acme"),
    ("status",),
    ("grant", "a", "--tenant", "acme"),
    ("revoke", "a", "--tenant", "acme"),
    ("grants",),
]


@pytest.mark.parametrize("url", ADDRESSES)
def test_no_error_repeats_the_password_of_an_address(
    url: str, run: Run, skills: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    configure(monkeypatch, tmp_path, store={"publisher": "ci"})
    for command in COMMANDS if url == ADDRESSES[0] else COMMANDS[:3]:
        for json_flag in ((), ("--json",)):
            answer = run("store", *command, "--store", url, *json_flag)
            assert answer.code == 2
            assert answer.err
            assert SECRET not in answer.out + answer.err


@pytest.mark.parametrize("url", [ADDRESSES[number] for number in (0, 1, 2, 5, 7)])
def test_an_address_in_the_wrong_place_is_repeated_without_its_password(
    url: str, run: Run, skills: Path
) -> None:
    for misplaced in (("store", "status", url), ("store", "grants", "a", url), ("list", url)):
        answer = run(*misplaced)
        assert answer.code == 2
        assert SECRET not in answer.out + answer.err


def test_no_answer_and_no_progress_holds_the_password(
    run: Run, skills: Path, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_STORE", postgres_url)
    configure(monkeypatch, tmp_path, store={"publisher": "ci"})
    for json_flag in ((), ("--json",)):
        for command in COMMANDS:
            answer = run("store", *command, *json_flag)
            assert answer.out or answer.code == 2
            assert PASSWORD not in answer.out + answer.err
    assert "GRANT skillyard_reader TO" not in run("store", "init").out
    told = run("store", "status", "--json").json
    assert re.fullmatch(r"postgresql://owner@127\.0\.0\.1:\d+/store", told["store"])


def test_a_new_store_in_postgresql_says_what_to_do_about_roles(run: Run, postgres_url: str) -> None:
    made = run("store", "init", "--store", postgres_url)
    assert "GRANT skillyard_reader TO" in made.out


def test_hostile_names_do_nothing_to_a_terminal(run: Run, named: str, hostile: Path) -> None:
    run("store", "init")
    write(hostile, {"x/SKILL.md": "---\nname: \x1b]0;x\x07\n---\n"})
    for arguments in (
        ("publish", "hostile", "--tenant", "acme", "--publisher", "a\x1b[2Jb"),
        ("log",),
        ("grant", "c\x1b[2J", "--tenant", "acme"),
        ("grants",),
        ("history", "\x1b[2J", "--tenant", "acme"),
    ):
        answer = run("store", *arguments)
        assert "\x1b" not in answer.out + answer.err
        assert "\x07" not in answer.out + answer.err


def test_json_stands_alone_on_standard_output(kept: Run) -> None:
    for command in (
        ("status",),
        ("log",),
        ("grants",),
        ("history", "git-bisect", "--tenant", "acme"),
    ):
        document_ = json.loads(kept("store", *command, "--json").out)
        assert document_["schema"] == f"skillyard.store-{command[0]}/1"
