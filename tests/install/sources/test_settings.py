"""Settings: every key and variable, wrong ones named, tokens from the environment alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.errors import InvalidInput, SkillIoError, SkillyardError, UnknownName
from skillyard.install.sources.build import build_sources, build_transport, response_cache
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Source
from skillyard.install.sources.registry import source_names
from skillyard.install.sources.settings import Settings, config_path, load_settings
from tests.install.sources.clients import GITHUB_TOKEN, SKILLS_SH_TOKEN, Network, skill
from tests.property.strategies import few
from tests.tables import for_each

FILE = """
[sources]
enabled = ["registry", "github"]

[sources.skills_sh]
url = "https://skills.example"

[sources.github]
api_url = "https://api.example"
raw_url = "https://raw.example"
git_url = "https://git.example"
repositories = ["acme/skills", "acme/more"]

[sources.git]
hosts = ["git.corp.example", "file:///srv/git"]

[sources.registry]
files = ["a.md", "b.md"]
shipped = false

[sources.well_known]
sites = ["https://site.example"]

[sources.servers]
urls = ["https://server.example"]

[search]
over_fetch_floor = 30
source_timeout_s = 2.5
ranker = "relevance"

[cache]
max_bytes = 1000000
max_age_days = 7
offline = true
"""
EVERY_KEY = {
    "enabled": ("registry", "github"),
    "skills_sh_url": "https://skills.example",
    "github_api_url": "https://api.example",
    "github_raw_url": "https://raw.example",
    "github_git_url": "https://git.example",
    "git_hosts": ("git.corp.example", "file:///srv/git"),
    "repositories": ("acme/skills", "acme/more"),
    "shipped_registry": False,
    "sites": ("https://site.example",),
    "servers": ("https://server.example",),
    "over_fetch_floor": 30,
    "source_timeout_s": 2.5,
    "ranker": "relevance",
    "cache_bytes": 1_000_000,
    "cache_days": 7,
    "offline": True,
}


def loaded(tmp_path: Path, text: str, **environment: str) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(environment={"SKILLYARD_CONFIG": str(path), **environment})


# --- the file ---


@for_each("field", EVERY_KEY)
def test_every_key_of_the_file_is_read(tmp_path: Path, field: str) -> None:
    settings = loaded(tmp_path, FILE)
    assert getattr(settings, field) == EVERY_KEY[field]
    assert getattr(Settings(), field) != EVERY_KEY[field]  # the test would see it missing


def test_every_setting_has_a_key_or_is_a_token(tmp_path: Path) -> None:
    tokens = {"github_token", "skills_sh_token", "host_tokens"}
    of_policies = {"archive_bundles"}
    assert set(Settings._fields) == {*EVERY_KEY, "registry_files", *tokens, *of_policies}
    files = loaded(tmp_path, FILE).registry_files
    assert [Path(name).name for name in files] == ["a.md", "b.md"]


def test_without_a_file_there_are_the_documented_defaults() -> None:
    settings = load_settings(environment={"XDG_CONFIG_HOME": "/nowhere/at/all"})
    assert settings == Settings()
    assert settings.skills_sh_url == "https://skills.sh"
    assert settings.github_api_url == "https://api.github.com"
    assert settings.github_raw_url == "https://raw.githubusercontent.com"
    assert (settings.over_fetch_floor, settings.ranker, settings.offline) == (
        15,
        "hybrid",
        False,
    )
    assert (settings.github_token, settings.skills_sh_token) == ("", "")


@for_each("text", ["", "\n", "# nothing\n", "[sources]\n", "[cache]\n[search]\n"])
def test_an_empty_file_changes_nothing(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, text) == Settings()


WRONG_TYPES = {
    'sources.enabled = "registry"': "sources.enabled",
    "sources.enabled = [1]": "sources.enabled",
    "sources.enabled = true": "sources.enabled",
    'sources = "registry"': "sources",
    "sources.skills_sh.url = 7": "sources.skills_sh.url",
    'sources.skills_sh = "https://skills.sh"': "sources.skills_sh",
    "sources.github.api_url = []": "sources.github.api_url",
    "sources.github.raw_url = false": "sources.github.raw_url",
    'sources.github.repositories = "a/b"': "sources.github.repositories",
    "sources.github.repositories = [[]]": "sources.github.repositories",
    "sources.registry.files = {}": "sources.registry.files",
    'sources.registry.shipped = "no"': "sources.registry.shipped",
    "sources.registry.shipped = 0": "sources.registry.shipped",
    "sources.well_known.sites = 1": "sources.well_known.sites",
    "sources.servers.urls = 1979-05-27": "sources.servers.urls",
    'search.over_fetch_floor = "15"': "search.over_fetch_floor",
    "search.over_fetch_floor = 1.5": "search.over_fetch_floor",
    "search.over_fetch_floor = true": "search.over_fetch_floor",
    'search.source_timeout_s = "10"': "search.source_timeout_s",
    "search.source_timeout_s = true": "search.source_timeout_s",
    "search.ranker = 1": "search.ranker",
    'cache.max_bytes = "1"': "cache.max_bytes",
    "cache.max_bytes = false": "cache.max_bytes",
    "cache.max_age_days = []": "cache.max_age_days",
    'cache.offline = "yes"': "cache.offline",
    "cache.offline = 1": "cache.offline",
    "cache = []": "cache",
}  # fmt: skip


@for_each("line", WRONG_TYPES)
def test_a_value_of_the_wrong_type_is_an_error_that_names_key_and_file(
    tmp_path: Path, line: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        loaded(tmp_path, line + "\n")
    key = WRONG_TYPES[line]
    assert key.rpartition(".")[2] in str(caught.value)
    assert "config.toml" in str(caught.value)


OUT_OF_RANGE = [
    "search.over_fetch_floor = -1", "search.source_timeout_s = 0", "search.source_timeout_s = -5",
    "search.source_timeout_s = nan", "search.source_timeout_s = inf", "cache.max_bytes = -1",
    "cache.max_age_days = -1", "cache.max_age_days = nan",
    'sources.github.repositories = ["not-a-repository"]',
    'sources.github.repositories = ["../.."]', 'sources.skills_sh.url = "ftp://skills.sh"',
    'sources.github.api_url = "api.github.com"', 'sources.github.raw_url = ""',
    'sources.well_known.sites = ["file:///etc"]', 'sources.servers.urls = ["javascript:x"]',
    'sources.skills_sh.url = "https://user:secret@skills.sh"',
]  # fmt: skip


@for_each("line", OUT_OF_RANGE)
def test_a_value_that_cannot_be_is_refused_when_it_is_read_or_used(
    tmp_path: Path, line: str
) -> None:
    def use() -> None:
        settings = loaded(tmp_path, line + "\n")
        build_sources(settings, build_transport(settings), ["registry", "github", "well-known"])

    with pytest.raises(SkillyardError) as caught:
        use()
    assert str(caught.value)
    assert "secret" not in str(caught.value)


UNKNOWN_KEYS = {
    "[sources.github]\nrepos = []": ("repos", "repositories"),
    "[source]\nenabled = []": ("source", "sources"),
    "[sources]\nenable = []": ("enable", "enabled"),
    "[sources.well-known]\nsites = []": ("well-known", "well_known"),
    "[search]\noverfetch_floor = 3": ("overfetch_floor", "over_fetch_floor"),
    "[cache]\nmax_byte = 3": ("max_byte", "max_bytes"),
    "[search]\ncompletely_else = 3": ("completely_else", "ranker"),
    "[elsewhere]\nx = 1": ("elsewhere", "search"),
}


@for_each("text", UNKNOWN_KEYS)
def test_an_unknown_key_is_an_error_that_says_what_there_is(tmp_path: Path, text: str) -> None:
    wrong, right = UNKNOWN_KEYS[text]
    with pytest.raises(InvalidInput) as caught:
        loaded(tmp_path, text + "\n")
    assert wrong in str(caught.value)
    assert right in str(caught.value)


def test_an_unknown_source_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    def use() -> None:
        settings = loaded(tmp_path, 'sources.enabled = ["skills-sh"]\n')
        build_sources(settings, build_transport(settings))

    with pytest.raises(SkillyardError) as caught:
        use()
    assert "skills-sh" in str(caught.value)
    assert "skills.sh" in str(caught.value)


@for_each("data", [b"[sources", b"a = ", b"\xff\xfe", b"[a]\n[a]\n", b"x = 1\nx = 2\n", b"\x00"])
def test_what_is_no_toml_is_an_error_that_names_the_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(data)
    with pytest.raises((InvalidInput, SkillIoError)) as caught:
        load_settings(environment={"SKILLYARD_CONFIG": str(path)})
    assert "config.toml" in str(caught.value)


@few
@given(st.text(max_size=60))
def test_any_text_is_settings_or_a_named_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("settings") / "config.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    said = "config.toml"
    try:
        load_settings(environment={"SKILLYARD_CONFIG": str(path)})
    except SkillyardError as error:
        said = str(error)
    assert "config.toml" in said


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for name in ("missing.toml", ""):
        path = tmp_path / name
        with pytest.raises(SkillIoError) as caught:
            load_settings(environment={"SKILLYARD_CONFIG": str(path)})
        assert str(tmp_path) in str(caught.value)


# --- where the file is ---


def test_where_the_file_is(tmp_path: Path) -> None:
    assert config_path({"SKILLYARD_CONFIG": "/x/y.toml", "XDG_CONFIG_HOME": "/z"}) == "/x/y.toml"
    assert config_path({"XDG_CONFIG_HOME": "/z"}) == "/z/skillyard/config.toml"
    home = str(Path("~/.config/skillyard/config.toml").expanduser())
    assert config_path({}) == home
    assert config_path({"XDG_CONFIG_HOME": "relative"}) == home  # as that specification says


def test_the_users_own_file_is_found(tmp_path: Path) -> None:
    place = tmp_path / "skillyard"
    place.mkdir()
    (place / "config.toml").write_text('search.ranker = "overlap"\n')
    assert load_settings(environment={"XDG_CONFIG_HOME": str(tmp_path)}).ranker == "overlap"


# --- the environment ---

VARIABLES: dict[str, tuple[str, str, Any]] = {
    "SKILLYARD_SOURCES": ("enabled", "registry, skills.sh", ("registry", "skills.sh")),
    "SKILLYARD_SKILLS_SH_URL": ("skills_sh_url", "https://env.example", "https://env.example"),
    "SKILLYARD_GITHUB_API_URL": ("github_api_url", "https://env.example", "https://env.example"),
    "SKILLYARD_GITHUB_RAW_URL": ("github_raw_url", "https://env.example", "https://env.example"),
    "SKILLYARD_GITHUB_REPOSITORIES": ("repositories", "env/a,env/b", ("env/a", "env/b")),
    "SKILLYARD_GITHUB_GIT_URL": ("github_git_url", "https://env.example", "https://env.example"),
    "SKILLYARD_GIT_HOSTS": ("git_hosts", "env.example, b", ("env.example", "b")),
    "SKILLYARD_WELL_KNOWN_URL": ("sites", "https://env.example", ("https://env.example",)),
    "SKILLYARD_SERVERS": ("servers", "https://env.example", ("https://env.example",)),
    "SKILLYARD_OFFLINE": ("offline", "1", True),
    "SKILLYARD_SKILLS_SH_TOKEN": ("skills_sh_token", "t0", "t0"),
    "SKILLYARD_GITHUB_TOKEN": ("github_token", "t1", "t1"),
    "GITHUB_TOKEN": ("github_token", "t2", "t2"),
    "GH_TOKEN": ("github_token", "t3", "t3"),
}


@for_each("name", VARIABLES)
def test_every_variable_stands_over_the_file(tmp_path: Path, name: str) -> None:
    field, text, value = VARIABLES[name]
    without = FILE.replace("offline = true", "offline = false")
    assert getattr(loaded(tmp_path, without), field) != value
    assert getattr(loaded(tmp_path, without, **{name: text}), field) == value


@for_each("name", VARIABLES)
def test_an_empty_variable_is_none(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path, FILE, **{name: ""}) == loaded(tmp_path, FILE)


@for_each(
    ("text", "offline"),
    [("1", True), ("true", True), ("yes", True), ("on", True), ("TRUE", True), ("0", False),
     ("false", False), ("no", False), ("off", False), (" False ", False)],
)  # fmt: skip
def test_a_variable_switches_off_too(tmp_path: Path, text: str, offline: bool) -> None:
    for before in ("true", "false"):
        file = f"cache.offline = {before}\n"
        assert loaded(tmp_path, file, SKILLYARD_OFFLINE=text).offline is offline


def test_the_projects_own_token_comes_first() -> None:
    environment = {"GH_TOKEN": "c", "GITHUB_TOKEN": "b", "SKILLYARD_GITHUB_TOKEN": "a"}
    for wanted in "abc":
        settings = load_settings("/nowhere/config.toml", environment)
        assert settings.github_token == wanted
        environment.popitem()


@for_each(
    "text",
    ['[sources.github]\ntoken = "stolen"', '[sources.skills_sh]\ntoken = "stolen"',
     'github_token = "stolen"', '[sources]\ngithub_token = "stolen"',
     '[tokens]\ngithub = "stolen"'],
)  # fmt: skip
def test_a_token_in_the_file_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        loaded(tmp_path, text + "\n")
    assert "stolen" not in str(caught.value)


@for_each("name", ["GITHUB_TOKEN", "SKILLYARD_SKILLS_SH_TOKEN"])
@for_each("token", ["a\nb", "a\r\nX-Evil: 1", "tok\u00e9n", "a\x00b"])
def test_a_token_that_is_no_header_adds_none(net: Network, name: str, token: str) -> None:
    environment = {name: token, "SKILLYARD_SKILLS_SH_URL": net.up.skills_sh,
                   "SKILLYARD_GITHUB_API_URL": net.up.github_api}  # fmt: skip

    async def use() -> None:
        settings = load_settings("/nowhere/config.toml", environment)
        async with build_transport(settings, net.cache()) as transport:
            await transport.get("github-api", "/repos/a/b")
            await transport.get("skills.sh", "/api/search?q=ab")

    said = ""
    try:
        asyncio.run(use())
    except SkillyardError as error:
        said = str(error)
    assert token not in said
    for request in net.up.requests:
        assert "x-evil" not in {header.lower() for header in request.headers}


def test_only_the_given_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ambient")
    monkeypatch.setenv("SKILLYARD_SOURCES", "registry")
    assert load_settings("/nowhere/config.toml", {}) == Settings()
    monkeypatch.setenv("SKILLYARD_CONFIG", "")
    assert load_settings("/nowhere/config.toml").github_token == "ambient"


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


def test_the_known_sources_are_named() -> None:
    assert {"registry", "skills.sh", "github", "well-known", "local"} <= set(source_names())


def built(settings: Settings, names: list[str] | None = None) -> list[str]:
    sources: list[Source] = build_sources(settings, build_transport(settings), names)
    assert all(isinstance(source, Source) for source in sources)
    return [source.name for source in sources]


def test_sources_are_built_in_the_order_asked_for_and_once(net: Network) -> None:
    settings = pointed(net)
    assert built(settings, ["skills.sh", "registry", "skills.sh"]) == ["skills.sh", "registry"]
    assert "skills.sh" in built(settings)
    assert built(settings, []) == []


def test_a_source_that_nobody_knows_is_refused_by_name(net: Network) -> None:
    with pytest.raises(UnknownName) as caught:
        built(pointed(net), ["nope"])
    assert "registry" in str(caught.value)


def test_local_without_a_catalog_is_an_error(net: Network) -> None:
    with pytest.raises(InvalidInput, match="local"):
        built(pointed(net), ["local"])


def test_a_registry_file_that_is_missing_is_an_error(net: Network, tmp_path: Path) -> None:
    settings = pointed(net, registry_files=(str(tmp_path / "missing.md"),))
    with pytest.raises(SkillIoError, match=r"missing\.md"):
        built(settings, ["registry"])


def test_offline_settings_send_nothing(net: Network) -> None:
    settings = pointed(net, offline=True)

    async def use() -> None:
        async with build_transport(settings, net.cache()) as transport:
            for source in build_sources(settings, transport, ["skills.sh", "github", "well-known"]):
                with pytest.raises(SkillyardError):
                    await source.search("pdf", 3)

    asyncio.run(use())
    assert net.up.requests == []


def test_the_cache_lies_in_the_users_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path))
    assert response_cache(Settings()).stats().path.startswith(str(tmp_path))
    assert list(tmp_path.rglob("*.md")) == []
