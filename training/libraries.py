"""Libraries and what they are asked: of every size, with and without a skill that fits.

A library is drawn from the pool, as a whole or from one neighbourhood of it. Some skills are
wanted and in it; others are wanted and not in it, nor any near copy of them: requests for those
are what nothing fits, however they are worded. So requests with and without an answer come from
the same hands, in the same styles and lengths. What is drawn depends on the seed alone.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from typing import Any, NamedTuple

import numpy as np

from skillyard.engine.analysis import STANDARD
from skillyard.engine.skill import Skill
from training.pool import Pool
from training.requests import CHOOSING_HANDS, HERE, read_hands, read_rows, request_rows

__all__ = [
    "DRAWS",
    "Draw",
    "Wish",
    "draws",
    "fold",
    "none_wishes",
    "shortened",
    "unseen_wishes",
    "wishes",
]

SEED = 20261123
COPY = 0.5
"""Cosine of two descriptions, by the teacher, from which a library without the one skill has to do
without the other too: of such pairs some do the same work, of those below hardly any."""
LONG_NONE = 0.5
"""Share of the near misses that are asked once more inside a task prompt."""
SMALL = 10
"""Skills up to which a library is small: half of such libraries hold short skills, as people write
at first."""
SHORT_BODIES = (0, 150, 600)
"""Characters of the body that a short skill has."""
NEIGHBOURHOOD = 12
"""Skills from which one of a library of one neighbourhood is drawn."""
CANDIDATES = 8
"""Of so many requests for something else, the one is asked that shares the most words with the
skills of the library."""


class Wish(NamedTuple):
    """One request, and the skills of the pool that fit it."""

    text: str
    style: str
    """The style of the training request, with ``task`` where it stands in a prompt, ``few`` for one
    to three words of it; ``near`` and ``far`` for requests that nothing in the pool fits."""
    skills: tuple[int, ...]
    name: str
    """Requests with the same one stand on the same side of every fit."""


class Plan(NamedTuple):
    """How many libraries of one size there are, and what they are asked."""

    size: int
    whole: int
    """Libraries drawn from the whole pool."""
    kin: int
    """Libraries drawn from one neighbourhood."""
    present: int
    absent: int
    """Skills that are wanted and there, and wanted and not there."""
    each: int
    """Requests for each of them, or as many as there are."""
    none: int
    """Near and far requests, or as many as there are."""
    alike: int = 0
    """Requests for something else that share words with the skills: as many of each kind."""


DRAWS = (
    Plan(1, 160, 0, 1, 4, 2, 4, 3),
    Plan(2, 90, 30, 2, 4, 2, 4, 3),
    Plan(3, 70, 30, 3, 4, 2, 4, 3),
    Plan(5, 60, 30, 4, 4, 2, 4, 4),
    Plan(10, 100, 40, 5, 10, 2, 8, 4),
    Plan(40, 40, 20, 20, 20, 2, 25, 5),
    Plan(300, 10, 5, 130, 100, 2, 120),
    Plan(2_000, 3, 0, 600, 300, 2, 400),
    Plan(10_476, 1, 0, 1_200, 60, 3, 3_000),
)


class Draw(NamedTuple):
    """One library and what it is asked."""

    size: int
    kin: bool
    skills: list[int]
    requests: list[tuple[Wish, bool]]
    """(request, whether some skill of the library fits it)."""
    body: int | None = None
    """Characters of each body that the library holds; None for the whole."""


def fold(name: str, number: int = 5) -> int:
    """Return the part, 0 to ``number``, in which all requests of one name stand."""
    return md5(name.encode()).digest()[0] % number


def _sentences() -> dict[str, list[str]]:
    sentences: dict[str, list[str]] = {}
    for kind, sentence in read_rows(os.path.join(HERE, "data", "task_sentences.tsv")):
        sentences.setdefault(kind, []).append(sentence)
    return sentences


def _prompt(texts: Sequence[str], sentences: Mapping[str, list[str]], rng: random.Random) -> str:
    """Return a task prompt around requests: where they come from, and what is to be delivered."""
    before = rng.sample(sentences["setting"], rng.choice((0, 1, 1, 2)))
    after = rng.sample(sentences["deliverable"], rng.choice((0, 1, 1, 2, 3)))
    after += rng.sample(sentences["constraint"], rng.choice((0, 1, 1, 2)))
    rng.shuffle(after)
    middle = [text if text.endswith((".", "?", "!")) else f"{text}." for text in texts]
    return " ".join([*before, *middle, *after])


def _few(text: str, rng: random.Random) -> str:
    words = text.split()
    number = rng.choice((1, 2, 2, 3, 3))
    start = rng.randrange(max(1, len(words) - number + 1))
    return " ".join(words[start : start + number]).strip(",.;:?!")


def wishes(shared: str, pool: Pool) -> list[Wish]:
    """Return requests for skills of which the bundled table has learned from no request.

    It was made without ``more_requests.tsv``; of those, the ones for skills that no other request
    of ours is for, and no judged set wants.
    """
    known = {key for key, _, _ in request_rows(shared, "requests.tsv")}
    rows = request_rows(shared, "requests.tsv", "more_requests.tsv")
    return _wishes_of([row for row in rows if row[0] not in known], pool)


def unseen_wishes(shared: str, pool: Pool) -> list[Wish]:
    """Return requests of which the encoder has learned nothing, nor for their skills."""
    hands = {f"hand{number}" for number in CHOOSING_HANDS}
    rows = [row for row in read_hands(shared) if row[3] in hands]
    return _wishes_of([row[:3] for row in rows], pool)


def _wishes_of(rows: Sequence[tuple[str, ...]], pool: Pool) -> list[Wish]:
    """Return the requests, some of them inside task prompts or cut to a few words as well."""
    places = {skill.id: number for number, skill in enumerate(pool.skills)}
    sentences = _sentences()
    mine: dict[str, list[tuple[str, str]]] = {}
    for key, style, text in rows:
        if key in places:
            mine.setdefault(key, []).append((style, text))
    requests: list[Wish] = []
    for key, listed in mine.items():
        right = (places[key],)
        rng = random.Random(f"{SEED} {key}")
        for number, (style, text) in enumerate(listed):
            requests.append(Wish(text, style, right, key))
            if rng.random() < 0.5:
                texts = [text]
                if rng.random() < 0.5:
                    texts.append(listed[(number + 1) % len(listed)][1])
                requests.append(Wish(_prompt(texts, sentences, rng), f"{style} task", right, key))
            if style == "keyword":
                requests.append(Wish(_few(text, rng), "few", right, key))
        words = pool.skills[right[0]].name.replace("-", " ").replace("_", " ").split()
        if len(words) > 1:
            some = rng.sample(words, rng.choice((1, 1, 2)))
            requests.append(Wish(" ".join(some), "few name", right, key))
    return requests


def read_tasks(name: str) -> list[dict[str, Any]]:
    """Return the task prompts of a file of ``data``."""
    with open(os.path.join(HERE, "data", name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def none_wishes(shared: str) -> list[Wish]:
    """Return the requests that nothing in the pool fits, some inside task prompts too."""
    sentences = _sentences()
    rows = read_rows(f"{shared}/bench/none_requests.tsv", f"{HERE}/data/none_requests.tsv")
    requests: list[Wish] = []
    for kind, text in rows:
        rng = random.Random(f"{SEED} {text}")
        style = kind.removeprefix("none_")
        requests.append(Wish(text, style, (), text))
        if style == "near" and rng.random() < LONG_NONE:
            requests.append(Wish(_prompt([text], sentences, rng), "near task", (), text))
    return requests


def draws(
    pool: Pool, described: Any, wished: Sequence[Wish], none: Sequence[Wish]
) -> Iterator[Draw]:
    """Yield the libraries of all sizes. ``described`` are the teacher's vectors of descriptions."""
    names = pool.names()
    by_skill: dict[tuple[int, ...], list[Wish]] = {}
    for wish in wished:
        by_skill.setdefault(wish.skills, []).append(wish)
    for plan in DRAWS:
        for number in range(plan.whole + plan.kin):
            rng = random.Random(f"{SEED} {plan.size} {number}")
            kin = number >= plan.whole
            draw = _draw(plan, kin, rng, names, described, by_skill, none)
            if draw.skills:  # few are wanted in some neighbourhoods, and all near copies are gone
                yield _short(draw, pool, described, names, wished, none, plan, rng)


