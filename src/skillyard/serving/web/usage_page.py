"""The report of ``skillyard usage`` as one page for a file: no script, nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from skillyard.serving.web.layout import file_document
from skillyard.serving.web.markup import Content, Markup, concat, tag
from skillyard.serving.web.parts import lead, text_of
from skillyard.shapes.usage import Day, RequestGroup, Usage
from skillyard.usecases.usage_words import abstention_remark, percent, period, unused_sentence

__all__ = ["usage_page"]

MAX_ROWS = 200
"""Rows of one table; the JSON document has all."""
MAX_BARS = 180
"""Bars of the plot over time. A longer period is drawn in steps of several days."""


def usage_page(usage: Usage) -> bytes:
    """Return the page, the same bytes for the same counts."""
    parts = [
        tag("h1", "Use of skills"),
        lead(f"{period(usage)}."),
        _figures(usage),
        _days(usage.per_day),
        _skills(usage),
        _groups(usage),
        _lacks(usage),
        _conflicts(usage),
        _callers(usage),
        _unused_section(usage),
        _log(usage),
    ]
    return file_document("Use of skills", tag("div", parts, class_="report"))


def _figures(usage: Usage) -> Markup:
    figures = (
        ("decisions", usage.decisions),
        ("selected a skill", usage.fired),
        ("selected none", usage.abstained),
        ("tokens of instructions, estimated", usage.cost),
    )
    cells = [tag("div", tag("dt", name), tag("dd", f"{value:,}")) for name, value in figures]
    return tag("dl", cells, class_="figures")


def _section(title: str, *content: Content) -> Markup:
    return tag("section", tag("h2", title), *content)


def _table(name: str, head: Sequence[str], rows: Iterable[Sequence[Content]], total: int) -> Markup:
    """Return a table. A title that starts with ``#`` is of figures, one with ``|`` of bars."""
    kinds = [_kind(title) for title in head]
    titles = [
        tag(
            "th",
            title.lstrip("|#") or tag("span", "bar", class_="unseen"),
            class_=kind,
            scope="col",
        )
        for title, kind in zip(head, kinds, strict=True)
    ]
    body = [
        tag("tr", [tag("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)])
        for row in rows
    ]
    table = tag("table", tag("thead", tag("tr", titles)), tag("tbody", body))
    more = f"and {total - MAX_ROWS:,} more in the JSON document" if total > MAX_ROWS else ""
    scrolls = tag(
        "div", table, class_="wide-table", role="region", aria_label=name, tabindex=0
    )  # a keyboard scrolls what has the focus
    return concat(scrolls, tag("p", more) if more else None)


def _kind(title: str) -> str | None:
    return "plot" if title.startswith("|") else "right" if title.startswith("#") else None


def _bar(share: float, low: float | None = None, high: float | None = None) -> Markup:
    """Return a bar of a share, 0..1, with the ends of its interval as marks."""
    marks = [
        tag("rect", class_="mark", x=f"{_percent(end)}%", width=2, height="100%")
        for end in (low, high)
        if end is not None
    ]
    return tag(
        "svg",
        tag("rect", class_="rail", width="100%", height="100%", rx=3),
        tag("rect", class_="fill", width=f"{_percent(share)}%", height="100%", rx=3),
        marks,
        class_="bar",
        aria_hidden="true",
        focusable="false",
    )


def _percent(share: float) -> str:
    return f"{min(99.5, 100 * max(0.0, share)):.1f}"


def _days(days: Sequence[Day]) -> Content:
    """Return the decisions over time as stacked bars."""
    if not days:
        return None
    first, last = date.fromisoformat(days[0].day), date.fromisoformat(days[-1].day)
    step = -(-((last - first).days + 1) // MAX_BARS)
    number = (last - first).days // step + 1
    fired, none = [0] * number, [0] * number
    for day in days:
        place = (date.fromisoformat(day.day) - first).days // step
        fired[place] += day.fired
        none[place] += day.abstained
    most = max(one + other for one, other in zip(fired, none, strict=True))
    width = 100.0 / max(number, 7)
    bars = []
    for place in range(number):
        bottom = 100.0
        for kind, count in (("fill", fired[place]), ("none", none[place])):
            height = 100.0 * count / most
            bottom -= height
            if count:
                bars.append(
                    tag("rect", class_=kind, x=f"{place * width:.2f}%", y=f"{bottom:.2f}%",
                        width=f"{width * 0.8:.2f}%", height=f"{height:.2f}%")
                )  # fmt: skip
    each = "day" if step == 1 else f"{step} days"
    end = first + timedelta(days=number * step - 1)
    label = f"Decisions by {each}, {most:,} at most"
    return _section(
        f"Decisions by {each}",
        tag("p", _key("fill"), tag("span", "selected a skill"), _key("none"),
            tag("span", "selected none"), f"the highest bar is {most:,}", class_="aside"),
        tag("svg", bars, class_="days", role="img", aria_label=label),
        tag("div", tag("span", first.isoformat()), tag("span", end.isoformat()),
            class_="days-ends"),
    )  # fmt: skip


def _key(kind: str) -> Markup:
    square = tag("rect", class_=kind, width="100%", height="100%")
    return tag("svg", square, class_="swatch", aria_hidden="true", focusable="false")


def _skills(usage: Usage) -> Content:
    if not usage.skills:
        return None
    most = max([each.high for each in usage.skills[:MAX_ROWS]])
    rows = [
        (
            text_of(each.slug),
            f"{each.fired:,}",
            _bar(each.share / most, each.low / most, each.high / most),
            f"{percent(each.low)} to {percent(each.high)}",
            f"{each.near:,}" if each.near else "",
            "" if each.margin is None else percent(each.margin),
            "" if each.tokens is None else f"{each.tokens:,}",
            "" if each.cost is None else f"{each.cost:,}",
            (each.last or "")[:10],
        )
        for each in usage.skills[:MAX_ROWS]
    ]
    head = ("Skill", "#Fired", "|Share of decisions", "#95 % interval", "#Nearly fired",
            "#Short of the floor by", "#Tokens each", "#Tokens", "#Last fired")  # fmt: skip
    return _section(
        "Fired, and nearly fired",
        tag(
            "p",
            "The marks of a bar are the ends of the 95 % interval; a full bar is the highest end. A"
            " skill nearly fired when it was the best one and no skill was selected. Tokens are"
            " those of its instructions, which a model reads if it loads the skill each time.",
            class_="aside",
        ),
        _table("Skills that fired", head, rows, len(usage.skills)),
    )


def _groups(usage: Usage) -> Content:
    remark = abstention_remark(usage)
    if not usage.groups and not remark:
        return None
    most = max([group.count for group in usage.groups], default=1)
    rows = [
        (
            f"{group.count:,}",
            _bar(group.count / most),
            tag("strong", text_of(", ".join(group.terms))),
            _requests(group),
            text_of(", ".join(group.nearest)),
        )
        for group in usage.groups[:MAX_ROWS]
    ]
    head = ("#Requests", "|", "About", "As written", "Nearest skills")
    return _section(
        "Nobody has a skill for",
        tag("p", remark, class_="aside") if remark else None,
        _table("Groups of requests", head, rows, len(usage.groups)) if rows else None,
    )


def _requests(group: RequestGroup) -> Content:
    texts = [tag("div", text_of(text), dir="auto") for text in group.requests]
    more = group.different - len(group.requests)
    return [*texts, tag("div", f"and {more:,} more texts") if more > 0 else None]


def _conflicts(usage: Usage) -> Content:
    if not usage.conflicts:
        return None
    rows = [
        (
            text_of(each.first),
            text_of(each.second),
            f"{each.close:,} of {each.together:,}",
            _bar(each.close / each.together),
            f"{each.first_ahead:,}",
        )
        for each in usage.conflicts[:MAX_ROWS]
    ]
    head = ("Skill", "Other skill", "#Close", "|", "#First ahead")
    return _section(
        "Close together",
        tag(
            "p",
            "Both are among the three best skills of the same decisions, and their scores differ by"
            " 5 % or less: descriptions that say what each is not for tell them apart.",
            class_="aside",
        ),
        _table("Close skills", head, rows, len(usage.conflicts)),
    )


def _lacks(usage: Usage) -> Content:
    if not usage.lacks:
        return None
    rows = [
        (text_of(each.slug), f"{each.count:,}", text_of(each.because))
        for each in usage.lacks[:MAX_ROWS]
    ]
    head = ("Skill", "#Requests", "Why not")
    title = "Fits, but lacked a tool"
    return _section(title, _table("Skills that lack something", head, rows, len(usage.lacks)))


def _callers(usage: Usage) -> Content:
    if not usage.callers:
        return None
    rows = [
        (text_of(each.caller), f"{each.fired:,}", f"{each.abstained:,}")
        for each in usage.callers[:MAX_ROWS]
    ]
    head = ("Caller", "#Selected", "#None")
    return _section("By caller", _table("Callers", head, rows, len(usage.callers)))


def _unused_section(usage: Usage) -> Markup:
    skills = [each for each in usage.unused if not each.hidden]
    rows = [
        (text_of(each.slug), f"{each.decisions:,}", _bar(each.high), f"below {percent(each.high)}")
        for each in skills[:MAX_ROWS]
    ]
    head = ("Skill", "#Decisions", "|", "#Share of requests (95 %)")
    return _section(
        "Did not fire",
        tag("p", unused_sentence(usage)),
        _table("Skills that did not fire", head, rows, len(skills)) if rows else None,
    )


def _log(usage: Usage) -> Markup:
    events = ", ".join(f"{name} {number:,}" for name, number in usage.events.items())
    facts = [
        ("Files", ", ".join(text_of(path) for path in usage.logs)),
        ("Events of the prompt hook", text_of(events, 1_000)),
        ("Lines that cannot be read", f"{usage.unreadable:,}" if usage.unreadable else ""),
        ("Entries counted in part", f"{usage.left_out:,}" if usage.left_out else ""),
    ]
    rows = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts if value]
    return _section("The log", tag("dl", rows, class_="facts"))
