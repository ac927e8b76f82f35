"""The catalog as a value: order, look-up, collisions, tags, digest, and loading."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.catalog import has_tag
from skillyard.engine.catalog.entries import refresh
from tests.parity.trees import relative, write_tree
from tests.tables import for_each
from tests.worked_examples.making import document, skill


def oasis(name: str, oasis_id: str) -> str:
    return document(name, extra=f"id: {oasis_id}\ntriggers: [do {name}]\npriority: 1\n")


def load(tmp_path: Path, files: dict[str, str]) -> tuple[sy.Catalog, Path]:
    root = write_tree(tmp_path / "p", files)
    return sy.load_catalog(root), root


def shadows(catalog: sy.Catalog, root: Path) -> dict[str, str]:
    return {
        relative(loser.path, root): relative(winner.path, root)
        for loser, winner in catalog.shadowed.items()
    }


def remarks(catalog: sy.Catalog, root: Path) -> list[tuple[str, str, str]]:
    return [(d.code, d.severity, relative(d.path, root)) for d in catalog.diagnostics]


class TestValue:
    def test_it_holds_counts_and_shows_its_skills(self) -> None:
        one, other = skill("a"), skill("b")
        catalog = sy.Catalog.from_skills(iter([one]))
        assert one in catalog
        assert other not in catalog
        assert (len(catalog), list(catalog)) == (1, [one])
        assert repr(catalog) == "<Catalog of 1 skill, 0 diagnostics>"
        assert (catalog.roots, catalog.diagnostics, catalog.shadowed) == ((), (), {})

    def test_what_shadows_what_cannot_be_changed_from_outside(self, tmp_path: Path) -> None:
        files = {"a/SKILL.md": document("a"), ".skills/a.md": document("a")}
        catalog, _ = load(tmp_path, files)
        catalog.shadowed.clear()
        assert len(catalog.shadowed) == 1


class TestGet:
    def test_identical_files_share_an_id_and_the_first_by_path_answers(self) -> None:
        one, two = skill("x", path="a"), skill("x", path="b")
        assert one.id == two.id
        catalog = sy.Catalog.from_skills([two, one])
        assert catalog.get(one.id or "") is catalog.get("x") is one

    def test_a_skill_that_did_not_load_is_named_with_the_reason(self, tmp_path: Path) -> None:
        catalog, root = load(tmp_path, {"broken/SKILL.md": "text", "a/SKILL.md": document("a")})
        with pytest.raises(sy.SkillNotFound) as caught:
            catalog.get("broken")
        assert caught.value.hint.startswith(f"{root}/broken/SKILL.md did not load: no frontmatter")
        with pytest.raises(sy.SkillNotFound) as other:
            catalog.get("zzz")
        assert other.value.hint == ""


class TestTags:
    @for_each(
        ("tags", "asked", "has"),
        [
            (["Ops"], ("ops",), True),
            (["ops"], ("x", "OPS"), True),
            (["ops-team"], ("ops",), False),
            (["ÄÖ"], ("äö",), False),  # only ASCII letters change their case
            (["Ärger"], ("Ärger",), True),
            (["äRGER"], ("ärger",), True),
            ([], ("ops",), False),
            (["ops"], (), False),
        ],
    )
    def test_a_tag_is_compared_whole_and_without_ascii_case(
        self, tags: list[str], asked: tuple[str, ...], has: bool
    ) -> None:
        assert has_tag(skill(tags=tags), asked) is has

    def test_the_oasis_registry_is_ordered_by_id_in_bytes(self, tmp_path: Path) -> None:
        ids = ["b", "a-2", "a-10", "é", "Z"]
        files = {f"key_skills/f{n}/SKILL.md": oasis(f"n{n}", one) for n, one in enumerate(ids)}
        catalog, _ = load(tmp_path, files)
        registry = [one.slug for one in catalog.find(origin="oasis")]
        assert registry == ["Z", "a-10", "a-2", "b", "é"]


class TestCollisions:
    def test_the_project_wins_over_the_user(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = ".agents/skills"
        home = write_tree(tmp_path / "home", {f"{folder}/x/SKILL.md": document("x", "user")})
        monkeypatch.setenv("HOME", str(home))
        root = write_tree(tmp_path / "p", {"x/SKILL.md": document("x", "project")})
        catalog = sy.load_catalog(root, scopes="user")
        assert catalog.get("x").scope == "project"
        assert [one.scope for one in catalog.shadowed] == ["user"]

    @for_each(
        ("files", "twin"),
        [
            (["x/SKILL.md", ".skills/x.md"], True),
            (["a/b/x/SKILL.md", ".skills/deep/x.md"], True),
            (["key_skills/x/SKILL.md", ".skills/x.md"], True),  # incomplete, so an ordinary skill
            (["x/SKILL.md", ".skills/other.md"], False),  # the file is called otherwise
            (["other/SKILL.md", ".skills/x.md"], False),  # the folder is
            (["x/SKILL.md", ".skills/x.md", "y/x/SKILL.md"], False),  # three
            (["x/SKILL.md", ".skills/x/SKILL.md"], False),
            ([".skills/x.md", ".skills/a/x.md"], False),
        ],
    )
    def test_only_a_runtime_file_and_its_folder_are_twins(
        self, tmp_path: Path, files: list[str], twin: bool
    ) -> None:
        catalog, root = load(tmp_path, {name: document("x", name) for name in files})
        if twin:
            assert shadows(catalog, root) == {files[0]: files[1]}
            assert catalog.get("x").origin == "runtime"
            assert ("name_shadowed", "info", files[0]) in remarks(catalog, root)
        else:
            assert shadows(catalog, root) == {}
            with pytest.raises(sy.AmbiguousName):
                catalog.get("x")
            assert {code for code, _, _ in remarks(catalog, root)} == {"name_shared"}
            assert len(remarks(catalog, root)) == len(files) - 1

    def test_an_oasis_id_belongs_to_the_first_root_that_has_it(self, tmp_path: Path) -> None:
        first = write_tree(tmp_path / "2", {"key_skills/a/SKILL.md": oasis("First", "x")})
        second = write_tree(tmp_path / "1", {"key_skills/x/SKILL.md": oasis("Second", "x")})
        catalog = sy.load_catalog(first, second)
        assert [one.name for one in catalog.find(origin="oasis")] == ["First"]
        assert [one.name for one in catalog.shadowed] == ["Second"]


class TestDigest:
    def test_name_place_layout_and_content_all_count(self, tmp_path: Path) -> None:
        trees: list[dict[str, str]] = [
            {"x/SKILL.md": document("x")},
            {"y/SKILL.md": document("x")},
            {".skills/x.md": document("x")},
            {"x/SKILL.md": document("x", body="Other.")},
            {},
        ]
        digests = {
            sy.load_catalog(write_tree(tmp_path / str(number), files)).digest
            for number, files in enumerate(trees)
        }
        assert len(digests) == len(trees)


class TestLoad:
    def test_roots_are_given_apart_or_as_lists_and_default_to_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = write_tree(tmp_path / "1", {"a/SKILL.md": document("a")})
        two = write_tree(tmp_path / "2", {"b/SKILL.md": document("b")})
        assert sy.load_catalog([one, str(two)]).roots == (str(one), str(two))
        assert [s.name for s in sy.load_catalog(one, [two])] == ["a", "b"]
        monkeypatch.chdir(one)
        assert [s.path for s in sy.load_catalog()] == ["a/SKILL.md"]
        assert [s.path for s in sy.load_catalog("")] == ["a/SKILL.md"]
        assert len(sy.load_catalog([])) == 0

    def test_progress_is_told_and_ends_at_the_total(self, tmp_path: Path) -> None:
        files = {f"s{number}/SKILL.md": document(f"s{number}") for number in range(300)}
        told: list[tuple[int, int]] = []
        root = write_tree(tmp_path / "p", files)
        sy.load_catalog(root, progress=lambda done, total: told.append((done, total)))
        assert told[0] == (0, 300)
        assert told[-1] == (300, 300)
        assert told == sorted(set(told))

    def test_diagnostics_come_by_path_and_line(self, tmp_path: Path) -> None:
        files = {
            "b/SKILL.md": document("b", body="a\u200bb", extra="tags: one\npriority: x\n"),
            "a/SKILL.md": "text",
        }
        catalog, root = load(tmp_path, files)
        found = [(relative(d.path, root), d.line, d.code) for d in catalog.diagnostics]
        assert found == [
            ("a/SKILL.md", 1, "frontmatter_missing"),
            ("b/SKILL.md", 4, "list_from_text"),
            ("b/SKILL.md", 5, "not_integer"),
            ("b/SKILL.md", 7, "hidden_character"),
        ]


class TestRefresh:
    @for_each(
        "name", ["a/SKILL.md", ".skills/a.md", "key_skills/a/SKILL.md", "CLAUDE.md", "SKILL.md"]
    )
    def test_a_skill_is_read_again_as_it_was_read_first(self, tmp_path: Path, name: str) -> None:
        text = oasis("a", "own") if "key" in name else document("a")
        catalog, root = load(tmp_path, {name: text, "a/notes.md": "x"})
        (before,) = catalog.skills
        assert refresh(before) == before
        (root / name).write_text(text.replace("Does", "Did"), encoding="utf-8")
        assert refresh(before).description == "Did a thing."

    @for_each("target", ["real.md", "deep/real.md"])
    def test_a_link_inside_the_folder_is_read_as_it_was_when_found(
        self, tmp_path: Path, target: str
    ) -> None:
        root = write_tree(tmp_path / "p", {f"a/{target}": document("a")})
        (root / "a/SKILL.md").symlink_to(target)
        found = [one for one in sy.load_catalog(root) if one.path.endswith("SKILL.md")]
        assert refresh(found[0]) == found[0]

    def test_a_file_swapped_for_a_link_out_of_its_folder_is_refused(self, tmp_path: Path) -> None:
        catalog, root = load(tmp_path, {"a/SKILL.md": document("a")})
        (tmp_path / "secret.md").write_text(document("secret"), encoding="utf-8")
        (root / "a/SKILL.md").unlink()
        (root / "a/SKILL.md").symlink_to(tmp_path / "secret.md")
        with pytest.raises(sy.SkillIoError):
            refresh(catalog.get("a"))

    def test_a_file_that_is_gone_or_broken_is_an_error(self, tmp_path: Path) -> None:
        catalog, root = load(tmp_path, {"a/SKILL.md": document("a")})
        (root / "a/SKILL.md").write_text("broken", encoding="utf-8")
        with pytest.raises(sy.InvalidFrontmatter):
            refresh(catalog.get("a"))
        os.unlink(root / "a/SKILL.md")
        with pytest.raises(sy.SkillIoError):
            refresh(catalog.get("a"))


def test_oasis_display_names_shadow_nothing_across_roots(tmp_path: Path) -> None:
    block = "---\nid: {0}\nname: Code Review\ndescription: d\ntriggers: [x]\npriority: 1\n---\nB"
    for root, slug in (("one", "a"), ("two", "b")):
        folder = tmp_path / root / "key_skills" / slug
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(block.format(slug), encoding="utf-8")
    catalog = sy.load_catalog(tmp_path / "one", tmp_path / "two")
    assert [skill.slug for skill in catalog.find(origin="oasis")] == ["a", "b"]
    assert catalog.get("b").slug == "b"


@for_each("root", [None, 5, b"x"])
def test_a_root_that_is_no_path_is_refused_by_type(root: object) -> None:
    with pytest.raises(sy.errors.InvalidInput, match="root"):
        sy.load_catalog(root)  # type: ignore[arg-type]