def shortened(skill: Skill, body: int | None) -> Skill:
    """Return the skill with that many characters of its body; None leaves it whole."""
    return skill if body is None else skill.replace(body=(skill.body or "")[:body], id=skill.id)


def _short(
    draw: Draw,
    pool: Pool,
    described: Any,
    names: Any,
    wished: Sequence[Wish],
    none: Sequence[Wish],
    plan: Plan,
    rng: random.Random,
) -> Draw:
    """Return a small library, with short skills perhaps, asked for what only shares its words."""
    if plan.size <= SMALL and rng.random() < 0.5:
        draw = draw._replace(body=rng.choice(SHORT_BODIES))
    if not plan.alike:
        return draw
    skills = [shortened(pool.skills[place], draw.body) for place in draw.skills]
    held = {term for skill in skills for term in _words_of(skill)}
    near = (described @ described[draw.skills].T).max(axis=1) >= COPY
    here = set(names[draw.skills].tolist())
    absent = [
        wish
        for wish in rng.sample(wished, 2 * CANDIDATES * plan.alike)
        if not any(near[place] or names[place] in here for place in wish.skills)
    ]
    requests = list(draw.requests)
    for kind in ("absent", "near", "far"):
        listed = [wish for wish in none if wish.style.startswith(kind)] or absent
        some = rng.sample(listed, min(len(listed), CANDIDATES * plan.alike))
        some.sort(key=lambda wish: -_shared(wish, held))
        requests += [(wish, False) for wish in some[: plan.alike]]
    return draw._replace(requests=requests)


