"""L3, activation: whether the router picks the right skills, and none where none fits."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.sums import wilson
from skillyard.base.text import clean_line, name_few, plural, shorten
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import rank
from skillyard.engine.selection import SelectionPolicy, select
from skillyard.engine.skill import Origin
from skillyard.evals.cases.skill_cases import ActivationCase, read_activation_cases
from skillyard.evals.judgement.verdicts import extract_json
from skillyard.evals.layers.work import (
    CaseResult,
    Layer,
    LayerWork,
    Summary,
    of_skill,
    require_cases,
    sample,
)
from skillyard.evals.models.calls import ModelRequest
from skillyard.evals.prompts import PROMPTS
from skillyard.evals.report.views import activation_view
from skillyard.evals.statistics.changes import Measure, values_by_case
from skillyard.evals.statistics.intervals import spread_of
from skillyard.evals.statistics.verdicts import OVERALL, rounded
from skillyard.evals.storage import digest_of

if TYPE_CHECKING:
    from skillyard.engine.skill import Skill
    from skillyard.evals.cases.reading import CasePlaces
    from skillyard.evals.layers.session import ModelSession
    from skillyard.evals.settings import Regression, RunSettings

DESCRIPTION_CHARS = 120
"""Length of a description in the index (evals.md §1.14)."""
NEIGHBOURS = 50
"""Most skills of a library beside one that is alone: a model reads a line of each, every time."""
_ALONE = "The skill stood alone: this cannot show whether another one is picked in its place."
_ROUTING = "_routing"
"""The folder of a model's routing answers."""
_MAX_TOKENS = 2_048
"""For a list of names and a sentence; models that think first need the room."""

_SYSTEM = PROMPTS["routing"]["system"]

_REPLY_SCHEMA = {
    "type": "object",
    "properties": {
        "skills": {"type": "array", "items": {"type": "string"}},
        "reasoning": {"type": "string"},
    },
    "required": ["skills", "reasoning"],
    "additionalProperties": False,
}


class ActivationLayer:
    """L3: requests, each with the skills that it should activate."""

    def read(self, settings: RunSettings, places: CasePlaces, catalog: Catalog) -> LayerWork:
        """Return the activation cases."""
        data = require_cases(read_activation_cases(places, catalog), places)
        sampled = sample(
            of_skill(data.cases, settings, _skills_of),
            settings,
            key=lambda each: each.id,
            is_positive=lambda each: each.should_activate,
        )
        digests = {skill.name: skill.hash for skill in _routed_skills(catalog)}
        return LayerWork(settings, catalog, sampled, data.sha256, digests, data.diagnostics)

    def runner(self, work: LayerWork, session: ModelSession) -> ActivationRunner:
        """Return what asks the router."""
        return ActivationRunner(work, session)

    def summarise(self, cases: list[CaseResult], work: LayerWork) -> Summary:
        """Return the rates by skill; the artifacts are index and confusion."""
        artifacts = {"index": _index(work, cases), "confusion": confusion_of(cases)}
        return activation_summary(cases), rounded(artifacts)

    def measures(self, cases: Sequence[CaseResult], rules: Regression) -> Iterator[Measure]:
        """Yield true and false positive rates of all requests, and of each skill."""
        limits, decided = rules.activation, _decided(cases)
        least = limits.min_cases
        for entity, _, positives, negatives, fires in _groups(decided, decided):
            tpr, fpr = values_by_case(positives, fires), values_by_case(negatives, fires)
            yield Measure(entity, "tpr", "lower", tpr, limits.tpr_drop, least)
            yield Measure(entity, "fpr", "higher", fpr, limits.fpr_increase, least)

    view = staticmethod(activation_view)


