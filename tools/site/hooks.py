"""Hooks of MkDocs: what differs between the pages on GitHub and on the site.

The pages are also read on GitHub, so they link to ``../README.md`` and to source files. The site
has no such pages; there the links become addresses in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import normpath
from typing import Any

__all__ = ["on_page_markdown"]

_ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"\]\((\.\./[^)\s#]*)(#[^)\s]*)?\)")
_BRANCH = "/blob/main/"


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Return the page with the links of the site."""
    repository = str(config["extra"]["repository"])
    folder = Path("docs", page.file.src_path).parent

    def address(link: re.Match[str]) -> str:
        target = normpath((folder / link[1]).as_posix())
        if target.startswith("docs/") or not (_ROOT / target).exists():
            return link[0]
        return f"]({repository}{_BRANCH}{target}{link[2] or ''})"

    return _LINK.sub(address, markdown)
