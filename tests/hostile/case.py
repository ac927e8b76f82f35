"""One hostile input: what it is made of, and what a reader owes it.

A case becomes a folder ``<id>/`` with ``root/`` (what is given to the reader), and at times
``outside/`` (what the reader must never touch).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

LOAD = "load"
REJECT = "reject"
SKIP = "skip"

HANG_SECONDS = 10
"""A bound on hangs, far above what any case may take; never a measure of speed."""

DESCRIPTION = "Sharpens pencils to a given angle. Use for blunt pencils."
BODY = "# Steps\n\nTurn the pencil, not the knife.\n"

CANARY_PATH = "canary/SKILL.md"
CANARY = b"""---
name: canary
description: Sings while the air is good. Use to see that one bad skill costs no other.
---

# Canary

A good skill among bad ones.
"""

SECRET = b"pearl-otter-secret: this text lies outside every root\n"

Make = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile input and its verdict.

    ``reject``: not in the catalog, and an error names the target. ``skip``: never read, and some
    diagnostic names ``mentioned``. ``load``: in the catalog with ``values``.
    """

    id: str
    verdict: str
    why: str
    content: bytes | None = field(default=None, repr=False)
    """The bytes of the target, where the case is a single file."""
    make: Make | None = None
    """What builds the case below its ``root`` otherwise."""
    target: str = "pencil/SKILL.md"
    """The file in question, relative to the root."""
    values: Mapping[str, object] = field(default_factory=dict)
    """Fields that the loaded skill must have."""
    codes: frozenset[str] = frozenset()
    """Diagnostic codes that would be right for a reject; empty: any."""
    also: tuple[str, ...] = ()
    """More files that must load."""
    instead: tuple[str, ...] = ()
    """Paths under which the target may be listed as well (a link and what it leads to)."""
    absent: tuple[str, ...] = ()
    """Names that no loaded skill may have."""
    mentioned: str = ""
    """The part of a path that a skip's diagnostic must name; empty: the target."""
    silent: bool = False
    """True where a skip is so ordinary that it needs no diagnostic."""
    count: int | None = None
    """How many skills the whole root must give, the canary among them."""
    unprivileged: bool = False
    """True where a reader with all rights would see nothing wrong."""

    @property
    def area(self) -> str:
        """The first word of the id."""
        return self.id.split("-", 1)[0]

    def build(self, folder: Path) -> Path:
        """Write the case below ``folder`` and return the root to read.

        Raises OSError or NotImplementedError where the platform cannot hold such a file.
        """
        root = folder / "root"
        write(root / CANARY_PATH, CANARY)
        if self.content is not None:
            write(root / self.target, self.content)
        if self.make is not None:
            self.make(root)
        return root


def numbered(area: str, cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases with stable ids: area, number in the list, and their own word."""
    return tuple(
        replace(case, id=f"{area}-{number:02d}-{case.id}") for number, case in enumerate(cases, 1)
    )


def write(path: Path, content: bytes) -> None:
    """Write the bytes, making the folders above."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def skill_text(
    name: str = "name: pencil",
    description: str = f"description: {DESCRIPTION}",
    extra: str = "",
    body: str = BODY,
) -> str:
    """Return a SKILL.md from whole frontmatter lines and a body."""
    lines = [line for line in (name, description, extra.rstrip("\n")) if line]
    return "---\n" + "\n".join(lines) + "\n---\n\n" + body


def skill_bytes(
    name: str = "name: pencil",
    description: str = f"description: {DESCRIPTION}",
    extra: str = "",
    body: str = BODY,
) -> bytes:
    """Return :func:`skill_text` in UTF-8."""
    return skill_text(name, description, extra, body).encode("utf-8")
