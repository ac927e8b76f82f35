"""Analyses a request: weighted terms, query vector, names and phrases."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import log
from operator import itemgetter
from typing import NamedTuple

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.analyzer import Analyzer, stem
from skillyard.engine.analysis.exclusion import read_exclusions
from skillyard.engine.analysis.language import language_of, read_request
from skillyard.engine.index.facet_terms import AVOID, NAME_TERM, phrase_words
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.ranking.query import Mentions, Query
from skillyard.engine.skill import Skill

MAX_CHARACTERS = 20_000
"""Of a longer request only the start and the end are read; they state the task."""
MAX_TERMS = 100
"""Terms of a request that are used: the heaviest. A task prompt of two hundred words has about as
many (``training/README.md``)."""
LONG_QUERY_TERMS = 50
"""A request with more terms is long. Shorter ones contain few off-topic terms."""
TRANSLATED_WEIGHT = 0.6
"""Weight of a translated term relative to a written one."""
SIGNAL_WEIGHT = 0.5
"""Weight of a term that tells the kind of a log, relative to a written one."""
BACKGROUND = 1_000
"""Pseudo-count for document frequencies: the library plus this many typical public skills. It makes
rarity meaningful in small libraries."""
MAX_CACHED_TERMS = 20_000
"""Terms cached per library: about five megabytes."""
MAX_WORDS = 120
"""Names and phrases are looked up in this many words of a request."""
SKILL_COUNT = 4.0
"""How often the word "skill" counts in a request that works on a skill: it is what it is about."""
SKILL = "skill"
ENGLISH = "en"
"""The language of a request unless another one is detected."""
MOSTLY_LATIN = 0.5
"""Below this share of Latin letters only ASCII terms are looked up in the token table."""


_SMALL_TALK = """
again awesome back bad bye cancel continue cool correct day done excellent exit fine finish fix fun
funny good great hmm joke joking lol love morning next nice night no ok okay old perfect quit repeat
resume retry right sorry start stop test testing thank undo wait welcome work worked works wow wrong
yes
"""


@cache
def small_talk_terms() -> frozenset[str]:
    """Return the terms of small talk. A request of these alone asks for no skill."""
    return frozenset(STANDARD.terms(_SMALL_TALK))


_SIGNS_OF_MENTION = re.compile(
    r"skill|habilidad|compétence|competenz|vaardighe|技能|スキル|"
    r"\b(?:why|warum|wieso|weshalb|pourquoi|waarom|perché|por qu[eé])\b|为什么|なぜ",
    re.IGNORECASE,
)
"""What stands in every request that speaks of skills (:mod:`.mentions`)."""
_VERSION = re.compile(r"(?<![\w.-])v?(?:\d+(?:\.\d+)+|(?<=v)\d+)(?![\w-])", re.IGNORECASE)
"""A version or another decimal number. It is no word: few skills write the same one."""
_UNSTEMMED = Analyzer(*STANDARD.filters[:-1])


class Term(NamedTuple):
    """One term of a request with its statistics."""

    text: str
    weight: float
    """Query weight: (1 + log(frequency)) · rarity · emphasis."""
    rarity: float
    """Inverse document frequency over the library and public skills (natural logarithm)."""
    frequency: int
    """Number of skills of the library that contain it."""
    origin: str = ""
    """Where a term that is not a written word is from; empty for most."""
    emphasis: float = 1.0
    """Learned importance in requests (:meth:`TokenTable.term_statistics`)."""
    share: float = 0.0
    """Share of public skills that contain it, 0..1."""
    names: int = 0
    """Number of skills of the library with the term in their name."""
    avoided: int = 0
    """Number of skills of the library that exclude it."""

    def with_count(self, number: float) -> "Term":
        """Return the term with the weight for ``number`` occurrences, at least 1."""
        weight = (1.0 + log(number)) * self.rarity * self.emphasis
        return Term(self.text, weight, *self[2:])

    def as_translation(self) -> "Term":
        """Return the term with the weight of a translated term."""
        weight = self.weight * TRANSLATED_WEIGHT
        return self._replace(weight=weight, origin="from the word list of other languages")

    def as_signal(self) -> "Term":
        """Return the term with the weight of a signal in a log."""
        weight, rarity = self.weight * SIGNAL_WEIGHT, self.rarity * SIGNAL_WEIGHT
        return self._replace(weight=weight, rarity=rarity, origin="from a log or code")


class Vocabulary:
    """Cached term statistics of one library and its token table. Thread-safe."""

    __slots__ = ("_known", "searcher", "table")

    def __init__(self, searcher: SegmentSearcher, table: TokenTable) -> None:
        self.searcher = searcher
        self.table = table
        self._known: dict[str, Term] = {}

    def term(self, text: str) -> "Term":
        """Return the term with the weight for one occurrence."""
        term = self._known.get(text)
        if term is None:
            term = self._look_up(text)
            if len(self._known) < MAX_CACHED_TERMS:
                self._known[text] = term
        return term

    def _look_up(self, text: str) -> "Term":
        count = self.searcher.frequency(text)
        share, emphasis = self.table.term_statistics(text)
        size = self.searcher.size + BACKGROUND
        frequency = count + BACKGROUND * share
        rarity = log(1.0 + (size - frequency + 0.5) / (frequency + 0.5))
        names, avoided = (self.searcher.frequency(prefix + text) for prefix in (NAME_TERM, AVOID))
        return Term(text, rarity * emphasis, rarity, count, "", emphasis, share, names, avoided)


class AnalysedQuery(NamedTuple):
    """An analysed request."""

    terms: tuple[Term, ...]
    """The terms for BM25F, heaviest first."""
    vector_terms: tuple[tuple[str, float], ...]
    """The terms of the query vector with their frequencies."""
    vector: bytes
    """The query vector; empty when no term is in the token table."""
    named: frozenset[str]
    """Terms of probable names: capitals inside a sentence, acronyms, words with digits."""
    words: tuple[str, ...]
    """The words in which names and trigger phrases are looked up."""
    wanted: str
    """The text of the request without what it excludes."""
    excluded: frozenset[str] = frozenset()
    """The terms of what it excludes; empty for most requests."""
    not_excluded: frozenset[str] = frozenset()
    """The terms of the rest, where something is excluded."""
    excluded_names: frozenset[str] = frozenset()
    """Terms of probable names that it forbids ("anywhere but on Vercel"), and says nowhere else."""
    is_english: bool = True
    """False for another language of the word list. Its unmatched words are not evidence."""
    mentions: Mentions = Mentions()
    english: str = ""
    """:attr:`wanted`, put into English word by word where it is in another language; then what
    tells the kind of a log."""
    lines_aside: int = 0
    """Lines of logs and code that are not read as words."""
    not_read: tuple[str, ...] = ()
    """The excluded parts that are no evidence."""
    is_ambiguous: bool = False
    """True when a strict reading of what it excludes leaves less of it."""

    @property
    def is_long(self) -> bool:
        """True when the request has many terms, and a vector."""
        return len(self.terms) > LONG_QUERY_TERMS and bool(self.vector)

    @property
    def is_small_talk(self) -> bool:
        """True when all terms are small talk, or it only asks about skills."""
        return self.mentions.is_question or small_talk_terms().issuperset(
            [term.text for term in self.terms]
        )

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The terms as (text, weight), for the searcher."""
        return [(term.text, term.weight) for term in self.terms]


