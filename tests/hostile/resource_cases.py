"""The folder behind the 28 hostile read requests, and the requests themselves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from tests.hostile.case import DESCRIPTION, LOAD, SECRET, Case, numbered, skill_bytes, write

GUIDE = b"# Guide\n\nFifteen degrees.\n"
SHARED = b"reached by a second name\n"

READ = "read"
REFUSE = "refuse"
EITHER = "either"
"""Both are safe: the right bytes, or a refusal."""


class Request(NamedTuple):
    """One read request: what is asked for and what may come back."""

    word: str
    verdict: str
    path: str
    """Relative to the skill's folder; ``{skill}`` stands for the absolute folder."""
    content: bytes = GUIDE


def resource_skill(root: Path) -> None:
    """Build a skill with good files, links that lead out, a FIFO and a sparse giant."""
    target = root / "pencil"
    write(target / "SKILL.md", skill_bytes())
    write(target / "references/guide.md", GUIDE)
    write(target / "assets/naïve name.txt", GUIDE)
    write(root / "secret.txt", SECRET)
    write(root.parent / "outside/secret.txt", SECRET)
    write(root.parent / "outside/shared.txt", SHARED)
    os.link(root.parent / "outside/shared.txt", target / "assets/shared.txt")
    (target / "inside.md").symlink_to("references/guide.md")
    (target / "link-out.md").symlink_to(root.parent / "outside/secret.txt")
    (target / "folder-out").symlink_to("../../outside", target_is_directory=True)
    (target / "again").symlink_to(".", target_is_directory=True)
    (target / "endless").symlink_to("/dev/zero")
    write(target / "assets/disk.img", b"")
    os.truncate(target / "assets/disk.img", 64 << 30)
    os.mkfifo(target / "assets/pipe")


REQUESTS = (
    Request("plain", READ, "references/guide.md"),
    Request("blanks-and-accents", READ, "assets/naïve name.txt"),
    Request("hard-link", READ, "assets/shared.txt", SHARED),
    Request("dot-segment", EITHER, "./references/./guide.md"),
    Request("link-inside", EITHER, "inside.md"),
    Request("through-a-loop", EITHER, "again/references/guide.md"),
    Request("parent", REFUSE, "../secret.txt"),
    Request("grandparent", REFUSE, "../../outside/secret.txt"),
    Request("parent-behind-folder", REFUSE, "references/../../secret.txt"),
    Request("absolute", REFUSE, "/etc/passwd"),
    Request("absolute-own", REFUSE, "{skill}/references/guide.md"),
    Request("backslash-parent", REFUSE, "..\\secret.txt"),
    Request("backslash", REFUSE, "references\\guide.md"),
    Request("encoded-parent", REFUSE, "%2e%2e/secret.txt"),
    Request("encoded-slash", REFUSE, "..%2fsecret.txt"),
    Request("nul", REFUSE, "references/guide.md\0.png"),
    Request("empty", REFUSE, ""),
    Request("folder-itself", REFUSE, "."),
    Request("directory", REFUSE, "references"),
    Request("trailing-slash", EITHER, "references/guide.md/"),
    Request("link-out", REFUSE, "link-out.md"),
    Request("through-a-link-out", REFUSE, "folder-out/secret.txt"),
    Request("fifo", REFUSE, "assets/pipe"),
    Request("device", REFUSE, "endless"),
    Request("drive", REFUSE, "C:secret.txt"),
    Request("home", REFUSE, "~/secret.txt"),
    Request("url", REFUSE, "file:///etc/passwd"),
    Request("giant", REFUSE, "assets/disk.img"),
)

CASES = numbered(
    "res",
    [
        Case(
            "paths",
            LOAD,
            "28 requests to read beside the skill; see resource_cases.py",
            make=resource_skill,
            values={"name": "pencil", "description": DESCRIPTION},
            count=2,
        )
    ],
)
