"""Effectiveness and size impact in a report: verdicts, differences of arms, tokens and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from skillyard.evals.judgement.trust import NOT_TRUSTED
from skillyard.evals.report.layer_view import (
    Badge,
    Estimate,
    Fold,
    LayerView,
    ReportRow,
    ReportTable,
    Results,
    SkillResult,
    estimate,
    place_in_run,
)
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    ALL_EQUAL,
    UNKNOWN,
    against,
    condition,
    decimal,
    first_upper,
    many,
    signed,
    visible_line,
    whole,
    within,
)
from skillyard.evals.statistics.pairs import HEADLINES, comparisons_in_order, place_in

_DECIDING = (*HEADLINES, "full/summary")
"""The comparisons from which follows what to do with a skill; others are folded."""
_ARMS = ("full_siblings", "full", "enhanced", "old", "summary", "baseline")
_ARM_COLUMNS = ("Tokens", "Score")
_MAX_FAILURES = 50
"""Most failed checks that a report lists; the results file has all of them."""
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
_ENOUGH = {
    "summary": "the summary is enough: shorten it",
    "baseline": "no skill does as well: remove it",
    "old": "the old version does as well: keep what is shorter",
}
_SHOWS = (
    "That this model, given these requests, wrote answers which this judge scored by this rubric. "
    "An interval that leaves out zero is evidence for a difference on requests like these."
)
_LIMITS = (
    "That the answers are right: a score is a judge’s opinion, and nothing has been run.",
    "Anything about other requests, models or judges. More runs of one request do not change that.",
    "That two arms are equal where the verdict is “not enough data”.",
)
_OWN_JUDGE = "That another judge would agree: here the judge is the model that wrote the answers."


def pair_layer_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L5 or L6 envelope."""
    run = Results(envelope)
    skills, overall = run.entities(), run.at("summary", "_overall")
    pooled = overall.entries("comparisons")
    tables = dict(_tables(skills))
    own_judge = run.text("meta", "model") == run.text("meta", "judge_model")
    return LayerView(
        results={name: _result(each) for name, each in skills.items()},
        pooled=(
            *_trusted_because(run),
            *(
                _pooled(name, pooled[name], skills)
                for name in comparisons_in_order(pooled)
                if len(skills) > 1
            ),
        ),
        tables=(*(tables[name] for name in tables if name in _DECIDING), _pass_rates(run)),
        folds=(
            Fold(
                "Further comparisons",
                tables=tuple(tables[name] for name in tables if name not in _DECIDING),
            ),
            _failed_checks(run),
            _verdicts(skills),
            Fold("What the tokens buy", tables=(_all_arms(run), _arms_by_skill(skills))),
            Fold("How far the judge can be trusted", tuple(_judge_sentences(run))),
        ),
        shows=_SHOWS,
        limits=(*_LIMITS, _OWN_JUDGE) if own_judge else _LIMITS,
    )


def _trusted_because(run: Results) -> Iterator[str]:
    """Yield why the judge is trusted; a banner says why it is not."""
    sentence = run.text("artifacts", "trust", "sentence")
    if sentence and run.flag("artifacts", "trust", "trusted"):
        yield sentence


def _badge(comparison: Json) -> Badge:
    """Return the badge of a comparison's word; no word is no verdict."""
    word = comparison.text("word")
    return _BADGES.get(word) or Badge("?", visible_line(word, 30) or "no verdict", "open")


def _difference(comparison: Json) -> Estimate:
    return estimate(comparison, ("mean", "ci_low", "ci_high"), signed, _badge(comparison).kind)


def _headline(entity: Json) -> Json:
    """Return the comparison against no skill, which decides a skill's verdict."""
    return entity.entries("comparisons").get(_headline_name(entity), Json(None))


def _headline_name(entity: Json) -> str:
    comparisons = entity.entries("comparisons")
    return next((name for name in HEADLINES if name in comparisons), "")


def _result(entity: Json) -> SkillResult:
    headline, checks = _headline(entity), _check_difference(entity)
    if checks is not None and not headline.entries():
        return SkillResult(checks, _CHECKS_ONLY, action="add criteria: checks give no verdict")
    return SkillResult(
        _difference(headline),
        _badge(headline),
        headline.count("units") or 0,
        _action(entity, headline),
        _worst(entity),
        tuple(
            f"{whole(count.number())} answers of {condition(arm)}"
            for arm, count in entity.entries("lost").items()
        ),
    )


