"""Untrusted file paths: what passes means one file below one folder, on every system."""

from __future__ import annotations

import os
import pickle
from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import SkillError
from skillyard.base.invisible import find_hidden
from skillyard.engine.resources import safe_parts
from skillyard.install.copies.file_paths import (
    MAX_FOLDERS,
    MAX_PART_BYTES,
    FilePaths,
    PathRefused,
    checked_path,
)
from tests.property.strategies import many
from tests.tables import for_each

TOO_LONG = "/".join(["a" * 255, "b" * 255, "c"])  # each component fits, all together do not


@for_each(
    ("path", "checked"),
    [
        ("SKILL.md", "SKILL.md"),
        ("references/guide.md", "references/guide.md"),
        ("./references//./guide.md", "references/guide.md"),
        ("assets/naïve name (1).txt", "assets/naïve name (1).txt"),
        ("参考/指南：入门.md", "参考/指南：入门.md"),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        (".gitignore", ".gitignore"),
        ("docs/git~.md", "docs/git~.md"),
        ("...more/.hidden", "...more/.hidden"),
        ("console.md", "console.md"),
        ("a/com10.txt", "a/com10.txt"),
        ("backup~", "backup~"),
        ("100%.md", "100%.md"),
        ("-rf", "-rf"),
    ],
)
def test_honest_paths_pass(path: str, checked: str) -> None:
    assert checked_path(path) == checked


REFUSED = {
    "path_not_text": ["guide\ud800.md", "a/\udcff"],
    "path_empty": ["", " ", "\n", ".", "./", ".//.", "\u3000"],
    "path_absolute": ["/", "/etc/passwd", "//server/share", "\\\\server\\share", "\\\\?\\C:\\x"],
    "path_home": ["~", "~/x", "~root/x", "./~root/x"],
    "path_drive": ["C:", "c:x", "C:/x", "C:\\x", "file:///etc/passwd"[3:]],
    "path_colon": ["http://evil.invalid/x", "a/b:c", "guide.md::$DATA", "./C:x", "a/C:b"],
    "path_backslash": ["a\\b", "..\\x", "a/..\\..\\x", "\\x"],
    "path_traversal": ["..", "../x", "a/../../x", "a/..", "a/../b", "./../x"],
    "path_escape": ["%2e%2e/x", "..%2fx", "a%5Cb", "%252e", "x%00.png"],
    "path_look_alike": ["．．/x", "\u2024\u2024/x", "\u2025/x", "\u2026", "a／b", "a＼b", "℀.md"],
    "path_hidden_character": [
        "a\x00.md", "a\nb", "a\x1b[2J", "a\x7f", "a\x85b", "a\u200bb", "a\u202eb", "a\ufeff",
        "a\u2028b", "a\u00a0b", "a\u3164", "a\ufe0f", "a\u034fb", "a\U000e0041", "a\U000e0100",
        "x/\u2066y", "a\ue000b",
    ],
    "path_git": [
        ".git", ".GIT/config", "x/.Git/hooks/y", ".git.", ".git ", ".git . .", "git~1/x", "GIT~12",
        ".g\u200cit/x", "\ufeff.git", ".gi\u202et", "．git/x", ".git::$INDEX_ALLOCATION/x",
        ".ｇｉｔ", ".git\x00", ".g\u034fit", ".git:x",
    ],
    "path_device": [
        "con", "CON", "nul.txt", "x/aux.md", "PRN ", "com1", "LPT9.log", "com\u00b9.x", "conin$",
        "CONOUT$.txt", "aux .md", "ｎｕｌ", "con.",
    ],
    "path_edge": ["a.", "a ", "a/b./c", "a /b", "a..", ".. /x", "... ", "....//x"],
    "path_folder": ["a/", "a/b//", "a/.", "a/./"],
    "path_too_deep": ["d/" * (MAX_FOLDERS + 1) + "x", "d/" * 500 + "x"],
    "path_too_long": [
        "a" * (MAX_PART_BYTES + 1), "é" * 128, TOO_LONG, "a" * 100_000, "a/" * 50_000,
    ],
}  # fmt: skip