def analyse_query(
    query: Query,
    vocabulary: Vocabulary,
    asides_of: Callable[[str, str], Sequence[tuple[int, int, float]]] | None = None,
    *,
    is_strict: bool = False,
) -> AnalysedQuery:
    """Return the analysed query, with weights from the statistics of the library.

    ``asides_of`` returns what a model says of the pieces of a text in a language
    (:func:`read_exclusions`). ``is_strict`` also takes out what it only does without, where that
    has a clause of its own.
    """
    whole, signals, lines_aside = _both_ends(query.text), "", 0
    if "\n" in whole:
        from skillyard.engine.analysis.machine_text import set_aside  # few requests need it

        whole, signals, lines_aside = set_aside(whole)
    language = language_of(whole)
    asides = asides_of(whole, language) if asides_of and whole.strip() else ()
    text, strict, rest, without = read_exclusions(whole, language, asides)
    is_ambiguous = strict != text and not is_strict
    if is_strict:
        text = strict
    if without and small_talk_terms().issuperset(STANDARD.terms(text)):
        text = whole  # "don't hardcode secrets in the image": a condition is all that is said
    mentions = Mentions(text)
    if _SIGNS_OF_MENTION.search(text) is not None:
        from skillyard.engine.ranking.hybrid.mentions import read_mentions  # few requests need it

        mentions = read_mentions(text, language, vocabulary.searcher.frequency)
        text = mentions.text
    reading = read_request(text, language)
    unversioned = _VERSION.sub(_without_number, text)
    counts: dict[str, float] = {
        term: number
        for term, number in STANDARD.counts(unversioned).items()
        if term not in reading.silent
    }
    if mentions.is_work:
        counts[SKILL] = SKILL_COUNT
    known = vocabulary.term
    foreign_terms = {term: 1.0 for term in reading.english if term not in counts}
    signal_terms = {
        term: SIGNAL_WEIGHT
        for term in STANDARD.terms(signals)
        if term not in counts and term not in foreign_terms and known(term).frequency
    }
    terms = [
        known(term) if number == 1 else known(term).with_count(number)
        for term, number in counts.items()
    ]
    terms += [known(term).as_translation() for term in foreign_terms]
    terms += [known(term).as_signal() for term in signal_terms]
    terms = sorted([term for term in terms if term.weight > 0], key=itemgetter(0))
    terms.sort(key=itemgetter(1), reverse=True)  # heaviest first; ties by text
    terms = terms[:MAX_TERMS]
    own_counts = counts if reading.latin >= MOSTLY_LATIN else _ascii_terms(counts)
    vector_terms = tuple({**own_counts, **foreign_terms, **signal_terms}.items())
    vector = vocabulary.table.vector([(1.0, vector_terms)], query=True) if vector_terms else b""
    words = phrase_words(text)[:MAX_WORDS]
    return AnalysedQuery(
        tuple(terms),
        vector_terms,
        vector,
        _name_terms(unversioned),
        words,
        query.text if text == whole and not lines_aside else text,
        _all_terms(without, language),
        _all_terms(rest, language) if without else frozenset(),
        _name_terms(whole) - frozenset(STANDARD.terms(text)) if without else frozenset(),
        reading.language == ENGLISH,
        mentions,
        f"{'agent skill: ' if mentions.is_work else ''}{reading.rough} {signals}".strip(),
        lines_aside,
        tuple(part.strip() for part in without.splitlines() if part not in text),
        is_ambiguous,
    )