def _worst(entity: Json) -> str:
    """Return the difference and the place of the prompt at which the skill did worst."""
    worst = next(iter(entity.rows("worst_prompts")), Json(None))
    place, mean = worst.count("prompt_index"), worst.number("mean")
    return "" if place is None else f"{signed(mean)} at prompt {place + 1:,}"


def _action(entity: Json, headline: Json) -> str:
    """Return what follows from a verdict; empty where the skill is to be kept as it is."""
    verdict = headline.text("word")
    if headline.number("mean") is None:
        return "nothing was judged: look at the errors"
    if verdict == NOT_TRUSTED:
        return "take another judge"
    old = _headline_name(entity).endswith("/old")
    if verdict == "worse":
        return "it is worse than its old version" if old else "it makes answers worse: rewrite it"
    if enough := _ENOUGH.get(entity.text("recommended_level")):
        return enough
    if headline.flag("second_is_enough"):
        return _ENOUGH["old" if old else "baseline"]
    if verdict in ("better", "equivalent"):
        return ""
    more = _more(headline)
    return f"{more} prompts" if headline.count("study_units") else more


def _more(comparison: Json) -> str:
    units = comparison.count("study_units")
    return "more prompts would hardly decide" if units is None else f"a new run of {whole(units)}"


def _tables(skills: Mapping[str, Json]) -> Iterator[tuple[str, ReportTable]]:
    """Yield each comparison with its table, all over one scale so that they can be compared."""
    of_skills = {skill: entity.entries("comparisons") for skill, entity in skills.items()}
    scale = _scale(figures for each in of_skills.values() for figures in each.values())
    for name in comparisons_in_order(name for each in of_skills.values() for name in each):
        table_rows = tuple(
            ReportRow(skill, _cells(each[name]))
            for skill, each in of_skills.items()
            if each.get(name, Json(None)).entries()
        )
        columns = ("Skill", "Difference", "Won–lost–tied", "Prompts", "Verdict")
        yield (
            name,
            ReportTable(first_upper(against(name)), columns, table_rows, "", scale, zero=0.0),
        )


def _cells(comparison: Json) -> tuple[str | Badge | Estimate, ...]:
    verdict = _badge(comparison)
    if comparison.count("study_units"):
        verdict = verdict._replace(text=f"{verdict.text}: {_more(comparison)}")
    record = [comparison.count(key) for key in ("wins", "losses", "ties")]
    return (
        _difference(comparison),
        UNKNOWN if None in record else "–".join(map(whole, record)),
        whole(comparison.count("units")),
        verdict,
    )


def _scale(comparisons: Iterator[Json]) -> tuple[float, float]:
    ends = [
        min(_WIDEST, max(-_WIDEST, end))
        for comparison in comparisons
        for key in ("mean", "ci_low", "ci_high")
        if (end := comparison.number(key)) is not None
    ]
    return min([-1.0, *ends]), max([1.0, *ends])


def _pooled(name: str, comparison: Json, skills: Mapping[str, Json]) -> str:
    """Return the statement on skills as a whole, and of how many skills alone it is shown."""
    difference, verdict = _difference(comparison), _badge(comparison)
    if difference.value is None:
        return f"{first_upper(against(name))}: nothing was judged."
    interval = f" ({difference.interval})" if difference.interval else ""
    units = comparison.count("study_units")
    end = f", a new run of {many(units, 'skill')} would decide" if units else ""
    if verdict.kind != "open":
        words = [each.text("comparisons", name, "word") for each in skills.values()]
        same = words.count(comparison.text("word"))
        end = f", which is shown for {whole(same) if same else 'none'} of them alone"
    skills_together = many(comparison.count("units"), "skill")
    points = f"{difference.text} points{interval}"
    return f"{skills_together} as a whole, {against(name)}: {points}: {verdict.text}{end}."


def _verdicts(skills: Mapping[str, Json]) -> Fold:
    sentences = (
        f"{name}: {sentence}" for name, each in skills.items() for sentence in _sentences(each)
    )
    return Fold("The verdicts in words", tuple(sentences))


def _sentences(entity: Json) -> Iterator[str]:
    verdict = entity.text("verdict").strip()
    for worst in entity.rows("worst_prompts"):
        place, text = worst.count("prompt_index"), visible_line(worst.text("prompt"), _LETTERS)
        if place is not None:
            yield f"{signed(worst.number('mean'))} at prompt {place + 1:,}: {text}"
    if verdict and _headline(entity).entries():  # a skill with checks alone has no verdict
        yield verdict
    checks = _check_difference(entity)
    if checks is not None:
        difference = f"{signed(checks.value)} in the pass rate of checks against no skill"
        yield f"{difference}{within(checks.interval)}."
    if error := entity.text("summary_error"):
        yield f"No summary could be drawn from it: {error}."
    if missing := entity.names("missing_siblings"):
        yield f"Sibling files that are not there: {', '.join(missing)}."


