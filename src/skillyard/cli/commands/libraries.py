"""``index``, ``doctor``, ``policy``: the state of a library, and what rules it."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural
from skillyard.cli.blocks import STYLES, Block, Column, Span, Text, finding, line, place_of, table
from skillyard.cli.options import library, view_of
from skillyard.cli.source import load, unloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.indexes import IndexBuilt, IndexStatus, IndexVerified
    from skillyard.base.shapes.upkeep import Diagnosis, PolicyReport


@view_of(
    "skillyard.hosts.operations.library_index:index_build",
    "index build",
    library(),
    what="indexing",
    notes=lambda result, args: unloaded(result.diagnostics, args),
)
def _built(result: IndexBuilt) -> Iterator[Block]:
    """Build the index of a library.

    The index is stored in the cache folder (SKILLYARD_CACHE, else XDG_CACHE_HOME, else ~/.cache; on
    Windows %LOCALAPPDATA%). It is updated automatically; rank, select and why always use it.

        skillyard index build
        skillyard index build skills
    """
    counts = {"added": result.added, "changed": result.changed, "removed": result.removed}
    did = ", ".join(f"{plural(number, 'file')} {what}" for what, number in counts.items() if number)
    what = f"{plural(result.skills, 'skill')}, {did or 'nothing changed'}"
    yield line(Span(result.folder, "name"), f"  {what}; generation {result.generation}")


@view_of(
    "skillyard.hosts.operations.library_index:index_status",
    "index status",
    library(),
    code=lambda result, args: result.state != "current",
)
def _state(result: IndexStatus) -> Iterator[Block]:
    """Show the state of the index of a library.

    The exit code is 1 unless the index is current.

        skillyard index status
    """
    from skillyard.hosts.operations.library_index import STATES

    style = "high" if result.state == "current" else "medium"
    yield line(Span(result.state, style), f"  the index {STATES[result.state]}")
    yield line("folder  ", Span(result.folder, "name"), indent=1)
    if result.problem:
        yield line("problem  ", result.problem, indent=1)
    if result.generation:
        size = f"{plural(result.segments, 'segment')}, {result.bytes / 1e6:,.1f} MB"
        what = f"{plural(result.skills, 'skill')}, {size}, generation {result.generation}"
        yield line("holds   ", what, indent=1)


@view_of(
    "skillyard.hosts.operations.library_index:index_verify",
    "index verify",
    library(),
    code=lambda result, args: not result.sound,
)
def _faults(result: IndexVerified) -> Iterator[Block]:
    """Check every byte of the index of a library.

    The exit code is 1 when something is wrong.

        skillyard index verify
    """
    if not result.findings:
        yield line(Span("sound", "high"), f"  every byte of {result.folder} is as it was written")
    for each in result.findings:
        yield from finding(each.path, each.severity, each.code, each.message, hint=each.hint)


@view_of(
    "skillyard.hosts.doctor:diagnose",
    "doctor",
    library(),
    provide={"read_command": lambda *_: import_module("skillyard.cli.grammar").read_command},
    what="reading",
    code=lambda result, args: not result.healthy,
)
def _diagnosis(diagnosis: Diagnosis) -> Iterator[Block]:
    """Say why a skill is not used: what is seen, the hook, the settings.

    Checks the library and its index, your agents' folders, the policy in force, prompt hooks, the
    approval of the project, settings and environment variables. It only reads: it starts no program
    and uses no network. The exit code is 1 when a finding is an error.

        skillyard doctor
        skillyard doctor ~/skills --scope user
        skillyard doctor --json
    """
    yield table(
        diagnosis.findings,
        Column("status", lambda each: Span(each.status, STYLES[each.status])),
        Column("check", lambda each: each.id, "name"),
        Column("finding", lambda each: each.message, wide=True),
    )
    for status in ("error", "warning", "info", "ok"):
        for each in diagnosis.findings:
            if each.status != status or not each.remedy:
                continue
            yield line()
            about = f"  {each.remedy}"
            yield line(Span(status, STYLES[status]), "  ", Span(each.id, "name"), about)
            if each.path:
                yield line(Span(place_of(each.path, each.line), "dim"), indent=2)
            if each.command:
                yield Text(f"  $ {each.command}")  # one line, however wide, so that it is copied
    counts = diagnosis.counts
    totals = [f"{counts['ok']:,} ok", f"{counts['info']:,} info"]
    totals += [plural(counts[status], status) for status in ("warning", "error")]
    yield line()
    yield line(f"skillyard {diagnosis.version}: {', '.join(totals)}")


@view_of(
    "skillyard.hosts.operations.policy_report:policy_report",
    "policy",
    provide={"library": lambda args, console: partial(load, args, console)},
    code=lambda result, args: bool(result.refused),
)
def _report(report: PolicyReport) -> Iterator[Block]:
    """Show the policy in force and the skills that it refuses.

    Reads the machine's policy and the nearest skillyard-policy.toml at or above the working folder,
    up to the root of the repository. Where both set a rule, the stricter one holds. Exits with 1
    when a skill is refused, with 2 when a policy cannot be read.

        skillyard policy
        skillyard policy --scope user --json
    """
    if not report.files:
        yield line("no policy holds here: a skillyard-policy.toml in the repository sets one")
    for path in report.files:
        yield line(Span(clean_line(path), "name"))
        for each in report.rules:
            if each.file == path:
                yield line(Span(each.rule, "dim"), f"  {each.value}", indent=2)
    for skill in report.refused:
        yield line(Span("refused", "low"), f"  {clean_line(skill.path)}: {clean_line(skill.why)}")
        yield line(Span("fix: ", "dim"), clean_line(skill.fix), indent=4)
    if report.files:
        yield line(f"{plural(len(report.refused), 'skill')} refused")
