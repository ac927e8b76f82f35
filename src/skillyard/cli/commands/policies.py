"""``policy``: the rules of the team, and the skills that they refuse."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillyard.base.errors import Diagnostic
    from skillyard.base.shapes.policies import PolicyReport
    from skillyard.cli.blocks import Block
    from skillyard.cli.parser import Commands


def add_policy_command(commands: Commands) -> None:
    """Declare ``policy``."""
    parser = add_command(
        commands,
        "policy",
        "show the policy in force and the skills that it refuses",
        run=policy,
        about=(
            "Reads the machine's policy and the nearest skillyard-policy.toml at or above the "
            "working folder, up to the root of the repository. Where both set a rule, the "
            "stricter one holds. The profiles of the files are listed, and --profile adds the "
            "rules of one. Exits with 1 when a skill is refused, with 2 when a policy cannot be "
            "read."
        ),
        examples=(
            "skillyard policy",
            "skillyard policy --profile backend",
            "skillyard policy --scope user --json",
            "skillyard policy --store sqlite:///catalog.db",
        ),
    )
    parser.add_argument(
        "--store", metavar="URL", help="list what it refuses of this catalog store, not of folders"
    )


def policy(args: Namespace, console: Console) -> int:
    """Print the rules and the refused skills; 1 when there is one."""
    from skillyard.base.errors import InvalidInput
    from skillyard.base.shapes.policies import PolicyReport, PolicyRule, RefusedSkill
    from skillyard.cli.source import load
    from skillyard.install.policy.decision import REFUSED
    from skillyard.install.policy.places import find_policy

    policy = find_policy(profile=args.library_profile)
    diagnostics: Iterable[Diagnostic] = ()
    if args.store and (args.root or args.scope):
        raise InvalidInput("policy reads folders or a store (--store), not both")
    if policy is not None and args.store:
        from skillyard.store.operations.catalog_store import store_refusals

        diagnostics = store_refusals(args.store, policy)
    elif policy is not None:
        diagnostics = load(args, console).diagnostics
    report = PolicyReport(
        files=policy.files if policy is not None else (),
        rules=tuple(
            PolicyRule(rule=rule, value=policy.rules.value(rule), file=file)
            for rule, file in sorted(policy.rules.where.items())
        )
        if policy is not None
        else (),
        profiles=policy.profiles if policy is not None else (),
        refused=tuple(
            RefusedSkill(path=each.path, why=each.message, fix=each.hint)
            for each in diagnostics
            if each.code == REFUSED
        ),
    )
    console.show(report, _report)
    if policy is None and not console.json:
        console.note("no policy holds here: a skillyard-policy.toml in the repository sets one")
    return NEGATIVE if report.refused else 0


def _report(report: PolicyReport) -> Iterator[Block]:
    from skillyard.base.text import clean_line, plural
    from skillyard.cli.blocks import Span, line

    for path in report.files:
        yield line(Span(clean_line(path), "name"))
        for each in report.rules:
            if each.file == path:
                yield line(Span(each.rule, "dim"), f"  {each.value}", indent=2)
    if report.profiles:
        names = clean_line(", ".join(report.profiles))
        yield line(Span("profiles", "dim"), f"  {names}")
    for skill in report.refused:
        yield line(Span("refused", "low"), f"  {clean_line(skill.path)}: {clean_line(skill.why)}")
        yield line(Span("fix: ", "dim"), clean_line(skill.fix), indent=4)
    if report.files:
        yield line(f"{plural(len(report.refused), 'skill')} refused")


COMMANDS = {"policy": add_policy_command}
