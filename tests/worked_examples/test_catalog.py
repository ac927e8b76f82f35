"""The catalog: order, identity, look-up, digest and reload."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import relative, write_tree
from tests.requirements import requirement
from tests.worked_examples.making import document, skill

FILES = {
    "b/SKILL.md": document("beta", extra="tags: [Ops, db]\n"),
    "a/SKILL.md": document("alpha"),
    ".skills/z.md": document("alpha", "Another."),
    "AGENTS.md": "# House rules\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", FILES)


@requirement("catalog:order", "catalog:sequence")
def test_skills_come_by_name_then_path(root: Path) -> None:
    loaded = sy.load_catalog(root)
    assert [(one.name, relative(one.path, root)) for one in loaded] == [
        ("agents", "AGENTS.md"),
        ("alpha", ".skills/z.md"),
        ("alpha", "a/SKILL.md"),
        ("beta", "b/SKILL.md"),
    ]
    assert len(loaded) == 4
    assert tuple(loaded) == tuple(loaded.skills)


@requirement("catalog:hash", "catalog:id")
def test_hash_and_id_come_from_the_bytes_of_the_file(root: Path) -> None:
    for one in sy.load_catalog(root):
        digest = hashlib.sha256((root / relative(one.path, root)).read_bytes()).hexdigest()
        assert one.hash == digest
        assert one.id == f"{one.name}-{digest[:12]}"


@requirement("catalog:last-modified")
def test_last_modified_is_whole_unix_seconds(root: Path) -> None:
    os.utime(root / "a/SKILL.md", (1_700_000_000, 1_700_000_000.75))
    found = [one for one in sy.load_catalog(root) if one.path.endswith("a/SKILL.md")]
    assert found[0].last_modified == 1_700_000_000


@requirement("catalog:digest")
def test_equal_files_give_equal_digests_and_a_changed_body_another(root: Path) -> None:
    first = sy.load_catalog(root).digest
    assert sy.load_catalog(root).digest == first
    (root / "b/SKILL.md").write_text(document("beta", body="Other."), encoding="utf-8")
    assert sy.load_catalog(root).digest != first


@requirement("catalog:immutable")
def test_neither_skill_nor_catalog_can_be_changed(root: Path) -> None:
    loaded = sy.load_catalog(root)
    with pytest.raises(AttributeError):
        loaded.skills[0].name = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        loaded.skills = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        loaded.skills[0].metadata["a"] = 1  # type: ignore[index]


@requirement("catalog:get")
def test_get_takes_a_name_or_an_id(root: Path) -> None:
    loaded = sy.load_catalog(root)
    beta = loaded.get("beta")
    assert beta.name == "beta"
    assert beta.id is not None
    assert loaded.get(beta.id) == beta


@requirement("catalog:not-found")
def test_an_unknown_name_is_an_error_with_near_names(root: Path) -> None:
    with pytest.raises(sy.SkillNotFound, match="did you mean") as caught:
        sy.load_catalog(root).get("beto")
    assert "beta" in caught.value.near
    assert caught.value.kind == "SkillNotFound"


@requirement("catalog:ambiguous")
def test_a_name_of_two_skills_is_an_error_with_both_paths_and_an_id_is_not(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "p",
        {
            "x/deploy/SKILL.md": document("deploy", "Deploy one."),
            "y/deploy/SKILL.md": document("deploy", "Deploy two."),
        },
    )
    loaded = sy.load_catalog(root)
    with pytest.raises(sy.AmbiguousName) as caught:
        loaded.get("deploy")
    assert [relative(path, root) for path in caught.value.paths] == [
        "x/deploy/SKILL.md",
        "y/deploy/SKILL.md",
    ]
    for one in loaded:
        assert one.id is not None
        assert loaded.get(one.id) == one
    assert len(sy.rank(loaded, "deploy", scorer="overlap")) == 2


@requirement("catalog:runtime-twin")
def test_a_runtime_file_is_the_twin_of_its_folder_and_wins(tmp_path: Path) -> None:
    files = {
        "skills/deploy/SKILL.md": document("deploy", "Deploy with rationale."),
        ".skills/deploy.md": document("deploy", "Deploy, briefly."),
    }
    root = write_tree(tmp_path / "p", files)
    loaded = sy.load_catalog(root)
    assert len(loaded) == 2
    assert loaded.get("deploy").origin == "runtime"
    policy = sy.SelectionPolicy(top_k=5)
    chosen = sy.select(loaded, "deploy", policy, scorer="overlap").selected
    assert [match.skill.origin for match in chosen] == ["runtime"]


@requirement("catalog:find")
def test_find_filters_by_tag_and_by_origin(root: Path) -> None:
    loaded = sy.load_catalog(root)
    assert [one.name for one in loaded.find(tag="ops")] == ["beta"]
    assert [one.name for one in loaded.find(origin="convention")] == ["agents"]
    assert loaded.find(tag="ops", origin="runtime") == ()
    assert loaded.find() == loaded.skills


@requirement("catalog:slug")
def test_a_slug_is_the_oasis_id_else_the_folder_else_the_name(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "p",
        {
            "key_skills/folder/SKILL.md": document(
                "Shown", extra="id: chosen\ntriggers: [x]\npriority: 1\n"
            ),
            "skills/place/SKILL.md": document("other"),
            ".skills/file.md": document("named"),
        },
    )
    slugs = {one.name: one.slug for one in sy.load_catalog(root)}
    assert slugs == {"Shown": "chosen", "other": "place", "named": "named"}
    assert skill("built").slug == "built"


@requirement("catalog:reload")
def test_reload_says_what_was_added_changed_and_removed(root: Path) -> None:
    before = sy.load_catalog(root)
    (root / "a/SKILL.md").unlink()
    (root / "b/SKILL.md").write_text(document("beta", "Changed."), encoding="utf-8")
    write_tree(root, {"c/SKILL.md": document("gamma")})
    diff = before.reload()
    assert [[one.name for one in group] for group in (diff.added, diff.changed, diff.removed)] == [
        ["gamma"],
        ["beta"],
        ["alpha"],
    ]
    assert [one.name for one in diff.catalog] == ["agents", "alpha", "beta", "gamma"]
    assert diff.catalog.get("beta").description == "Changed."
    assert before.get("beta").description == "Does a thing."
    again = diff.catalog.reload()
    assert (again.added, again.changed, again.removed) == ((), (), ())
    assert again.catalog.digest == diff.catalog.digest
