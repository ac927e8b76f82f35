"""The explanation tree of a ``hybrid`` score, down to terms, fields, neighbours and rules."""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.sums import stable_sum
from skillyard.base.text import name_few, plural
from skillyard.engine.analysis.phrases import phrase_keys, phrases_of
from skillyard.engine.embedding.protocol import EmbedderOrder, order_of
from skillyard.engine.index.document_builder import FieldCounts, count_fields, field_shares
from skillyard.engine.ranking.hybrid.calibration import (
    log_odds_parts,
    log_odds_slope,
    one_word_adjustment,
)
from skillyard.engine.ranking.hybrid.constants import FEEDBACK_LOG_ODDS
from skillyard.engine.ranking.hybrid.fusion import (
    SUBJECT,
    UNIT_DOT,
    Evidence,
    Points,
    RocchioFeedback,
)
from skillyard.engine.ranking.hybrid.query_analysis import Term, forms_in, written_forms
from skillyard.engine.ranking.scorer import Explanation
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillyard.engine.embedding.protocol import Embedder
    from skillyard.engine.index.library import Library
    from skillyard.engine.ranking.hybrid.constants import (
        Calibration,
        Features,
        Fusion,
        QueryFeatures,
    )
    from skillyard.engine.ranking.hybrid.fusion import CandidateSet
    from skillyard.engine.ranking.hybrid.query_analysis import AnalysedQuery

_LABELS = {
    "length": "request length",
    "short": "short request",
    "long": "long request",
    "foreign": "not in English",
    "size": "library size",
    "both": "request length and library size",
    "plain": "matched words",
    "rest": "matched words except the best",
    "passage": "best passage",
    "passage_share": "matched share of a passage",
    "beyond": "BM25F above chance",
    "lead": "BM25F above the next skill",
    "meaning": "cosine",
    "ahead": "cosine above the next skill",
    "unmatched_cosine": "cosine of unmatched words",
    "own_name": "words of its name",
    "in_names": "words that are common in names",
    "named_missing": "unmatched names",
    "out_of_vocabulary": "rarest unmatched word",
    "emphasis": "emphasis of the words",
}
"""What a feature is called, for people."""
_PROBABILITY = "the probability that it fits: 1 / (1 + exp(-log-odds))"
_BODY_FIELDS = ("headings", "prose", "code")


class ExplainedQuery(NamedTuple):
    """What was computed for one request, of all skills and of the best one."""

    library: Library
    calibration: Calibration
    fusion: Fusion
    own_embedder: Embedder | None
    embedder: str
    """What the embedder is called; empty without one."""
    analysed: AnalysedQuery
    candidates: CandidateSet
    totals: Mapping[int, float]
    """The points of each candidate by ordinal."""
    best: int | None
    """The ordinal of the best one."""
    features: Features | None
    query_features: QueryFeatures
    adjust_log_odds: Callable[[float], float]
    is_plain_name: bool
    best_feedback: float
    log_odds: float


class Side(NamedTuple):
    """One skill of the library, as the query sees it."""

    skill: Skill
    ordinal: int
    evidence: Evidence
    own: Points


def what_decided(outcome: ExplainedQuery, ahead: Side, other: Side) -> str:
    """Return the evidence that puts the first skill ahead most: ``by one word of its name``."""
    leads = {
        label: first - second
        for label, first, second in zip(Points._fields, ahead.own, other.own, strict=True)
        if label not in ("coverage", "order")
    }
    again = outcome.candidates.order or outcome.candidates.coverage
    if ahead.ordinal in again and other.ordinal in again:
        first, second = (_second_points(outcome, each.evidence) for each in (ahead, other))
        for label, points in first.items():
            leads[label] = leads.get(label, 0.0) + points - second[label]
    decisive = max(leads, key=leads.__getitem__)
    if decisive == "words":
        return _lead_in_words(outcome, ahead, other)
    mine, theirs = ahead.evidence, other.evidence
    phrase = mine.quoted.words or next(iter(mine.phrases), "")
    return {
        "meaning": "as its meaning is nearer to the request"
        f" (cosine {mine.meaning:.2f} against {theirs.meaning:.2f})",
        "called": "as the request calls it by name",
        "phrase": f'by its phrase "{phrase}", which is in the request',
        "files": "by a file of the request that its pattern matches",
        "prior": "by its installs and curation",
        "avoid": f"as {other.skill.name} says that it is not for {theirs.avoid:.0%} of the request",
        "feedback": f"by feedback: {_feedback_note(mine if mine.feedback > 0 else theirs)}",
        "embedder": "as its meaning is nearer to the request",
        "length": f"as the body of {other.skill.name} is longer",
        "forbidden": _forbidden_note(theirs),
    }[decisive]


