"""Detects the language of a request by its script and function words, and translates it.

Only the languages of the word list are distinguished. Any other text counts as
English.

The word list translates requests in other languages to English search terms. Each line is a
language: its code, then its forms of each concept, in the order of the first line, which has the
English words. So only one line is read closely, and the file packs well. A form that ends in ``*``
is a prefix. The forms of languages without blanks match anywhere. The list belongs to the project
(``training/data/lexicon``), and is loaded for the first request that is not English.
"""

import os
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from skillyard.engine.analysis.analyzer import ENGLISH, STANDARD, fold, latin_share

# Words that carry grammar and no topic, as they are written in requests, without accents folded.
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "de": """ich du er sie es wir ihr mein meine meinen meiner dein unser unsere der die das den
            dem des ein eine einen einem einer und oder aber nicht kein keine mit ohne für von vom
            zu zum zur im in ins auf aus bei nach über unter durch wenn dass ob wie was wer wo warum
            ist sind war wird werden kann können soll sollte muss möchte will habe hat haben bitte
            mir mich dir uns sich auch nur noch schon sehr mehr alle als an am bis gibt""",
        "fr": """je tu il elle on nous vous ils mon ma mes ton ta son sa ses notre nos votre vos le
            la les l un une des du de d et ou mais ne pas plus avec sans pour par sur sous dans en
            au aux chez que qu qui quoi quel quelle quelles est sont suis être ai as avons avez ont
            faut peux peut veux voudrais comment pourquoi si ce cet cette ces c se s me m y à
            tout tous toute toutes très aussi fait faire""",
        "es": """yo tu él ella nosotros mi mis su sus nuestro nuestra el la los las lo un una unos
            unas y o pero no con sin para por de del al en entre sobre desde hasta que qué quien
            cómo como cuando cuándo dónde es son está están ser hay he ha han tengo tiene quiero
            necesito puedo puede me te se nos le les esto este esta estos estas más muy también si
            sí cada todo toda todos todas""",
        "pt": """eu ele ela nós você vocês meu minha meus minhas seu sua seus suas nosso nossa o a
            os as um uma uns umas e ou mas não com sem para por pelo pela de do da dos das no na nos
            nas em ao aos entre sobre que quem como quando onde é são está estão ser há tenho tem
            quero preciso posso pode me te se lhe isto isso este esta esse essa mais muito também
            cada todo toda todos todas""",
        "it": """io tu lui lei noi voi mio mia miei mie tuo suo sua nostro nostra il lo la i gli le
            l un uno una e ed o ma non con senza per di del dello della dei degli delle da dal dalla
            in nel nella nei su sul sulla tra fra che chi cosa come quando dove è sono sei siamo ho
            ha hanno devo vorrei voglio posso può mi ti si ci vi questo questa questi queste più
            molto anche ogni tutto tutti""",
        "nl": """ik jij je hij zij ze wij we jullie mijn jouw zijn haar ons onze de het een en of
            maar niet geen met zonder voor van naar op in uit bij over onder door als dat die dit
            deze wat wie waar hoe waarom is ben was wordt worden kan kunnen moet wil heb heeft
            hebben graag mij me jou zich ook nog al heel meer alle aan om te er""",
        "pl": """ja ty on ona my wy mój moja moje moich mojej swój nasz nasza i oraz lub ale nie z
            ze bez dla do od na w we po pod nad przez przy o u że który która które co kto jak kiedy
            gdzie dlaczego jest są był być mam ma mają chcę chciałbym muszę mogę może mi mnie się
            ten ta to te tych tego tym czy też tylko już bardzo każdy wszystkie""",
        "cs": """já ty on ona my vy můj moje naše náš a nebo ale ne s se bez pro do od na v ve po
            pod nad přes při o u že který která které co kdo jak kdy kde proč je jsou byl být mám má
            mají chci potřebuji musím mohu může mi mě si ten ta to ty těch toho tím zda také jen už
            velmi každý všechny z ze""",
        "sv": """jag du han hon vi ni min mitt mina din vår våra den det de en ett och eller men
            inte med utan för från av till på i ur vid över under genom om att som vad vem var hur
            när varför är var blir kan ska skulle måste vill har hade mig dig sig oss också bara
            redan mycket mer alla den här""",
        "tr": """ben sen o biz siz benim senin bizim bir ve veya ama değil ile için gibi kadar
            göre bu şu ne kim nasıl neden nerede mi mı mu mü var yok istiyorum lazım gerek olan
            olarak daha çok her tüm bütün beni bana bize de da ki şey""",
        "id": """saya aku kamu anda dia kami kita mereka dan atau tapi tetapi tidak bukan dengan
            tanpa untuk dari ke di pada dalam oleh yang apa siapa bagaimana kapan mana mengapa
            adalah ini itu bisa dapat harus mau ingin perlu ada akan sudah belum juga lebih sangat
            semua setiap agar supaya saat jika""",
        "vi": """tôi bạn anh chị nó chúng ta mình và hoặc nhưng không với cho của từ đến ở trong
            trên dưới bởi là gì ai như thế nào khi đâu sao có được phải muốn cần đã đang sẽ cũng
            rất hơn mọi các những này đó để nếu thì một cái""",
    }.items()
}

