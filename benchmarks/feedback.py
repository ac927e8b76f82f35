"""What simulated feedback changes: on other wordings of the same need, and on other requests.

A made-up user judges the skill that ``hybrid`` selects for a request, and is right four times in
five; or names the right skill; or judges at random. Nothing was trained on the requests of hands 9
and 10. Each request is ranked with the feedback on all other requests, so that what is gained on
one and lost on another is in the same figures.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpus import require_corpus
from benchmarks.measure import Figure, Options
from benchmarks.quality import rows_of_hands
from training.requests import CHOOSING_HANDS, UNSEEN_HANDS

if TYPE_CHECKING:
    from skillyard.engine.ranking.hybrid.scorer import BoundHybrid
    from skillyard.engine.ranking.query import SkillFeedback

SUMMARY = "hit@1, selections and abstention with simulated feedback of the user"
SEED = 7
RELIABILITY = 0.8
MAX_SKILLS = 400
"""Skills that are judged: about as many judgements as are stored."""
TOP_K = 5
"""Skills that are selected at most, as by default."""
RUNNERS_UP = 10
"""Every third of so many of the best skills is judged right where it was not selected."""


class Request(NamedTuple):
    """One request with the slugs of the skills that fit; none for a request without one."""

    text: str
    right: frozenset[str]


class Outcome(NamedTuple):
    """The best skill for one request and its probability."""

    slug: str
    probability: float


def run(options: Options) -> Iterator[Figure]:
    """Yield the figures for ``python -m benchmarks``."""
    from skillyard.engine.bench.runs import read_queries, read_skills
    from skillyard.engine.ranking.hybrid.scorer import HYBRID

    bound = HYBRID.bind(read_skills(str(require_corpus(options.shared))))
    known = {skill.slug for skill in bound.skills}
    for hands in (CHOOSING_HANDS, UNSEEN_HANDS):
        first, second = _two_wordings(options.shared, hands, known)
        name = f"hands {hands[0]} and {hands[1]}, other wordings"
        yield from _figures(bound, name, first, second, others_only=False)
    queries = read_queries(str(options.shared / "bench" / "dev_queries.jsonl"))
    development = [
        Request(q.query.text, frozenset(k for k, grade in q.relevant.items() if grade >= 2))
        for q in queries
    ]
    yield from _attacks(bound, development)
    for others_only, name in ((False, "the same requests"), (True, "all other requests")):
        yield from _figures(
            bound, f"development, judged: {name}", development, development, others_only=others_only
        )


def _attacks(bound: BoundHybrid, requests: Sequence[Request]) -> Iterator[Figure]:
    """Yield what a hostile client of a server reaches that repeats the request itself."""
    from skillyard.engine.ranking.hybrid.scorer import FLOOR
    from skillyard.engine.ranking.query import Query, SkillFeedback

    def selected(text: str, *feedback: SkillFeedback) -> list[str]:
        scores = bound.prepare(Query(text, feedback=feedback)).scores()[:TOP_K]
        return [skill.slug for skill, probability in scores if probability >= FLOOR]

    for client, who in ((True, "a client"), (False, "the user")):
        fired = first = removed = below = forced = 0
        for request in requests:
            before = selected(request.text)
            if before:
                wrong = SkillFeedback(before[0], request.text, False, client)
                after = selected(request.text, wrong)
                fired += 1
                first += after[:1] != before[:1]
                removed += before[0] not in after
            for skill, _ in bound.prepare(Query(request.text)).scores()[1:RUNNERS_UP:3]:
                if skill.slug not in before:
                    right = SkillFeedback(skill.slug, request.text, True, client)
                    below += 1
                    forced += skill.slug in selected(request.text, right)
        yield Figure(
            f"development, {who} judges the request itself",
            f"wrong: of {fired} best selected skills {first} are no longer first and {removed} not"
            f" selected; right: of {below} runners-up {forced} are selected",
        )


def _two_wordings(
    shared: Path, hands: Sequence[int], known: set[str]
) -> tuple[list[Request], list[Request]]:
    """Return two English requests for each skill, by different hands where there are two."""
    by_skill: dict[str, list[tuple[str, str]]] = {}
    for slug, _, text, hand, language in rows_of_hands(shared, hands):
        if language == "en" and slug in known:
            by_skill.setdefault(slug, []).append((hand, text))
    pairs = [
        (slug, texts[0][1], texts[-1][1])
        for slug, texts in sorted(by_skill.items())
        if len(texts) > 1
    ]
    random.Random(SEED).shuffle(pairs)
    pairs = pairs[:MAX_SKILLS]
    return (
        [Request(text, frozenset({slug})) for slug, text, _ in pairs],
        [Request(text, frozenset({slug})) for slug, _, text in pairs],
    )


def _figures(
    bound: BoundHybrid,
    name: str,
    judged: Sequence[Request],
    tested: Sequence[Request],
    *,
    others_only: bool,
) -> Iterator[Figure]:
    yield Figure(f"{name}: requests", f"{len(tested)}")
    yield Figure(f"{name}: no feedback", _shown(tested, [_outcome(bound, r, ()) for r in tested]))
    chance = random.Random(SEED)
    users: tuple[tuple[str, Callable[[bool], bool], bool], ...] = (
        ("right 4 times in 5", lambda truth: truth == (chance.random() < RELIABILITY), False),
        ("always right", lambda truth: truth, False),
        ("right, and names the skill", lambda truth: truth, True),
        ("at random", lambda _: chance.random() < 0.5, False),
        ("always wrong", lambda truth: not truth, False),
    )
    for user, says, names in users:
        feedback = [_judgements(bound, request, says, names=names) for request in judged]
        everything = tuple(each for some in feedback for each in some)
        outcomes = []
        for request, own in zip(tested, feedback, strict=True):
            rest = tuple(each for each in everything if each not in own)
            outcomes.append(_outcome(bound, request, rest if others_only else everything))
        yield Figure(f"{name}: {user}, {len(everything)} judgements", _shown(tested, outcomes))


def _judgements(
    bound: BoundHybrid, request: Request, says: Callable[[bool], bool], *, names: bool
) -> list[SkillFeedback]:
    """Return what a user says of the selected skill, and of the right one if it was not."""
    from skillyard.engine.ranking.query import SkillFeedback

    best = _outcome(bound, request, ())
    judgements = []
    if best.probability >= bound.scorer.default_policy.min_score:
        right = says(best.slug in request.right)
        judgements.append(SkillFeedback(best.slug, request.text, right))
    if names and best.slug not in request.right:
        right_ones = sorted(request.right)[:1]
        judgements += [SkillFeedback(slug, request.text, True) for slug in right_ones]
    return judgements


def _outcome(bound: BoundHybrid, request: Request, feedback: tuple[SkillFeedback, ...]) -> Outcome:
    from skillyard.engine.ranking.query import Query

    scores = bound.prepare(Query(request.text, feedback=feedback)).scores()
    if not scores:
        return Outcome("", 0.0)
    skill, probability = scores[0]
    return Outcome(skill.slug, probability)


def _shown(requests: Sequence[Request], outcomes: Sequence[Outcome]) -> str:
    from skillyard.engine.ranking.hybrid.scorer import FLOOR

    rows = list(zip(requests, outcomes, strict=True))
    wanted = [(r, o) for r, o in rows if r.right]
    hits = sum(o.slug in r.right for r, o in wanted)
    fired = [(r, o) for r, o in rows if o.probability >= FLOOR]
    good = sum(o.slug in r.right for r, o in fired)
    text = (
        f"hit@1 {hits / len(wanted):.3f}, selected right {good / len(wanted):.3f},"
        f" selected wrong {(len(fired) - good) / len(rows):.3f}"
    )
    sure = [o.probability for r, o in rows if r.right]
    unsure = [o.probability for r, o in rows if not r.right]
    if unsure:
        wins = sum((a > b) + (a == b) / 2 for a in sure for b in unsure)
        text += f", AUROC {wins / (len(sure) * len(unsure)):.3f}"
    return text
