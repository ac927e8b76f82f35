"""Build the documentation site into build/site and check it.

    python tools/site/build.py [arguments of `mkdocs build`]

MkDocs runs in strict mode: a page outside the navigation, a link to a missing page and a missing
anchor are errors. The site must also work without a network, so a page that loads a script, a
style sheet, a font or a picture from another host is an error too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["external_resources", "main"]

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
_CSS_ADDRESS = re.compile(r"(?:@import\s+|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)")
_LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
_RELATIONS_THAT_LOAD = {"stylesheet", "icon", "preload", "modulepreload", "preconnect"}


class _Loads(HTMLParser):
    """Collects the addresses from which a page loads something by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        address = values.get(_LOADED.get(tag, "")) or ""
        relations = set((values.get("rel") or "").split())
        if tag == "link" and not relations & _RELATIONS_THAT_LOAD:
            return
        self.addresses.append(address)


def external_resources(site: Path) -> list[str]:
    """Return ``page: address`` for all that the pages and style sheets load from another host."""
    loads = []
    for path in sorted(site.rglob("*")):
        if path.suffix == ".html":
            page = _Loads()
            page.feed(path.read_text(encoding="utf-8"))
            loads += [(path, address) for address in page.addresses]
        elif path.suffix == ".css":
            addresses = _CSS_ADDRESS.findall(path.read_text(encoding="utf-8"))
            loads += [(path, address) for address in addresses]
    return [
        f"{path.relative_to(site)}: {address}"
        for path, address in loads
        if address.startswith(("http:", "https:", "//"))
    ]


def main() -> int:
    """Build and check the site; return the exit status."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    process = subprocess.run([*command, *sys.argv[1:]], cwd=ROOT, env=environment, check=False)
    if process.returncode != 0:
        return process.returncode
    external = external_resources(SITE)
    for line in external:
        print(f"loaded from another host: {line}", file=sys.stderr)
    if external:
        return 1
    pages = sum(1 for _ in SITE.rglob("*.html"))
    print(f"{pages} pages in {SITE.relative_to(ROOT)}; open {SITE.name}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
