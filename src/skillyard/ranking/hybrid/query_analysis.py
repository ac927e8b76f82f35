"""What a request asks for: its terms with their weights, its direction, the things it names."""

from __future__ import annotations

from functools import cache
from math import log
from operator import itemgetter
from typing import NamedTuple

from skillyard.analysis import STANDARD
from skillyard.analysis.analyzer import Analyzer
from skillyard.analysis.lexicon import read_request
from skillyard.analysis.stemmer import stem
from skillyard.index.facet_terms import AVOID, NAME_TERM, phrase_words
from skillyard.index.searcher import Searcher
from skillyard.index.token_table import TokenTable
from skillyard.ranking.query import Query

__all__ = ["AnalysedQuery", "Term", "Vocabulary", "analyse_query", "written_forms"]

MAX_CHARACTERS = 20_000
"""Of a longer request the two ends are read: what is wanted stands at its start or its end."""
MAX_TERMS = 100
"""Terms of a request that count: the weightiest. A task prompt of two hundred words has about that
many, and those that are usual tell what kind of work it is (``training/README.md``)."""
TRANSLATED_WEIGHT = 0.6
"""What a term from the word list counts, beside one that was written."""
BACKGROUND = 1_000
"""Public skills that stand behind the library's own, so that rarity means something in a small
library too: document frequencies are those of the library plus this many typical skills."""
MAX_CACHED_TERMS = 20_000
"""Terms of which a library remembers what it says of them, some five megabytes."""
MAX_WORDS = 120
"""Words of a request in which names and phrases are looked up."""
ENGLISH = "en"
"""What a request is in when nothing tells otherwise."""
MOSTLY_LATIN = 0.5
"""Below this share of Latin letters the text's own words say nothing to an English table."""


_SMALL_TALK = """
again awesome back bad bye cancel continue cool correct day done excellent exit fine finish fix fun
funny good great hmm joke joking lol love morning next nice night no ok okay old perfect quit repeat
resume retry right sorry start stop test testing thank undo wait welcome work worked works wow wrong
yes
"""


@cache
def small_talk_terms() -> frozenset[str]:
    """Return the words that a conversation is kept going with: alone they ask for no skill."""
    return frozenset(STANDARD.terms(_SMALL_TALK))


_UNSTEMMED = Analyzer(STANDARD.tokenizer, STANDARD.filters[:-1])


class Term(NamedTuple):
    """One term of a request, and what the library and public skills say of it."""

    text: str
    weight: float
    """What a full impact of it is worth: frequency · rarity · emphasis."""
    rarity: float
    """How rare it is in the library and in public skills, a natural logarithm."""
    frequency: int
    """Skills of the library that hold it."""
    written: bool = True
    """False when it came from the word list of other languages."""
    emphasis: float = 1.0
    """How much it says in requests, whatever its rarity (:meth:`Table.term_statistics`)."""
    share: float = 0.0
    """Share of public skills that hold it, 0..1."""
    names: int = 0
    """Skills of the library whose name holds it."""
    avoided: int = 0
    """Skills of the library that say they are not for it."""

    def counted(self, number: float) -> Term:
        """Return the same term where it stands ``number`` times, 1 at least."""
        weight = (1.0 + log(number)) * self.rarity * self.emphasis
        return Term(self.text, weight, *self[2:])

    def translated(self) -> Term:
        """Return the same term as one that the word list gave."""
        return self._replace(weight=self.weight * TRANSLATED_WEIGHT, written=False)


class Vocabulary:
    """What one library and its table say of terms: looked up once. Safe to share by threads."""

    __slots__ = ("_known", "searcher", "table")

    def __init__(self, searcher: Searcher, table: TokenTable) -> None:
        self.searcher = searcher
        self.table = table
        self._known: dict[str, Term] = {}

    def term(self, text: str) -> Term:
        """Return a term that stands once."""
        term = self._known.get(text)
        if term is None:
            term = self._look_up(text)
            if len(self._known) < MAX_CACHED_TERMS:
                self._known[text] = term
        return term

    def _look_up(self, text: str) -> Term:
        held = self.searcher.frequency(text)
        share, emphasis = self.table.term_statistics(text)
        size = self.searcher.size + BACKGROUND
        frequency = held + BACKGROUND * share
        rarity = log(1.0 + (size - frequency + 0.5) / (frequency + 0.5))
        names, avoided = (self.searcher.frequency(mark + text) for mark in (NAME_TERM, AVOID))
        return Term(text, rarity * emphasis, rarity, held, True, emphasis, share, names, avoided)


class AnalysedQuery(NamedTuple):
    """A request as the index is asked it."""

    terms: tuple[Term, ...]
    """Those that count, weightiest first."""
    vector_terms: tuple[tuple[str, float], ...]
    """The terms that give it a direction, with how often they stand."""
    vector: bytes
    """Its direction; empty where the table knows no word of it."""
    named: frozenset[str]
    """Terms of what looks like a name: capitals inside a sentence, acronyms, words with digits."""
    words: tuple[str, ...]
    """Its words, in which names and trigger phrases are looked up."""
    is_english: bool = True
    """False when it is in a language that the word list covers: then words that no skill holds say
    nothing about what it asks for."""

    @property
    def is_small_talk(self) -> bool:
        """True when it holds nothing but words that a conversation is kept going with."""
        return small_talk_terms().issuperset([term.text for term in self.terms])

    @property
    def weights(self) -> list[tuple[str, float]]:
        """The terms as the searcher takes them."""
        return [(term.text, term.weight) for term in self.terms]


def analyse_query(query: Query, vocabulary: Vocabulary) -> AnalysedQuery:
    """Return what the query asks of the library."""
    text = _both_ends(query.text)
    reading = read_request(text)
    counts: dict[str, float] = {
        term: number for term, number in STANDARD.counts(text).items() if term not in reading.silent
    }
    foreign_terms = {term: 1.0 for term in reading.english if term not in counts}
    known = vocabulary.term
    terms = [
        known(term) if number == 1 else known(term).counted(number)
        for term, number in counts.items()
    ]
    terms += [known(term).translated() for term in foreign_terms]
    terms = sorted([term for term in terms if term.weight > 0], key=itemgetter(0))
    terms.sort(key=itemgetter(1), reverse=True)  # weightiest first, equal ones by their text
    terms = terms[:MAX_TERMS]
    spoken = counts if reading.latin >= MOSTLY_LATIN else _ascii_terms(counts)
    vector_terms = tuple({**spoken, **foreign_terms}.items())
    vector = vocabulary.table.vector([(1.0, vector_terms)], query=True) if vector_terms else b""
    words = phrase_words(text)[:MAX_WORDS]
    return AnalysedQuery(
        tuple(terms), vector_terms, vector, _name_terms(text), words, reading.language == ENGLISH
    )


def written_forms(text: str) -> dict[str, str]:
    """Return the terms of a request as it spells them, in small letters: ``imag`` as ``image``."""
    forms: dict[str, str] = {}
    for word in _UNSTEMMED.terms(_both_ends(text)):
        for term in stem([word]):
            forms.setdefault(term, word)
    return forms


def _both_ends(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    half = MAX_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def _ascii_terms(counts: dict[str, float]) -> dict[str, float]:
    return {term: number for term, number in counts.items() if term.isascii()}


_TRIM = ".,;:!?()[]{}\"'`*<>«»“”‘’"


def _name_terms(text: str) -> frozenset[str]:
    """Return the terms of what looks like the name of a thing.

    A capital counts when it does not start a sentence; so do acronyms, inner capitals, and words
    that mix letters and digits. In a request written in capitals throughout nothing is a name.
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
