"""The Markdown report, a summary for a pull request: tables, and details in folds.

Texts of models, skills and judges are code spans, in which GitHub makes no links and renders no
markup. In sentences that may quote them, every punctuation mark is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from skillyard.evals.report.activation import activation_sentence, rate_texts
from skillyard.evals.report.changes import Change, changes_of
from skillyard.evals.report.confusion import confusion_sentence
from skillyard.evals.report.head import banners, cost, facts
from skillyard.evals.report.layers import layer_of, ordered
from skillyard.evals.report.markup import visible_line
from skillyard.evals.report.outcomes import entities, failures, outcome
from skillyard.evals.report.overview import tile
from skillyard.evals.report.pairs import (
    Badge,
    Forest,
    badge,
    headline_of,
    pair_view,
    recommended,
    verdict_of,
)
from skillyard.evals.report.proof import limits_of, shows
from skillyard.evals.report.values import at, mapping, names, number, rows, word
from skillyard.evals.report.words import LEVEL, UNKNOWN, between, decimal, many, signed, whole

__all__ = ["LIMIT", "code", "prose", "render"]

LIMIT = 65_536
"""Most characters of a comment or a description on GitHub (its error message names the figure)."""
_ROWS = 100
_LINES = 40
_LETTERS = 200
# Names, issues and pull requests, which GitHub links and notifies wherever they stand in text; then
# what begins mark-up inside a line, a colon where an address or an emoji could follow it, the dot
# that makes an address of "www", and what a line may not begin with.
_ACTIVE = re.compile(
    r"(?P<linked>[@#](?=\w)|GH-(?=\d))"
    r"|[\\`*_\[\]<>&|~$]|:(?=[^\s\d])|(?<=www)\.|^[-+=#](?=\s|$)|"
    + "|".join(rf"(?<=^\d{{{digits}}})[.)]" for digits in range(1, 10)),
    re.IGNORECASE,
)
_ALERTS = {"fake": "CAUTION", "stopped": "WARNING", "degraded": "WARNING"}


def code(text: str, limit: int = _LETTERS) -> str:
    """Return a text as an inline code span; a dash for an empty text."""
    line = visible_line(text, limit)
    if not line:
        return UNKNOWN
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _cell(text: str) -> str:
    """Return a text as a code span in a table, where a bar would end it otherwise."""
    return code(text).replace("|", "\\|")


def prose(text: str, limit: int = 1_000) -> str:
    """Return a sentence in which nothing is mark-up, a link, a mention or a reference."""
    return _ACTIVE.sub(_escape_active, visible_line(text, limit))


def _escape_active(match: re.Match[str]) -> str:
    return f"`{match.group()}`" if match.group("linked") else f"\\{match.group()}"


def render(
    envelopes: Sequence[Mapping[str, object]],
    *,
    title: str = "Skill evaluation",
    changes: Sequence[Mapping[str, object]] = (),
    limit: int = LIMIT,
) -> str:
    """Return the summary, at most ``limit`` characters of it.

    If it would be longer, whole parts are left out from the end, and a last line gives their
    number. ``changes`` are the lines of a comparison with a baseline
    (:mod:`skillyard.evals.report.changes`).
    """
    ordered_envelopes = ordered(mapping(each) for each in envelopes)
    parts = [
        f"# {prose(title) or 'Evaluation'}",
        *_alerts(ordered_envelopes),
        _facts(ordered_envelopes),
        _tiles(ordered_envelopes),
    ]
    parts.append(_changes(changes_of(changes)))
    for envelope in ordered_envelopes:
        parts += _layer(envelope)
    for envelope in ordered_envelopes:
        parts += _details(envelope)
    parts.append(_proof(ordered_envelopes))
    return _fit([part for part in parts if part], limit)


def _fit(parts: Sequence[str], limit: int) -> str:
    note = "*{} left out here: the whole report is in the HTML file.*\n"
    fitting: list[str] = []
    room = limit - len(note) - 20
    for place, part in enumerate(parts):
        if len(part) + 2 > room:
            fitting.append(note.format(many(len(parts) - place, "part")).rstrip("\n"))
            break
        fitting.append(part)
        room -= len(part) + 2
    return ("\n\n".join(fitting) + "\n")[:limit]


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    all_lines = list(lines)
    if not all_lines:
        return ""
    output = [f"| {' | '.join(head)} |", f"|{'|'.join(['---'] * len(head))}|"]
    output += [f"| {' | '.join(line)} |" for line in all_lines[:_ROWS]]
    if len(all_lines) > _ROWS:
        output.append(f"\n{many(len(all_lines) - _ROWS, 'more row')} in the HTML report.")
    return "\n".join(output)


def _fold(name: str, inside: str) -> str:
    if not inside:
        return ""
    return f"<details>\n<summary>{name}</summary>\n\n{inside}\n\n</details>"


def _bullets(lines: Sequence[str]) -> str:
    output = [f"- {line}" for line in lines[:_LINES]]
    if len(lines) > _LINES:
        output.append(f"- and {whole(len(lines) - _LINES)} more")
    return "\n".join(output)


def _alerts(envelopes: Sequence[Mapping[str, object]]) -> list[str]:
    return [
        f"> [!{_ALERTS.get(each.kind, 'NOTE')}]\n> **{prose(each.head)}**"
        + "".join(f"\n> {prose(line)}" for line in each.lines)
        for each in banners(envelopes)
    ]


def _facts(envelopes: Sequence[Mapping[str, object]]) -> str:
    return " · ".join(
        f"{fact.name}: {prose(fact.value)}{_aside(prose(fact.note))}" for fact in facts(envelopes)
    )


def _tiles(envelopes: Sequence[Mapping[str, object]]) -> str:
    tiles = [tile(each, "") for each in envelopes]
    return _table(
        ("", "Question", "Answer", ""),
        (
            (
                f"**{each.layer.code}**",
                prose(each.layer.question),
                f"**{each.figure}** {each.unit}",
                prose(each.sentence),
            )
            for each in tiles
        ),
    )


def _changes(changes: Sequence[Change]) -> str:
    lines = _table(
        ("Layer", "What", "Change", "In figures"),
        (
            (each.code, _cell(each.entity), _badge(each.badge), prose(each.message))
            for each in changes
            if not each.same
        ),
    )
    same = sum(each.same for each in changes)
    rest = f"{many(same, 'measure')} unchanged or not compared." if same else ""
    text = "\n\n".join(part for part in (lines, rest) if part)
    return f"## Against the baseline\n\n{text}" if text else ""


def _badge(each: Badge) -> str:
    return f"{each.sign} {prose(each.text)}"


def _layer(envelope: Mapping[str, object]) -> list[str]:
    layer = layer_of(envelope)
    head = f"## {layer.code} {prose(layer.name)}: {prose(layer.question)}"
    if layer.eval_type == "activation":
        overall = mapping(at(envelope, "summary", "_overall"))
        return [f"{head}\n\n{prose(activation_sentence(overall))}", _fires(envelope)]
    if layer.eval_type == "confusion":
        return [head, _groups(envelope), _findings(envelope)]
    if layer.eval_type in ("effectiveness", "size_impact"):
        view = pair_view(envelope)
        text = _bullets([prose(sentence) for sentence in view.pooled])
        return [f"{head}\n\n{text}", _verdicts(envelope), *map(_forest, view.forests)]
    return [head]


def _fires(envelope: Mapping[str, object]) -> str:
    def line(name: str, each: Mapping[str, object]) -> tuple[str, ...]:
        fires, wrongly = rate_texts(each, "tpr"), rate_texts(each, "fpr")
        f1 = number(each.get("f1"))
        return (
            _cell(name),
            *(f"{rate or UNKNOWN}{_aside(reach)}" for rate, reach in (fires, wrongly)),
            decimal(number(each.get("mean")) if f1 is None else f1),
        )

    skills = entities(envelope.get("summary"))
    return _table(
        ("Skill", "Fires where needed", "Fires wrongly", "F1"),
        (line(name, each) for name, each in skills.items()),
    )


def _aside(text: str) -> str:
    return f" ({text})" if text else ""


def _groups(envelope: Mapping[str, object]) -> str:
    groups = entities(envelope.get("summary"))
    return _table(
        ("Group", "What was picked"),
        ((_cell(name), prose(confusion_sentence(each))) for name, each in groups.items()),
    )


def _findings(envelope: Mapping[str, object]) -> str:
    findings = rows(at(envelope, "artifacts", "findings"))
    return _bullets(
        [f"{code(word(e.get('group')))}: {prose(word(e.get('message')))}" for e in findings]
    )


def _verdicts(envelope: Mapping[str, object]) -> str:
    def line(name: str, each: Mapping[str, object]) -> tuple[str, ...]:
        headline = headline_of(each)
        reach = between(number(headline.get("ci_low")), number(headline.get("ci_high")))
        return (
            _cell(name),
            _badge(badge(headline.get("word"))),
            f"{signed(number(headline.get('mean')))}{_aside(reach)}",
            prose(recommended(each)) or UNKNOWN,
            prose(verdict_of(each)),
        )

    skills = entities(envelope.get("summary"))
    return _table(
        ("Skill", "Against no skill", f"Points ({LEVEL} interval)", "Enough", "In a sentence"),
        (line(name, each) for name, each in skills.items()),
    )


def _forest(forest: Forest) -> str:
    lines = _table(
        ("Skill", "Difference", "Interval", "Won / lost / tied", "Verdict"),
        (
            (
                _cell(row.name) if row.number is not None else f"**{row.name}**",
                row.mean,
                row.interval or UNKNOWN,
                row.record,
                _badge(row.badge),
            )
            for row in forest.rows
        ),
    )
    return _fold(_plain(forest.name), lines)


def _plain(text: str) -> str:
    """Return a text for a place that is HTML: letters, digits, blanks and a few marks only."""
    return re.sub(r"[^\w ./-]", "", visible_line(text, _LETTERS)) or UNKNOWN


def _details(envelope: Mapping[str, object]) -> list[str]:
    layer = layer_of(envelope)
    name = f"{layer.code} {_plain(layer.name)}"
    cases = rows(envelope.get("cases"))
    failed = [_failed(case) for case in cases if outcome(case).state == "failed"]
    causes = _table(
        ("What", "Cases", "Why", "For example"),
        (
            (each.state, whole(each.cases), _cell(each.kind), _cell(each.example))
            for each in failures(cases)
        ),
    )
    cost_table = _table(
        ("Cost", ""),
        ((fact.name, prose(fact.value) + _aside(prose(fact.note))) for fact in cost(envelope)),
    )
    return [
        _fold(f"{name}: {many(len(failed), 'failed case')}", _bullets(failed)),
        _fold(f"{name}: cases that are not counted", causes),
        _fold(f"{name}: cost", cost_table),
    ]


def _failed(case: Mapping[str, object]) -> str:
    expected = names(case.get("expected_skills")) or (word(case.get("expected_skill")),)
    picked = names(case.get("picked"))
    return (
        f"{code(word(case.get('user_prompt')))}: expected {_code_list(expected)}, "
        f"picked {_code_list(picked)}"
    )


def _code_list(skills: Sequence[str]) -> str:
    return ", ".join(code(skill) for skill in skills[:10] if skill) or "nothing"


def _proof(envelopes: Sequence[Mapping[str, object]]) -> str:
    shown_points = _bullets([prose(each) for each in shows(envelopes)])
    beyond = _bullets([prose(each) for each in limits_of(envelopes)])
    inside = f"It shows:\n\n{shown_points}"
    if beyond:
        inside += f"\n\nIt does not show:\n\n{beyond}"
    return _fold("What this proves, and what it does not", inside)
