"""The one place where untrusted text is made safe: controls, bidi, hidden text, frames, XML.

Skill files, queries and remote answers are untrusted. *Stored* text is never changed, so that
digests stay valid. These functions are applied to *output* for a model, a terminal or a page, and
the ``find_…`` functions when a file is read.

Every pattern is a character class or a sequence of disjoint classes, and takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from skillyard.base.invisible import clean, label_of
from skillyard.base.unicode_tables import BIDI_CONTROL, DEFAULT_IGNORABLE

# The patterns are strings, so that ``re`` compiles each one on first use and not at import.
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_HIDDEN_IN_NAME = f"[{_CONTROLS}{BIDI_CONTROL}{DEFAULT_IGNORABLE}]"
_ODD_IN_FILE_NAME = f"[{_CONTROLS}{BIDI_CONTROL}]"
_BLANKS = r"\s+"

# "[", an optional slash, "skill" and the end of the tag, with spaces and invisible characters
# anywhere between. The backslashes are those that escape_frame has added. The gaps are possessive,
# so that a long run of spaces is scanned once.
_GAP = f"[\\s{DEFAULT_IGNORABLE}]*+"


def _spaced(word: str) -> str:
    return "".join(_GAP + letter for letter in word)


_FRAME_TAG = f"(?i)\\[(\\\\*)(?={_GAP}(?:/{_GAP})?{_spaced('skill')}{_GAP}[\\]:])"

ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
"""Lower case of ASCII letters alone, for ``str.translate``."""
_UNSAFE_IN_NAME = r'[/\\<>"\[\]]'
_DRIVE = r"[A-Za-z]:"
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"com{digit}" for digit in "123456789"]
    + [f"lpt{digit}" for digit in "123456789"]
)
_GIT_ALIASES = frozenset([".git", "git~1"])
# Scripts that are used together with Latin (Unicode TR 39, "highly restrictive").
_MIXED_WITH_LATIN = frozenset(
    ["CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL", "KATAKANA-HIRAGANA"]
)


def name_fault(name: str) -> str | None:
    """Return the reason why ``name`` is unsafe as a name, or None when it is safe.

    This is a safety rule, not the naming rule of agentskills.io. Names are used in prompts, tables,
    frames and file paths, so anything that could affect one of those is refused.
    """
    hidden = re.search(_HIDDEN_IN_NAME, name)
    if hidden is not None:
        return f"holds {label_of(hidden.group())}"
    unsafe = re.search(_UNSAFE_IN_NAME, name)
    if unsafe is not None:
        return f"holds {unsafe.group()!r}"
    if re.match(_DRIVE, name):
        return "starts like a drive letter"
    if name.startswith("-"):
        return "starts with a hyphen, like a command-line option"
    folded = name.casefold()
    if folded.rstrip(". ") in _GIT_ALIASES or not folded.strip(". "):
        return "is a reserved file name"
    if folded.split(".", 1)[0].strip() in _DEVICES:
        return "is a reserved device name on some systems"
    if name.endswith((".", " ")):
        return "ends with a dot or a blank"
    if name.isascii():
        return None
    return _lookalike_fault(name)


def _lookalike_fault(name: str) -> str | None:
    import unicodedata  # deferred here and below: rarely needed, and a tenth of the start-up time

    if unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFC", name):
        return "uses compatibility forms that look like other letters"
    scripts = {_script(char) for char in name if char.isalpha()}
    foreign = scripts - {"LATIN"}
    if "LATIN" in scripts and foreign - _MIXED_WITH_LATIN:
        return f"mixes scripts ({', '.join(sorted(word.title() for word in scripts))})"
    if len(foreign - _MIXED_WITH_LATIN) > 1:
        return f"mixes scripts ({', '.join(sorted(word.title() for word in scripts))})"
    return None


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    import unicodedata

    return unicodedata.name(char, "UNKNOWN").split()[0]


def clean_line(text: str) -> str:
    """Return the text cleaned and on one line, with white space collapsed."""
    return clean(one_line(text))


_PASSWORD_OPTION = r"((?:ssl)?password=)[^\s&'\"]+"


def without_passwords(text: str) -> str:
    """Return the text with ``***`` for the password of every URL in it.

    In URLs that are not http or https, everything up to the last ``@`` counts as the password,
    because it may contain unescaped characters.
    """
    if "://" in text and "@" in text:
        text = "".join(map(_without_password, re.split(r"(\s+)", text)))
    return re.sub(_PASSWORD_OPTION, r"\1***", text) if "password" in text else text


_SECRETS = (
    r"(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}",
    r"(?i)((?:token|secret|api[_-]?key|signature|sig)=)[^\s&'\"]+",
    r"\b((?:gh[a-z]|github_pat|sk|xox[a-z])[_-])[\w-]{16,}",
)
"""Credentials of a header, parameters of a URL, and tokens with a well-known prefix."""


def without_secrets(text: str) -> str:
    """Return the text with ``***`` for anything that looks like a password, a token or a key."""
    text = without_passwords(text)
    for pattern in _SECRETS:
        text = re.sub(pattern, r"\1***", text)
    return text


def _without_password(word: str) -> str:
    scheme, _, rest = word.partition("://")
    login, at, host = rest.rpartition("@")
    user, colon, password = login.partition(":")
    web = scheme.lower().endswith(("http", "https"))
    if not at or not colon or (web and "/" in login):
        return word
    return f"{scheme}://{user}:***@{host}" if password else word


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space, trimmed at both ends."""
    return re.sub(_BLANKS, " ", text).strip()


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, cut with an ellipsis to at most ``limit`` characters."""
    line = one_line(text)
    return line if len(line) <= limit else line[: max(0, limit - 1)].rstrip() + "…"


UNNAMED = "unnamed-skill"
"""The installer's folder for every name without an ASCII letter or digit."""