def _words_of(skill: Skill) -> list[str]:
    return STANDARD.terms(f"{skill.name}\n{skill.description}\n{skill.body or ''}")


def _shared(wish: Wish, held: set[str]) -> float:
    """Return the share of the request's terms that the library holds."""
    terms = set(STANDARD.terms(wish.text))
    return len(terms & held) / max(1, len(terms))


def _draw(
    plan: Plan,
    kin: bool,
    rng: random.Random,
    names: Any,
    described: Any,
    by_skill: Mapping[tuple[int, ...], list[Wish]],
    none: Sequence[Wish],
) -> Draw:
    everything = np.arange(len(names))
    if kin:
        seed = rng.choice(list(by_skill))[0]
        near = np.argsort(-(described @ described[seed]), kind="stable")
        everything = near[: NEIGHBOURHOOD * max(plan.size, SMALL)]
    inside = set(everything.tolist())
    keys = [key for key in by_skill if inside.issuperset(key)]
    rng.shuffle(keys)
    absent = keys[: min(plan.absent, len(keys) // 2)]
    gone = np.zeros(len(names), dtype=bool)
    for key in absent:
        for place in key:
            gone |= (described @ described[place] >= COPY) | (names == names[place])
    left = [key for key in keys[len(absent) :] if not any(gone[place] for place in key)]
    present = left[: plan.present]
    required = {place for key in present for place in key}
    rest = [place for place in everything.tolist() if not gone[place] and place not in required]
    fill = rng.sample(rest, max(0, min(len(rest), plan.size - len(required))))
    requests: list[tuple[Wish, bool]] = []
    for listed, fits in ((present, True), (absent, False)):
        for key in listed:
            requests += [(w, fits) for w in _some(by_skill[key], plan.each, rng)]
    requests += [(wish, False) for wish in _some(none, plan.none, rng)]
    return Draw(plan.size, kin, sorted({*required, *fill}), requests)


def _some(listed: Sequence[Wish], number: int, rng: random.Random) -> list[Wish]:
    return rng.sample(listed, min(number, len(listed)))
