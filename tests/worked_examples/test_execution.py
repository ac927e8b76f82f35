"""The execution contract of Oasis: load on selection, list scripts, run one only when allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document


def oasis(slug: str, body: str, priority: int = 1) -> str:
    extra = f"id: {slug}\ntriggers: [count words]\npriority: {priority}\n"
    return document(slug.title(), "Handles text.", body, extra)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path / "project",
        {
            "key_skills/first/SKILL.md": oasis("first", "Run scripts/count.py on the text.", 9),
            "key_skills/first/scripts/count.py": (
                "import os, sys\n"
                "print(len(sys.stdin.read().split()), sys.argv[1:], os.environ.get('TOKEN'))\n"
            ),
            "key_skills/first/scripts/loop.py": "while True:\n    pass\n",
            "key_skills/first/scripts/flood.py": "print('x' * 3_000_000)\n",
            "key_skills/second/SKILL.md": oasis("second", "Count by hand."),
        },
    )


@requirement("oasis:load-on-selection")
def test_a_selected_skill_is_read_again_and_its_body_is_the_instruction(root: Path) -> None:
    loaded = sy.load_catalog(root)
    path = root / "key_skills/first/SKILL.md"
    path.write_text(oasis("first", "Edited since.", 9), encoding="utf-8")
    active = sy.context.activate(loaded, "please count words", scorer="triggers")
    assert active is not None
    assert active.skill.body == "Edited since."
    assert "Edited since." in active.block
    assert "priority" not in active.block


@requirement("oasis:graceful")
def test_a_file_that_fails_gives_way_to_the_next_candidate_and_then_to_none(root: Path) -> None:
    loaded = sy.load_catalog(root)
    (root / "key_skills/first/SKILL.md").unlink()
    second = sy.context.activate(loaded, "please count words", scorer="triggers")
    assert second is not None
    assert second.skill.slug == "second"
    (root / "key_skills/second/SKILL.md").write_text("---\nbroken", encoding="utf-8")
    assert sy.context.activate(loaded, "please count words", scorer="triggers") is None
    assert sy.context.activate(loaded, "bake bread", scorer="triggers") is None


@requirement("oasis:scripts")
def test_scripts_are_listed_with_whether_the_body_mentions_them(root: Path) -> None:
    scripts = sy.files.list_scripts(sy.load_catalog(root).get("first"))
    assert [(script.path, script.mentioned) for script in scripts] == [
        ("scripts/count.py", True),
        ("scripts/flood.py", False),
        ("scripts/loop.py", False),
    ]
    assert sy.files.list_scripts(sy.load_catalog(root).get("second")) == ()


@requirement("oasis:run-script")
def test_an_allowed_script_runs_with_its_input_and_without_our_environment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    first = sy.load_catalog(root).get("first")
    result = sy.files.run_script(
        first, "scripts/count.py", ["--fast"], allow=["scripts/count.py"], stdin="one two three"
    )
    assert (result.exit_code, result.stdout) == (0, "3 ['--fast'] None\n")


@requirement("oasis:run-script")
@for_each(
    ("path", "allow"),
    [
        ("scripts/count.py", []),
        ("scripts/count.py", ["scripts/loop.py"]),
        ("SKILL.md", ["SKILL.md"]),
        ("../second/SKILL.md", ["../second/SKILL.md"]),
        ("scripts/../../../outside.py", ["scripts/../../../outside.py"]),
        ("scripts/absent.py", ["scripts/absent.py"]),
    ],
)
def test_anything_but_an_allowed_script_of_the_skill_is_refused(
    root: Path, path: str, allow: list[str]
) -> None:
    write_tree(root.parent, {"outside.py": "print('outside')\n"})
    with pytest.raises(sy.errors.ScriptRefused):
        sy.files.run_script(sy.load_catalog(root).get("first"), path, allow=allow)


@requirement("oasis:run-script")
def test_a_script_is_stopped_at_its_time_limit(root: Path) -> None:
    first = sy.load_catalog(root).get("first")
    result = sy.files.run_script(first, "scripts/loop.py", allow=["scripts/loop.py"], timeout_s=0.5)
    assert result.timed_out
    assert result.exit_code != 0


@requirement("resources:inside")
def test_a_resource_inside_the_folder_is_listed_and_read(root: Path) -> None:
    first = sy.load_catalog(root).get("first")
    assert "scripts/count.py" in [resource.path for resource in sy.files.list_resources(first)]
    assert sy.files.read_resource(first, "scripts/loop.py") == b"while True:\n    pass\n"


@requirement("resources:inside")
@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../second/SKILL.md",
        "scripts",
        "scripts/../../second/SKILL.md",
        "/etc/hostname",
        "scripts\\count.py",
        "C:scripts/count.py",
        "file:///etc/hostname",
        "scripts/count.py\x00.md",
        "link.md",
        "linked/secret.md",
        "absent.md",
        "~/.ssh/id_rsa",
    ],
)
def test_no_other_path_is_read(root: Path, path: str) -> None:
    write_tree(root.parent, {"outside/secret.md": "SECRET"})
    folder = root / "key_skills/first"
    (folder / "link.md").symlink_to(root.parent / "outside/secret.md")
    (folder / "linked").symlink_to(root.parent / "outside")
    first = sy.load_catalog(root).get("first")
    with pytest.raises(sy.SkillError):
        sy.files.read_resource(first, path)
    assert "link.md" not in [resource.path for resource in sy.files.list_resources(first)]
