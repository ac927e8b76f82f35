"""Plugins of Claude Code and Codex, and extensions of Gemini CLI, as their hosts lay them
out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.discovery.scopes import ScopeRoots, places_of
from tests.parity.trees import relative, write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

CACHE = ".claude/plugins/cache/market"
INSTALLED = ".claude/plugins/installed_plugins.json"


def install(home: Path, *names: str, enabled: Any = True, **more: str) -> None:
    """Write the files by which Claude Code knows that plugins are installed."""
    plugins = {
        f"{name}@market": [
            {"scope": "user", "installPath": f"{home}/{CACHE}/{name}/1.0.0", "version": "1.0.0"}
            | more
        ]
        for name in names
    }
    settings = {"enabledPlugins": dict.fromkeys(plugins, enabled)}
    write_tree(
        home,
        {
            INSTALLED: json.dumps({"version": 2, "plugins": plugins}),
            ".claude/settings.json": json.dumps(settings),
        },
    )


def find(home: Path, *scopes: str, folder: Path | None = None) -> ScopeRoots:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            patch.delenv(name, raising=False)
        return places_of(scopes or ("user",), folder=str(folder or home))


def roots(places: ScopeRoots, home: Path) -> list[tuple[str, str]]:
    return [(relative(root.path, home), root.plugin) for root in places.roots]


def codes(places: ScopeRoots) -> list[str]:
    return [each.code for each in places.problems]


class TestInstalled:
    def test_skills_have_the_name_of_the_plugin_before_their_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = write_tree(
            tmp_path / "home",
            {
                f"{CACHE}/tools/1.0.0/.claude-plugin/plugin.json": '{"name": "team-tools"}',
                f"{CACHE}/tools/1.0.0/skills/deploy/SKILL.md": document("deploy"),
                f"{CACHE}/tools/0.9.0/skills/old/SKILL.md": document("old"),
                f"{CACHE}/bare/1.0.0/skills/plain/SKILL.md": "Without any frontmatter.\n",
                ".claude/skills/deploy/SKILL.md": document("deploy"),
            },
        )
        install(home, "tools", "bare")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        catalog = sy.load_catalog([], scopes="user", index=False)
        assert [(skill.name, skill.plugin, skill.scope) for skill in catalog] == [
            ("bare:plain", "bare", "user"),
            ("deploy", None, "user"),
            ("team-tools:deploy", "team-tools", "user"),
        ]
        assert catalog.get("team-tools:deploy").slug == "deploy"
        assert not catalog.reload()
        (home / f"{CACHE}/tools/1.0.0/skills/deploy/SKILL.md").write_text(
            document("renamed"), encoding="utf-8"
        )
        (changed,) = catalog.reload().changed
        assert changed.name == "team-tools:renamed"

    def test_folders_come_from_the_manifest_too(self, tmp_path: Path) -> None:
        write_tree(
            tmp_path,
            {
                f"{CACHE}/tools/1.0.0/.claude-plugin/plugin.json": json.dumps(
                    {"name": "tools", "skills": ["./more/skills", "./one"]}
                ),
                f"{CACHE}/tools/1.0.0/skills/a/SKILL.md": document("a"),
                f"{CACHE}/tools/1.0.0/more/skills/b/SKILL.md": document("b"),
                f"{CACHE}/tools/1.0.0/one/SKILL.md": document("one"),
            },
        )
        install(tmp_path, "tools")
        base = f"{CACHE}/tools/1.0.0"
        found = find(tmp_path)
        assert roots(found, tmp_path) == [
            (f"{base}/skills", "tools"),
            (f"{base}/more/skills", "tools"),
            (f"{base}/one", "tools"),
        ]
        assert codes(found) == []

    def test_a_marketplace_alone_may_say_what_belongs_to_a_plugin(self, tmp_path: Path) -> None:
        place = tmp_path / ".claude/plugins/marketplaces/market"
        entry = {"name": "docs", "source": "./", "strict": False, "skills": ["./skills/pdf"]}
        write_tree(
            tmp_path,
            {
                f"{CACHE}/docs/1.0.0/skills/pdf/SKILL.md": document("pdf"),
                f"{CACHE}/docs/1.0.0/skills/art/SKILL.md": document("art"),
                ".claude/plugins/known_marketplaces.json": json.dumps(
                    {"market": {"installLocation": str(place)}}
                ),
                ".claude/plugins/marketplaces/market/.claude-plugin/marketplace.json": json.dumps(
                    {"name": "market", "plugins": [entry]}
                ),
            },
        )
        install(tmp_path, "docs")
        assert roots(find(tmp_path), tmp_path) == [(f"{CACHE}/docs/1.0.0/skills/pdf", "docs")]

    def test_a_plugin_of_a_project_counts_in_that_project_only(self, tmp_path: Path) -> None:
        home = write_tree(
            tmp_path / "home", {f"{CACHE}/tools/1.0.0/skills/a/SKILL.md": document("a")}
        )
        project = write_tree(
            tmp_path / "project",
            {
                ".git": "",
                "src/x.py": "",
                ".claude/settings.json": '{"enabledPlugins": {"tools@market": true}}',
            },
        )
        install(home, "tools", scope="project", projectPath=str(project), enabled=False)
        expected = [(f"{CACHE}/tools/1.0.0/skills", "tools")]
        assert roots(find(home, "project", folder=project / "src"), home) == expected
        assert find(home, "project", folder=tmp_path).roots == ()
        assert find(home, "user", folder=project).roots == ()
        local = project / ".claude/settings.local.json"
        local.write_text('{"enabledPlugins": {"tools@market": false}}', encoding="utf-8")
        found = find(home, "project", folder=project)
        assert (found.roots, codes(found)) == ((), ["plugin_disabled"])

    def test_a_project_leaves_out_a_plugin_of_the_user_and_enables_none(
        self, tmp_path: Path
    ) -> None:
        home = write_tree(
            tmp_path / "home",
            {f"{CACHE}/{name}/1.0.0/skills/a/SKILL.md": document("a") for name in ("one", "two")},
        )
        install(home, "one", "two")
        settings = {"enabledPlugins": {"one@market": True, "two@market": False}}
        (home / ".claude/settings.json").write_text(json.dumps(settings), encoding="utf-8")
        opposite = {"enabledPlugins": {"one@market": False, "two@market": True}}
        project = write_tree(
            tmp_path / "project",
            {".git": "", "src/x": "", ".claude/settings.local.json": json.dumps(opposite)},
        )
        assert roots(find(home), home) == [(f"{CACHE}/one/1.0.0/skills", "one")]
        found = find(home, folder=project / "src")
        assert (found.roots, codes(found)) == ((), ["plugin_disabled"] * 2)

    @for_each(
        ("manifest", "code"),
        [
            ('{"name": "tools", "skills": "../../other"}', "manifest_path"),
            ('{"name": "tools", "skills": "/etc"}', "manifest_path"),
            ('{"name": "tools", "skills": "./gone"}', "manifest_path"),
            ("{", "manifest_unreadable"),
            ("[]", "manifest_unreadable"),
            ('{"name": "a:b"}', "manifest_unreadable"),
            ('{"name": "../x"}', "manifest_unreadable"),
            ("[" * 100_000, "manifest_unreadable"),
        ],
    )
    def test_a_bad_manifest_is_reported_and_costs_nothing_else(
        self, tmp_path: Path, manifest: str, code: str
    ) -> None:
        write_tree(
            tmp_path,
            {
                f"{CACHE}/tools/1.0.0/.claude-plugin/plugin.json": manifest,
                f"{CACHE}/other/1.0.0/skills/a/SKILL.md": document("a"),
            },
        )
        install(tmp_path, "tools", "other")
        found = find(tmp_path)
        assert roots(found, tmp_path) == [(f"{CACHE}/other/1.0.0/skills", "other")]
        assert codes(found) == [code]

    def test_a_linked_folder_does_not_lead_out_of_the_plugin(self, tmp_path: Path) -> None:
        write_tree(tmp_path, {"secret/a/SKILL.md": document("a"), f"{CACHE}/tools/1.0.0/x": ""})
        (tmp_path / CACHE / "tools/1.0.0/skills").symlink_to(tmp_path / "secret")
        install(tmp_path, "tools")
        found = find(tmp_path)
        assert (found.roots, codes(found)) == ((), ["manifest_path"])

    def test_files_that_are_gone_are_reported(self, tmp_path: Path) -> None:
        install(tmp_path, "tools")
        assert codes(find(tmp_path)) == ["manifest_path"]


class TestCodex:
    CACHE = ".codex/plugins/cache/market/tools"

    def tree(self, home: Path, config: str = '[plugins."tools@market"]\nenabled = true\n') -> Path:
        manifest = json.dumps({"name": "team-tools", "skills": "./more"})
        return write_tree(
            home,
            {
                ".codex/config.toml": config,
                f"{self.CACHE}/0.10.0/.codex-plugin/plugin.json": manifest,
                f"{self.CACHE}/0.10.0/skills/a/SKILL.md": document("a"),
                f"{self.CACHE}/0.10.0/more/b/SKILL.md": "Without frontmatter.\n",
                f"{self.CACHE}/0.9.0/skills/old/SKILL.md": document("old"),
                f"{self.CACHE}/0.10.0-rc.1/skills/older/SKILL.md": document("older"),
            },
        )

    def test_skills_of_the_highest_version_have_the_name_of_the_plugin_before_their_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(self.tree(tmp_path)))
        monkeypatch.delenv("CODEX_HOME", raising=False)
        catalog = sy.load_catalog([], scopes="user", index=False)
        assert [(skill.name, skill.scope) for skill in catalog] == [
            ("team-tools:a", "user"),
            ("team-tools:b", "user"),
        ]

    @for_each(
        ("config", "code"),
        [
            ('[plugins."tools@market"]\nenabled = false\n', "plugin_disabled"),
            ('[plugins."other@market"]\n', "manifest_path"),
            ('[plugins."../tools@market"]\n', "manifest_unreadable"),
            ('[plugins]\n"tools@market" = true\n', "manifest_unreadable"),
            ("[plugins", "manifest_unreadable"),
            ("a = " + "[" * 100_000, "manifest_unreadable"),
        ],
    )
    def test_what_is_not_read_is_reported(self, tmp_path: Path, config: str, code: str) -> None:
        self.tree(tmp_path, config)
        found = find(tmp_path)
        assert (found.roots, codes(found)) == ((), [code])

    def test_a_linked_folder_is_not_one_of_the_users(self, tmp_path: Path) -> None:
        self.tree(tmp_path, '[plugins."linked@market"]\n')
        write_tree(tmp_path, {"project/1.0.0/skills/a/SKILL.md": document("a")})
        (tmp_path / ".codex/plugins/cache/market/linked").symlink_to(tmp_path / "project")
        found = find(tmp_path)
        assert (found.roots, codes(found)) == ((), ["manifest_path"])


class TestExtensions:
    FOLDER = ".gemini/extensions"

    def extension(self, home: Path, name: str, **rules: list[str]) -> None:
        write_tree(
            home,
            {
                f"{self.FOLDER}/{name}/gemini-extension.json": json.dumps({"name": name}),
                f"{self.FOLDER}/{name}/skills/of-{name}/SKILL.md": document(f"of-{name}"),
            },
        )
        overrides = {name: {"overrides": each} for name, each in rules.items()}
        path = home / self.FOLDER / "extension-enablement.json"
        path.write_text(json.dumps(overrides), encoding="utf-8")

    def test_skills_of_extensions_have_their_own_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.extension(tmp_path, "one")
        write_tree(tmp_path, {f"{self.FOLDER}/none/skills/x/SKILL.md": document("x")})
        monkeypatch.setenv("HOME", str(tmp_path))
        assert [skill.name for skill in sy.load_catalog([], scopes="user")] == ["of-one"]

    @for_each(
        ("rules", "is_read"),
        [
            ([], True),
            (["!/*"], False),
            (["!/*", "/projects/here/*"], True),
            (["!/projects/*"], False),
            (["!/projects/here/"], True),
            (["!/projects/here/project"], False),
            (["/projects/*", "!/other/*"], True),
        ],
    )
    def test_rules_say_where_an_extension_is_enabled(
        self, tmp_path: Path, rules: list[str], is_read: bool
    ) -> None:
        self.extension(tmp_path, "one", one=rules)
        found = find(tmp_path, folder=Path("/projects/here/project"))
        assert (bool(found.roots), codes(found)) == (
            is_read,
            [] if is_read else ["plugin_disabled"],
        )


class TestTrust:
    """Skills of the scope ``user`` need no approval in a hook, so nothing else may have it."""

    @for_each("source", ["", ".", "nearby"])
    def test_a_linked_extension_without_an_absolute_path_is_not_read(
        self, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = ".gemini/extensions/e"
        link = json.dumps({"type": "link", "source": source})
        home = write_tree(tmp_path / "home", {f"{folder}/.gemini-extension-install.json": link})
        extension = {"gemini-extension.json": '{"name": "e"}', "skills/a/SKILL.md": document("a")}
        project = write_tree(tmp_path / "project", extension)
        write_tree(project / "nearby", extension)
        monkeypatch.chdir(project)
        assert find(home, folder=project).roots == ()


@for_each("text", ["./a\0b", "./\ud800"])
def test_a_text_that_is_no_path_ends_nothing(text: str, tmp_path: Path) -> None:
    """Half a character and a NUL are refused by the system with other errors than OSError."""
    link = {"type": "link", "source": f"/{text}"}
    known = {"market": {"installLocation": text}}
    home = write_tree(
        tmp_path,
        {
            ".gemini/extensions/e/.gemini-extension-install.json": json.dumps(link),
            ".claude/plugins/known_marketplaces.json": json.dumps(known),
        },
    )
    install(home, "tools", installPath=f"/{text}")
    assert codes(find(home)) == ["manifest_path"]
