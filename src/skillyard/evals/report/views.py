"""What each layer shows in a report: verdicts and differences of arms, and what a router picks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillyard.evals.judgement.trust import NOT_TRUSTED
from skillyard.evals.report.values import (
    UNKNOWN,
    Badge,
    Estimate,
    Json,
    LayerView,
    ReportTable,
    against,
    condition,
    decimal,
    entities_of,
    estimate,
    first_upper,
    many,
    percent,
    signed,
    visible_line,
    whole,
)
from skillyard.evals.statistics.verdicts import HEADLINES, comparisons_in_order

_DECIDING = "full/summary"
"""From this comparison too follows what to do with a skill; others are folded."""
_NOTE = (
    "Difference: points on the judge’s scale from 1 to 5, with the interval that decided. Worst "
    "prompt: where the skill lost most, or gained least."
)
_LETTERS = 100
"""Most characters of a prompt in a sentence."""
_WIDEST = 4.0  # scores lie between 1 and 5, so no difference is larger

_BADGES = {
    "better": Badge("▲", "better", "good"),
    "worse": Badge("▼", "worse", "bad"),
    "equivalent": Badge("≈", "equivalent", "even"),
    "not enough data": Badge("?", "not enough data", "open"),
    NOT_TRUSTED: Badge("!", NOT_TRUSTED, "open"),
}
_CHECKS_ONLY = Badge("•", "checks only", "even")
_WORSE_THAN_OLD = "it is worse than its old version"
_ENOUGH = {
    "summary": "the summary is enough: shorten it",
    "baseline": "no skill does as well: remove it",
    "old": "the old version does as well: keep what is shorter",
}


def pair_layer_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L5 or L6 envelope."""
    run = Json(envelope)
    skills, pooled = entities_of(run), run.entries("summary", "_overall", "comparisons")
    trust = run.at("artifacts", "trust")
    sentences = [trust.text("sentence")] if trust.flag("trusted") else []
    if len(skills) > 1:
        sentences += [_pooled(name, pooled[name], skills) for name in comparisons_in_order(pooled)]
    names = comparisons_in_order(
        name for each in skills.values() for name in each.entries("comparisons")
    )
    scale = _scale(skills)
    headline = next((name for name in names if name in HEADLINES), "")
    compared = (_comparison(name, skills, scale) for name in names if name != headline)
    return LayerView(
        _verdicts(skills, headline, scale),
        tuple(filter(None, sentences)),
        (*compared, _pass_rates(run), _worst(skills)),
        tuple(
            f"{skill}: {whole(count.number())} answers of {condition(arm)}"
            for skill, entity in skills.items()
            for arm, count in entity.entries("lost").items()
        ),
    )


def _badge(comparison: Json) -> Badge:
    """Return the badge of a comparison's word; no word is no verdict."""
    word = comparison.text("word")
    return _BADGES.get(word) or Badge("?", visible_line(word, 30) or "no verdict", "open")


def _difference(comparison: Json) -> Estimate:
    return estimate(comparison, ("mean", "ci_low", "ci_high"), kind=_badge(comparison).kind)


def _verdicts(skills: Mapping[str, Json], name: str, scale: tuple[float, float]) -> ReportTable:
    """Return one line a skill: its verdict, what decided it, and what follows."""
    columns = ("Skill", "Verdict", "Difference", "Worst prompt", "Won–lost–tied", "Prompts", "Next")
    rows = tuple((skill, *_verdict(entity)) for skill, entity in skills.items())
    return ReportTable(first_upper(against(name)) if name else "", columns, rows, _NOTE, scale)


def _verdict(entity: Json) -> tuple[str | Badge | Estimate, ...]:
    comparisons = entity.entries("comparisons")
    name = next((name for name in HEADLINES if name in comparisons), "")
    headline, checks = entity.at("comparisons", name), _check_difference(entity)
    if not name and checks is not None:
        nothing = (UNKNOWN, UNKNOWN, UNKNOWN)
        return _CHECKS_ONLY, checks, *nothing, "add criteria: checks give no verdict"
    worst = next(iter(entity.rows("worst_prompts")), Json(None))
    return (
        _badge(headline),
        _difference(headline),
        _at_prompt(worst) or UNKNOWN,
        *_counts(headline),
        _action(entity, headline, name.rpartition("/")[2]),
    )


