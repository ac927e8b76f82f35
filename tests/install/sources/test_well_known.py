"""Sites that publish skills: both versions of the index, and nothing without its digest."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.transport import RemoteHost, Transport
from skillyard.install.sources.well_known import SCHEMA, WellKnown, digest_of
from skillyard_testkit import Response, faults
from tests.install.sources.clients import (
    Network,
    count_dialling,
    skill,
    unless,
)
from tests.tables import for_each

PDF = skill("pdf", "Extract tables from PDF files.")
MORE: dict[str, str | bytes] = {
    "SKILL.md": skill("kit", "A kit of tools."),
    "references/a.md": "# A\n",
    "scripts/run.py": "print()\n",
    "logo.png": b"\x89PNG\xff\x00",
}
NEW, OLD = "/.well-known/agent-skills/", "/.well-known/skills/"


@pytest.fixture
def site(net: Network) -> Network:
    net.up.add_well_known("pdf", {"SKILL.md": PDF})
    net.up.add_well_known("kit", MORE, "archive")
    net.up.add_well_known("zipped", MORE, "archive", ending="zip", description="Zipped tools.")
    return net


def place(net: Network, path: str = "") -> str:
    return net.up.well_known + path


def transporting(net: Network, url: str) -> dict[str, Any]:
    return {"more": {f"site:{url}": RemoteHost(url)}}


def listed(net: Network, path: str = "", **how: Any) -> list[Hit]:
    url = place(net, path)
    return net.ask(lambda t: WellKnown(t, [url]).list_skills(url), **transporting(net, url), **how)


def named(net: Network, name: str) -> Hit:
    (found,) = [hit for hit in listed(net) if name in (hit.id, hit.name)]
    return found


def fetch(net: Network, of: Hit, *, how: dict[str, Any] | None = None, **more: Any) -> Package:
    return net.ask(lambda t: WellKnown(t, [place(net)]).fetch(of, **more), **(how or {}))


def failure(net: Network, of: Hit, **more: Any) -> SourceFailed:
    with pytest.raises(SourceFailed) as caught:
        fetch(net, of, **more)
    return caught.value


def index(net: Network, document: Any, where: str = NEW) -> None:
    """Let the site say exactly this index."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    answer = Response(200, body, {"content-type": "application/json"})
    net.up.faults.add("well_known", f"{where}index.json", faults.respond_with(answer), times=None)


def entry(**fields: Any) -> dict[str, Any]:
    good = {
        "name": "good", "type": "skill-md", "description": "Good.", "url": "pdf/SKILL.md",
        "digest": digest_of(PDF.encode()),
    }  # fmt: skip
    return {**good, **fields}


def document(*entries: Any, schema: Any = SCHEMA) -> dict[str, Any]:
    return {"$schema": schema, "skills": list(entries)}


# --- the index of 0.2.0 ---


def test_what_a_site_lists(site: Network) -> None:
    found = listed(site)
    assert [(hit.name or hit.id, hit.description) for hit in found] == [
        ("pdf", "Extract tables from PDF files."), ("kit", "A kit of tools."),
        ("zipped", "Zipped tools."),
    ]  # fmt: skip
    assert {hit.found_by for hit in found} == {"well-known"}
    assert all(hit.digest.startswith("sha256:") for hit in found)
    assert not any(hit.curated or hit.install_count for hit in found)


ODD_ENTRIES: dict[str, Any] = {
    "null": None, "text": "x", "number": 7, "list": [], "empty": {},
    "unknown type": entry(type="plugin"), "type a number": entry(type=7),
    "no type": {k: v for k, v in entry().items() if k != "type"},
    "name null": entry(name=None), "name a number": entry(name=7), "name empty": entry(name=""),
    "name above": entry(name=".."), "name a path": entry(name="../../x"),
    "name absolute": entry(name="/etc"), "name hidden": entry(name="p\u202edf"),
    "name with a break": entry(name="a\nb"), "name long": entry(name="x" * 5_000),
    "no url": {k: v for k, v in entry().items() if k != "url"},
    "url null": entry(url=None), "url a number": entry(url=7),
    "no digest": {k: v for k, v in entry().items() if k != "digest"},
    "digest null": entry(digest=None), "digest short": entry(digest="sha256:00"),
    "digest of another kind": entry(digest="md5:" + "0" * 32),
    "digest without a kind": entry(digest="0" * 64),
    "digest not hex": entry(digest="sha256:" + "g" * 64),
    "digest with a break": entry(digest="sha256:" + "0" * 64 + "\n"),
}  # fmt: skip


def test_odd_entries_are_skipped_and_cost_no_other(site: Network) -> None:
    index(site, document(*ODD_ENTRIES.values(), entry()))
    assert [hit.name or hit.id for hit in listed(site)] == ["good"]


