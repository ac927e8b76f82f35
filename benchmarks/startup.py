"""Starting: what a fresh process costs against ``python -c pass`` with the same flags.

Processor time of the whole child (user and system, from ``os.wait4``), one child after the other.
The children import a copy of the package whose bytecode unmeasured starts have written, as an
installation has it. Each figure has its limit: ``import skillyard``, ``select --json`` over a fresh
index, and one answer of the prompt hook (:mod:`benchmarks.hook` measures more of it).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import hook
from benchmarks.corpus import COUNT, corpus_file, records, written_out
from benchmarks.measure import (
    SOURCE,
    Figure,
    Options,
    Sample,
    Skipped,
    against,
    alternate,
    installed_environment,
    run_child,
)

SUMMARY = "import, select and hook in a fresh process, against python -c pass"
ROUNDS = 15
SKILLS = 300
QUERY = "turn a scanned contract into a clean spreadsheet and check the totals"
IMPORT_LIMIT = 3.0
SELECT_LIMIT = 7.0
EXAMPLES = SOURCE.parent / "examples" / "skills"
SLOWEST = 10

_PASS = (sys.executable, "-c", "pass")
_IMPORT = (sys.executable, "-c", "import skillyard")


def run(options: Options) -> Iterator[Figure]:
    rounds = options.rounds or ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        environment = installed_environment(Path(folder, "package"))
        environment["SKILLYARD_CACHE"] = str(Path(folder, "cache"))
        samples = _contest({"pass": _PASS, "import": _IMPORT}, environment, rounds)
        yield _figure("import skillyard", _IMPORT, samples, "import", IMPORT_LIMIT)
        if options.importtime:
            yield from _dearest((sys.executable, "-X", "importtime", *_IMPORT[1:]), environment)
        if find_spec("skillyard.__main__") is None:
            raise Skipped("there is no command line to start: skillyard.__main__ is absent")
        for label, root in _libraries(options):
            yield from _select(label, root, environment, rounds)
            if options.importtime:
                command = (sys.executable, "-X", "importtime", *_command((), root))
                yield from _dearest(command, environment)
    yield from hook.figures_of_the_user(options, rounds)


def _libraries(options: Options) -> Iterator[tuple[str, Path]]:
    """Yield each library that is here, written out for as long as it is looked at."""
    if corpus_file(options.shared).is_file():
        short = (record for record in records(options.shared) if _is_short(record))
        for label, chosen in (
            ("short skills", islice(short, SKILLS)),
            ("skills of all lengths", records(options.shared, SKILLS, COUNT // SKILLS)),
        ):
            with written_out(chosen, keep=options.keep) as library:
                library.settle()
                mean = library.size / library.files / 1000
                yield f"{library.files} {label}, {mean:.1f} KB each", library.root
        with written_out(records(options.shared, COUNT), keep=options.keep) as library:
            library.settle()
            yield f"{library.files:,} skills, their index made before", library.root
    else:
        print(f"  skipped: the corpus is absent: {corpus_file(options.shared)}")
    if EXAMPLES.is_dir():
        count = sum(1 for _ in EXAMPLES.rglob("SKILL.md"))
        yield f"{count} example skills", EXAMPLES


def _is_short(record: dict[str, Any]) -> bool:
    """Whether a record is about as long as most skills are, with as many tags as they have."""
    return 1_000 < len(record["text"]) < 5_500 and len(record.get("tags", ())) < 12


def _command(start: Sequence[str], root: Path) -> tuple[str, ...]:
    start = start or ("-m", "skillyard")
    return (*start, "select", QUERY, "--json", "--root", str(root))


def _select(
    label: str, root: Path, environment: Mapping[str, str], rounds: int
) -> Iterator[Figure]:
    commands = {"pass": _PASS, "module": _command((sys.executable, "-m", "skillyard"), root)}
    script = _console_script()
    if script is not None:
        commands["script"] = _command((script,), root)
    _check(commands["module"], environment)
    samples = _contest(commands, environment, rounds)
    for name in list(commands)[1:]:
        what = "python -m skillyard select" if name == "module" else "the installed skillyard"
        yield _figure(f"{what}: {label}", None, samples, name, SELECT_LIMIT)


def _console_script() -> str | None:
    beside = Path(sys.executable).parent / "skillyard"
    return str(beside) if beside.is_file() else shutil.which("skillyard")


def _check(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Stop here when the command does not answer: its speed would mean nothing."""
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    try:
        schema = json.loads(process.stdout).get("schema", "")
    except ValueError:
        schema = ""
    if not schema.startswith("skillyard.select/"):
        raise Skipped(f"select did not answer (exit {process.returncode}): {process.stderr[-300:]}")


def _contest(
    commands: Mapping[str, Sequence[str]], environment: Mapping[str, str], rounds: int
) -> dict[str, list[Sample]]:
    def start(command: Sequence[str]) -> Callable[[], Sample]:
        return lambda: run_child(command, environment)

    contestants = {name: start(command) for name, command in commands.items()}
    alternate(contestants, 2)  # fills the bytecode folder and the page cache
    return alternate(contestants, rounds)


def _figure(
    what: str,
    command: Sequence[str] | None,
    samples: Mapping[str, list[Sample]],
    name: str,
    limit: float,
) -> Figure:
    ours = " ".join(("python", *command[1:])) if command else "select … --json --root …"
    return against(what, (ours, samples[name]), ("python -c pass", samples["pass"]), limit)


def _dearest(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Figure]:
    """Yield the modules that take longest to import, by their own time."""
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    rows = []
    for line in process.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        if own.strip().isdigit():
            rows.append((int(own), rest.rpartition("|")[2].strip()))
    rows.sort(reverse=True)
    total = sum(own for own, _ in rows)
    named = ", ".join(f"{name} {own / 1e3:.1f}" for own, name in rows[:SLOWEST])
    yield Figure(
        f"imports: {len(rows)} modules, {total / 1e3:.1f} ms; dearest by themselves", named
    )
