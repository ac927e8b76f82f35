"""``policy``: the rules of the team, and the skills that they refuse."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import clean_line, plural
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, value
from skillyard.cli.source import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillyard.base.errors import Diagnostic
    from skillyard.base.shapes.policies import PolicyReport


@command(
    "policy", value("--store", "URL", "list what it refuses of this catalog store, not of folders")
)
def policy(args: Namespace, console: Console) -> int:
    """Show the policy in force and the skills that it refuses.

    Reads the machine's policy and the nearest skillyard-policy.toml at or above the working folder,
    up to the root of the repository. Where both set a rule, the stricter one holds. The profiles of
    the files are listed, and --profile adds the rules of one. Exits with 1 when a skill is refused,
    with 2 when a policy cannot be read.

        skillyard policy
        skillyard policy --profile backend
        skillyard policy --scope user --json
        skillyard policy --store sqlite:///catalog.db
    """
    from skillyard.base.shapes.policies import PolicyReport, PolicyRule, RefusedSkill
    from skillyard.install.policy.decision import REFUSED
    from skillyard.install.policy.library import find_policy

    policy = find_policy(profile=args.library_profile)
    if args.store and (args.root or args.scope):
        raise InvalidInput("policy reads folders or a store (--store), not both")
    report = PolicyReport(files=(), rules=(), profiles=(), refused=())
    if policy is not None:
        diagnostics: Iterable[Diagnostic]
        if args.store:
            from skillyard.store.operations.catalog_store import store_refusals

            diagnostics = store_refusals(args.store, policy)
        else:
            diagnostics = load(args, console).diagnostics
        report = PolicyReport(
            files=policy.files,
            rules=tuple(
                PolicyRule(rule=rule, value=policy.rules.value(rule), file=file)
                for rule, file in sorted(policy.rules.where.items())
            ),
            profiles=policy.profiles,
            refused=tuple(
                RefusedSkill(path=each.path, why=each.message, fix=each.hint)
                for each in diagnostics
                if each.code == REFUSED
            ),
        )
    console.show(report, _report)
    if policy is None:
        console.remark("no policy holds here: a skillyard-policy.toml in the repository sets one")
    return NEGATIVE if report.refused else 0


def _report(report: PolicyReport) -> Iterator[Block]:
    for path in report.files:
        yield line(Span(clean_line(path), "name"))
        for each in report.rules:
            if each.file == path:
                yield line(Span(each.rule, "dim"), f"  {each.value}", indent=2)
    if report.profiles:
        yield line(Span("profiles", "dim"), f"  {clean_line(', '.join(report.profiles))}")
    for skill in report.refused:
        yield line(Span("refused", "low"), f"  {clean_line(skill.path)}: {clean_line(skill.why)}")
        yield line(Span("fix: ", "dim"), clean_line(skill.fix), indent=4)
    if report.files:
        yield line(f"{plural(len(report.refused), 'skill')} refused")