def _second_points(outcome: ExplainedQuery, evidence: Evidence) -> dict[str, float]:
    """Return the points of the second look at the best skills, by the kind of evidence."""
    cover, order, fusion = evidence.cover, evidence.order, outcome.fusion
    if outcome.candidates.coverage:
        return {
            "words": fusion.coverage * cover.share,
            "meaning": fusion.nearness * cover.cosine,
            "length": -fusion.length * cover.length,
        }
    embedder = outcome.own_embedder if outcome.candidates.embedder_cosines else None
    weights = None if embedder is None else order_of(embedder)
    by = weights or EmbedderOrder(fusion.share, fusion.names, fusion.cosine)
    return {
        "words": by.share * order.share - by.names * order.names,
        "embedder" if weights else "meaning": by.cosine * order.cosine,
    }


def _lead_in_words(outcome: ExplainedQuery, ahead: Side, other: Side) -> str:
    """Return the part of the skill whose words lead most, and these words."""
    terms, library, sides = outcome.analysed.terms, outcome.library, (ahead, other)
    texts = [term.text for term in terms]
    impacts = [library.searcher.impacts(side.ordinal, texts) for side in sides]
    skills = [library.full_skill(side.ordinal) for side in sides]
    counts, text = [count_fields(skill) for skill in skills], _text(skills[1])
    spelled = forms_in(outcome.analysed, skills[0])
    leads: dict[str, float] = {}
    words: dict[str, list[str]] = {}
    exclusive: dict[str, list[str]] = {}
    for term, mine, theirs in zip(terms, *impacts, strict=True):
        if mine > theirs:
            own, less = _by_field(counts[0], term, mine), _by_field(counts[1], term, theirs)
            part = max(own, key=lambda part: own[part] - less.get(part, 0.0))
            leads[part] = leads.get(part, 0.0) + term.weight * (mine - theirs)
            word = spelled.get(term.text, term.text)
            words.setdefault(part, []).append(f'"{word}"')
            if not theirs and word not in text:
                exclusive.setdefault(part, []).append(f'"{word}"')
    if not leads:
        return "by its words"
    part = max(leads, key=leads.__getitem__)
    which = f" that {other.skill.name} lacks" if part in exclusive else ""
    named = exclusive.get(part, words[part])
    return f"by {plural(len(named), 'word')} of its {part}{which}: {name_few(named)}"


def _by_field(counts: FieldCounts, term: Term, impact: float) -> dict[str, float]:
    """Return a term's impact by field; headings, prose and code are the body."""
    parts: dict[str, float] = {}
    for field, share in field_shares(counts, term.text).items():
        part = "body" if field in _BODY_FIELDS else field
        parts[part] = parts.get(part, 0.0) + impact * share
    return parts


def _text(skill: Skill) -> str:
    """Return all words of a skill: those that it is not for, say, have no impact."""
    return f"{skill.name} {skill.description} {skill.body}".casefold()