@for_each(("code", "path"), [(code, path) for code, paths in REFUSED.items() for path in paths])
def test_each_trick_is_refused_by_its_own_code(code: str, path: str) -> None:
    with pytest.raises(PathRefused) as caught:
        checked_path(path)
    error = caught.value
    assert (error.code, error.kind) == (code, "PathRefused")
    assert isinstance(error, SkillError)
    assert error.hint
    assert error.reason
    assert find_hidden(str(error)) is None, "unsafe to print"
    assert len(str(error)) < 500
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# --- the twin: the same promise, told by pathlib and the names of characters ---------------------


_PIECES = [
    "a", "b", "SKILL.md", "x.sh", "references", "é", "e\u0301", "ß", "指南", "я", " ", ".", "..",
    "...", "/", "/", "/", "/", "/", "//", "./", "../", "\\", "..\\", ":", "C:", "~", "%", "%2e",
    "%2F", "git~1", ".git", ".GIT", ".Git ", "con", "NUL.txt", "com¹", "aux", "lpt0", "\x00", "\n",
    "\x1b", "\u200b", "\u200c", "\u202e", "\ufeff", "\u00ad", "\u3164", "\ufe0f", "\u034f",
    "\ud800", "\u2024", "\u2025", "\u2026", "．", "／", "＼", "：", "ｇ", "ｃｏｎ", "\u00a0",
    "\u3000", "\ue000", "\U000e0041", "\U000e0100", "-rf", "*", "?", "<", "d/" * 8, "n" * 120,
]  # fmt: skip


_SOUP = st.lists(
    st.one_of(st.sampled_from(_PIECES), st.text(max_size=3), st.sampled_from("ab/.")), max_size=12
).map("".join)


@many
@given(_SOUP)
def test_what_passes_stays_below_its_folder_and_can_be_read_again(path: str) -> None:
    try:
        checked = checked_path(path)
    except PathRefused:
        return
    assert checked_path(checked) == checked
    assert os.path.normpath(os.path.join("/home/skill", checked)) == f"/home/skill/{checked}"
    assert not PureWindowsPath(checked).anchor
    assert "/".join(safe_parts(checked)) == checked


# --- many paths together ------------------------------------------------------------------------


def _added(*paths: str) -> FilePaths:
    taken = FilePaths()
    for path in paths:
        (taken.add_folder if path.endswith("/") else taken.add_file)(path.rstrip("/"))
    return taken


@for_each(
    ("code", "paths"),
    [
        ("path_duplicate", ["a", "a"]),
        ("path_duplicate", ["a/", "a/"]),
        ("path_collision", ["SKILL.md", "skill.md"]),
        ("path_collision", ["a/x", "A/y"]),
        ("path_collision", ["a/", "A/y"]),
        ("path_collision", ["caf\u00e9", "cafe\u0301"]),
        ("path_collision", ["d/\u00c9/x", "d/e\u0301/y"]),
        ("path_collision", ["straße", "STRASSE"]),
        ("path_collision", ["a/b", "a/B/c"]),
        ("path_file_and_folder", ["a", "a/b"]),
        ("path_file_and_folder", ["a/b/c", "a"]),
        ("path_file_and_folder", ["a/b/c", "a/b"]),
        ("path_file_and_folder", ["a/", "a"]),
        ("path_file_and_folder", ["a", "a/"]),
        ("path_file_and_folder", ["a", "a/b/c/d"]),
    ],
)
def test_two_paths_that_are_one_place_somewhere_are_refused(code: str, paths: list[str]) -> None:
    taken = _added(*paths[:-1])
    with pytest.raises(PathRefused) as caught:
        (taken.add_folder if paths[-1].endswith("/") else taken.add_file)(paths[-1].rstrip("/"))
    assert caught.value.code == code
