"""Make the pictures of README.md and of the guides from real runs over the example library.

    python tools/pictures/make.py

``docs/pictures/terminal.svg`` shows the output of the command line, drawn by rich, and
``listing.svg`` what Claude Code shows its model of 58 skills of the public corpus
(``SKILLYARD_SHARED``; without it that picture stays as it is).
``docs/pictures/page.png`` is a screenshot of the web page in Chromium, ``report.png`` one of the
report of ``make demo-evals``. They are committed.
"""

from __future__ import annotations

import fcntl
import gzip
import io
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
CORPUS = "corpus/skills.jsonl.gz"
COLUMNS = 100
COMMANDS = (
    ("select", "our docker image is 1.8 GB and runs as root", "--limit", "2"),
    ("select", "who won the world cup in 1994", "--limit", "2"),
)
OWNERS = ("anthropics", "openai", "obra", "langchain-ai", "prefecthq")
"""Whose skills of the corpus the listing shows: what one person may have installed."""
LISTED = 20
"""Lines of the listing that the picture shows."""
REQUEST = "our docker image is 1.8 GB and runs as root"
# rich's own template loads a font from another host; this one uses the reader's.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
    font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    """Make the pictures; return the exit status."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("pictures: Chromium is not installed (Debian: chromium)", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = isolated_environment(folder)
        draw_terminal(PICTURES / "terminal.svg", environment)
        corpus = Path(os.environ.get("SKILLYARD_SHARED", ROOT.parent / "shared"), CORPUS)
        if corpus.is_file():
            draw_listing(PICTURES / "listing.svg", corpus, environment)
        with _service(environment) as address:
            query = urlencode({"q": REQUEST})
            _screenshot(browser, f"{address}/?{query}", PICTURES / "page.png", folder)
        report = _demo_report(folder, environment)
        _screenshot(browser, report, PICTURES / "report.png", folder, width=1_280)
    for picture in sorted(PICTURES.iterdir()):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size:,} bytes")
    return 0


def isolated_environment(folder: str) -> dict[str, str]:
    """Return an environment without the user's settings and caches."""
    return {
        **os.environ,
        "HOME": folder,
        "SKILLYARD_CACHE": f"{folder}/cache",
        "SKILLYARD_HTTP_TOKEN": "",
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),
    }


def draw_terminal(path: Path, environment: dict[str, str]) -> None:
    """Write what the commands print on a terminal as an SVG."""
    folder = ROOT / "examples" / "skills"
    _draw(path, [(words, _terminal_output(words, folder, environment)) for words in COMMANDS])


def draw_listing(path: Path, corpus: Path, environment: dict[str, str]) -> None:
    """Write the start of the listing report of a user with skills of several owners as an SVG."""
    project = Path(environment["HOME"], "project")
    project.mkdir()
    library = Path(environment["HOME"], ".claude", "skills")
    library.mkdir(parents=True)
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        skills = [json.loads(line) for line in lines]
    of_owners = {
        skill["id"].partition("/")[2]: skill
        for skill in skills
        if skill["id"].partition("/")[0] in OWNERS and "~" not in skill["id"]
    }
    for name, skill in [*of_owners.items()][:58]:
        (library / name).mkdir()
        head = json.dumps({"name": name, "description": skill["description"]})
        text = f"---\n{head}\n---\n\n{skill['text']}"
        (library / name / "SKILL.md").write_text(text, encoding="utf-8")
    words = ("summary", "--host", "claude-code", "--quiet")
    shown = _terminal_output(words, project, environment).split("\n")
    more = f"… and {len(shown) - LISTED} lines more"
    _draw(path, [(words[:-1], "\n".join([*shown[:LISTED], more]))])


def _draw(path: Path, runs: Sequence[tuple[tuple[str, ...], str]]) -> None:
    """Write the commands and what they print as an SVG."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    for number, (words, output) in enumerate(runs):
        if number:
            console.print()
        shown = " ".join(f'"{word}"' if " " in word else word for word in words)
        console.print(Text(f"$ skillyard {shown}", style="bold"))
        console.print(Text.from_ansi(output))
    path.write_text(
        console.export_svg(title="skillyard", code_format=SVG, unique_id="skillyard"),
        encoding="utf-8",
    )


def _terminal_output(words: tuple[str, ...], folder: Path, environment: dict[str, str]) -> str:
    """Return what a command prints on a terminal, with its colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "skillyard", *words]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave
    ):
        os.close(slave)
        return b"".join(_reads(master)).decode().replace("\r\n", "\n").rstrip("\n")


def _reads(descriptor: int) -> Iterator[bytes]:
    """Yield what is written to a terminal until its last writer has closed it."""
    try:
        while data := os.read(descriptor, 65_536):
            yield data
    except OSError:  # Linux reports the end of a terminal as an error
        pass
    finally:
        os.close(descriptor)


@contextmanager
def _service(environment: dict[str, str]) -> Iterator[str]:
    """Run the HTTP service over the example library; yield its address."""
    command = ["serve", "--http", "examples/skills", "--local-only", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "skillyard", *command],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stderr is not None
            yield str(json.loads(running.stderr.readline())["url"])
        finally:
            running.kill()


def _demo_report(folder: str, environment: dict[str, str]) -> str:
    """Evaluate the example skills with the stand-in; return the address of the report."""
    path = Path(folder) / "report.html"
    command = [sys.executable, str(ROOT / "examples" / "demo_evals.py"), str(path)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return path.as_uri()


def _screenshot(browser: str, address: str, path: Path, folder: str, width: int = 1_000) -> None:
    """Write a picture of the first screen of a page."""
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},760"]
    subprocess.run(
        [
            browser,
            *options,
            f"--user-data-dir={folder}/chromium",
            f"--screenshot={path}",
            address,
        ],
        check=True,
        stderr=subprocess.DEVNULL,
        timeout=120,
    )


if __name__ == "__main__":
    sys.exit(main())
