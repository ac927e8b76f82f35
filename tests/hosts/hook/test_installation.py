"""Settings files: the hook goes in once, comes out again, and every other value stays."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard.hosts.hook.installation import (
    SettingsRefused,
    install,
    installed_commands,
    read_settings,
    replace,
    uninstall,
)

EVENT = "UserPromptSubmit"

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
HANDLERS = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}) | VALUES
GROUPS = VALUES | st.fixed_dictionaries(
    {"hooks": st.lists(HANDLERS, max_size=3) | VALUES}, optional={"matcher": st.text()}
)
HOOKS = st.fixed_dictionaries(
    {}, optional={EVENT: st.lists(GROUPS, max_size=3), "Stop": VALUES, "x": VALUES}
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Return the text of any settings document, laid out in any of many ways."""
    document = draw(st.dictionaries(st.text(max_size=6), VALUES, max_size=4))
    document.pop("hooks", None)
    if draw(st.booleans()):
        document["hooks"] = draw(HOOKS)
        keys = draw(st.permutations(sorted(document)))
        document = {key: document[key] for key in keys}
    text = json.dumps(
        document,
        indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")])),
        ensure_ascii=draw(st.booleans()),
    )
    if draw(st.booleans()):
        text = text.replace("{}", "{ }").replace("[]", "[ ]")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", " \n"]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds nothing else."""
    place = tmp_path / "settings"
    place.mkdir()
    return place


def parsed(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def written(text: str, *, options: tuple[str, ...] = (), out: bool = False) -> str:
    """Return settings after the hook went in, or came out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        path.write_bytes(text.encode())
        if out:
            uninstall("claude-code", file=str(path))
        else:
            install("claude-code", file=str(path), options=options)
        return path.read_bytes().decode()


# Layouts that no program writes.
@example('{\n\t"a" : 1.50e3 , \n\t"hooks":{"Stop" :[ {"hooks":[]} ]  } \n\n}\t\n\n', False)
@example('{"\\u0068ooks": {"UserPromptSubmit": [\r\n{"hooks":[]} ,{}]}\r\n, "b":[]}', True)
@example("{ \n}", False)
@given(documents(), st.booleans())
def test_taking_it_out_leaves_every_byte_that_was_there(text: str, updated: bool) -> None:
    with_it = written(text)
    if updated:
        with_it = written(with_it, options=("--max-chars", "é 9"))
    assert written(with_it, out=True) == text


def test_what_holds_nothing_goes_from_settings_of_an_older_version() -> None:
    now = written('{"a": 1}')
    assert written(now.replace("made: hooks", "made: entry"), out=True) == '{"a": 1}'
    ours = now[now.index('{"hooks": [') : now.index("]}}")]
    both = now.replace("]}}", f", {{}}, {ours}]}}}}")
    assert len(installed_commands(both)) == 2
    assert parsed(written(both, out=True)) == {"a": 1, "hooks": {EVENT: [{}]}}
    assert len(installed_commands(written(both, options=("--max-chars", "9")))) == 1


@given(documents())
def test_everything_else_stays_and_a_second_time_changes_nothing(text: str) -> None:
    with_it = written(text)
    before, after = parsed(text), parsed(with_it)
    listed = after["hooks"].pop(EVENT)
    assert listed[:-1] == before.get("hooks", {}).pop(EVENT, [])
    assert "|| exit 0 #" in listed[-1]["hooks"][0]["command"]
    assert json.dumps(after) == json.dumps({**before, "hooks": before.get("hooks", {})})
    assert written(with_it) == with_it
    for mark in ("\ufeff", "\r\n"):
        assert (mark in with_it.strip(" \r\n")) == (mark in text.strip(" \r\n"))


def test_our_handler_inside_somebody_elses_group_goes_alone(folder: Path) -> None:
    path = folder / "settings.json"
    (folder / ".settings.json.99999999-0.tmp").touch()  # what a killed process left
    install("claude-code", file=str(path))
    assert os.listdir(folder) == ["settings.json"]
    document = json.loads(path.read_text(encoding="utf-8"))
    group = document["hooks"][EVENT][0]
    group["matcher"] = "x"
    group["hooks"].insert(0, {"type": "command", "command": "theirs"})
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    assert uninstall("claude-code", file=str(path)).state == "removed"
    left = json.loads(path.read_text(encoding="utf-8"))
    assert left["hooks"][EVENT] == [
        {"hooks": [{"type": "command", "command": "theirs"}], "matcher": "x"}
    ]


REFUSED = {
    "no JSON": b"{",
    "comments": b'{// x\n"a": 1}',
    "empty": b"",
    "a list": b"[]",
    "hooks a list": b'{"hooks": []}',
    "the event a map": b'{"hooks": {"UserPromptSubmit": {}}}',
    "twice": b'{"hooks": {"UserPromptSubmit": []}, "a": 1, "a": 3}',
    "bytes": b'{"a": "\xff"}',
    "deep": b'{"a":' + b"[" * 100_000,
    "NaN": b'{"a": NaN}',
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("do", [install, uninstall], ids=["install", "uninstall"])
def test_a_file_that_is_not_understood_is_left_as_it_is(
    name: str, do: Callable[..., Any], folder: Path
) -> None:
    data = REFUSED[name]
    path = folder / "settings.json"
    path.write_bytes(data)
    before = path.stat()
    with pytest.raises(SettingsRefused) as error:
        do("claude-code", file=str(path))
    assert error.value.hint
    assert error.value.path == str(path)
    after = path.stat()
    assert path.read_bytes() == data
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert os.listdir(folder) == ["settings.json"]


def test_a_folder_whose_name_is_no_text_is_refused(folder: Path) -> None:
    path = folder / "settings.json"
    path.write_text('{"a": "é"}', encoding="utf-8")
    with pytest.raises(SettingsRefused, match="no text"):
        install("claude-code", file=str(path), options=("--root", os.fsdecode(b"/b\xff")))
    assert path.read_text(encoding="utf-8") == '{"a": "é"}'


def test_a_link_stays_a_link_and_what_it_leads_to_is_changed(folder: Path) -> None:
    real = folder / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    link = folder / "settings.json"
    link.symlink_to(real)
    install("claude-code", file=str(link))
    assert link.is_symlink()
    assert EVENT in real.read_text(encoding="utf-8")
    uninstall("claude-code", file=str(link))
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "{}"
    real.unlink()
    with pytest.raises(SettingsRefused, match="nowhere"):
        install("claude-code", file=str(link))


def test_a_file_that_is_changed_meanwhile_keeps_the_change(folder: Path) -> None:
    path = folder / "settings.json"
    path.write_text("{}", encoding="utf-8")
    before = read_settings(str(path))
    path.write_text('{"new": 1}', encoding="utf-8")
    with pytest.raises(SettingsRefused, match="meanwhile"):
        replace(before, "{}")
    assert path.read_text(encoding="utf-8") == '{"new": 1}'
    assert os.listdir(folder) == ["settings.json"]