def what_lacks(outcome: ExplainedQuery, side: Side, request: str) -> str:
    """Return the words of the request that a skill lacks, and its phrases that are not in it."""
    if side.ordinal < 0:
        return ""
    terms, spelled = outcome.analysed.terms, written_forms(outcome.analysed.wanted)
    impacts = outcome.library.searcher.impacts(side.ordinal, [term.text for term in terms])
    text = _text(outcome.library.full_skill(side.ordinal))
    unmatched = [
        (-term.weight, spelled[term.text])
        for term, impact in zip(terms, impacts, strict=True)
        if not impact and term.text in spelled and spelled[term.text] not in text
    ]
    words = [f'"{word}"' for _, word in sorted(unmatched)]
    lacks = [f"it lacks {name_few(words)}"] if words else []
    phrases = [
        f'"{each.strip()}"' for each in phrases_of(side.skill.description) if phrase_keys(each)
    ]
    absent = not any(each[1:-1].casefold() in request.casefold() for each in phrases)
    if phrases and absent and not side.own.phrase:
        noun, are = ("phrase", "is") if len(phrases) == 1 else ("phrases", "are")
        lacks.append(f"its {noun} {name_few(phrases)} {are} not in the request")
    return ", and ".join(lacks)


def explain(outcome: ExplainedQuery, side: Side, score: float) -> Explanation:
    """Return the tree: probability, points by kind of evidence, terms and fields."""
    skill, ordinal, evidence, own = side
    if ordinal < 0:
        return Explanation("hybrid", 0.0, (), "leaf", "the index does not hold this skill")
    parts = [
        _words(outcome, skill, ordinal, evidence, own.words),
        _meaning(outcome, ordinal, evidence, own.meaning),
        Explanation("called", own.called, (), "leaf", "called by its name" if own.called else ""),
        Explanation("phrase", own.phrase, (), "leaf", _phrase_note(evidence)),
        Explanation("files", own.files, (), "leaf", "a file pattern matches" if own.files else ""),
        Explanation("prior", own.prior, (), "leaf", "installs, curated" if own.prior else ""),
        Explanation("avoid", own.avoid, (), "leaf", _avoid_note(evidence)),
        Explanation("feedback", own.feedback, (), "leaf", _feedback_note(evidence)),
        Explanation("embedder", own.embedder, (), "leaf", _embedder_note(outcome, evidence)),
        Explanation("coverage", own.coverage, (), "leaf", _coverage_note(evidence)),
        Explanation("order", own.order, (), "leaf", _order_note(evidence)),
        Explanation("forbidden", own.forbidden, (), "leaf", _forbidden_note(evidence)),
    ]
    nonzero = tuple(part for part in parts if part.value or part.label in ("words", "meaning"))
    raw = Explanation("points", own.total, nonzero, "sum", _place(outcome, own))
    odds = _odds(outcome, own)
    return Explanation("hybrid", score, (raw, odds), "calibration", _PROBABILITY)


def _place(outcome: ExplainedQuery, own: Points) -> str:
    if outcome.best is None:
        return "no skill has any"
    best = outcome.totals[outcome.best]
    behind = best - own.total
    return "the most of all skills" if behind <= 0 else f"{behind:.4g} behind the best"