class ActivationRunner:
    """Lets a model, or without one the scorer of the settings, pick skills for each request."""

    def __init__(self, work: LayerWork, session: ModelSession) -> None:
        self._work = work
        self._session = session
        skills = _routed_skills(work.catalog)
        self._names = frozenset(skill.name for skill in skills)
        self._system = _SYSTEM.format(index=index_text(skills))

    def results(self, case: ActivationCase, run: int) -> Iterator[CaseResult]:
        """Yield the case with what was picked."""
        choice = self.choose(case.user_prompt, run)
        result = _unanswered(case, run) | choice
        yield result if result["errors"] else result | rounded(_score(case, result["picked"]))

    def blank(self, case: ActivationCase, run: int) -> list[CaseResult]:
        """Return the case without a choice."""
        return [_unanswered(case, run)]

    def choose(self, prompt: str, run: int) -> dict[str, Any]:
        """Return the fields of a case that are the choice for a request. Raises RunStopped.

        A reply that cannot be read is an error, not a choice of nothing.
        """
        settings = self._work.settings
        if not settings.asks_models:
            policy = SelectionPolicy(top_k=settings.top_k, min_score=settings.min_score)
            selection = select(self._work.catalog, prompt, policy, scorer=settings.router)
            first = next(iter((*selection.selected, *selection.rejected)), None)
            return {
                "picked": list(dict.fromkeys(match.skill.name for match in selection.selected)),
                "confidence": round(first.score, 6) if first is not None else 0.0,
            }
        request = ModelRequest(
            model=settings.model,
            system=self._system,
            user=prompt,
            max_tokens=_MAX_TOKENS,
            temperature=settings.temperature,
            schema=_REPLY_SCHEMA,
        )
        answer = self._session.generate(_ROUTING, request, run)
        choice = {"cost": answer.cost, "generations": [answer.path]}
        if answer.fault is not None:
            return choice | {"errors": [answer.fault]}
        names = _names(extract_json(answer.text))
        known = [name for name in names or () if name in self._names]
        dropped = [shorten(name, 100) for name in names or () if name not in self._names]
        choice |= {"input_tokens": answer.input_tokens, "dropped": dropped}
        if names is None or (dropped and not known):  # it wants a skill, and nobody knows which
            error = "the reply names only skills that are not in the index"
            if names is None:
                error = "the reply does not say which skills it picks"
            return choice | {"errors": [{"kind": "unreadable", "message": error}]}
        return choice | {"picked": known}


def _names(value: Mapping[str, Any] | None) -> list[str] | None:
    """Return the names in a reply, each once; None where the reply has not the expected form."""
    names = value.get("skills") if value is not None else None
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        return None
    return list(dict.fromkeys(each.strip() for each in names))


def _routed_skills(catalog: Catalog) -> list[Skill]:
    """Return the skills that a router may pick: no hidden ones, no convention documents."""
    return [skill for skill in catalog if not skill.hidden and skill.origin != Origin.CONVENTION]


def with_neighbours(catalog: Catalog, library: Catalog, note: Callable[[str], None]) -> Catalog:
    """Return a catalog of one skill with those of a library that are nearest by our ranking."""
    (skill,) = catalog
    others = [each for each in _routed_skills(library) if each.name != skill.name]
    if len(others) > NEIGHBOURS:
        others = [match.skill for match in rank(others, skill.description, limit=NEIGHBOURS)]
    nearest = plural(len(others), "other skill")
    note(f"beside {skill.name} stand the nearest {nearest} of your folders, unless --scope none")
    return Catalog.from_skills([skill, *others])


def index_text(skills: Iterable[Skill]) -> str:
    """Return one line for each skill, ``- name: description``, sorted by name.

    Line breaks become blanks, and a description is cut to 120 characters with ``...``. Hidden
    characters are made visible, so a description cannot imitate another line.
    """
    lines = []
    for skill in sorted(skills, key=lambda each: each.name):
        text = clean_line(skill.description)
        text = text if len(text) <= DESCRIPTION_CHARS else f"{text[: DESCRIPTION_CHARS - 3]}..."
        lines.append(f"- {clean_line(skill.name)}: {text}")
    return "\n".join(lines)


