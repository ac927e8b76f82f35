"""Where a request may lead, by redirect or by path, and which token goes along."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard.errors import SkillyardError, SourceFailed
from skillyard.install.sources.transport import HttpResponse, RemoteHost, Transport
from skillyard_testkit import Response, faults
from tests.install.sources.clients import (
    FILE,
    GITHUB_TOKEN,
    TREE,
    Network,
    sent,
    unless,
    with_files,
)
from tests.tables import for_each


@pytest.fixture
def site(net: Network) -> Network:
    return with_files(net)


# --- redirects ---


def test_a_redirect_to_another_host_of_the_list_is_followed_without_the_token(
    site: Network,
) -> None:
    more = {"first": RemoteHost(site.up.skills_sh, token="for-the-first-alone")}
    site.up.faults.add("skills_sh", "/x", faults.redirect(f"{site.up.github_raw}{FILE}"))
    assert site.get("first", "/x", how={"more": more, "tokens": False}).body == b"first"
    assert "Bearer for-the-first-alone" in sent(site, "skills_sh")[0]["authorization"]
    (there,) = sent(site, "github_raw")
    assert "authorization" not in there
    assert "for-the-first-alone" not in str(there)


@pytest.mark.parametrize("code", [301, 307])
def test_a_redirect_off_the_list_is_refused_and_not_a_byte_goes_there(
    site: Network, code: int
) -> None:
    for server, host, path in (
        ("github_api", "github-api", TREE),
        ("github_raw", "github-raw", FILE),
        ("skills_sh", "skills.sh", "/api/search?q=ab"),
    ):
        site.up.faults.add(server, "*", faults.redirect(f"{site.up.other}/stolen", code))
        assert site.failure(host, path, how={"tokens": True}).code == "refused"
    assert site.up.count("other") == 0


ODD_TARGETS = {
    "no location": None,
    "empty": "",
    "file": "file:///etc/passwd",
    "ftp": "ftp://127.0.0.1/x",
    "data": "data:text/plain,hello",
    "script": "javascript:alert(1)",
    "scheme-relative": "//{other}/stolen",
    "backslashes": "\\\\{other}\\stolen",
    "user of the right name": "http://{raw}@{other}/stolen",
    "right name in the query": "http://{other}/?http://{raw}/",
    "right name as a beginning": "http://{raw}.{other}/stolen",
    "blank in front": " http://{other}/stolen",
    "no host": "http:///stolen",
    "bad port": "http://127.0.0.1:99999999/",
    "not UTF-8": "/\xff\xfe",
    "bracket": "http://[::1",
}


@for_each("name", ODD_TARGETS)
def test_an_odd_redirect_is_a_named_failure_and_reaches_nobody(site: Network, name: str) -> None:
    target = ODD_TARGETS[name]
    other, raw = site.up.other.removeprefix("http://"), site.up.github_raw.removeprefix("http://")
    location = {} if target is None else {"location": target.format(other=other, raw=raw)}
    site.answers("github_raw", Response(302, headers=location))
    reply = unless(
        ("refused", "bad_answer", "unreachable", "status"),
        lambda: site.get("github-raw", FILE, how={"tokens": True, "kept": False}),
    )
    # Otherwise it was taken for a path on the same host.
    assert reply is None or reply.status == 404 or reply.body == b"first"
    assert site.up.count("other") == 0


def hops(net: Network, count: int) -> None:
    for number in range(count):
        last = number == count - 1
        target = FILE if last else f"/hop/{number + 1}"
        net.answers(
            "github_raw", Response(302, headers={"location": target}), pattern=f"/hop/{number}"
        )


def test_five_hops_are_followed_and_not_one_more(site: Network) -> None:
    hops(site, 5)
    assert site.get("github-raw", "/hop/0").body == b"first"
    site.up.faults.clear()
    hops(site, 6)
    before = site.up.count("github_raw")
    assert site.failure("github-raw", "/hop/0?again").code in ("refused", "bad_answer")
    assert site.up.count("github_raw") <= before + 6


# --- tokens ---


def test_no_token_is_written_down_or_said(site: Network) -> None:
    how = {"tokens": True}
    site.get("github-api", TREE, how=how)
    site.up.faults.add("github_api", "*", faults.status(401))
    error = site.failure("github-api", "/repos/demo/skills", how=how)
    assert GITHUB_TOKEN not in str(error) + repr(error)
    for file in site.folder.rglob("*"):
        assert not file.is_file() or GITHUB_TOKEN.encode() not in file.read_bytes()


def test_what_a_token_saw_is_not_shown_without_it(site: Network) -> None:
    site.up.add_repository("demo/secret", {"a.md": "secret"}, private=True)
    path = "/demo/secret/HEAD/a.md"
    assert site.get("github-raw", path, fresh_s=600, how={"tokens": True}).body == b"secret"
    assert site.get("github-raw", path, fresh_s=600).status == 404
    with pytest.raises(SourceFailed):
        site.get("github-raw", path.replace("HEAD", "main"), how={"offline": True})


def test_credentials_that_lie_around_are_not_taken(
    site: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password stolen\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("GITHUB_TOKEN", "stolen")
    site.get("github-raw", FILE)
    assert "authorization" not in sent(site)[0]


def test_a_cookie_is_not_kept_or_sent(site: Network) -> None:
    async def use(transport: Transport) -> HttpResponse:
        site.answers("github_raw", Response(200, b"x", {"set-cookie": "session=1; Path=/"}))
        await transport.get("github-raw", FILE)
        return await transport.get("github-raw", FILE)

    assert site.ask(use).body == b"first"
    assert "set-cookie" not in site.get("github-raw", FILE, fresh_s=600).headers
    assert [("cookie" in headers) for headers in sent(site)] == [False, False]


# --- addresses ---

LEAVING = {
    "another host": "http://{other}/stolen",
    "user": "http://{raw}@{other}/stolen",
    "scheme-relative": "//{other}/stolen",
    "at": "@{other}/stolen",
    "file": "file:///etc/passwd",
    "right host, other port": "http://127.0.0.1:1/x",
    "right host, other scheme": "https://{raw}/demo/skills/HEAD/a.md",
    "beginning": "http://{raw}.evil.test/x",
}


@for_each("name", LEAVING)
def test_a_path_never_leads_to_another_host(site: Network, name: str) -> None:
    other, raw = site.up.other.removeprefix("http://"), site.up.github_raw.removeprefix("http://")
    path = LEAVING[name].format(other=other, raw=raw)
    try:
        reply = site.get("github-raw", path, how={"tokens": True, "deadline_s": 3, "kept": False})
    except SkillyardError:
        pass
    else:
        assert reply.status == 404  # taken as a path on the host itself
    assert site.up.count("other") == 0


@pytest.mark.parametrize("path", ["/a\r\nX-Evil: 1", "/a\nb", "/a b", "/a\x00b", "/\u00e9", "/#x"])
def test_no_path_can_add_a_header(site: Network, path: str) -> None:
    try:
        site.get("github-raw", path)
    except SkillyardError:
        pass
    for headers in sent(site):
        assert "x-evil" not in headers
    assert len(site.up.requests) <= 1
