"""What the encoder learns from: skills as texts, requests for them, twins, and hard negatives."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from skillyard.engine.bench.runs import read_skills
from skillyard.engine.skill import Skill
from training.folds import fold_of
from training.pool import names_of
from training.requests import (
    HERE,
    LATER_HANDS,
    PROBABILITY_HANDS,
    SIBLING_HAND,
    excluded_ids,
    held_out,
    read_hands,
    read_rows,
    request_rows,
)
from training.teacher import encode

__all__ = ["Examples", "SkillLibrary", "mine_negatives", "read_examples", "skill_views"]

TWIN = 0.78
"""Cosine of two descriptions by the untuned model from which their skills do the same."""
TWIN_OF_OWNER = 0.9
"""The same for two skills of one owner, who has both because they differ."""
NEAREST = 24
"""Near skills of a skill: so many of its owner's that requests want, by the untuned model."""
NOT_HARD = 0.75
"""Cosine from which a skill is too near to be a hard negative."""
HARD = 20
"""A hard negative is among so many nearest skills of a request by the untuned model, which stays
the same whatever becomes of the scorers."""
CONFUSED = 40
"""Nearest skills of a request by the model of the first stage, of which some are hard negatives."""
ASKED = 3
"""Requests for a skill that look for such."""
BELOW = 0.95
"""Share of the right skill's cosine below which a skill is a negative: what lies nearer may do the
job too (Moreira et al., https://arxiv.org/abs/2407.15831)."""
LIKE = 0.8
"""Cosine of two descriptions from which neither is such a negative of the other."""
MOST = 10
"""Such negatives of a request."""
PIECES = 128
"""Word pieces of a text that the untuned model reads."""
SEED = 5
HEADINGS = 12
BODY_CHARS = 700


class SkillLibrary(NamedTuple):
    """Near skills of one owner or product, and what was asked of them."""

    skills: list[tuple[str, str, str]]
    """As :func:`skill_views`."""
    fits: list[tuple[str, int]]
    """Requests, and the place in :attr:`skills` of the one that fits."""
    misses: list[str]
    """Requests that none of the skills fits."""