def _index(work: LayerWork, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the size of the index, and a sentence on the skills beside those of the cases."""
    skills, user = _routed_skills(work.catalog), os.path.expanduser("~")
    about = sorted({name for case in work.cases for name in _skills_of(case)})
    others = [skill for skill in skills if skill.name not in about]
    homes = {os.path.dirname(os.path.dirname(each.path)) for each in others if each.path}
    named = name_few([each.replace(user, "~", 1) for each in sorted(homes)])
    beside = f"Beside {name_few(about)} stood {plural(len(others), 'other skill')}"
    beside += f" from {named}." if named else "."
    counted = [tokens for case in cases if (tokens := case["input_tokens"]) is not None]
    return {
        "skills": len({skill.name for skill in skills}),
        "characters": len(index_text(skills)),
        "input_tokens": round(sum(counted) / len(counted)) if counted else None,
        "beside": beside if others or len(about) > 1 else _ALONE,
    }


def _skills_of(each: ActivationCase) -> tuple[str, ...]:
    about = (each.about,) if each.about is not None else ()
    return (*each.expected_skills, *each.acceptable_skills, *about)


def _unanswered(case: ActivationCase, run: int) -> CaseResult:
    """Return what is known of a case before, and the fields that stay empty where it fails."""
    fields: dict[str, Any] = {
        "user_prompt": case.user_prompt,
        "expected_skills": list(case.expected_skills),
        "acceptable_skills": list(case.acceptable_skills),
        "should_activate": case.should_activate,
        "about": case.about,
    }
    return {
        "id": case.id,
        "case_sha256": digest_of(fields),
        "category": case.category,
        **fields,
        **{name: [] for name in ("missing", "picked", "dropped", "generations")},
        **dict.fromkeys(("passed", "precision", "recall", "f1", "exact", "confidence")),
        "input_tokens": None,
        "run_index": run,
        "cost": 0.0,
        "errors": [],
        "skipped": None,
    }


def _score(case: ActivationCase, picks: Sequence[str]) -> dict[str, Any]:
    """Return the measures of one choice.

    It passes if any expected or acceptable skill is picked (evals.md §1.14). Precision is the share
    of the picked skills that are expected, recall the share of the expected skills that are picked.
    Acceptable skills do not change precision, unless nothing else is picked:
    then they count as expected. For recall they count as one expected skill if none is picked.
    """
    picked = [name for name in picks if case.about in (None, name)]
    decisive = [name for name in picked if name not in case.acceptable_skills]
    if not case.should_activate:
        return _figures(not decisive, float(not decisive), float(not decisive))
    hits = [name for name in decisive if name in case.expected_skills]
    accepted = len(decisive) < len(picked)
    precision = len(hits) / len(decisive) if decisive else float(bool(picked))
    expected = case.expected_skills
    missing = [name for name in expected if name not in picked]
    passed = bool(hits) or accepted
    recall = max(len(hits), int(accepted)) / max(1, len(expected))
    named = {} if recall == 1.0 else {"missing": missing}
    return _figures(passed, precision, recall) | named


def _figures(passed: bool, precision: float, recall: float) -> dict[str, Any]:
    both = precision + recall
    return {
        "passed": passed,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / both if both else 0.0,
        "exact": passed and precision == recall == 1.0,
    }


CONFUSED_SHARE = 0.2
"""A skill is confused with one that takes more than this share of its requests."""
_Case = Mapping[str, Any]


class _Group(NamedTuple):
    """What counts for a skill, or for all together: the runs of cases that were decided."""

    entity: str
    counted: list[_Case]
    positives: list[_Case]
    negatives: list[_Case]
    fires: Callable[[_Case], bool]
    """Right for a positive, wrong for a negative."""


def _groups(cases: Sequence[_Case], decided: Sequence[_Case]) -> Iterator[_Group]:
    """Yield ``_overall``, and each skill that one of the cases expects.

    A skill's positives are the cases that expect it, its negatives all the others that do not
    accept it.
    """
    positives = [case for case in decided if case["should_activate"]]
    negatives = [case for case in decided if not case["should_activate"]]
    yield _Group(OVERALL, [*decided], positives, negatives, _is_as_labelled)
    for skill in sorted({name for case in cases for name in case["expected_skills"]}):
        expecting = [case for case in decided if skill in case["expected_skills"]]
        others = [
            case
            for case in decided
            if skill not in (*case["expected_skills"], *case["acceptable_skills"])
            and case.get("about") in (None, skill)
        ]
        yield _Group(skill, expecting, expecting, others, partial(_fires, skill))


def _is_as_labelled(case: _Case) -> bool:
    return bool(case["passed"] == case["should_activate"])


def _fires(skill: str, case: _Case) -> bool:
    return skill in case["picked"]


def activation_summary(cases: Sequence[_Case]) -> dict[str, dict[str, Any]]:
    """Return the summary by skill, and ``_overall``: means over cases, rates with intervals.

    The runs of a case are averaged, so each case counts once (evals.md §1.15). Cases with errors
    and cases that were skipped count in ``errors`` alone. ``f1`` is the mean of the F1 of the cases
    that expect a skill (macro average): the one F1 that terminal and report show. ``mean`` is the
    mean over all cases.
    """
    summary = {}
    for entity, counted, positives, negatives, fires in _groups(cases, _decided(cases)):
        own, more = [case for case in cases if entity in case["expected_skills"]], {}
        if entity == OVERALL:
            own = [*cases]
            more = {name: _mean(positives, name) for name in ("precision", "recall")}
            more["accuracy"] = _mean(counted, "passed")
            more["exact_set_rate"] = _mean(counted, "exact")
        scores = _means(counted, "f1")
        rates = _means(positives, fires), _means(negatives, fires)
        summary[entity] = {
            "mean": fmean(scores) if scores else None,
            "stddev": spread_of(scores),
            "n": len(scores),
            **more,
            "f1": _mean(positives, "f1"),
            **_rate("tpr", rates[0]),
            **_rate("fpr", rates[1]),
            "positives": len(rates[0]),
            "negatives": len(rates[1]),
            "errors": _errors(own),
        }
    figures: dict[str, dict[str, Any]] = rounded(summary)
    return figures


def _decided(cases: Sequence[_Case]) -> list[_Case]:
    """Return the cases with a choice; none of them where most of a kind have no readable one.

    The rest would be a rate of what happens to be readable: nothing was measured.
    """
    for needs_skill in (True, False):
        kind = [case for case in cases if case["should_activate"] is needs_skill]
        if 2 * _errors(kind) > sum(not case.get("skipped") for case in kind):
            return []
    return [case for case in cases if case["passed"] is not None]


def _errors(cases: Iterable[_Case]) -> int:
    return sum(bool(case.get("errors")) for case in cases)


def _means(cases: Iterable[_Case], value: str | Callable[[_Case], float]) -> list[float]:
    """Return a field, or a value, of each case: the mean over its runs."""
    runs: dict[str, list[float]] = {}
    for case in cases:
        runs.setdefault(case["id"], []).append(
            case[value] if isinstance(value, str) else value(case)
        )
    return [fmean(values) for values in runs.values()]


def _mean(cases: Iterable[_Case], field: str) -> float | None:
    values = _means(cases, field)
    return fmean(values) if values else None


def _rate(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Return a share of cases with its Wilson interval; a case half of whose runs pass is half."""
    low, high = wilson(fsum(values), len(values)) if values else (None, None)
    return {name: fmean(values) if values else None, f"{name}_low": low, f"{name}_high": high}


def confusion_of(cases: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return which skills are picked in place of others, the most frequent first.

    A request counts for the first skill that it expects, and for the first pick, where that is
    neither expected nor acceptable.
    """
    requests: Counter[str] = Counter()
    taken: Counter[tuple[str, str]] = Counter()
    for case in cases:
        if case["passed"] is not None and case["expected_skills"]:
            skill = case["expected_skills"][0]
            requests[skill] += 1
            first = next(iter(case["picked"]), None)
            right = (*case["expected_skills"], *case["acceptable_skills"])
            if first is not None and first not in right:
                taken[skill, first] += 1
    return [
        {
            "skill": skill,
            "picked": picked,
            "requests": count,
            "of": requests[skill],
            "confused": count > CONFUSED_SHARE * requests[skill],
        }
        for (skill, picked), count in sorted(taken.items(), key=lambda item: (-item[1], item[0]))
    ]


ACTIVATION: Layer = ActivationLayer()