MIN_FUNCTION_WORDS = 2
"""Function words of a language that a text must contain; one may be a coincidence."""

MOSTLY_LATIN = 0.85
"""From this share of Latin letters the script does not decide the language."""

_WORD = r"[^\W\d_]+"

_SCRIPTS = (
    ("ja", "[\u3040-\u30ff\uff66-\uff9f]"),
    ("ko", "[\uac00-\ud7a3\u1100-\u11ff]"),
    ("zh", "[\u3400-\u9fff\U00020000-\U0002ffff]"),
    ("uk", "[іїєґІЇЄҐ]"),
    ("ru", "[\u0400-\u04ff]"),
    ("ar", "[\u0600-\u06ff]"),
    ("hi", "[\u0900-\u097f]"),
)


@cache
def cue_patterns(table: str, *languages: str) -> dict[str, list[str]]:
    """Return the patterns of a table of cues for some languages, by kind."""
    rows: dict[str, list[str]] = {}
    with open(
        os.path.join(os.path.dirname(__file__), "data", f"{table}.tsv"), encoding="utf-8"
    ) as file:
        for row in file:
            if not row.startswith("#"):
                code, kind, pattern = row.rstrip("\n").split("\t")
                if code in languages:
                    rows.setdefault(kind, []).append(pattern)
    return rows


def language_of(text: str, latin: float | None = None) -> str:
    """Return the ISO 639-1 code of the language of ``text``; ``en`` by default.

    The script decides when more than 15 % of the letters are not Latin. Among languages in Latin
    letters, the one with the most function words wins if it has more than English; ties go to the
    first code. ``latin`` is the share of Latin letters, if it is already known.
    """
    if (latin_share(text) if latin is None else latin) < MOSTLY_LATIN:
        for code, script in _SCRIPTS:
            if re.search(script, text):
                return code
    # Lower-cased after splitting: the lower case of İ contains a combining mark.
    counts = Counter(" ".join(re.findall(_WORD, text)).lower().split(" "))
    votes = {
        code: sum(map(counts.__getitem__, counts.keys() & words))
        for code, words in (*FUNCTION_WORDS.items(), ("en", ENGLISH))
    }
    english = votes.pop("en")
    best = min(votes, key=lambda code: (-votes[code], code))
    return best if votes[best] >= MIN_FUNCTION_WORDS and votes[best] > english else "en"


INSIDE_WORDS = frozenset({"ja", "zh", "ko"})
"""Languages whose forms match anywhere: they have no word boundaries, or attached endings."""
NEIGHBOURS = {"uk": ("uk", "ru"), "ru": ("ru", "uk")}
"""Related languages whose lists are used together."""
CLITICS = {
    "ar": ("وال", "بال", "لل", "ال", "و", "ب", "ل"),
}
"""Prefixes attached to words: articles, conjunctions, prepositions."""


class QueryLanguage(NamedTuple):
    """The language of a request, and its translation."""

    language: str
    english: tuple[str, ...]
    """English terms from the word list; empty for English requests."""
    silent: frozenset[str]
    """Terms that are function words of the language."""
    latin: float
    """Share of Latin letters, 0..1."""


class _Forms(NamedTuple):
    whole: dict[str, list[int]]
    starts: dict[str, list[int]]
    lengths: tuple[int, ...]
    """Lengths of ``starts``, longest first."""
    heads: frozenset[str]
    """The first characters of ``starts``, as many as the shortest has."""
    spaced: dict[str, list[tuple[int, str, int]]]
    """Forms of several words, or of a script without blanks, by their first character: (position
    in the longest-first order, form, number of the concept)."""


