"""Detects the language of a request by its script and its function words.

Only the languages of the word list (:mod:`.lexicon`) are distinguished. Any other text counts as
English.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import Counter
from functools import cache

from skillyard.engine.analysis.vocabulary import ENGLISH

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
    votes = {code: _occurrences(counts, words) for code, words in FUNCTION_WORDS.items()}
    best = min(votes, key=lambda code: (-votes[code], code))
    english = _occurrences(counts, ENGLISH)
    return best if votes[best] >= MIN_FUNCTION_WORDS and votes[best] > english else "en"


def _occurrences(counts: Counter[str], words: frozenset[str]) -> int:
    return sum(map(counts.__getitem__, counts.keys() & words))


# First code point of each block that matters here, its class, ascending. Blocks as in the
# Unicode Character Database, Blocks.txt; neighbours of one class are merged.
_STARTS = (
    (0x0000, "other"), (0x0041, "latin"), (0x0250, "other"), (0x0370, "greek"),
    (0x0400, "cyrillic"), (0x0530, "armenian"), (0x0590, "hebrew"), (0x0600, "arabic"),
    (0x0700, "other"), (0x0900, "devanagari"), (0x0980, "indic"), (0x0E00, "thai"),
    (0x0F00, "other"), (0x1000, "myanmar"), (0x10A0, "georgian"), (0x1100, "hangul"),
    (0x1200, "ethiopic"), (0x13A0, "other"), (0x1780, "khmer"), (0x1800, "other"),
    (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, "other"), (0x2E80, "han"),
    (0x3040, "kana"), (0x3100, "han"), (0x3130, "hangul"), (0x3190, "han"),
    (0x31F0, "kana"), (0x3200, "han"), (0xA000, "other"), (0xAC00, "hangul"),
    (0xD800, "other"), (0xF900, "han"), (0xFB00, "latin"), (0xFB1D, "hebrew"),
    (0xFB50, "arabic"), (0xFE00, "other"), (0xFF66, "kana"), (0xFFA0, "hangul"),
    (0xFFE0, "other"), (0x20000, "han"), (0x32000, "other"),
)  # fmt: skip
_FIRST = [start for start, _ in _STARTS]
_CLASS = [name for _, name in _STARTS]

_UNSPACED = frozenset({"han", "kana", "hangul", "thai", "khmer", "myanmar"})
"""Written without blanks, or (Hangul) with attached endings."""
_DIGITS = frozenset("0123456789")


def _class(char: str) -> str:
    return _CLASS[bisect_right(_FIRST, ord(char)) - 1]


def script_runs(word: str) -> list[tuple[str, bool]]:
    """Return (run of one script, whether it is unspaced); digits belong to the preceding run.

    Han and kana are one script here: Japanese words mix them.
    """
    runs: list[tuple[str, bool]] = []
    start, current = 0, ""
    for place, char in enumerate(word):
        if char in _DIGITS and current:
            continue
        kind = _class(char)
        kind = "han" if kind == "kana" else kind
        if kind == "other":  # combining marks belong to the preceding character
            kind = current or kind
        if current and kind != current:
            runs.append((word[start:place], current in _UNSPACED))
            start = place
        current = kind
    runs.append((word[start:], current in _UNSPACED))
    return [run for run in runs if run[0]]


def latin_share(text: str) -> float:
    """Return the share of Latin letters among the letters of ``text``, 0..1; 1.0 without any."""
    if text.isascii():
        return 1.0
    others = sum(map(str.isalpha, "".join(_not_latin().findall(text))))
    if not others:
        return 1.0
    letters = sum(map(str.isalpha, text))
    return (letters - others) / letters


@cache
def _not_latin() -> re.Pattern[str]:
    """Return the pattern of runs outside the blocks of Latin letters and what precedes them."""
    ends = (*_FIRST[1:], sys.maxunicode + 1)
    latin = [(a, b) for a, b, name in zip(_FIRST, ends, _CLASS, strict=True) if name == "latin"]
    spans = [f"{chr(start)}-{chr(end - 1)}" for start, end in [(0, latin[0][1]), *latin[1:]]]
    return re.compile(f"[^{''.join(spans)}]+")
