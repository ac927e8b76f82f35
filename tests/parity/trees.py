"""Small trees of files on disk, and paths as seen from their root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["relative", "write_tree"]


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write every file below ``root``, text as UTF-8 with its line ends kept; return ``root``."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return root


def relative(path: str, root: Path) -> str:
    """Return ``path`` with ``/``, seen from ``root`` when it is absolute."""
    found = Path(path)
    return found.relative_to(root).as_posix() if found.is_absolute() else found.as_posix()