def _odds(outcome: ExplainedQuery, own: Points) -> Explanation:
    """Return the log-odds by feature, and the loss for the distance to the best skill."""
    calibration = outcome.calibration
    if outcome.features is None or outcome.best is None:
        return Explanation("log-odds", 0.0, (), "leaf", "nothing speaks for any skill")
    values = {**outcome.query_features._asdict(), **outcome.features._asdict()}
    parts = [
        Explanation(_LABELS.get(name, name), adds, (), "leaf", _by(adds, values.get(name, 0.0)))
        for name, adds in log_odds_parts(outcome.features, outcome.query_features, calibration)
    ]
    before = stable_sum([part.value for part in parts])
    before += one_word_adjustment(
        outcome.features, calibration, is_plain_name=outcome.is_plain_name
    )
    changes = outcome.adjust_log_odds(before) - before
    if changes:
        note = "what the embedder's cosines change"
        parts.append(Explanation("embedder", changes, (), "leaf", note))
    feedback = outcome.best_feedback
    if feedback:
        note = f"weight {FEEDBACK_LOG_ODDS:.4g} × value {feedback:.4g}, of the best skill"
        parts.append(Explanation("feedback", FEEDBACK_LOG_ODDS * feedback, (), "leaf", note))
    best = stable_sum([part.value for part in parts])
    rule = outcome.log_odds - best
    if rule:
        note = "what a rule says: called, phrase, file, one word, what it is not for, or mere talk"
        parts.append(Explanation("rule", rule, (), "leaf", note))
    behind = max(0.0, outcome.totals[outcome.best] - own.total)
    costs = log_odds_slope(outcome.log_odds, calibration)
    if behind:
        note = f"weight {-costs:.4g} × {behind:.4g} points"
        parts.append(Explanation("gap to the best", -costs * behind, (), "leaf", note))
    nonzero = tuple(part for part in parts if part.value)
    total = outcome.log_odds - costs * behind
    note = "those of the best skill, minus the gap to it"
    return Explanation("log-odds", total, nonzero, "sum", note)


def _by(adds: float, value: float) -> str:
    """Return a feature as weight times value; empty for the bias."""
    return f"weight {adds / value:.4g} × value {value:.4g}" if value else ""


def _embedder_note(outcome: ExplainedQuery, evidence: Evidence) -> str:
    return outcome.embedder and f"cosine {evidence.embedded:.4g} by {outcome.embedder}"


def _phrase_note(evidence: Evidence) -> str:
    words, share = evidence.quoted
    quoted = (f'"{words}" is a phrase of its description, {share:.0%} of the request',)
    return ", ".join((*evidence.phrases, *(quoted if words else ())))


def _avoid_note(evidence: Evidence) -> str:
    share = evidence.avoid
    return f"{share:.0%} of the request stands in what it is not for" if share else ""


def _forbidden_note(evidence: Evidence) -> str:
    if evidence.forbidden == SUBJECT:
        return "the request speaks about it and does not ask for what it does"
    return "the request excludes it by name"


def _feedback_note(evidence: Evidence) -> str:
    word = "right" if evidence.feedback > 0 else "wrong"
    return f"you said it is {word} for a similar request" if evidence.feedback else ""


def _coverage_note(evidence: Evidence) -> str:
    cover = evidence.cover
    longer = f", in a body {exp(cover.length):.2g} times as long as a short one"
    covers = f"covers {cover.share:.0%} of the request"
    return f"{covers}{longer if cover.length else ''}, cosine {cover.cosine:.4g}"


def _order_note(evidence: Evidence) -> str:
    order = evidence.order
    names = f", lacks names of {order.names:.0%}" if order.names else ""
    return f"has {order.share:.0%} of the request{names}, cosine {order.cosine:.4g}"


def _words(
    outcome: ExplainedQuery,
    skill: Skill,
    ordinal: int,
    evidence: Evidence,
    value: float,
) -> Explanation:
    best, least = outcome.candidates.word_range
    note = f"BM25F {evidence.words:.4g}, min-max scaled over {least:.4g} to {best:.4g}"
    aside = outcome.analysed.lines_aside
    aside_note = f"; {aside} lines of a log or code are no words" if aside else ""
    aside_note += "".join(f'; not read: "{part}"' for part in outcome.analysed.not_read)
    if not value:
        note = note if evidence.words else "no word matches"
        return Explanation("words", 0.0, (), "leaf", note + aside_note)
    scale = value / (evidence.words - least)
    analysed = count_fields(
        skill if skill.body is not None else outcome.library.full_skill(ordinal)
    )
    terms, spelled = outcome.analysed.terms, forms_in(outcome.analysed, skill)
    impacts = outcome.library.searcher.impacts(ordinal, [term.text for term in terms])
    parts = [
        _term(term, spelled, term.weight * impact * scale, impact, analysed)
        for term, impact in zip(terms, impacts, strict=True)
        if impact
    ]
    parts.sort(key=lambda part: (-part.value, part.label))
    if least:
        parts.append(
            Explanation("least that counts", -least * scale, (), "leaf", "the hundredth best score")
        )
    return Explanation("words", value, tuple(parts), "sum", note + aside_note)


