"""Activation and confusion in a report: which skills a router picks, and which for another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillyard.evals.report.layer_view import (
    Estimate,
    Fold,
    LayerView,
    Row,
    SkillResult,
    Table,
    estimate,
)
from skillyard.evals.report.results import Results
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    UNKNOWN,
    between,
    decimal,
    first_upper,
    many,
    percent,
    whole,
    within,
)

_SHOWS = (
    "Which skills this router picked for these requests out of this index. Add a skill or change a "
    "description, and the index is another one."
)
_LIMIT = (
    "That an agent in real use picks the same way: it sees a conversation, other tools and its "
    "host’s own list of skills."
)
_FIRES_ENOUGH = 0.8
"""A skill is marked that fires for fewer than four of five requests that need it, or for more than
one of five others."""
_CROSSES = 0.2
"""A skill that loses more than this share of its requests to others is marked (evals.md §1.14)."""
_SHARES = (0.0, 1.0)
_ALL_TOGETHER = (
    "A line counts whether that skill was picked. All requests together count one only if it got "
    "every skill that it requires."
)


def activation_layer_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L3 envelope."""
    run = Results(envelope)
    overall, skills = run.at("summary", "_overall"), run.entities()
    return LayerView(
        column="Fires",
        results={name: _fires(each) for name, each in skills.items()},
        pooled=(_fired_sentence(overall), *_measures(overall)),
        tables=(
            Table(
                "How often each skill fires",
                ("Skill", "Fires where needed", "Fires wrongly", "F1", "Need it", "Do not"),
                tuple(Row(name, _rates(each)) for name, each in skills.items()),
                _note(run, overall, skills),
                scale=_SHARES,
            ),
        ),
        shows=_SHOWS,
        limits=(_LIMIT,),
    )


def _fired(entity: Json) -> float:
    """Return for how many requests a skill fired, or for how many all that they require."""
    return (entity.number("tpr") or 0.0) * (entity.number("positives") or 0.0)


def _rate(entity: Json, name: str) -> Estimate:
    return estimate(entity, (name, f"{name}_low", f"{name}_high"), percent)


def _f1(entity: Json) -> float | None:
    """Return the F1 of a skill, or of all; older results have that of a skill only as mean."""
    return entity.number("f1" if "f1" in entity else "mean")


def _fires(entity: Json) -> SkillResult:
    fires, wrongly = entity.number("tpr"), entity.number("fpr")
    parts, problems = [], []
    if fires is not None:
        parts.append(f"{percent(fires)}\u00a0of\u00a0{whole(entity.number('positives'))}")
        problems += ["misses"] if fires < _FIRES_ENOUGH else []
    if wrongly is not None and wrongly > 1 - _FIRES_ENOUGH:
        of = whole(entity.number("negatives"))
        parts.append(f"wrongly {percent(wrongly)}\u00a0of\u00a0{of}")
        problems.append("fires wrongly")
    problem = " and ".join(problems)
    action = f"description {problem}: change its words" if problem else ""
    return SkillResult(Estimate(fires, None, None, ", ".join(parts) or UNKNOWN), action=action)


def _rates(entity: Json) -> tuple[str | Estimate, ...]:
    counts = (whole(entity.number(key)) for key in ("positives", "negatives"))
    return (_rate(entity, "tpr"), _rate(entity, "fpr"), decimal(_f1(entity)), *counts)


def _fired_sentence(entity: Json) -> str:
    parts = []
    for key, requests, start, end in (
        ("tpr", "positives", "fired for", "that need it"),
        ("fpr", "negatives", "fired wrongly for", "that do not"),
    ):
        rate = _rate(entity, key)
        if rate.value is not None:
            of = many(entity.number(requests), "request")
            parts.append(f"{start} {rate.text} of the {of} {end}{within(rate.interval)}")
    return f"{first_upper('; '.join(parts))}." if parts else "No case gave a figure."


def _measures(overall: Json) -> tuple[str, ...]:
    figures = (
        ("F1", decimal(_f1(overall))),
        ("precision", decimal(overall.number("precision"))),
        ("recall", decimal(overall.number("recall"))),
        ("exact sets", percent(overall.number("exact_set_rate"))),
    )
    known = [f"{name} {figure}" for name, figure in figures if figure != UNKNOWN]
    return (f"{', '.join(known)}.",) if known else ()


