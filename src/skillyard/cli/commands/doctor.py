"""``doctor``: why a skill is not used, and what to do about it."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.text import plural
from skillyard.cli.blocks import STYLES, Block, Column, Span, Text, line, table
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.doctor import Diagnosis


@command("doctor", library())
def doctor(args: Namespace, console: Console) -> int:
    """Say why a skill is not used: what is seen, the hook, the settings.

    Checks the library and its index, your agents' folders, the policy in force, prompt hooks, the
    approval of the project, settings and environment variables. It only reads: it starts no program
    and uses no network. The exit code is 1 when a finding is an error.

        skillyard doctor
        skillyard doctor ~/skills --scope user
        skillyard doctor --json
    """
    from skillyard.base.version import __version__
    from skillyard.cli.grammar import read_command
    from skillyard.hosts.doctor import diagnose

    with console.progress("reading") as step:
        diagnosis = diagnose(
            args.root,
            args.scope,
            version=__version__,
            read_command=read_command,
            profile=args.library_profile,
            progress=step,
        )
    console.show(diagnosis, _diagnosis)
    return 0 if diagnosis.healthy else NEGATIVE


def _diagnosis(diagnosis: Diagnosis) -> Iterator[Block]:
    """Yield every finding, then the remedies, the most severe first, then the counts."""
    yield table(
        diagnosis.findings,
        (Column("status"), lambda each: Span(each.status, STYLES[each.status])),
        (Column("check", "name"), lambda each: each.id),
        (Column("finding", wide=True), lambda each: each.message),
    )
    for status in ("error", "warning", "info", "ok"):
        for each in diagnosis.findings:
            if each.status != status or not each.remedy:
                continue
            yield line()
            about = f"  {each.remedy}"
            yield line(Span(status, STYLES[status]), "  ", Span(each.id, "name"), about)
            if each.path:
                where = each.path + (f":{each.line}" if each.line is not None else "")
                yield line(Span(where, "dim"), indent=2)
            if each.command:
                yield Text(f"  $ {each.command}")  # one line, however wide, so that it is copied
    counts = diagnosis.counts
    totals = [f"{counts['ok']:,} ok", f"{counts['info']:,} info"]
    totals += [plural(counts[status], status) for status in ("warning", "error")]
    yield line()
    yield line(f"skillyard {diagnosis.version}: {', '.join(totals)}")