def _without_number(version: re.Match[str]) -> str:
    return "version" if version[0][0] in "vV" else " "


def _all_terms(text: str, language: str) -> frozenset[str]:
    if not text:
        return frozenset()
    return frozenset((*STANDARD.terms(text), *read_request(text, language).english))


@lru_cache(maxsize=64)
def written_forms(text: str) -> dict[str, str]:
    """Return the written form of each stemmed term in lower case: ``image`` for ``imag``."""
    forms: dict[str, str] = {}
    for word in _UNSTEMMED.terms(_both_ends(text)):
        for term in stem([word]):
            forms.setdefault(term, word)
    return forms


def forms_in(analysed: AnalysedQuery, skill: Skill) -> dict[str, str]:
    """Return the written forms of a request's terms; translated ones as in the skill."""
    text = f"{skill.name}\n{skill.description}\n{skill.body or ''}"
    return {**written_forms(text), **written_forms(analysed.wanted)}


def _both_ends(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def _ascii_terms(counts: dict[str, float]) -> dict[str, float]:
    return {term: number for term, number in counts.items() if term.isascii()}


_TRIM = ".,;:!?()[]{}\"'`*<>«»“”‘’"


def _name_terms(text: str) -> frozenset[str]:
    """Return the terms of probable names.

    A name has a capital that does not start a sentence, inner capitals, or letters and digits; or
    it is an acronym. A request written mostly in capitals has no names.
    """
    terms: set[str] = set()
    start = True
    words = text.split()
    upper_words = 0 if text.islower() else sum([word.isupper() and len(word) > 1 for word in words])
    mostly_upper = upper_words * 2 > len(words)
    for word in words:
        if word.islower() and word.isalpha():  # most words are neither names nor end a sentence
            start = False
            continue
        bare = word.strip(_TRIM)
        if bare and not mostly_upper and _looks_like_a_name(bare, start):
            terms.update(STANDARD.of_surface(bare))
        start = word.endswith((".", "!", "?", ":")) or not bare
    return frozenset(terms)


def _looks_like_a_name(word: str, start: bool) -> bool:
    if "/" in word or "@" in word or len(word) > 30 or not any(map(str.isalpha, word)):
        return False
    if any(map(str.isdigit, word)) and word[0].isalpha():
        return True
    if word.isupper():
        return len(word) > 1
    inner = any(map(str.isupper, word[1:]))
    return inner or (word[0].isupper() and not start)