def _term(
    term: Term, spelled: Mapping[str, str], value: float, impact: float, analysed: FieldCounts
) -> Explanation:
    fields = tuple(
        Explanation(field, value * share, (), "leaf")
        for field, share in field_shares(analysed, term.text).items()
    )
    origin = f", {term.origin}" if term.origin else ""
    known = plural(term.frequency, "skill")
    note = f"in {known}, weight {term.weight:.3g}, impact {impact:.3g}{origin}"
    return Explanation(spelled.get(term.text, term.text), value, fields, "sum", note)


def _meaning(
    outcome: ExplainedQuery, ordinal: int, evidence: Evidence, value: float
) -> Explanation:
    best, least = outcome.candidates.cosine_range
    note = f"cosine {evidence.meaning:.3f}, min-max scaled over {least:.3f} to {best:.3f}"
    feedback = outcome.candidates.feedback
    if feedback is not None:
        note += f"; with the request and with its {len(feedback.best)} best skills"
    if not outcome.analysed.vector:
        note = "no word of the request is in the token table"
    if not value:
        return Explanation("meaning", 0.0, (), "leaf", note)
    scale = value / (evidence.meaning - least)
    own = scale if feedback is None else scale * feedback.own
    parts = [
        Explanation(f"near {text}", own * adds, (), "leaf", f"cosine {near:.3f}")
        for text, near, adds in _nearness(outcome, ordinal)
    ]
    parts += [
        Explanation(
            f"near the skill {name}", scale * share * near, (), "leaf", f"cosine {near:.3f}"
        )
        for name, near, share in _neighbours(feedback, outcome, ordinal)
    ]
    parts.sort(key=lambda part: (-part.value, part.label))
    if least:
        note_least = "the hundredth best cosine"
        parts.append(Explanation("least that counts", -least * scale, (), "leaf", note_least))
    rest = value - stable_sum([part.value for part in parts])
    parts.append(Explanation("rounding", rest, (), "leaf", "vectors are kept in whole numbers"))
    return Explanation("meaning", value, tuple(parts), "sum", note)


def _neighbours(
    feedback: RocchioFeedback | None, outcome: ExplainedQuery, ordinal: int
) -> list[tuple[str, float, float]]:
    """Return (name, cosine, weight) of each skill used for feedback."""
    if feedback is None:
        return []
    library = outcome.library
    candidates = []
    for best, share in feedback.best:
        dot = library.searcher.dots(library.searcher.vector(best), [ordinal])[0]
        candidates.append((library.skill(best).name, dot / UNIT_DOT, share))
    return candidates


def _nearness(outcome: ExplainedQuery, ordinal: int) -> list[tuple[str, float, float]]:
    """Return (term, cosine, contribution to the query's cosine) for each term of the vector.

    The query vector is the sum of its terms' rows, so its cosine is the sum of their cosines, each
    weighted by its length in that sum.
    """
    table, searcher = outcome.library.table, outcome.library.searcher
    spelled = forms_in(outcome.analysed, outcome.library.skill(ordinal))
    whole = table.sums(outcome.analysed.vector_terms, query=True)
    length = _length(whole)
    candidates = []
    for term, number in outcome.analysed.vector_terms:
        vector = table.vector([(1.0, [(term, number)])], query=True)
        if vector and length:
            near = searcher.dots(vector, [ordinal])[0] / UNIT_DOT
            own = _length(table.sums([(term, number)], query=True))
            candidates.append((spelled.get(term, term), near, near * own / length))
    return candidates


def _length(sums: list[int] | None) -> float:
    return sqrt(sum([value * value for value in sums or ()]))
