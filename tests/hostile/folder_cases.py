"""Hostile folders (24): links, loops, devices, odd names, great numbers."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from tests.hostile import yaml_cases
from tests.hostile.case import (
    DESCRIPTION,
    LOAD,
    REJECT,
    SECRET,
    SKIP,
    Case,
    numbered,
    skill_bytes,
    write,
)

_PLAIN = {"name": "pencil", "description": DESCRIPTION}
_MANY = 3_000


def _linked_to(goal: str, root: Path) -> None:
    """Make the target's SKILL.md a link to an absolute path, or to the secret outside."""
    secret = root.parent / "outside/secret.txt"
    write(secret, SECRET)
    path = root / "pencil/SKILL.md"
    path.parent.mkdir()
    path.symlink_to(goal or secret)


def _unreadable(root: Path) -> None:
    path = root / "pencil/SKILL.md"
    write(path, skill_bytes())
    path.chmod(0)


def _link(name: str, goal: str, root: Path) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(goal, target_is_directory=True)


def _ring(root: Path) -> None:
    """Two links that lead to each other."""
    _link("ring/a", "b", root)
    _link("ring/b", "a", root)


def _fifo(root: Path) -> None:
    (root / "pencil").mkdir()
    os.mkfifo(root / "pencil/SKILL.md")


def _directory(root: Path) -> None:
    write(root / "pencil/SKILL.md/README.md", b"A folder where a file should be.\n")


def _heavy(root: Path) -> None:
    for folder in ("node_modules/pack", ".git/hooks"):
        write(root / folder / "SKILL.md", skill_bytes(name="name: stowaway"))


def _deep(root: Path) -> None:
    write(root / "/".join(["d"] * 300) / "SKILL.md", skill_bytes(name="name: abyss"))


def _odd_folder(folder: bytes, root: Path) -> None:
    path = os.path.join(os.fsencode(root), folder)
    os.mkdir(path)
    with open(os.path.join(path, b"SKILL.md"), "wb") as file:
        file.write(skill_bytes(name="name: odd"))


def _store(root: Path) -> None:
    write(root / ".agents/skills/pencil/SKILL.md", skill_bytes())
    _link(".claude/skills/pencil", "../../.agents/skills/pencil", root)


def _lower_case(root: Path) -> None:
    write(root / "pencil/skill.md", skill_bytes())


def _both_cases(root: Path) -> None:
    write(root / "pencil/SKILL.md", skill_bytes())
    write(root / "pencil/skill.md", skill_bytes(name="name: lower"))
    if len(os.listdir(root / "pencil")) != 2:
        raise NotImplementedError("this file system does not tell SKILL.md from skill.md")


def _nested(root: Path) -> None:
    write(root / "pencil/SKILL.md", skill_bytes())
    write(root / "pencil/references/SKILL.md", skill_bytes(name="name: nested"))


