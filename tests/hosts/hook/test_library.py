"""The index of the hook: opened as it is, looked after in the background, one process at a time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skillyard.engine.index.library_spec import index_folder
from skillyard.engine.index.manifest import NAME
from skillyard.hosts.hook.index_refresh import main
from skillyard.hosts.hook.library import library_place, open_library
from tests.cli.conftest import Run, plain_surroundings, run
from tests.hosts.hook.conftest import Hook, add_skill, payload
from tests.parity.trees import write_tree

__all__ = ["plain_surroundings", "run"]

PLACE = library_place((), None)
NOTHING = json.dumps([[], None, os.getcwd()])
"""The library of a user who named no root, in no project."""


def manifest() -> Path:
    return Path(index_folder(PLACE)) / NAME


def test_what_is_damaged_is_made_anew(users_skill: Path) -> None:
    manifest().write_bytes(b"junk")
    assert open_library(PLACE, refresh=False) is None
    assert main([NOTHING]) == 0
    assert open_library(PLACE, refresh=False) is not None


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_what_is_disabled_in_the_folder_of_the_prompt_is_not_offered(
    name: str, home: Path, tmp_path: Path, hook: Hook, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process that updates an index must not decide for the prompts of other folders."""
    extension, market = home / ".gemini/extensions/one", home / ".claude/plugins/cache/m"
    here, there = tmp_path / "here", tmp_path / "there"
    deep = here / "src" / "deep"
    add_skill(extension / "skills", "of-one", "Brews green tea.")
    add_skill(market / "two/skills", "of-two", "Brews black coffee.")
    add_skill(market / "three/skills", "of-three", "Bakes sponge cake.")
    installed = {
        f"{each}@m": [{"scope": "user", "installPath": str(market / each)}]
        for each in ("two", "three")
    }

    def switches(two: bool, three: bool) -> str:
        return json.dumps({"enabledPlugins": {"two@m": two, "three@m": three}})

    write_tree(
        home,
        {
            ".gemini/extensions/one/gemini-extension.json": '{"name": "one"}',
            ".gemini/extensions/extension-enablement.json": json.dumps(
                {"one": {"overrides": [f"!{here}/*"]}}
            ),
            ".claude/plugins/installed_plugins.json": json.dumps({"plugins": installed}),
            ".claude/settings.json": switches(two=True, three=False),
        },
    )
    # A project may take away, and add nothing that its user did not enable.
    write_tree(tmp_path, {f"here/.claude/{name}": switches(two=False, three=True), "there/x": ""})
    (here / ".git").mkdir()
    deep.mkdir(parents=True)
    requests = {"brew green tea": "of-one", "brew black coffee": "two:of-two", "bake a cake": ""}
    requests["now run /two:of-two for it"] = "two:of-two"
    for folder in (there, deep, there):
        assert main([json.dumps([[], None, str(folder)])]) == 0
        monkeypatch.chdir(folder)
        for request, skill in requests.items():
            offered = skill if folder == there else ""
            assert hook(payload(folder, request)).skill == offered
            selected = run("select", request, "--scope", "user", "--json").json["selected"]
            assert [each["name"] for each in selected] == ([offered] if offered else [])
        listed = run("list", "--scope", "user", "--json").json
        names = ["of-one", "two:of-two"] if folder == there else []
        assert [each["name"] for each in listed["skills"]] == names


def test_the_real_process_makes_the_index(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.shared_data import PACKAGES

    add_skill(home / ".claude" / "skills", "only", "The only one.")
    monkeypatch.setenv("PYTHONPATH", str(PACKAGES))
    spawned: list[int] = []
    real = os.posix_spawn

    def spawn(*given: Any, **how: Any) -> int:
        spawned.append(real(*given, **how))
        return spawned[-1]

    monkeypatch.setattr(os, "posix_spawn", spawn)
    assert open_library(PLACE) is None
    assert os.waitpid(spawned[0], 0)[1] == 0
    assert open_library(PLACE, refresh=False) is not None
