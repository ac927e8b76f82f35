"""Find and install a skill from elsewhere, in a minute and without the internet.

    make demo-search

The remotes are fake servers on this machine (``skillyard_testkit``): skills.sh, GitHub and a site
with a well-known index. The commands are the real ones.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent / "skills"


def main() -> int:
    """Run the commands one after another; return 0 when each answered as it should."""
    from skillyard.install.sources.settings import GITHUB_TOKENS
    from skillyard_testkit import FakeServers, add_library, faults, toml

    with tempfile.TemporaryDirectory() as folder, FakeServers() as servers:
        add_library(servers, str(LIBRARY))
        os.chdir(folder)
        for name in (*GITHUB_TOKENS, "SKILLYARD_OFFLINE"):
            os.environ.pop(name, None)
        os.environ |= {
            "SKILLYARD_CACHE": "cache",
            "XDG_CONFIG_HOME": folder,
            "SKILLYARD_CONFIG": "skillyard.toml",
        }
        Path("skillyard.toml").write_text(toml({"sources": servers.sources()}), encoding="utf-8")
        hidden = {
            servers.well_known.removeprefix("http://"): "site.example:80"
        }  # as long: columns stay

        print_heading("A search asks every source at once, fetches what they found, and ranks it.")
        run_command('search "clean csv files" --limit 3', hidden)

        print_heading(
            "Install one of them: checked, written with one rename, pinned in a lock file."
        )
        run_command("add demo/skills/csv-cleaning --into skills", hidden)
        run_command("list skills", hidden)

        print_heading("A rate-limited source is named, and not asked before its limit ends.")
        servers.faults.add("skills_sh", "*", faults.rate_limited(wait_s=120))
        run_command('search "review a pull request" --limit 2', hidden)

        print_heading("Without a network, the cache answers.")
        os.environ["SKILLYARD_OFFLINE"] = "1"
        run_command('search "clean csv files" --limit 3', hidden)
        run_command('search "something never asked" --source skills.sh', hidden)
    return 0


def print_heading(text: str) -> None:
    print(f"\n# {text}")


def run_command(command: str, hidden: dict[str, str]) -> None:
    """Run one command, and print it with its output."""
    import shlex

    from skillyard.cli import main as run

    print(f"\n$ skillyard {command}")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run(shlex.split(command))
    text = out.getvalue()
    for address, name in hidden.items():
        text = text.replace(address, name)
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://remote.example", text)
    print(re.sub(r"\bin \d+ s\b", "in 120 s", text).rstrip())
    if code:
        print(f"(exit code {code})")


if __name__ == "__main__":
    sys.exit(main())