def _all_arms(run: Results) -> ReportTable:
    """Return the arms over all skills, the cheapest first."""
    arms = sorted(
        run.at("summary", "_overall").entries("conditions").items(),
        key=lambda arm: (arm[1].number("tokens_estimated") or 0.0, arm[0]),
    )
    return ReportTable(
        "All skills",
        ("Arm", *_ARM_COLUMNS),
        tuple(ReportRow(condition(name), _arm_cells(arm)) for name, arm in arms),
    )


def _arms_by_skill(skills: Mapping[str, Json]) -> ReportTable:
    return ReportTable(
        "Each skill",
        ("Skill", "Arm", *_ARM_COLUMNS),
        tuple(
            ReportRow(skill, (condition(name), *_arm_cells(arm)))
            for skill, entity in skills.items()
            for name, arm in sorted(entity.entries("conditions").items(), key=_arm_place)
        ),
    )


def _arm_place(arm: tuple[str, Json]) -> tuple[int, str]:
    return place_in(_ARMS, arm[0])


def _arm_cells(arm: Json) -> tuple[str, str]:
    return whole(arm.number("tokens_estimated")), decimal(arm.number("mean_score"))


def _pass_rates(run: Results) -> ReportTable:
    """Return the pass rates of checks; without rows for a run without checks."""
    entities = (*run.entities().items(), ("all", run.at("summary", "_overall")))
    return ReportTable(
        "Checks",
        ("Skill", "Condition", "Pass rate", "Checks passed"),
        tuple(
            ReportRow(
                skill,
                (
                    condition(arm),
                    estimate(rate, ("pass_rate", "low", "high"), decimal),
                    f"{whole(rate.number('passed'))} of {whole(rate.number('total'))}",
                ),
            )
            for skill, entity in entities
            for arm, rate in entity.entries("pass_rate").items()
        ),
        scale=(0.0, 1.0),
    )


def _check_difference(entity: Json) -> Estimate | None:
    """Return the difference of the pass rates of a skill against none; None without checks."""
    for name in HEADLINES:
        difference = estimate(
            entity.at("pass_rate_differences", name), ("mean", "low", "high"), signed
        )
        if difference.value is not None:
            prompts = entity.at("pass_rate_differences", name).count("prompts") or 0
            equal = ALL_EQUAL if prompts > 1 and difference.low is None else difference.interval
            return difference._replace(text=f"{difference.text} pass rate", interval=equal)
    return None


def _failed_checks(run: Results) -> Fold:
    """Return the failed checks; empty where none failed."""
    failures = list(_failures(run.cases))
    shown = failures[:_MAX_FAILURES]
    title = f"Failed checks: {whole(len(failures))}"
    if len(shown) < len(failures):
        title += f", of which {whole(len(shown))} are shown"
    columns = ("Case", "Condition", "Check", "Evidence")
    return Fold(title, tables=(ReportTable("", columns, tuple(shown)),))


def _failures(cases: Iterable[Json]) -> Iterator[ReportRow]:
    """Yield each failed check of each answer once; several comparisons may share an answer."""
    seen = set()
    for case in cases:
        place = ", ".join(filter(None, (case.text("skill_name"), place_in_run(case))))
        for arm, checks in case.entries("checks").items():
            if (place, arm) in seen:
                continue
            seen.add((place, arm))
            for check in checks.rows():
                if check.flag("passed") is False:
                    yield ReportRow(
                        place, (condition(arm), check.text("text"), check.text("evidence"))
                    )


def _judge_sentences(run: Results) -> Iterator[str]:
    """Yield what is known of the judge: its checks, and how often it agrees with itself."""
    trust = run.at("artifacts", "trust")
    for check in trust.rows("checks"):
        if of := check.count("of"):
            count = whole(check.count("count"))
            yield f"{count} of {whole(of)} {visible_line(check.text('what'))}."
    if calls := trust.count("calls"):
        yield (
            f"{many(calls, 'call')}, {whole(trust.count('retries'))} of them because a reply was "
            f"not usable. Pairs without a usable reply: {whole(trust.count('errors'))}."
        )