def _at_prompt(worst: Json) -> str:
    place = worst.count("prompt_index")
    return "" if place is None else f"{signed(worst.number('mean'))} at prompt {place + 1:,}"


def _action(entity: Json, headline: Json, other: str) -> str:
    """Return what follows from a verdict; empty where the skill is to be kept as it is."""
    verdict = headline.text("word")
    if headline.number("mean") is None:
        return "nothing was judged: look at the errors"
    if verdict == NOT_TRUSTED:
        return "take another judge"
    if verdict == "worse":
        return _WORSE_THAN_OLD if other == "old" else "it makes answers worse: rewrite it"
    enough = _ENOUGH.get(entity.text("recommended_level"))
    if enough is None and headline.flag("second_is_enough"):
        enough = _ENOUGH.get(other)
    if enough is not None or verdict in ("better", "equivalent"):
        return enough or ""
    units = headline.count("study_units")
    return f"a new run of {units:,} prompts" if units else "more prompts would hardly decide"


def _scale(skills: Mapping[str, Json]) -> tuple[float, float]:
    """Return one scale for all comparisons, so that they can be compared."""
    figures = [
        each for entity in skills.values() for each in entity.entries("comparisons").values()
    ]
    ends = [each.number(key) or 0.0 for each in figures for key in ("mean", "ci_low", "ci_high")]
    return max(-_WIDEST, min([-1.0, *ends])), min(_WIDEST, max([1.0, *ends]))


def _comparison(name: str, skills: Mapping[str, Json], scale: tuple[float, float]) -> ReportTable:
    columns = ("Skill", "Verdict", "Difference", "Won–lost–tied", "Prompts")
    of_skills = ((skill, entity.at("comparisons", name)) for skill, entity in skills.items())
    rows = (
        (skill, _badge(figures), _difference(figures), *_counts(figures))
        for skill, figures in of_skills
        if figures.entries()
    )
    is_closed = name not in (*HEADLINES, _DECIDING)
    title = first_upper(against(name))
    return ReportTable(title, columns, tuple(rows), scale=scale, is_closed=is_closed)


def _counts(comparison: Json) -> tuple[str, str]:
    record = [comparison.count(key) for key in ("wins", "losses", "ties")]
    won = UNKNOWN if None in record else "–".join(map(whole, record))
    return won, whole(comparison.count("units"))


def _pooled(name: str, comparison: Json, skills: Mapping[str, Json]) -> str:
    """Return the statement on skills as a whole, and of how many skills alone it is shown."""
    difference, verdict = _difference(comparison), _badge(comparison)
    if difference.value is None:
        return f"{first_upper(against(name))}: nothing was judged."
    units = comparison.count("study_units")
    end = f", a new run of {many(units, 'skill')} would decide" if units else ""
    if verdict.kind != "open":
        words = [each.text("comparisons", name, "word") for each in skills.values()]
        same = words.count(comparison.text("word"))
        end = f", which is shown for {whole(same) if same else 'none'} of them alone"
    together = f"{many(comparison.count('units'), 'skill')} as a whole, {against(name)}"
    interval = f" ({difference.interval})" if difference.interval else ""
    return f"{together}: {difference.text} points{interval}: {verdict.text}{end}."


def _worst(skills: Mapping[str, Json]) -> ReportTable:
    """Return the prompts at which each skill did worst, and what an arm was made without."""
    rows: list[tuple[str, str, str]] = []
    for name, entity in skills.items():
        rows += (
            (name, figure, visible_line(worst.text("prompt"), _LETTERS))
            for worst in entity.rows("worst_prompts")
            if (figure := _at_prompt(worst))
        )
        if error := entity.text("summary_error"):
            rows.append((name, "no summary", error))
        if missing := entity.names("missing_siblings"):
            rows.append((name, "sibling files that are not there", ", ".join(missing)))
    columns = ("Skill", "Difference", "Prompt")
    return ReportTable("The worst prompts", columns, tuple(rows), is_closed=True)