@cache
def _concepts_by_language() -> dict[str, list[str]]:
    """Return the forms of each concept by language, separated by commas; empty without any."""
    path = os.path.join(os.path.dirname(__file__), "data", "lexicon.tsv")
    with open(path, encoding="utf-8") as file:
        lines = (line.rstrip("\n").split("\t") for line in file)
        return {code: concepts for code, *concepts in lines}


@cache
def _forms(code: str) -> _Forms:
    whole: dict[str, list[int]] = {}
    starts: dict[str, list[int]] = {}
    spaced: dict[str, int] = {}
    for number, forms in enumerate(_concepts_by_language().get(code, ())):
        for form in filter(None, map(str.strip, forms.split(","))):
            folded = _fold(form.rstrip("*"))
            if code in INSIDE_WORDS or not folded.isalpha():
                spaced.setdefault(folded, number)
            elif form.endswith("*"):
                starts.setdefault(folded, []).append(number)
            else:
                whole.setdefault(folded, []).append(number)
    lengths = tuple(sorted({len(start) for start in starts}, reverse=True))
    heads = frozenset(start[: lengths[-1]] for start in starts)
    by_first: dict[str, list[tuple[int, str, int]]] = {}
    longest_first = sorted(spaced.items(), key=lambda item: (-len(item[0]), item[0]))
    for place, (form, number) in enumerate(longest_first):
        by_first.setdefault(form[0], []).append((place, form, number))
    return _Forms(whole, starts, lengths, heads, by_first)


def _fold(text: str) -> str:
    return " ".join(fold(text.split()))


@cache
def _terms(number: int) -> tuple[str, ...]:
    english = _concepts_by_language()["en"][number].replace("/", " ")
    return tuple(dict.fromkeys(STANDARD.terms(english)))


def _concepts(text: str, code: str) -> list[int]:
    """Return the numbers of the concepts in ``text``, for one language, ascending."""
    forms = _forms(code)
    folded = _fold(text)
    numbers: set[int] = set()
    chars = set(folded)
    near = [item for c in chars for item in forms.spaced.get(c, ()) if item[1][-1] in chars]
    for _, form, number in sorted(near):
        if form in folded:
            numbers.add(number)
            folded = folded.replace(form, "\n")  # a matched form consumes its characters
    if not forms.whole and not forms.starts:
        return sorted(numbers)
    has_clitics = code in CLITICS
    for word in re.findall(_WORD, folded):
        for bare in _bare(word, code) if has_clitics else (word,):
            hits = forms.whole.get(bare) or _start(bare, forms)
            if hits:
                numbers.update(hits)
                break
    return sorted(numbers)


def _bare(word: str, code: str) -> list[str]:
    cut = [word[len(c) :] for c in CLITICS.get(code, ()) if word.startswith(c)]
    return [word, *(rest for rest in cut if len(rest) > 2)]


def _start(word: str, forms: _Forms) -> list[int]:
    if not forms.lengths or word[: forms.lengths[-1]] not in forms.heads:
        return []
    for length in forms.lengths:
        if length <= len(word) and (hits := forms.starts.get(word[:length])):
            return hits
    return []


def read_request(text: str, language: str = "") -> QueryLanguage:
    """Return the language of a request, its English terms, and its function words.

    ``language`` is its ISO 639-1 code where that is known.
    """
    latin = latin_share(text)
    code = language or language_of(text, latin)
    if code == "en":
        return QueryLanguage(code, (), frozenset(), latin)
    numbers = [n for near in NEIGHBOURS.get(code, (code,)) for n in _concepts(text, near)]
    english = dict.fromkeys(term for number in numbers for term in _terms(number))
    return QueryLanguage(code, tuple(english), _silent(code), latin)


@cache
def _silent(code: str) -> frozenset[str]:
    """Return the terms of a language's function words."""
    words = FUNCTION_WORDS.get(code, ())
    return frozenset(term for word in words for term in STANDARD.of_surface(word))


def translate(text: str) -> tuple[str, ...]:
    """Return the English terms for a request in another language; nothing for an English one."""
    return read_request(text).english
