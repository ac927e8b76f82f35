"""skills.sh: every shape of its answers, snapshots before GitHub, and odd items without harm."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.skills_sh import SkillsSh, installs_of
from skillyard_testkit import Response, faults
from skillyard_testkit.faults import Fault
from tests.install.sources.clients import SKILLS_SH_TOKEN, Network, skill
from tests.tables import for_each

PDF = skill("pdf", "Extract tables from PDF files.")
FILES: dict[str, str | bytes] = {
    "skills/pdf/SKILL.md": PDF,
    "skills/pdf/references/a.md": "# A\n",
    "skills/pdf/scripts/run.py": "print()\n",
}


@pytest.fixture
def site(net: Network) -> Network:
    net.up.add_repository("acme/kit", FILES)
    net.up.list_skill("acme/kit", "pdf", name="PDF", installs=1_200)
    net.up.list_skill("other/kit", "pdf-forms", installs=7)
    return net


def search(net: Network, query: str, limit: int = 10, **how: Any) -> list[Hit]:
    return net.ask(lambda t: SkillsSh(t, GitHub(t)).search(query, limit), **how)


def fetch(net: Network, of: Hit, *, how: dict[str, Any] | None = None, **more: Any) -> Package:
    return net.ask(lambda t: SkillsSh(t, GitHub(t)).fetch(of, **more), **(how or {}))


def said(net: Network, document: Any, pattern: str = "*") -> None:
    body = json.dumps(document).encode()
    answer = Response(200, body, {"content-type": "application/json; charset=utf-8"})
    net.up.faults.add("skills_sh", pattern, faults.respond_with(answer), times=None)


def hit(source: str = "acme/kit", skill_id: str = "pdf") -> Hit:
    return Hit(source=source, id=skill_id, found_by="skills.sh")


def facts(hits: list[Hit]) -> list[tuple[str, str, str, int]]:
    return [(one.source, one.id, one.name, one.install_count) for one in hits]


# --- the search ---


@pytest.mark.parametrize("shape", ["current", "old"])
def test_both_shapes_say_the_same(site: Network, shape: str) -> None:
    site.up.search_shape = shape
    assert facts(search(site, "pdf")) == [
        ("acme/kit", "pdf", "PDF", 1_200), ("other/kit", "pdf-forms", "pdf-forms", 7),
    ]  # fmt: skip
    assert fetch(site, search(site, "pdf")[0]).files["SKILL.md"].decode() == PDF


def test_the_documented_search_is_asked_when_there_is_a_token(site: Network) -> None:
    found = search(site, "pdf", tokens=True)
    assert facts(found) == [
        ("acme/kit", "pdf", "PDF", 1_200), ("other/kit", "pdf-forms", "pdf-forms", 7),
    ]  # fmt: skip
    (request,) = site.up.requests
    assert request.path.startswith("/api/v1/skills/search?")
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["authorization"] == f"Bearer {SKILLS_SH_TOKEN}"


@pytest.mark.parametrize("limit", [50, 101])
def test_no_more_than_wanted_and_no_more_than_a_hundred_are_asked_for(
    net: Network, limit: int
) -> None:
    for number in range(150):
        net.up.list_skill("acme/many", f"pdf-{number}", installs=number)
    found = search(net, "pdf", limit)
    (request,) = net.up.requests
    assert int(parse_qs(urlsplit(request.path).query)["limit"][0]) <= 100
    assert len(found) == min(limit, 100)


# --- installs ---

INSTALLS: list[tuple[Any, int]] = [
    (None, 0), (0, 0), (12, 12), ("12", 12), (-5, 0), ("-5", 0), (1.9, 1), (True, 0), (False, 0),
    ([], 0), ({}, 0), ("many", 0), ("", 0), ("nan", 0), ("inf", 0), ("1e400", 0),
]  # fmt: skip


@for_each(("value", "count"), INSTALLS)
def test_any_count_is_read_as_far_as_it_goes(value: Any, count: int) -> None:
    assert installs_of(value) == count


# --- odd items ---


ODD_ANSWERS: dict[str, Any] = {
    "list": [], "null": None, "text": "x", "number": 7, "no skills": {"query": "x"},
    "skills null": {"skills": None}, "skills a map": {"skills": {}}, "skills text": {"skills": "x"},
    "error": {"error": "Something went wrong"},
}  # fmt: skip


@for_each("name", ODD_ANSWERS)
def test_an_answer_of_no_known_shape_is_a_bad_answer_and_not_an_empty_one(
    site: Network, name: str
) -> None:
    site.up.faults.clear()
    said(site, ODD_ANSWERS[name])
    with pytest.raises(SourceFailed) as caught:
        search(site, "anything")
    assert caught.value.code == "bad_answer"


# --- content ---


def test_a_snapshot_takes_one_request_and_no_quota_of_github(site: Network) -> None:
    found = fetch(site, hit(), references=True)
    assert found.files["SKILL.md"].decode() == PDF
    assert found.files["references/a.md"] == b"# A\n"
    (request,) = site.up.requests
    assert request.path == "/api/download/acme/kit/pdf"


def test_a_whole_skill_has_all_its_files(site: Network) -> None:
    assert set(fetch(site, hit(), whole=True).files) == {
        "SKILL.md", "references/a.md", "scripts/run.py",
    }  # fmt: skip


NO_SNAPSHOT: dict[str, Callable[[], Fault]] = {
    "none": lambda: faults.status(404),
    "busy": lambda: faults.status(429, retry_after=30),
    "cut": faults.truncated_json,
    "hang": faults.hang,
}


@pytest.mark.parametrize("name", NO_SNAPSHOT)
def test_without_a_snapshot_github_is_asked(site: Network, name: str) -> None:
    site.up.faults.add("skills_sh", "/api/download/*", NO_SNAPSHOT[name](), times=None)
    found = fetch(site, hit(), references=True, how={"deadline_s": 0.7})
    assert found.files["SKILL.md"].decode() == PDF
    assert found.files["references/a.md"] == b"# A\n"
    assert (found.source, found.path) == ("acme/kit", "skills/pdf")


HOSTILE_PATHS = [
    "../../evil.md", "/etc/passwd", "references/../../evil.md", "..\\evil.md", "C:\\evil.md",
    "references/a\x00.md", "", "references/..", ".git/config", "references/\x1b[2J.md",
]  # fmt: skip


def test_hostile_paths_of_a_snapshot_are_left_out_and_named(site: Network) -> None:
    listed = [{"path": path, "contents": "evil"} for path in HOSTILE_PATHS]
    good = [{"path": "SKILL.md", "contents": PDF}, {"path": "references/a.md", "contents": "a"}]
    said(site, {"files": [*listed, *good], "hash": "x"}, "/api/download/*")
    found = fetch(site, hit(), references=True)
    assert set(found.files) == {"SKILL.md", "references/a.md"}
    assert found.files["SKILL.md"].decode() == PDF
    assert found.skipped
    assert any("../../evil.md" in text for text in found.skipped)


def test_odd_entries_of_a_snapshot_cost_nothing_but_themselves(site: Network) -> None:
    odd: list[Any] = [
        None, 7, "x", [], {}, {"path": 7, "contents": "x"}, {"path": "references/b.md"},
        {"path": "references/c.md", "contents": {}},
    ]  # fmt: skip
    said(
        site,
        {"files": [*odd, {"path": "SKILL.md", "contents": PDF}], "hash": "x"},
        "/api/download/*",
    )
    assert fetch(site, hit(), references=True).files["SKILL.md"].decode() == PDF


def test_when_both_fail_the_reason_is_githubs_or_the_sites_and_never_a_missing_skill(
    site: Network,
) -> None:
    site.up.faults.add("skills_sh", "*", faults.status(500), times=None)
    site.up.faults.add("github_api", "*", faults.rate_limited(), times=None)
    with pytest.raises(SourceFailed) as caught:
        fetch(site, hit())
    assert caught.value.code in ("rate_limited", "status")
