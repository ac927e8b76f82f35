"""Reports for GitHub workflows: the summary of a step, and warnings beside the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillyard.evals.report import markdown
from skillyard.evals.report.changes import changes_of
from skillyard.evals.report.head import banners
from skillyard.evals.report.layers import layer_of, ordered
from skillyard.evals.report.markup import visible_line
from skillyard.evals.report.outcomes import entities
from skillyard.evals.report.pairs import headline_of, verdict_of
from skillyard.evals.report.values import at, mapping, rows, word

__all__ = ["MAX_ANNOTATIONS", "render", "workflow_warnings"]

STEP_LIMIT = 256_000
"""Maximum characters of a step's summary; in UTF-8 always below GitHub's limit of 1 MiB."""
MAX_ANNOTATIONS = 10
"""GitHub shows at most ten warnings of a step, so the tenth has the number of the others."""
_MESSAGE = 500


def render(
    envelopes: Sequence[Mapping[str, object]],
    *,
    title: str = "Skill evaluation",
    changes: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return the Markdown to append to the file that ``GITHUB_STEP_SUMMARY`` names."""
    return markdown.render(envelopes, title=title, changes=changes, limit=STEP_LIMIT)


def workflow_warnings(
    envelopes: Sequence[Mapping[str, object]],
    *,
    changes: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return at most ten ``::warning`` commands, one a line, the most important first.

    The order is: regressions, reasons not to rely on the run, skills that make answers worse,
    findings of confusion. Skills of a run with a stand-in give no warnings. Empty without warnings.
    """
    ordered_envelopes = ordered(mapping(each) for each in envelopes)
    real = [each for each in ordered_envelopes if at(each, "meta", "backend") != "fake"]
    warnings = [
        (f"{each.code} regression", f"{each.entity}: {each.message}")
        for each in changes_of(changes)
        if each.regressed
    ]
    warnings += [(each.head, " ".join(each.lines)) for each in banners(ordered_envelopes)]
    warnings += [worse for each in real for worse in _worse(each)]
    warnings += [
        (f"{layer_of(each).code} {word(finding.get('group'))}", word(finding.get("message")))
        for each in real
        for finding in rows(at(each, "artifacts", "findings"))
    ]
    if len(warnings) > MAX_ANNOTATIONS:
        more = len(warnings) - MAX_ANNOTATIONS + 1
        warnings = warnings[: MAX_ANNOTATIONS - 1]
        warnings.append(("More", f"{more} more warnings are in the report"))
    return "".join(
        f"::warning title={_property(title)}::{_data(message)}\n" for title, message in warnings
    )


def _worse(envelope: Mapping[str, object]) -> list[tuple[str, str]]:
    return [
        (f"{layer_of(envelope).code} {name}", verdict_of(entity))
        for name, entity in entities(envelope.get("summary")).items()
        if word(headline_of(entity).get("word")) == "worse"
    ]


# How GitHub's own toolkit escapes the data and the properties of a workflow command.
def _data(text: str) -> str:
    return visible_line(text, _MESSAGE).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
