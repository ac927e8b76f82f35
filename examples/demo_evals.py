"""Does a skill fire, does it help, and is it worth its tokens? In half a minute.

    make demo-evals

The commands are the real ones, and so are the libraries that speak to the models. The model is a
fake server on this machine (``skillyard_testkit.fake_llm``): the results say nothing about any
skill, and the report says so at its top.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
REPORT = "report.html"
CASES = "cases/csv-cleaning.yaml"
VARIABLES = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")


def main(arguments: list[str]) -> int:
    """Run the layers one after another; return 0 when each answered as it should.

    The first argument is where the report goes (default: ``report.html`` in the current folder).
    """
    from skillyard_testkit.fake_llm import FakeLlm

    report = Path(arguments[0] if arguments else REPORT).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, FakeLlm() as fake:
        for name in ("cases", "evals", "skills"):
            shutil.copytree(EXAMPLES / name, Path(folder) / name)
        os.chdir(folder)
        before = {name: os.environ.get(name) for name in VARIABLES}
        os.environ |= {"ANTHROPIC_BASE_URL": fake.url, "ANTHROPIC_API_KEY": "demo"}

        print_heading("Does it fire? Our own scorer picks: no model, no key, no cost.")
        failed += run_command("eval run activation --root skills", 12)

        print_heading("The same question to a model, on a part of the cases.")
        failed += run_command("eval run activation --root skills --router model --limit 24", 8)

        print_heading("A file for the cases of one skill: what people have to write is left open.")
        failed += run_command("eval init git-bisect --root skills --evals-dir mine", 4)

        print_heading("Such a file, filled in: what can its prompts show, and what would it cost?")
        failed += run_command(f"eval run effectiveness {CASES} --root skills --dry-run", 30)

        print_heading("Does it help? With the skill against without, judged in both orders.")
        failed += run_command(f"eval run effectiveness {CASES} --root skills --max-cost 2", 30)

        print_heading(
            "Is it worth its tokens? All of it, its summary, nothing; and the file beside it."
        )
        failed += run_command(f"eval run size-impact {CASES} --root skills --max-cost 2", 30)

        print_heading("Again, with the network forbidden: everything that was paid for is kept.")
        os.environ.pop("ANTHROPIC_BASE_URL")
        os.environ.pop("ANTHROPIC_API_KEY")
        failed += run_command(f"eval run size-impact {CASES} --root skills --replay", 30)

        print_heading("All of it on one page.")
        failed += run_command(f"eval report --out {shlex.quote(str(report))}", 30)
        for name, value in before.items():
            if value is not None:
                os.environ[name] = value
    print(f"\nOpen {report} in a browser.")
    return 1 if failed else 0


def print_heading(text: str) -> None:
    print(f"\n# {text}")


def run_command(command: str, max_lines: int) -> int:
    """Run one command, print it with the first lines of its output, and return its exit code."""
    from skillyard.cli import main as run

    print(f"\n$ skillyard {command}")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run(shlex.split(command))
    lines = re.sub(r"_\d{8}T\d{6}Z-[0-9a-f]{6}", "_RUN", out.getvalue()).rstrip().split("\n")
    if len(lines) > max_lines:
        lines = [*lines[: max_lines - 2], f"... {len(lines) - max_lines} more lines", *lines[-2:]]
    print("\n".join(lines))
    if code:
        print(f"(exit code {code})")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
