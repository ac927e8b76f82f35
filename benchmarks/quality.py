"""How well ``hybrid`` finds the right skill, with and without the sentence encoder.

What it chooses, by kind of request, comes first (``benchmarks/choices.py``; with ``--markdown``
that alone, as README has it), and then how it ranks.

For information: quality is not a ratio. Each set is ranked over the whole shared corpus, and shown
with 95 % intervals of its mean, and of the gain of each query over ``hybrid`` without the model
that orders the best skills once more. Nothing was trained on any of these requests, nor on others
for their skills: ``training/README.md`` says who wrote which, and which of them something was
chosen on. ``training/left_out_encoder.py`` and ``benchmarks/regression.py`` leave repositories out.

Near misses are asked of made-up libraries of forty skills, which none of them fits; beside them the
same libraries are asked for what they hold, by hands 7 to 10 and those of the near misses. The
encoder has not seen these requests, but the numbers of its probability were fitted to most of them:
``python -m training.calibrate_encoder`` prints how well they do on libraries and hands left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import choices
from benchmarks.corpus import require_corpus
from benchmarks.measure import Figure, Options
from training.requests import CHOOSING_HANDS, UNSEEN_HANDS

if TYPE_CHECKING:
    from skillyard.engine.bench.runs import BenchQuery
    from skillyard.engine.ranking.hybrid.scorer import BoundHybrid, Hybrid
    from skillyard.engine.skill import Skill

SUMMARY = "what is chosen by kind of request; nDCG@10 and hit@1; near misses; with the encoder, too"
DATA = Path(__file__).resolve().parents[1] / "training" / "data"
BASELINE = Path(__file__).resolve().parent / "baseline" / "left_out.run.json"
DEPTH = 10
CHOSEN = ("nDCG@10", "hit@1")
GRADES = "development_grades.tsv"
LIBRARIES = "libraries.tsv"
NEAR_MISSES = "near_misses.tsv"
CHOICES = "choices.tsv"
STYLES = {
    "vague": "vague",
    "symptom": "symptom",
    "nonnative": "not native",
    "other": "twelve other languages",
}
TIMED = 400
"""Short requests whose time is measured."""


class RequestSet(NamedTuple):
    """Judged requests of one kind."""

    name: str
    queries: list[BenchQuery]


class System(NamedTuple):
    """One way to rank, by the name of its scorer."""

    name: str
    scorer: Hybrid


def run(options: Options) -> Iterator[Figure]:
    """Yield the figures for ``python -m benchmarks``."""
    from skillyard.engine.bench.runs import read_skills

    yield from choices.figures()
    skills = read_skills(str(require_corpus(options.shared)))
    systems = _systems()
    yield Figure("systems", ", ".join(system.name for system in systems))
    bound = {system.name: system.scorer.bind(skills) for system in systems}
    sets = request_sets(options.shared, {skill.id for skill in skills})
    for name, path in _files().items():
        yield Figure(f"size, {name}", f"{path.stat().st_size / 1e6:.2f} MB")
    for each in sets:
        yield from set_figures(each, bound)
    yield _left_out(sets[0])
    yield from _near_figures(skills, systems)
    short = [query for each in sets for query in each.queries if len(query.query.text) < 100]
    for name, one in bound.items():
        yield Figure(f"time of a short request, {name}", _times(one, short[:TIMED]))


def _systems() -> list[System]:
    """Return ``hybrid`` with and without the encoder, each before and after the best are ordered.

    The first is what the gains are over.
    """
    from skillyard.engine.embedding.protocol import embedder_names, resolve_embedder
    from skillyard.engine.ranking.hybrid.constants import FUSION
    from skillyard.engine.ranking.hybrid.scorer import HYBRID, Hybrid

    once = Hybrid(FUSION._replace(share=0.0, names=0.0, cosine=0.0))
    systems = [System("hybrid, not ordered again", once), System("hybrid", HYBRID)]
    if "encoder" in embedder_names():
        encoder = copy(resolve_embedder("encoder"))
        encoder.order = (0.0, 0.0, 0.0)  # type: ignore[attr-defined]
        systems += [
            System("hybrid+encoder, not ordered again", once.with_embedder(encoder)),
            System("hybrid+encoder", HYBRID.with_embedder("encoder")),
        ]
    return systems


def _files() -> dict[str, Path]:
    """Return the files that were learned, by what they are."""
    from importlib.util import find_spec

    from skillyard.engine.index import token_table

    files = {"table": Path(token_table.__file__).parent / "data" / "table.bin"}
    encoder = find_spec("skillyard_encoder")
    if encoder is not None and encoder.origin:
        files["encoder"] = Path(encoder.origin).parent / "data" / "model.onnx"
    return files


def _left_out(judged: RequestSet) -> Figure:
    """Return the quality of tables that have not seen the repository of a skill.

    The run was stored by ``training/left_out.py``. What the encoder gains without a repository is
    in ``training/README.md``.
    """
    from skillyard.engine.bench.measures import interval, per_query
    from skillyard.engine.bench.runs import read_run

    answers = read_run(str(BASELINE))
    parts = []
    for measure in CHOSEN:
        values = list(per_query(judged.queries, answers, measure).values())
        low, high = interval(values)
        parts.append(f"{measure} {sum(values) / len(values):.3f} [{low:.3f}, {high:.3f}]")
    name = f"{judged.name} ({len(values)}), hybrid, repositories left out (stored run)"
    return Figure(name, "; ".join(parts))


def request_sets(shared: Path, known: set[str]) -> list[RequestSet]:
    """Return the judged sets, those of other hands by style and by language."""
    from skillyard.engine.bench.runs import read_queries

    development = read_queries(str(shared / "bench" / "dev_queries.jsonl"))
    sets = [
        RequestSet("development", development),
        RequestSet("development, more judgements", [_with_grades(q) for q in development]),
        RequestSet("thirty long tasks", read_queries(str(DATA / "long_tasks.jsonl"))),
    ]
    for hands in (CHOOSING_HANDS, UNSEEN_HANDS):
        rows = [row for row in rows_of_hands(shared, hands) if row[0] in known]
        who = f"hands {' and '.join(map(str, hands))}"
        sets.append(_one_right(f"{who}, English", [r for r in rows if r[1] != "other"]))
        sets += [
            _one_right(f"{who}, {name}", [row for row in rows if row[1] == style])
            for style, name in STYLES.items()
        ]
    return [each for each in sets if each.queries]


def _with_grades(query: BenchQuery) -> BenchQuery:
    """Return the query with the grades of skills that the shared judgements do not have."""
    own = {key: int(grade) for key, grade in _grades().get(query.id, ())}
    return query._replace(relevant={**own, **query.relevant})


@cache
def _grades() -> dict[str, list[tuple[str, str]]]:
    from training.requests import read_rows

    grades: dict[str, list[tuple[str, str]]] = {}
    for query, key, grade in read_rows(str(DATA / GRADES)):
        grades.setdefault(query, []).append((key, grade))
    return grades


def rows_of_hands(shared: Path, hands: Sequence[int]) -> list[tuple[str, ...]]:
    """Return (skill id, style, request, hand, language) of what some hands wrote."""
    from training.requests import read_hands

    names = {f"hand{number}" for number in hands}
    return [row for row in read_hands(os.fspath(shared)) if row[3] in names]


def _one_right(name: str, rows: Sequence[tuple[str, ...]]) -> RequestSet:
    """Return requests of which each wants the skill that it was written for."""
    from skillyard.engine.bench.runs import BenchQuery
    from skillyard.engine.ranking.query import Query

    queries = [
        BenchQuery(f"{name} {number}", Query(row[2]), {row[0]: 3}, row[1])
        for number, row in enumerate(rows)
    ]
    return RequestSet(name, queries)


def set_figures(judged: RequestSet, bound: Mapping[str, BoundHybrid]) -> Iterator[Figure]:
    """Yield the quality of each system, and its gain over the first."""
    from skillyard.engine.bench.measures import interval, per_query
    from skillyard.engine.bench.runs import RankedAnswer

    first: dict[str, list[float]] = {}
    for name, one in bound.items():
        answers = {}
        for query in judged.queries:
            ranked = one.prepare(query.query).scores()[:DEPTH]
            confidence = ranked[0][1] if ranked else 0.0
            answers[query.id] = RankedAnswer(tuple(skill.id for skill, _ in ranked), confidence)
        parts = []
        for measure in CHOSEN:
            values = list(per_query(judged.queries, answers, measure).values())
            mean = sum(values) / len(values)
            low, high = interval(values)
            text = f"{measure} {mean:.3f} [{low:.3f}, {high:.3f}]"
            if measure in first:
                gains = [new - old for new, old in zip(values, first[measure], strict=True)]
                low, high = interval(gains)
                text += f", {sum(gains) / len(gains):+.3f} [{low:+.3f}, {high:+.3f}]"
            first.setdefault(measure, values)
            parts.append(text)
        yield Figure(f"{judged.name} ({len(values):,}), {name}", "; ".join(parts))


def _near_figures(skills: Sequence[Skill], systems: Sequence[System]) -> Iterator[Figure]:
    from training.requests import read_rows

    by_id = {skill.id: skill for skill in skills}
    libraries: dict[str, list[Skill]] = {}
    for number, key in read_rows(str(DATA / LIBRARIES)):
        libraries.setdefault(number, []).append(by_id[key])
    rows = read_rows(str(DATA / CHOICES))
    near = [(row[0], row[1], row[4]) for row in read_rows(str(DATA / NEAR_MISSES))]
    near += [(row[0], row[3], row[6]) for row in rows if row[1] not in ("fit", "forbidden")]
    wanted: dict[str, list[str]] = {}
    for row in rows:
        if row[1] == "fit":
            wanted.setdefault(row[4], []).append(row[3])
    names = {f"hand{number}" for number in (*CHOOSING_HANDS, *UNSEEN_HANDS)}
    for row in read_rows(str(DATA / "hands.tsv")):
        if row[3] in names:
            wanted.setdefault(row[0], []).append(row[2])
    for system in systems:
        yield Figure(
            f"near misses ({len(near):,} in {len(libraries)} libraries of 40), {system.name}",
            _near_line(libraries, near, wanted, system.scorer),
        )


def _near_line(
    libraries: Mapping[str, Sequence[Skill]],
    near: Sequence[tuple[str, str, str]],
    wanted: Mapping[str, Sequence[str]],
    scorer: Hybrid,
) -> str:
    """Return how near misses and what a skill fits are told apart.

    ``near`` has (library, request, hand), ``wanted`` the requests for each skill.
    """
    from skillyard.engine.bench.measures import measures
    from skillyard.engine.bench.runs import BenchQuery, RankedAnswer
    from skillyard.engine.ranking.hybrid.scorer import FLOOR
    from skillyard.engine.ranking.query import Query

    queries, answers = [], {}
    hits = 0
    fires: dict[str, list[bool]] = {}
    for number, members in libraries.items():
        bound = scorer.bind(members)
        requests = [(text, {}, hand) for place, text, hand in near if place == number]
        requests += [(text, {s.id: 3}, "") for s in members for text in wanted.get(s.id, ())]
        for place, (text, relevant, hand) in enumerate(requests):
            query = BenchQuery(f"{number} {place}", Query(text), relevant)
            ranked = bound.prepare(query.query).scores()[:1]
            score = ranked[0][1] if ranked else 0.0
            queries.append(query)
            answers[query.id] = RankedAnswer(tuple(s.id for s, _ in ranked), score)
            if hand:
                fires.setdefault(hand, []).append(score >= FLOOR)
            elif score >= FLOOR and ranked[0][0].id in relevant:
                hits += 1
    result = measures(queries, answers)
    answerable = sum(query.answerable for query in queries)
    by_hand = ", ".join(f"{sum(v) / len(v):.3f}" for _, v in sorted(fires.items()))
    every = [value for values in fires.values() for value in values]
    return (
        f"AUROC {result['auroc']:.3f}; fire {sum(every) / len(every):.3f} (by hand {by_hand});"
        f" rightly chosen {hits / answerable:.3f} of {answerable:,} that a skill fits"
    )


def _times(bound: BoundHybrid, queries: Sequence[BenchQuery]) -> str:
    spent = []
    for query in queries:
        start = time.thread_time()
        bound.prepare(query.query).scores()[:DEPTH]
        spent.append(time.thread_time() - start)
    spent.sort()
    middle, late = spent[len(spent) // 2], spent[int(len(spent) * 0.99)]
    return f"p50 {middle * 1e3:.2f} ms, p99 {late * 1e3:.2f} ms of one core, {len(spent)} requests"