def folder_name(name: str) -> str:
    """Return the installer's folder name for a skill; safe for any text.

    The result is in lower case. Runs of anything but ASCII letters, digits, dots and underscores
    become one hyphen. Dots and hyphens at either end are removed. At most 255 characters remain, or
    ``unnamed-skill`` when nothing does. A name of other characters gets eight digits of its SHA-256
    there, which the installer does not add: two such names would share one folder.
    """
    plain = re.sub("[^a-z0-9._]+", "-", name.lower()).strip(".-")[:255]
    if plain or name.isascii():
        return plain or UNNAMED
    from skillyard.base.io.files import sha256

    return f"{UNNAMED}-{sha256(name.encode('utf-8', 'surrogatepass')).hex()[:8]}"


def plural(count: int, noun: str) -> str:
    """Return ``"1 skill"``, ``"2 skills"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_NAMED = 3
"""Items that a sentence names; it counts the others."""


def name_few(items: Sequence[str], count: int | None = None) -> str:
    """Return ``"a"``, ``"a and b"``, ``"a, b, c and 2 more"``; ``count`` is that of all items."""
    left = (len(items) if count is None else count) - _NAMED
    shown = [*items[:_NAMED], *([f"{left:,} more"] if left > 0 else [])]
    return " and ".join([*([", ".join(shown[:-1])] if len(shown) > 1 else []), *shown[-1:]])


def escape_frame(text: str) -> str:
    """Return the text escaped so that it cannot open or close a ``[skill:…]`` … ``[/skill]`` frame.

    A backslash is added after the bracket of every frame tag, regardless of case and of spaces or
    invisible characters inside. Cutting the result anywhere cannot create a frame tag.
    """
    return re.sub(_FRAME_TAG, r"[\\\1", text) if "[" in text else text


_ELEMENT = f"(?i)<(?={_GAP}(?:/{_GAP})?(?:{_spaced('available')}{_GAP}_)?{_spaced('skill')})"
"""The start of one of our own elements."""


def escape_elements(text: str) -> str:
    """Return the text escaped so that it cannot open or close ``<skill_content>`` and similar tags.

    The ``<`` of every such tag becomes ``&lt;``, regardless of case and of spaces or invisible
    characters inside. Other mark-up is unchanged. Idempotent. Cutting the result anywhere cannot
    create a tag.
    """
    return re.sub(_ELEMENT, "&lt;", text) if "<" in text else text


_MARKS_IN_A_ROW = 30  # Unicode Standard Annex 15, "Stream-Safe Text Format"
_SHORT = 1_000


def stream_safe(text: str) -> str:
    """Return the text with at most 30 combining marks in a row.

    Unicode normalisation takes quadratic time in the length of such a run, and no script uses more
    than a few. Texts of up to 1,000 characters are returned unchanged.
    """
    if len(text) <= _SHORT or text.isascii():
        return text
    import unicodedata

    marks = {char for char in set(text) if unicodedata.combining(char)}
    if not marks:
        return text
    chars = []
    run = 0
    for char in text:
        run = run + 1 if char in marks else 0
        if run <= _MARKS_IN_A_ROW:
            chars.append(char)
    return "".join(chars)


def odd_file_name(name: str) -> bool:
    """True for a file name with control, bidi or line-break characters or invalid Unicode."""
    return not name.isprintable() and re.search(_ODD_IN_FILE_NAME, name) is not None


def xml_escape(text: str) -> str:
    """Return the text safe as XML content and inside a quoted attribute."""
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#x27;")
    )


def normalised_name(name: str) -> str:
    """Return the name part of a document id (adk-skill: ``normalized-name + first-12-hash-chars``).

    Letters become lower case. Each space, hyphen and underscore becomes a hyphen. Other ASCII
    characters are dropped; letters and digits outside ASCII stay. An empty result becomes
    ``skill``.
    """
    hyphenated = name.lower().replace(" ", "-").replace("_", "-")
    if hyphenated.replace("-", "").isalnum():
        return hyphenated
    return "".join([char for char in hyphenated if char == "-" or char.isalnum()]) or "skill"
