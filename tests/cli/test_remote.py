"""``search``, ``add`` and ``cache`` against the stand-in: what people and scripts see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.install.locks import read_project_lock
from skillyard.sources.settings import GITHUB_TOKENS
from skillyard.standin import Upstreams, faults
from tests.cli.conftest import Run

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")


def text(name: str, description: str, body: str = "Steps.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n"


@pytest.fixture
def remotes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Upstreams]:
    with Upstreams() as up:
        up.add_repository(
            "acme/skills",
            {
                "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms."),
                "skills/pdf/references/forms.md": "Forms.",
                "skills/pdf/scripts/fill.py": "print()",
                "skills/docx/SKILL.md": text("docx", "Write Word documents."),
            },
        )
        up.add_repository("acme/one", {"SKILL.md": text("one", "One skill.")})
        up.list_skill("acme/skills", "pdf", name="pdf", installs=500)
        up.list_skill("acme/skills", "docx", name="docx", installs=20)
        up.add_well_known(
            "release-notes", {"SKILL.md": text("release-notes", "Notes.")}, "skill-md"
        )
        for name in (*GITHUB_TOKENS, "SKILLYARD_CONFIG", "SKILLYARD_OFFLINE", "SKILLYARD_SOURCES"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("SKILLYARD_SKILLS_SH_URL", up.skills_sh)
        monkeypatch.setenv("SKILLYARD_GITHUB_API_URL", up.github_api)
        monkeypatch.setenv("SKILLYARD_GITHUB_RAW_URL", up.github_raw)
        monkeypatch.setenv("SKILLYARD_WELL_KNOWN_URL", up.well_known)
        yield up


class TestSearch:
    def test_it_shows_what_was_found_and_who_said_so(self, run: Run, remotes: Upstreams) -> None:
        done = run("search", "pdf", "forms")
        assert done.code == 0
        assert "acme/skills/pdf" in done.out
        assert "skills.sh 1" in done.out
        assert "ranked by relevance" in done.out

    def test_json_is_one_document(self, run: Run, remotes: Upstreams) -> None:
        shape = run("search", "pdf", "--json", "--references").json
        assert shape["schema"] == "skillyard.search/1"
        first = shape["skills"][0]
        assert (first["id"], first["install_count"]) == ("pdf", 500)
        assert first["content"].startswith("# pdf")
        assert [reference["path"] for reference in first["references"]] == ["references/forms.md"]
        assert not shape["partial"]

    def test_explain_shows_the_trees(self, run: Run, remotes: Upstreams) -> None:
        assert "match" in run("search", "pdf", "--explain").out
        shape = run("search", "pdf", "--explain", "--json").json
        assert shape["skills"][0]["explanation"]["value"] == shape["skills"][0]["relevance_score"]

    def test_another_scorer_ranks(self, run: Run, remotes: Upstreams) -> None:
        assert run("search", "pdf", "--scorer", "hybrid", "--json").json["ranker"] == "hybrid"

    def test_nothing_found_is_1(self, run: Run, remotes: Upstreams) -> None:
        done = run("search", "zzzz", "--source", "skills.sh")
        assert (done.code, "No skill was found" in done.out) == (1, True)

    def test_a_failed_source_is_named_and_the_rest_answers(
        self, run: Run, remotes: Upstreams
    ) -> None:
        remotes.faults.add("well_known", "*", faults.status(500))
        done = run("search", "pdf")
        assert done.code == 0
        assert "well-known: " in done.err
        assert "500" in done.err

    def test_all_failed_is_4(self, run: Run, remotes: Upstreams) -> None:
        remotes.faults.add("skills_sh", "*", faults.html())
        done = run("search", "pdf", "--source", "skills.sh")
        assert done.code == 4
        assert "a web page came instead of JSON" in done.err

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("search",), "the query is empty"),
            (("search", "pdf", "--limit", "0"), "limit must be"),
            (("search", "pdf", "--source", "nosuch"), "known: github, local, registry"),
            (("search", "pdf", "--scorer", "nosuch"), "unknown scorer"),
        ],
    )
    def test_wrong_use_is_2(
        self, run: Run, remotes: Upstreams, words: tuple[str, ...], said: str
    ) -> None:
        done = run(*words)
        assert (done.code, said in done.err) == (2, True)
        assert remotes.requests == []

    def test_settings_that_are_wrong_are_named(
        self, run: Run, remotes: Upstreams, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "c.toml").write_text("[search]\nranker = 3\n")
        monkeypatch.setenv("SKILLYARD_CONFIG", str(tmp_path / "c.toml"))
        done = run("search", "pdf")
        assert (done.code, "search.ranker is of the wrong type" in done.err) == (2, True)


class TestAdd:
    def test_without_a_folder_it_is_printed(self, run: Run, remotes: Upstreams) -> None:
        done = run("add", "pdf")
        assert done.code == 0
        assert done.out == text("pdf", "Fill in PDF forms.")

    @pytest.mark.parametrize(
        "target", ["pdf", "acme/skills/pdf", "https://github.com/acme/skills/tree/main/skills/pdf"]
    )
    def test_it_is_kept_with_everything_that_belongs_to_it(
        self, run: Run, remotes: Upstreams, tmp_path: Path, target: str
    ) -> None:
        into = tmp_path / "skills"
        shape = run("add", target, "--into", str(into), "--json").json
        assert shape["state"] == "added"
        assert shape["files"] == ["SKILL.md", "references/forms.md", "scripts/fill.py"]
        assert (into / "pdf" / "scripts" / "fill.py").read_text() == "print()"
        (locked,) = read_project_lock(shape["lock"]).skills
        assert (locked.name, locked.source, locked.source_type) == ("pdf", "acme/skills", "github")
        assert locked.commit is not None
        assert len(locked.commit) == 40
        assert locked.digest == shape["digest"]
        assert locked.skill_path == "skills/pdf/SKILL.md"

    def test_the_only_skill_of_a_repository_needs_no_name(
        self, run: Run, remotes: Upstreams
    ) -> None:
        assert run("add", "acme/one").out == text("one", "One skill.")
        done = run("add", "acme/skills")
        assert done.code == 2
        assert "holds 2 skills; name one: acme/skills/docx, acme/skills/pdf" in done.err

    def test_an_unknown_name_is_not_replaced_by_a_popular_one(
        self, run: Run, remotes: Upstreams
    ) -> None:
        done = run("add", "pdf-forms-pro")
        assert done.code == 2
        assert "no skill named" in done.err
        assert done.out == ""

    def test_edits_are_kept(self, run: Run, remotes: Upstreams, tmp_path: Path) -> None:
        into = str(tmp_path / "skills")
        assert run("add", "pdf", "--into", into).code == 0
        (tmp_path / "skills" / "pdf" / "SKILL.md").write_text("mine")
        done = run("add", "pdf", "--into", into)
        assert (done.code, "remove the folder" in done.err) == (2, True)
        assert (tmp_path / "skills" / "pdf" / "SKILL.md").read_text() == "mine"

    def test_a_newer_version_replaces_what_was_installed(
        self, run: Run, remotes: Upstreams, tmp_path: Path
    ) -> None:
        into = str(tmp_path / "skills")
        first = run("add", "pdf", "--into", into, "--json").json
        remotes.add_repository(
            "acme/skills", {"skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms, newer.")}
        )
        run("cache", "clear")
        second = run("add", "pdf", "--into", into, "--json").json
        assert (first["state"], second["state"]) == ("added", "replaced")
        assert [path.name for path in (tmp_path / "skills" / "pdf").iterdir()] == ["SKILL.md"]

    def test_a_look_alike_needs_a_yes(self, run: Run, remotes: Upstreams, tmp_path: Path) -> None:
        remotes.add_repository("evil/skills", {"skills/pdff/SKILL.md": text("pdff", "Evil.")})
        into = str(tmp_path / "skills")
        assert run("add", "pdf", "--into", into).code == 0
        done = run("add", "evil/skills/pdff", "--into", into)
        assert (done.code, "looks like pdf" in done.err) == (2, True)
        assert not (tmp_path / "skills" / "pdff").exists()
        done = run("add", "evil/skills/pdff", "--into", into, "--yes")
        assert (done.code, "looks like  pdf" in done.out) == (0, True)

    def test_without_github_the_snapshot_is_kept(
        self, run: Run, remotes: Upstreams, tmp_path: Path
    ) -> None:
        remotes.faults.add("github_api", "*", faults.rate_limited())
        shape = run("add", "pdf", "--into", str(tmp_path / "skills"), "--json").json
        assert shape["state"] == "added"
        assert shape["skill"]["commit"] is None

    def test_nobody_there_is_4(self, run: Run, remotes: Upstreams) -> None:
        for server in ("skills_sh", "github_api"):
            remotes.faults.add(server, "*", faults.status(503), times=None)
        assert run("add", "acme/skills/pdf").code == 4

    @pytest.mark.parametrize(
        "target", ["", "a/b/../c", "http://example.com", "ftp://x/y", "../../etc/passwd", "a/b c/d"]
    )
    def test_what_names_no_skill_is_2(self, run: Run, remotes: Upstreams, target: str) -> None:
        assert run("add", target).code == 2

    def test_a_private_address_is_refused_without_a_request(
        self, run: Run, remotes: Upstreams
    ) -> None:
        done = run("add", "https://127.0.0.1:1#x")
        assert done.code == 4
        assert "does not lie on the public internet" in done.err

    def test_a_site_of_the_settings_is_asked_wherever_it_is(
        self, run: Run, remotes: Upstreams, tmp_path: Path
    ) -> None:
        found = run("search", "notes", "--source", "well-known", "--json").json["skills"][0]
        assert found["id"] == "release-notes"


class TestCache:
    def test_what_was_asked_answers_offline(
        self, run: Run, remotes: Upstreams, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = run("search", "pdf", "--json").json
        asked = len(remotes.requests)
        monkeypatch.setenv("SKILLYARD_OFFLINE", "1")
        second = run("search", "pdf", "--json").json
        assert len(remotes.requests) == asked
        assert [s["id"] for s in second["skills"]] == [s["id"] for s in first["skills"]]
        assert run("search", "never asked", "--source", "skills.sh").code == 4

    def test_it_says_what_it_holds_and_forgets_it(self, run: Run, remotes: Upstreams) -> None:
        run("search", "pdf")
        stats = run("cache", "stats", "--json").json
        assert stats["entries"] > 0
        assert stats["bytes"] > 0
        assert json.loads(run("cache", "clear", "--json").out)["removed"] == stats["entries"]
        assert run("cache", "stats", "--json").json["entries"] == 0
        assert "0 answers" in run("cache", "stats").out
        assert "0 answers forgotten" in run("cache", "clear").out