def _pass_rates(run: Json) -> ReportTable:
    """Return the pass rates of checks; without rows for a run without checks."""
    entities = {**entities_of(run), "all": run.at("summary", "_overall")}
    rows = (
        (
            skill,
            condition(arm),
            estimate(rate, ("pass_rate", "low", "high"), decimal),
            f"{whole(rate.number('passed'))} of {whole(rate.number('total'))}",
        )
        for skill, entity in entities.items()
        for arm, rate in entity.entries("pass_rate").items()
    )
    columns = ("Skill", "Condition", "Pass rate", "Checks passed")
    return ReportTable("Checks", columns, tuple(rows), scale=(0.0, 1.0))


def _check_difference(entity: Json) -> Estimate | None:
    """Return the difference of the pass rates of a skill against none; None without checks."""
    for figures in map(entity.at("pass_rate_differences").at, HEADLINES):
        difference = estimate(figures, ("mean", "low", "high"))
        if difference.value is not None:
            return difference._replace(text=f"{difference.text} pass rate")
    return None


_FIRES_ENOUGH = 0.8
"""A skill is marked that fires for fewer than four of five requests that need it, or for more than
one of five others."""


def activation_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L3 envelope."""
    run = Json(envelope)
    overall, skills = run.at("summary", "_overall"), entities_of(run)
    beside = visible_line(run.text("artifacts", "index", "beside"))
    columns = ("Skill", "Fires where needed", "Fires wrongly", "F1", "Need it", "Do not", "Next")
    rates = tuple((name, *_rates(each), _change_of_words(each)) for name, each in skills.items())
    return LayerView(
        ReportTable("How often each skill fires", columns, rates, scale=(0.0, 1.0)),
        tuple(filter(None, (_fired_sentence(overall), _measures(overall), beside))),
        (_confused(run.rows("artifacts", "confusion")),),
    )


def _rate(entity: Json, name: str) -> Estimate:
    return estimate(entity, (name, f"{name}_low", f"{name}_high"), percent)


def _rates(entity: Json) -> tuple[str | Estimate, ...]:
    counts = (whole(entity.number(key)) for key in ("positives", "negatives"))
    return (_rate(entity, "tpr"), _rate(entity, "fpr"), decimal(entity.number("f1")), *counts)


def _change_of_words(entity: Json) -> str:
    fires, wrongly = entity.number("tpr"), entity.number("fpr")
    problems = ["misses"] if fires is not None and fires < _FIRES_ENOUGH else []
    problems += ["fires wrongly"] if wrongly is not None and wrongly > 1 - _FIRES_ENOUGH else []
    return f"description {' and '.join(problems)}: change its words" if problems else ""


def _fired_sentence(entity: Json) -> str:
    parts = []
    for key, requests, start, end in (
        ("tpr", "positives", "fired for", "that need it"),
        ("fpr", "negatives", "fired wrongly for", "that do not"),
    ):
        rate = _rate(entity, key)
        if rate.value is not None:
            of = many(entity.number(requests), "request")
            interval = f" (95\u00a0% interval {rate.interval})" if rate.interval else ""
            parts.append(f"{start} {rate.text} of the {of} {end}{interval}")
    if parts:
        return f"{first_upper('; '.join(parts))}."
    errors = many(entity.number("errors"), "request")
    return f"Not measured: {errors} without a choice of the router that could be read."


def _measures(overall: Json) -> str:
    figures = {name: decimal(overall.number(name)) for name in ("f1", "precision", "recall")}
    figures["exact sets"] = percent(overall.number("exact_set_rate"))
    known = [f"{name} {figure}" for name, figure in figures.items() if figure != UNKNOWN]
    return f"{first_upper(', '.join(known))}." if known else ""


def _confused(confusion: Sequence[Json]) -> ReportTable:
    """Return which skills were often picked in place of others."""
    rows = (
        (each.text("skill"), each.text("picked"), f"{whole(part)} of {whole(of)}")
        for each in confusion
        if each.flag("confused")
        for part, of in [map(each.number, ("requests", "of"))]
    )
    columns = ("Requests for", "Picked", "Requests")
    return ReportTable("Picked in place of others", columns, tuple(rows))