def _note(run: Results, overall: Json, skills: Mapping[str, Json]) -> str:
    """Return the size of the index, and what all requests count where skills fire more often."""
    index = run.at("artifacts", "index")
    listed, characters, tokens = map(index.number, ("skills", "characters", "input_tokens"))
    sizes = [f"an index of {many(listed, 'skill')}"] if listed is not None else []
    sizes += [f"{whole(characters)} characters"] if sizes and characters is not None else []
    sizes += [f"{whole(tokens)} input tokens by the provider’s count"] if sizes and tokens else []
    sentences = [f"The router saw {', '.join(sizes)}."] if sizes else []
    if any(_fired(each) > _fired(overall) + 0.5 for each in skills.values()):
        sentences.append(_ALL_TOGETHER)
    return " ".join(sentences)


def confusion_layer_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L4 envelope."""
    run = Results(envelope)
    groups, matrices = run.entities(), run.entries("artifacts", "confusion_matrices")
    return LayerView(
        column="Taken for others",
        results=_crossings(run),
        pooled=(*_right_sentences(groups), *_needless(run.at("artifacts", "negatives"))),
        tables=(
            Table(
                "How often the right skill of a group is picked",
                ("Group", "Right", "Requests", "None picked", "Several picked"),
                tuple(Row(name, _picks(each)) for name, each in groups.items()),
                scale=_SHARES,
            ),
        ),
        findings=tuple(
            (each.text("group"), each.text("message")) for each in run.rows("artifacts", "findings")
        ),
        folds=(
            Fold(
                "Every confusion: requests of a skill by what was picked",
                tables=tuple(
                    _matrix(name, matrices[name])
                    for name in sorted(matrices)
                    if matrices[name].names("skills")
                ),
            ),
        ),
        shows=_SHOWS,
        limits=(_LIMIT,),
    )


def _accuracy(entity: Json) -> Estimate:
    key = "mean" if entity.number("accuracy") is None else "accuracy"
    return estimate(entity, (key, "low", "high"), percent)


def _picks(entity: Json) -> tuple[str | Estimate, ...]:
    counts = (whole(entity.number(key)) for key in ("n", "no_activation", "multi_activation"))
    return (_accuracy(entity), *counts)


def _crossings(run: Results) -> dict[str, SkillResult]:
    """Return, for each skill, how often another was picked in its place."""
    results: dict[str, SkillResult] = {}
    for group in sorted({*run.entities(), *run.entries("artifacts", "confusion_matrices")}):
        crossing = run.at("summary", group, "cross_activation")
        members = run.names("artifacts", "confusion_matrices", group, "skills")
        for skill in members or sorted(crossing.entries()):
            rate = crossing.number(skill)
            marked = rate is not None and rate > _CROSSES
            action = f"taken for others in {group}: tell them apart" if marked else ""
            share = Estimate(rate, None, None, percent(rate))
            results.setdefault(skill, SkillResult(share, action=action))
    return results


def _right_sentences(groups: Mapping[str, Json]) -> Iterator[str]:
    figures = [
        (accuracy, name, each.number("n") or 0.0)
        for name, each in groups.items()
        if (accuracy := _accuracy(each).value) is not None
    ]
    requests = sum(cases for _, _, cases in figures)
    if requests:
        right = sum(accuracy * cases for accuracy, _, cases in figures) / requests
        least, weakest, _ = min(figures)
        yield (
            f"{many(len(figures), 'group')} as a whole: {percent(right)} of "
            f"{many(requests, 'request')} got the right skill; the weakest group is {weakest} "
            f"with {percent(least)}."
        )


def _needless(negatives: Json) -> Iterator[str]:
    requests, fired = negatives.number("n"), negatives.number("fired")
    if requests and fired is not None:
        interval = between(negatives.number("low"), negatives.number("high"), percent)
        yield (
            f"A skill of the group was picked all the same for {percent(fired)} of "
            f"{many(requests, 'request')} that need none{within(interval)}."
        )


def _matrix(group: str, matrix: Json) -> Table:
    """Return the picks of a group: a row for each skill, a column for each place in the list."""
    skills = matrix.names("skills")
    unknown = [None] * len(skills)  # for a row that is too short
    grid = [[cell.number() for cell in row.items()] for row in matrix.items("matrix")]
    beside = [
        f"{whole(value)} {text}"
        for key, text in (
            ("no_activation", "without any skill"),
            ("multi_activation", "with several skills"),
            ("out_of_group", "outside the group"),
        )
        if (value := matrix.number(key))
    ]
    return Table(
        group,
        ("Requests for", *map(str, range(1, len(skills) + 1))),
        tuple(
            Row(f"{place} {skill}", tuple(map(whole, [*counts, *unknown][: len(skills)])))
            for place, (skill, counts) in enumerate(zip(skills, grid, strict=False), 1)
        ),
        f"Answers {', '.join(beside)}." if beside else "",
    )
