"""Three sentences that explain a skill's rank to people: what matched, what came close, the floor.

They describe what :func:`skillyard.selection.select` does with the same query under the scorer's
own policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillyard.text import clean_line, plural, shorten

if TYPE_CHECKING:
    from skillyard.ranking.match import Match
    from skillyard.usecases.skill_explanation import Why

__all__ = ["shown_score", "why_sentences"]

_NAMED = 3
"""Skills that a sentence names; it counts the others."""
_REASON_CHARS = 200
_MAX_DIGITS = 6


def why_sentences(why: Why) -> tuple[str, str, str]:
    """Return what matched, what came close and what the floor did, one sentence each.

    Names and reasons hold text of skills: they are cleaned for one line, and every surface that
    needs more (frames, markup) makes the sentences safe as it does its other texts.
    """
    return _matched(why), _close(why), _floor(why)


def shown_score(score: float, floor: float) -> str:
    """Return a score with two digits, or with as many as put it on its side of the floor.

    A score of 0.4996 is not printed as 0.50 where the floor is 0.5; six digits at most.
    """
    for digits in range(2, _MAX_DIGITS):
        if (round(score, digits) >= floor) == (score >= floor):
            return f"{score:.{digits}f}"
    return f"{score:.{_MAX_DIGITS}f}"


def _matched(why: Why) -> str:
    name, score = _name(why.match), why.match.score
    if why.blank:
        return f"There is nothing to match: the request holds nothing that {why.scorer} looks at."
    reason = shorten(clean_line(why.match.reason), _REASON_CHARS)
    if why.left_out:
        left_out = f"left out of the choice: {'; '.join(map(clean_line, why.left_out))}"
        if score <= 0:
            return f"{name} is {left_out}."
        return f"{name} scores {_score(why, score)} by {why.scorer}, but is {left_out}."
    if why.rank is None:
        least = "Nothing" if score <= 0 else "Too little"
        return f"{least} in the request matches {name}, so it has no rank."
    place = f"rank {why.rank:,} of {why.total:,}"
    grounds = f" ({reason})" if reason else ""
    return f"{name} scores {_score(why, score)} by {why.scorer}, {place}{grounds}."


def _close(why: Why) -> str:
    if not why.total:
        return "No skill has a score."
    if why.rank == 1:
        if why.behind is None:
            return "No other skill has a score."
        return f"{_scored(why, why.behind)} comes next."
    if why.rank is None:
        best = _scored(why, why.best) if why.best is not None else "none"
        return f"Of {plural(why.total, 'skill')} with a score the best is {best}."
    others = [_scored(why, match) for match in why.leaders[: min(_NAMED, why.before)]]
    left = why.before - len(others)
    others += [f"{left:,} more"] if left > 0 else []
    return f"{_listed(others)} {'ranks' if why.before == 1 else 'rank'} higher."


def _floor(why: Why) -> str:
    selected = why.selection.selected
    others = [match for match in selected if match.skill is not why.match.skill]
    floor, outcome = f"the floor of {why.min_score:.3g}", _outcome(why, others)
    if why.blank and not selected:
        return f"{outcome[0].upper()}{outcome[1:]}."
    if why.left_out:
        return f"No score helps a skill that is left out; {outcome}."
    no_floor = why.min_score <= 0
    if why.chosen:
        how = f"{why.scorer} has no floor;" if no_floor else f"It reaches {floor}, and"
        also = f", as one of {len(selected):,} skills" if others else ""
        return f"{how} it is chosen{also}."
    if why.rank is None:
        return f"Without a rank it is not chosen; {outcome}."
    if why.match.score >= why.min_score:
        first = "the first" if why.top_k == 1 else f"the first {why.top_k:,}"
        how = f"{why.scorer} has no floor" if no_floor else f"It reaches {floor}"
        return f"{how}, but only {first} can be chosen: {_names(others)}."
    joint = ";" if others else ":"
    return f"It stays under the floor and is not chosen{joint} {outcome}."


def _outcome(why: Why, others: Sequence[Match]) -> str:
    """Return what is selected instead, and by which floor."""
    if others:
        names, are = _names(others), _be(others)
        if why.min_score <= 0:
            return f"{names} {are} chosen"
        reach = "reaches" if len(others) == 1 else "reach"
        return f"{names} {reach} the floor of {why.min_score:.3g} and {are} chosen"
    none = "no skill is chosen"
    if why.min_score > 0:
        none = f"no skill reaches the floor of {why.min_score:.3g}, so none is chosen"
    maybe = why.selection.maybe
    return f"{none}; perhaps {_names(maybe)} {_be(maybe)} meant" if maybe else none


def _be(matches: Sequence[Match]) -> str:
    return "is" if len(matches) == 1 else "are"


def _names(matches: Sequence[Match]) -> str:
    names = [_name(match) for match in matches[:_NAMED]]
    left = len(matches) - len(names)
    return _listed([*names, *([f"{left:,} more"] if left > 0 else [])])


def _listed(items: Sequence[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def _name(match: Match) -> str:
    return clean_line(match.skill.name)


def _scored(why: Why, match: Match) -> str:
    return f"{_name(match)} ({_score(why, match.score)})"


def _score(why: Why, score: float) -> str:
    return shown_score(score, why.min_score)