@dataclass(frozen=True)
class Examples:
    """The examples of one run, by the place of a skill in the pool."""

    requests: dict[int, list[str]]
    views: list[tuple[str, str, str]]
    names: Any
    described: Any
    """The untuned model's vectors of the descriptions."""
    owners: Any
    usable: Any
    """By place: whether it may be shown as a negative."""
    later: dict[int, list[str]]
    """Requests of the second stage, for skills of :attr:`requests`."""
    libraries: list[SkillLibrary]
    """Those of the third stage."""
    hard: dict[int, list[int]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of requests."""
        return sum(map(len, self.requests.values()))

    def twins(self, these: Sequence[int], those: Sequence[int]) -> Any:
        """Return these x those: True where two skills do the same, by name or by description."""
        cosines = self.described[these] @ self.described[those].T
        one_owner = self.owners[these][:, None] == self.owners[those][None, :]
        close = cosines > np.where(one_owner, TWIN_OF_OWNER, TWIN)
        return close | (self.names[these][:, None] == self.names[those][None, :])

    def near(self, place: int) -> list[int]:
        """Return the nearest other skills of its owner that requests want, the nearest first."""
        wanted = np.array(sorted(self.requests))
        beside = wanted[(self.owners[wanted] == self.owners[place]) & (wanted != place)]
        cosines = self.described[beside] @ self.described[place]
        nearest = beside[np.argsort(-cosines, kind="stable")[:NEAREST]]
        return [int(each) for each in nearest]


def skill_views(skill: Skill) -> tuple[str, str, str]:
    """Return the skill as name and description, with headings, and as headings and body."""
    body = skill.body or ""
    headings = re.findall(r"^#{1,4}\s+(.+?)\s*#*$", body, re.MULTILINE)[:HEADINGS]
    text = " ".join(re.sub(r"[#*`|>_-]+", " ", body).split())[:BODY_CHARS]
    described = f"{skill.name}. {skill.description}"
    listed = "; ".join(headings)
    return described, f"{described} {listed}", f"{skill.name}. {listed} {text}"


def read_examples(
    shared: str,
    *,
    held_out_skills: bool = False,
    without: int | None = None,
    without_hands: Iterable[int] = (),
) -> Examples:
    """Read the pool and the requests, without what is to be left out.

    Requests for skills of ``bench/exclude_from_training.txt`` are never among them, and neither are
    these skills as hard negatives.
    """
    skills = read_skills(os.path.join(shared, "corpus", "skills.jsonl.gz"))
    places = {skill.id: place for place, skill in enumerate(skills)}
    hands = {f"hand{number}" for number in (*without_hands, *LATER_HANDS, SIBLING_HAND)}
    rows = request_rows(shared, "requests.tsv", "more_requests.tsv")
    rows += [row[:3] for row in read_hands(shared) if row[3] not in hands]
    requests: dict[int, list[str]] = {}
    for key, _, text in rows:
        if key not in places or (held_out_skills and held_out(key)) or fold_of(key) == without:
            continue
        requests.setdefault(places[key], []).append(text)
    later: dict[int, list[str]] = {}
    names = {f"hand{number}" for number in LATER_HANDS}
    for key, _, text, hand, _ in read_hands(shared):
        if hand in names and places.get(key) in requests:
            later.setdefault(places[key], []).append(text)
    described = encode([f"{skill.name}. {skill.description}" for skill in skills], PIECES)
    views = [skill_views(skill) for skill in skills]
    owners = np.array([skill.id.split("/", 1)[0] for skill in skills])
    usable = _usable(skills, shared, without)
    usable_views = {
        skill.id: view
        for skill, view, may_be in zip(skills, views, usable, strict=True)
        if may_be and not (held_out_skills and held_out(skill.id))
    }
    libraries = _read_libraries(usable_views)
    examples = Examples(
        requests, views, names_of(skills), described, owners, usable, later, libraries
    )
    examples.hard.update(_hard_negatives(examples))
    return examples


def _read_libraries(views: dict[str, tuple[str, str, str]]) -> list[SkillLibrary]:
    """Return the libraries of which every skill may be shown.

    ``views`` are those of skills of the pool; a skill that was written for its library has a
    description in the file.
    """
    members: dict[str, list[str]] = {}
    own: dict[tuple[str, str], tuple[str, str, str]] = {}
    for number, key, description in read_rows(f"{HERE}/data/encoder_libraries.tsv"):
        members.setdefault(number, []).append(key)
        if description:
            own[number, key] = (f"{key}. {description}",) * 3
    libraries: dict[str, SkillLibrary] = {}
    for number, keys in members.items():
        texts = [views.get(key) or own.get((number, key)) for key in keys]
        if None not in texts:
            libraries[number] = SkillLibrary([each for each in texts if each], [], [])
    for number, kind, text, key, hand in read_rows(f"{HERE}/data/encoder_choices.tsv"):
        if number in libraries and hand not in PROBABILITY_HANDS:
            if kind == "fit":
                libraries[number].fits.append((text, members[number].index(key)))
            else:
                libraries[number].misses.append(text)
    return [each for each in libraries.values() if each.fits]


def mine_negatives(examples: Examples, read: Callable[[list[str]], Any]) -> None:
    """Make the hard negatives those that a model takes for the right skill, or nearly.

    ``read`` returns the model's vectors of texts.
    """
    random = np.random.default_rng(SEED)
    pairs: list[tuple[int, str]] = []
    for place, texts in sorted(examples.requests.items()):
        some = [texts[at] for at in random.permutation(len(texts))]
        pairs += [(place, each) for each in [*examples.later.get(place, ()), *some][:ASKED]]
    skills = read([views[0] for views in examples.views])
    negatives: dict[int, list[int]] = {}
    for (place, _), request in zip(pairs, read([text for _, text in pairs]), strict=True):
        scores = skills @ request
        near = np.argsort(-scores, kind="stable")[:CONFUSED]
        cosines = examples.described[near] @ examples.described[place]
        other = examples.names[near] != examples.names[place]
        below = scores[near] < BELOW * scores[place]
        mask = examples.usable[near] & other & below & (cosines < LIKE)
        negatives.setdefault(place, []).extend(near[mask][:MOST].tolist())
    examples.hard.update({place: listed for place, listed in negatives.items() if listed})


def _usable(skills: Sequence[Skill], shared: str, without: int | None) -> Any:
    """Return by skill whether it may be shown: neither excluded nor of the fold left out."""
    excluded = excluded_ids(shared)
    return np.array([s.id not in excluded and fold_of(s.id) != without for s in skills])


def _hard_negatives(examples: Examples) -> dict[int, list[int]]:
    """Return for each skill the others that lie near its first request."""
    places = sorted(examples.requests)
    first = encode([examples.requests[place][0] for place in places], PIECES)
    hard = {}
    for place, request in zip(places, first, strict=True):
        near = np.argsort(-(examples.described @ request), kind="stable")[:HARD]
        cosines = examples.described[near] @ examples.described[place]
        same = examples.names[near] == examples.names[place]
        hard[place] = near[examples.usable[near] & ~same & (cosines < NOT_HARD)].tolist()
    return hard
