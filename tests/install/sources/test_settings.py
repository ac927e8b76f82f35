"""``[sources]``: every key, wrong ones named with their line, and what the environment says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from skillyard.errors import InvalidInput, SkillIoError, SkillyardError
from skillyard.install.sources.build import build_sources, build_transport
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit
from skillyard.install.sources.settings import GITHUB_TOKENS, Settings, load_settings
from tests.install.sources.clients import GITHUB_TOKEN, SKILLS_SH_TOKEN, Network, skill
from tests.tables import for_each

FILE = """
[sources]
enabled = ["registry", "github"]
skills_sh_url = "https://skills.example/"
github_api_url = "https://api.example"
github_raw_url = "https://raw.example"
github_git_url = "https://git.example"
github_token = "of the file"
skills_sh_token = "t0"
repositories = ["acme/skills", "acme/more"]
git_hosts = ["git.corp.example", "file:///srv/git"]
registry_files = ["a.md", "~/b.md"]
shipped_registry = false
sites = ["https://site.example"]
over_fetch_floor = 30
source_timeout_s = 2.5
ranker = "relevance"
cache_bytes = 1000000
cache_days = 7
offline = true
host_tokens = { "skills.example:8443" = " t1 " }
"""
EVERY_KEY = {
    "enabled": ("registry", "github"),
    "skills_sh_url": "https://skills.example",
    "github_api_url": "https://api.example",
    "github_raw_url": "https://raw.example",
    "github_git_url": "https://git.example",
    "github_token": "of the file",
    "skills_sh_token": "t0",
    "registry_files": ("a.md", str(Path("~/b.md").expanduser())),
    "host_tokens": {"skills.example:8443": "t1"},
    "git_hosts": ("git.corp.example", "file:///srv/git"),
    "repositories": ("acme/skills", "acme/more"),
    "shipped_registry": False,
    "sites": ("https://site.example",),
    "over_fetch_floor": 30,
    "source_timeout_s": 2.5,
    "ranker": "relevance",
    "cache_bytes": 1_000_000,
    "cache_days": 7,
    "offline": True,
}


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*GITHUB_TOKENS, "SKILLYARD_OFFLINE", "SKILLYARD_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def loaded(tmp_path: Path, text: str, **environment: str) -> Settings:
    path = tmp_path / "skillyard.toml"
    path.write_text(text, encoding="utf-8")
    return loaded_from(path, **environment)


def loaded_from(path: Path, **environment: str) -> Settings:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SKILLYARD_CONFIG": str(path), **environment}.items():
            patch.setenv(name, value)
        return load_settings()


# --- the file ---


@for_each("field", EVERY_KEY)
def test_every_key_of_the_file_is_read(tmp_path: Path, field: str) -> None:
    settings = loaded(tmp_path, FILE)
    assert getattr(settings, field) == EVERY_KEY[field]
    assert getattr(Settings(), field) != EVERY_KEY[field]  # the test would see it missing


def test_every_setting_is_a_key_but_what_a_policy_says() -> None:
    assert set(Settings._fields) == {*EVERY_KEY}


def test_without_a_file_there_are_the_documented_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nowhere/at/all")
    assert load_settings() == Settings()


WRONG_TYPES = {
    'sources.enabled = "registry"': "sources.enabled",
    'sources.shipped_registry = "no"': "sources.shipped_registry",
    "sources.over_fetch_floor = true": "sources.over_fetch_floor",
    "sources = []": "sources",
    "sources.host_tokens.a = 1": "sources.host_tokens.a",
}  # fmt: skip


@for_each("line", WRONG_TYPES)
def test_a_value_of_the_wrong_type_is_an_error_that_names_key_and_file(
    tmp_path: Path, line: str
) -> None:
    with pytest.raises(SkillIoError) as caught:
        loaded(tmp_path, line + "\n")
    assert f"skillyard.toml:1: {WRONG_TYPES[line]} must be a" in str(caught.value).replace(
        "must be true or", "must be a"
    )


OUT_OF_RANGE = [
    "over_fetch_floor = -1", "source_timeout_s = 0", "source_timeout_s = -5",
    "source_timeout_s = nan", "source_timeout_s = inf", "cache_bytes = -1",
    "cache_days = -1", "cache_days = nan", 'repositories = ["not-a-repository"]',
    'repositories = ["../.."]', 'skills_sh_url = "ftp://skills.sh"',
    'github_api_url = "api.github.com"', 'github_raw_url = ""', 'sites = ["file:///etc"]',
    'sites = ["javascript:x"]', 'skills_sh_url = "https://user:secret@skills.sh"',
    'github_token = "a\\nb"', 'skills_sh_token = "tok\u00e9n"', 'host_tokens.a = "a\\u0000b"',
]  # fmt: skip


@for_each("line", OUT_OF_RANGE)
def test_a_value_that_cannot_be_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(SkillIoError) as caught:
        loaded(tmp_path, f"[sources]\n{line}\n")
    assert f"skillyard.toml:2: sources.{line.split(' ')[0]}" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_unknown_source_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    def use() -> None:
        settings = loaded(tmp_path, 'sources.enabled = ["skills-sh"]\n')
        build_sources(settings, build_transport(settings))

    with pytest.raises(SkillyardError) as caught:
        use()
    assert "skills-sh" in str(caught.value)
    assert "skills.sh" in str(caught.value)


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for name in ("missing.toml", ""):
        path = tmp_path / name
        with pytest.raises(SkillIoError) as caught:
            loaded_from(path)
        assert str(tmp_path) in str(caught.value)


# --- where the file is ---


def test_a_project_sets_no_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's file would lead tokens and requests elsewhere."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "inner").mkdir()
    (tmp_path / "skillyard.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path / "inner")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    with pytest.raises(SkillIoError) as caught:
        load_settings()
    assert str(caught.value) == (
        f"{tmp_path}/skillyard.toml:2: sources is not read from the file of a project\n"
        f"hint: move it to your own {tmp_path}/mine/skillyard/skillyard.toml"
    )


# --- the environment ---


def test_the_tokens_of_other_programs_go_before_that_of_the_file(tmp_path: Path) -> None:
    assert loaded(tmp_path, FILE, GH_TOKEN="b", GITHUB_TOKEN="").github_token == "b"
    assert loaded(tmp_path, FILE, GH_TOKEN="b", GITHUB_TOKEN=" a\n").github_token == "a"
    settings = loaded(tmp_path, FILE)
    assert {"of the file", "t0", "t1"} <= set(settings.tokens)


@for_each("token", ["a\nb", "a\r\nX-Evil: 1", "tok\u00e9n"])
def test_a_token_that_is_no_header_is_refused_and_not_shown(tmp_path: Path, token: str) -> None:
    with pytest.raises(InvalidInput, match="the token in GITHUB_TOKEN holds a char") as caught:
        loaded(tmp_path, "", GITHUB_TOKEN=token)
    assert token not in str(caught.value)


# --- what the settings make ---


def pointed(net: Network, **more: Any) -> Settings:
    return Settings(
        skills_sh_url=net.up.skills_sh,
        github_api_url=net.up.github_api,
        github_raw_url=net.up.github_raw,
        sites=(net.up.well_known,),
        repositories=("acme/kit",),
        **more,
    )


def test_the_tokens_of_the_settings_go_to_their_hosts(net: Network) -> None:
    net.up.add_repository("acme/kit", {"skills/pdf/SKILL.md": skill("pdf")}, private=True)
    settings = pointed(net, github_token=GITHUB_TOKEN, skills_sh_token=SKILLS_SH_TOKEN)

    async def use() -> bytes:
        async with build_transport(settings, net.cache()) as transport:
            for source in build_sources(settings, transport, ["skills.sh", "well-known"]):
                try:
                    await source.search("pdf", 3)
                except SkillyardError:
                    pass
            hit = Hit(source="acme/kit", id="pdf", found_by="github")
            return (await GitHub(transport).package(hit)).files["SKILL.md"]

    assert b"name: pdf" in asyncio.run(use())
    for request in net.up.requests:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if request.server == "github_api":
            assert headers["authorization"] == f"Bearer {GITHUB_TOKEN}"
            assert "x-github-api-version" in headers
        elif request.server != "github_raw":
            assert GITHUB_TOKEN not in str(headers)
        assert (SKILLS_SH_TOKEN in str(headers)) == (request.server == "skills_sh")