# --- versions ---


@for_each(
    "schema",
    ["https://schemas.agentskills.io/discovery/9.9/schema.json", "", None, 7, [], "0.2.0",
     SCHEMA + "#", "http" + SCHEMA.removeprefix("https")],
)  # fmt: skip
def test_an_index_of_an_unknown_schema_is_not_processed(site: Network, schema: Any) -> None:
    site.up.faults.clear()
    index(site, document(entry(), schema=schema))
    assert not unless(("bad_answer", "not_found"), lambda: listed(site, kept=False))
    assert site.up.count("well_known", f"{NEW}pdf") == 0


def test_the_older_index_is_read_where_there_is_no_newer(site: Network) -> None:
    site.up.well_known_version = "0.1.0"
    assert [hit.id for hit in listed(site)] == ["pdf", "kit", "zipped"]
    assert fetch(site, named(site, "pdf")).files["SKILL.md"] == PDF.encode()
    assert set(fetch(site, named(site, "kit"), whole=True).files) == set(MORE)


ODD_FILES: dict[str, Any] = {
    "none": None, "empty": [], "a map": {}, "text": "SKILL.md", "no skill file": ["a.md"],
    "numbers": [1, 2], "above": ["SKILL.md", "../../../x"], "absolute": ["SKILL.md", "/etc/passwd"],
    "address": ["SKILL.md", "http://127.0.0.1:1/x"],
    "scheme-relative": ["SKILL.md", "//127.0.0.1:1/x"],
    "encoded": ["SKILL.md", "%2e%2e/%2e%2e/x"], "backslash": ["SKILL.md", "..\\x"],
    "query": ["SKILL.md", "a?b"], "very many": ["SKILL.md", *(f"f{n}.md" for n in range(5_000))],
}  # fmt: skip


@for_each("name", ODD_FILES)
def test_odd_files_of_the_older_index_lead_nowhere(site: Network, name: str) -> None:
    site.up.faults.clear()
    site.up.well_known_version = "0.1.0"
    before = len(site.up.requests)
    listing = {"skills": [{"name": "pdf", "description": "d", "files": ODD_FILES[name]}]}
    index(site, listing, OLD)
    for hit in listed(site, kept=False):
        codes = ("bad_answer", "refused", "not_found", "too_large")
        found = unless(codes, partial(fetch, site, hit, whole=True, how={"kept": False}))
        assert found is None or set(found.files) == {"SKILL.md"}
    asked = site.up.requests[before:]
    for request in asked:
        assert request.path.startswith((NEW, f"{OLD}index.json", f"{OLD}pdf/"))
        assert ".." not in request.path
    assert len(asked) < 700


# --- where the index is ---


def test_addresses_resolve_against_the_index(site: Network) -> None:
    forms = [
        "pdf/SKILL.md",
        "./pdf/SKILL.md",
        "../agent-skills/pdf/SKILL.md",
        f"{NEW}pdf/SKILL.md",
        f"{place(site)}{NEW}pdf/SKILL.md",
    ]
    index(site, document(*(entry(name=f"s{n}", url=url) for n, url in enumerate(forms))))
    found = listed(site)
    assert len(found) == len(forms)
    for hit in found:
        assert fetch(site, hit).files["SKILL.md"] == PDF.encode()


@for_each("target", ["other", "file", "data", "loopback", "metadata", "user"])
def test_an_address_elsewhere_is_not_followed(
    site: Network, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    other = site.up.other
    url = {
        "other": f"{other}/SKILL.md", "file": "file:///etc/passwd", "data": "data:text/plain,x",
        "loopback": "http://[::1]/SKILL.md", "metadata": "http://169.254.169.254/SKILL.md",
        "user": f"http://{place(site).removeprefix('http://')}@{other.removeprefix('http://')}/",
    }[target]  # fmt: skip
    site.up.faults.clear()
    index(site, document(entry(url=url), entry(name="fine")))
    found = listed(site, kept=False)
    assert found[-1].id == "fine"
    dialled = count_dialling(monkeypatch)
    for hit in found[:-1]:
        assert failure(site, hit).code == "refused"
    assert dialled == []
    assert site.up.count("other") == 0


# --- failures ---


def test_one_site_that_fails_does_not_cost_the_others(site: Network) -> None:
    sites = [f"{site.up.other}/none", place(site)]
    hosts = {f"site:{url}": RemoteHost(url) for url in sites}
    site.up.faults.add("other", "*", faults.status(500), times=None)

    async def use(transport: Transport) -> list[Hit]:
        return await WellKnown(transport, sites).search("pdf", 5)

    assert [hit.id for hit in site.ask(use, more=hosts)] == ["pdf"]
