"""GitHub: one request a repository, files at what was seen, every failure by its own name."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import unquote

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.github import GitHub, GitHubSource, RepositoryTree
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.transport import Transport
from skillyard_testkit import Response, faults
from tests.install.sources.clients import Network, skill
from tests.tables import for_each

PDF = skill("pdf", "Extract tables from PDF files.")
FILES: dict[str, str | bytes] = {
    "README.md": "# Kit\n",
    "skills/pdf/SKILL.md": PDF,
    "skills/pdf/references/a.md": "# A\n",
    "skills/pdf/references/logo.png": b"\x89PNG\xff\x00",
    "skills/pdf/scripts/run.py": "print()\n",
    "skills/xlsx/SKILL.md": skill("xlsx"),
}


@pytest.fixture
def site(net: Network) -> Network:
    net.up.add_repository("acme/kit", FILES)
    return net


def hit(skill_id: str = "pdf", source: str = "acme/kit", path: str | None = None) -> Hit:
    return Hit(source=source, id=skill_id, found_by="registry", path=path)


def package(
    net: Network, of: Hit | None = None, *, how: dict[str, Any] | None = None, **more: Any
) -> Package:
    wanted = of or hit()
    return net.ask(lambda t: GitHub(t).package(wanted, **more), **(how or {}))


def failure(
    net: Network, of: Hit | None = None, *, how: dict[str, Any] | None = None, **more: Any
) -> SourceFailed:
    with pytest.raises(SourceFailed) as caught:
        package(net, of, how=how, **more)
    return caught.value


def tree(net: Network, repository: str = "acme/kit", **how: Any) -> RepositoryTree:
    return net.ask(lambda t: GitHub(t).tree(repository), **how)


def relative(files: Any) -> set[str]:
    return set(files)


# --- how few requests ---


def test_a_skill_takes_one_request_of_the_quota_and_one_of_the_raw_host(site: Network) -> None:
    found = package(site)
    assert found.files["SKILL.md"].decode() == PDF
    assert site.up.requests[0].path.startswith("/repos/acme/kit/git/trees/HEAD?")
    assert (site.up.count("github_api"), site.up.count("github_raw")) == (1, 1)


def test_the_skills_of_a_repository_share_one_tree(site: Network) -> None:
    async def use(transport: Transport) -> list[Package]:
        github = GitHub(transport)
        return list(await asyncio.gather(*(github.package(hit(i)) for i in ("pdf", "xlsx") * 8)))

    assert len(site.ask(use)) == 16
    assert (site.up.count("github_api"), site.up.count("github_raw")) == (1, 2)


# --- what is in a package ---


def test_references_are_its_markdown(site: Network) -> None:
    assert relative(package(site, references=True).files) == {"SKILL.md", "references/a.md"}


def test_the_whole_skill_is_every_file_of_it_at_one_commit(site: Network) -> None:
    commit = site.up.add_repository("acme/kit", FILES).commit
    found = package(site, whole=True)
    assert relative(found.files) == {
        "SKILL.md", "references/a.md", "references/logo.png", "scripts/run.py",
    }  # fmt: skip
    assert found.files["references/logo.png"] == FILES["skills/pdf/references/logo.png"]
    assert found.commit == commit
    for request in site.up.requests:
        if request.server == "github_raw":
            assert request.path.startswith(f"/acme/kit/{commit}/")


def test_a_push_between_two_requests_does_not_mix_two_commits(site: Network) -> None:
    old = site.up.add_repository("acme/kit", FILES).commit

    async def use(transport: Transport) -> Package:
        github = GitHub(transport)
        commit = await github.commit("acme/kit")
        assert commit == old
        site.up.add_repository("acme/kit", {**FILES, "skills/pdf/SKILL.md": skill("pdf", "New.")})
        return await github.package(hit(), ref=commit, whole=True)

    found = site.ask(use)
    assert (found.commit, found.files["SKILL.md"].decode()) == (old, PDF)


def test_a_skill_at_the_root_brings_its_references_and_no_papers(site: Network) -> None:
    site.up.add_repository(
        "acme/rooted",
        {"SKILL.md": PDF, "README.md": "r", "CHANGELOG.md": "c", "references/a.md": "a",
         "other/SKILL.md": PDF},
    )  # fmt: skip
    found = package(site, hit("rooted", "acme/rooted"), references=True)
    assert relative(found.files) == {"SKILL.md", "references/a.md"}


def test_a_file_that_is_a_pointer_is_not_the_file(site: Network) -> None:
    site.up.faults.add("github_raw", "*/SKILL.md", faults.lfs_pointer())
    error = failure(site)
    assert error.code in ("bad_answer", "not_found")
    assert "lfs" in str(error).lower()


def test_links_and_modules_are_no_files(site: Network) -> None:
    site.up.add_repository(
        "acme/linked",
        {"skills/pdf/SKILL.md": PDF, "secret.md": "s"},
        symlinks={"skills/pdf/references/out.md": "../../../secret.md",
                  "skills/linked/SKILL.md": "../pdf/SKILL.md"},
        submodules={"skills/pdf/docs": "a" * 40},
    )  # fmt: skip
    found = package(site, hit("pdf", "acme/linked"), references=True)
    assert relative(found.files) == {"SKILL.md"}
    assert failure(site, hit("linked", "acme/linked")).code in ("not_found", "refused")
    assert not [r for r in site.up.requests if "out.md" in r.path or "/linked/SKILL" in r.path]


def test_large_files_are_left_out_without_being_read(site: Network) -> None:
    site.up.add_repository(
        "acme/big",
        {"skills/big/SKILL.md": PDF, "skills/big/references/a.md": "x" * 3_000_000,
         "skills/big/references/b.md": "b"},
    )  # fmt: skip
    found = package(site, hit("big", "acme/big"), references=True)
    assert relative(found.files) == {"SKILL.md", "references/b.md"}
    assert any("references/a.md" in text for text in found.skipped)


# --- failures by name ---


def test_a_private_repository_is_there_with_the_token_alone(site: Network) -> None:
    site.up.add_repository("acme/private", FILES, private=True)
    private = hit("pdf", "acme/private")
    assert failure(site, private).code == "not_found"
    site.clock.turn(120)
    assert package(site, private, how={"tokens": True}).files["SKILL.md"].decode() == PDF
    site.clock.turn(1)
    assert failure(site, private).code == "not_found"


def test_a_skill_cut_off_a_tree_is_not_said_to_be_missing_without_a_word(site: Network) -> None:
    site.up.faults.add("github_api", "*/git/trees/*", faults.truncated_tree(1), times=None)
    error = failure(site)
    said = f"{error} {error.hint}".lower()
    assert any(word in said for word in ("truncated", "cut", "whole", "part", "large"))


ODD_TREES: dict[str, Any] = {
    "a list": [],
    "a word": "tree",
    "nothing": None,
    "no tree": {"sha": "a" * 40},
    "tree a map": {"sha": "a" * 40, "tree": {}, "truncated": False},
    "tree null": {"sha": "a" * 40, "tree": None, "truncated": False},
    "entries odd": {
        "sha": "a" * 40,
        "tree": [1, None, "x", [], {}, {"path": 5}],
        "truncated": False,
    },
    "message": {"message": "Not Found"},
    "sha odd": {"sha": "../..", "tree": [], "truncated": False},
}


@for_each("name", ODD_TREES)
def test_an_odd_tree_is_a_bad_answer_or_an_empty_tree(site: Network, name: str) -> None:
    site.up.faults.clear()
    body = json.dumps(ODD_TREES[name]).encode()
    site.up.faults.add(
        "github_api",
        "*",
        faults.respond_with(Response(200, body, {"content-type": "application/json"})),
        times=None,
    )
    assert failure(site, how={"kept": False}).code in ("bad_answer", "not_found")
    assert site.up.count("github_raw") == 0


def entry(path: Any, **fields: Any) -> dict[str, Any]:
    return {"path": path, "mode": "100644", "type": "blob", "sha": "b" * 40, "size": 9, **fields}


def test_hostile_entries_cost_nothing_but_themselves(site: Network) -> None:
    entries = [
        entry("skills/pdf/SKILL.md"),
        entry("../../etc/SKILL.md"), entry("/etc/SKILL.md"), entry("skills/pdf/../../x.md"),
        entry("skills/pdf/references/a.md", size=-1), entry("skills/pdf/b.md", size="9"),
        entry("skills/pdf/c.md", size=10**30), entry("skills/pdf/d.md", size=None),
        entry("skills/pdf/e.md", size=True), entry("skills/pdf/\x00.md"), entry(None),
        entry(["x"]), entry("skills/pdf/f.md", mode=5), entry("skills/pdf/g.md", type="tree"),
        entry("skills/pdf/references/../../../../h.md"), entry("skills/pdf/references/\udfff.md"),
        entry("skills//pdf/i.md"), "x", None, 7,
    ]  # fmt: skip
    body = json.dumps({"sha": "a" * 40, "tree": entries, "truncated": False}).encode()
    site.up.faults.add(
        "github_api",
        "*/git/trees/*",
        faults.respond_with(Response(200, body, {"content-type": "application/json"})),
        times=None,
    )
    found = package(site, references=True)
    assert found.files["SKILL.md"].decode() == PDF
    for path in found.files:
        assert ".." not in path.split("/")
    for request in site.up.requests:
        assert "/../" not in unquote(request.path)


# --- names of repositories ---


@for_each(
    "text",
    ["", "a", "a/", "/b", "a/b/c", "a//b", "../b", "a/..", "a/.", "./b", "a/b\n", "\na/b", "a /b",
     "a/b ", "a/b?x=1", "a/b#x", "a/%2e%2e", "a\\b", "https://github.com/a/b", "a/b@main", "a/b:c",
     "\u00e4/b", "a/\uff42", "a/b\x00", "-a/b\r\nX: 1", "x" * 300 + "/b", "a/" + "x" * 300,
     "example.com", "a/..%2f", "a/b/../c"],
)  # fmt: skip
def test_anything_else_is_none(text: str) -> None:
    assert not is_repository(text)


# --- as a source ---


def search(net: Network, query: str, repositories: list[str], limit: int = 10) -> list[Hit]:
    return net.ask(lambda t: GitHubSource(GitHub(t), repositories).search(query, limit))


def test_skills_are_found_by_the_words_of_their_folders(site: Network) -> None:
    site.up.add_repository("acme/more", {"skills/pdf-forms/SKILL.md": PDF, "x/SKILL.md": PDF})
    found = search(site, "pdf", ["acme/kit", "acme/more"])
    assert {(one.source, one.id) for one in found} == {
        ("acme/kit", "pdf"),
        ("acme/more", "pdf-forms"),
    }
    assert found[0].id == "pdf"
    assert {one.found_by for one in found} == {"github"}
    assert site.up.count("github_api") == 2
    assert search(site, "unrelated", ["acme/kit"]) == []
    assert len(search(site, "pdf", ["acme/kit", "acme/more"], limit=1)) == 1