def _three_thousand(root: Path) -> None:
    """Good skills at even numbers; at odd ones the small refused frontmatters in turn."""
    bad = [
        case.content
        for case in yaml_cases.CASES
        if case.verdict == REJECT and case.content is not None and len(case.content) < 2_000
    ]
    for number in range(_MANY):
        name = f"s{number:04d}"
        good = number % 2 == 0
        content = skill_bytes(name=f"name: {name}") if good else bad[number // 2 % len(bad)]
        write(root / f"many/{name}/SKILL.md", content)


def _hard_link(root: Path) -> None:
    store = root.parent / "outside/store.md"
    write(store, skill_bytes())
    (root / "pencil").mkdir()
    os.link(store, root / "pencil/SKILL.md")


def _huge_asset(root: Path) -> None:
    write(root / "pencil/SKILL.md", skill_bytes())
    write(root / "pencil/assets/disk.img", b"")
    os.truncate(root / "pencil/assets/disk.img", 64 << 30)


def _many_resources(root: Path) -> None:
    write(root / "pencil/SKILL.md", skill_bytes())
    (root / "pencil/assets").mkdir()
    for number in range(5_000):
        (root / f"pencil/assets/{number:04d}.txt").touch()


def _refused(word: str, why: str, goal: str) -> Case:
    return Case(
        word, REJECT, why, make=partial(_linked_to, goal), codes=frozenset(["link_outside"])
    )


def _skipped(word: str, why: str, target: str, make: partial[None], mentioned: str = "") -> Case:
    return Case(word, SKIP, why, make=make, target=target, mentioned=mentioned, count=1)


def _refusals() -> list[Case]:
    return [
        _refused("secret", "SKILL.md is a link to a file outside", ""),
        _refused("passwd", "SKILL.md is a link to /etc/passwd", "/etc/passwd"),
        _refused("dev-zero", "SKILL.md is a link to an endless device", "/dev/zero"),
        _refused("dev-stdin", "SKILL.md is a link to standard input", "/dev/stdin"),
        Case(
            "mode-000",
            REJECT,
            "no right to read",
            make=_unreadable,
            unprivileged=True,
            codes=frozenset(["io_error"]),
        ),
    ]


def _skips() -> list[Case]:
    odd = {"line-feed": b"line\nfeed", "esc": b"\x1b[2Jclear", "not-utf-8": b"bad\xff\xfename"}
    return [
        _skipped(
            "root-link", "a folder link to /", "evil/SKILL.md", partial(_link, "evil", "/"), "evil"
        ),
        _skipped(
            "loop",
            "a link to its own folder",
            "loop/again/SKILL.md",
            partial(_link, "loop/again", "."),
            "loop",
        ),
        _skipped(
            "ring", "two links that lead to each other", "ring/a/SKILL.md", partial(_ring), "ring"
        ),
        _skipped(
            "dangling",
            "a link to nothing",
            "lost/SKILL.md",
            partial(_link, "lost", "nowhere"),
            "lost",
        ),
        _skipped("fifo", "opening it would wait for ever", "pencil/SKILL.md", partial(_fifo)),
        _skipped("directory", "a folder named SKILL.md", "pencil/SKILL.md", partial(_directory)),
        Case(
            "heavy-folders",
            SKIP,
            "installed packages and git's own files are nobody's skills",
            make=_heavy,
            target="node_modules/pack/SKILL.md",
            absent=("stowaway",),
            silent=True,
            count=1,
        ),
        _skipped(
            "deep-300",
            "300 folders deep",
            "/".join(["d"] * 300 + ["SKILL.md"]),
            partial(_deep),
            "d",
        ),
        *(
            _skipped(
                word,
                "a folder name that breaks a list, a terminal or an encoder",
                os.fsdecode(folder) + "/SKILL.md",
                partial(_odd_folder, folder),
                os.fsdecode(folder),
            )
            for word, folder in odd.items()
        ),
    ]


def _loads() -> list[Case]:
    return [
        Case(
            "store",
            LOAD,
            "the usual installer links an agent's folder to a store; one skill, not two",
            make=_store,
            target=".claude/skills/pencil/SKILL.md",
            instead=(".agents/skills/pencil/SKILL.md",),
            values=_PLAIN,
            count=2,
        ),
        Case(
            "lower-case",
            LOAD,
            "skill.md is understood, and said",
            make=_lower_case,
            target="pencil/skill.md",
            values=_PLAIN,
            count=2,
        ),
        Case(
            "both-cases",
            LOAD,
            "SKILL.md wins over skill.md beside it",
            make=_both_cases,
            values=_PLAIN,
            absent=("lower",),
            count=2,
        ),
        Case(
            "nested-in-references",
            LOAD,
            "a SKILL.md below references/ is a document of its host",
            make=_nested,
            values=_PLAIN,
            absent=("nested",),
            count=2,
        ),
        Case(
            "three-thousand",
            LOAD,
            "1,500 hostile skills cost none of the 1,500 good ones",
            make=_three_thousand,
            target="many/s0000/SKILL.md",
            values={"name": "s0000", "description": DESCRIPTION},
            count=_MANY // 2 + 1,
        ),
        Case(
            "hard-link",
            LOAD,
            "a second name of a file is a file",
            make=_hard_link,
            values=_PLAIN,
            count=2,
        ),
        Case(
            "asset-64g",
            LOAD,
            "nothing reads an asset to list it",
            make=_huge_asset,
            values=_PLAIN,
            count=2,
        ),
        Case(
            "resources-5000",
            LOAD,
            "5,000 files beside it",
            make=_many_resources,
            values=_PLAIN,
            count=2,
        ),
    ]


CASES = numbered("fs", _refusals() + _skips() + _loads())
