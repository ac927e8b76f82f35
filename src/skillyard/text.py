"""The one place where untrusted text is made safe: controls, bidi, hidden text, frames, XML.

Skill files, queries and remote answers are hostile until proven otherwise. What is *stored* stays
byte for byte, so that digests mean something; these functions are applied on the way *out*, to a
model, a terminal or a page, and (the ``find_…`` functions) when a file is read.

Every pattern here is a character class or a run of disjoint classes: linear in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skillyard.value import NamedTuple

__all__ = [
    "Hidden",
    "clean",
    "clean_line",
    "escape_elements",
    "escape_frame",
    "find_hidden",
    "hidden_in_body",
    "name_fault",
    "normalised_name",
    "odd_file_name",
    "one_line",
    "plural",
    "shorten",
    "stream_safe",
    "unescape_frame",
    "without_passwords",
    "without_secrets",
    "xml_escape",
]

# The patterns stay texts, which ``re`` compiles when one is first used: a command that prints
# nothing untrusted pays for none of them.
_C0 = "\x00-\x08\x0b-\x1f"
_C1 = "\x7f-\x9f"
_BIDI = "\u202a-\u202e\u2066-\u2069"
_SEPARATORS = "\u2028\u2029"
_ZERO_WIDTH = "\u200b\u2060\ufeff"
_TAGS = "\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"

# A flag such as England's is a black flag, tag characters, and the cancel tag: legitimate.
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f"

# Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties, Unicode 15): characters that show
# nothing. No name may hold one, and none may stand between the letters of a frame tag.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# One variation selector picks a glyph; a run of them shows nothing and can carry whole sentences.
_SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}+"
_HIDDEN = (
    f"{_FLAG}|([{_C0}{_C1}{_BIDI}{_SEPARATORS}{_ZERO_WIDTH}{_TAGS}{_SURROGATES}]|{_SELECTORS})"
)
# Those of the first 256, all of them controls.
_HIDDEN_IN_LATIN = bytes([*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0)])
# Of all these the selectors alone are printable (``str.isprintable``): a text that is printable
# and has no character from the first of them on hides nothing.
_FROM_SELECTORS = "[\ufe00-\U0010ffff]"
_HIDDEN_IN_NAME = f"[\n\t{_C0}{_C1}{_SEPARATORS}{_SURROGATES}{_IGNORABLE}]"
_ODD_IN_FILE_NAME = f"[\n\t{_C0}{_C1}{_BIDI}{_SEPARATORS}{_SURROGATES}]"
_BLANKS = r"\s+"

# "[" then, with blanks and invisible characters anywhere between, an optional slash, "skill" and
# what would end the tag. The backslashes are those that escape_frame itself has put there.
# The gaps are possessive, so that a long run of blanks is passed once.
_GAP = f"[\\s{_IGNORABLE}]*+"
_FRAME_TAIL = f"{_GAP}(?:/{_GAP})?" + "".join(_GAP + letter for letter in "skill") + _GAP + r"[\]:]"


@lru_cache(maxsize=1)
def _frame_tags() -> re.Pattern[str]:
    """Compile the pattern of frame tags, when the first text with a bracket comes."""
    return re.compile(r"\[(\\*)(?=" + _FRAME_TAIL + ")", re.IGNORECASE)


_UNSAFE_IN_NAME = r'[/\\<>"\[\]]'
_DRIVE = r"[A-Za-z]:"
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"com{digit}" for digit in "123456789"]
    + [f"lpt{digit}" for digit in "123456789"]
)
_GIT_ALIASES = frozenset([".git", "git~1"])
# Scripts that people really write together (Unicode TR 39, "highly restrictive").
_WRITTEN_WITH_LATIN = frozenset(
    ["CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL", "KATAKANA-HIRAGANA"]
)


class Hidden(NamedTuple):
    """One character that a reader cannot see: its offset in the text and its name."""

    offset: int
    label: str


def find_hidden(text: str) -> Hidden | None:
    """Return the first control, bidi, zero-width or tag character, or None.

    Line feeds and tabs, emoji joined by U+200D, joiners inside scripts that need them, a single
    variation selector and the tag sequences of regional flags are text, not hiding places.
    """
    if text.isascii() and text.isprintable():
        return None
    for match in re.finditer(_HIDDEN, text):
        if match.group(1) is not None:
            return Hidden(match.start(), _label(match.group(1)[0]))
    return None


# The same characters in UTF-8, without the C1 controls, which bodies hold by mistake only. Each
# pattern begins with fixed bytes, for which the regular expression engine looks fastest.
_CONTROLS = bytes([*range(1, 9), *range(14, 32), 127])
_SELECTOR = rb"(?:\xef\xb8[\x80-\x8f]|\xf3\xa0[\x84-\x87].)"
_HIDDEN_BYTES = (
    (b"\xe2\x80", rb"\xe2\x80[\x8b\xa8-\xae]"),
    (b"\xe2\x81", rb"\xe2\x81[\xa0\xa6-\xa9]"),
    (b"\xf3\xa0", rb"\xf3\xa0(?:[\x80\x81]|[\x84-\x87]." + _SELECTOR + rb")"),
    (b"\xef\xb8", rb"\xef\xb8[\x80-\x8f]" + _SELECTOR),
    (b"\xef\xbb\xbf", rb"\xef\xbb\xbf"),
)


def hidden_in_body(data: bytes) -> tuple[int, str] | None:
    """Return (1-based line, name) of the first hidden character in UTF-8 bytes, or None.

    Works on bytes, because nearly every file is clean and bytes are ten times faster to pass.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if len(data.translate(None, _CONTROLS)) == len(data) and (
        data.isascii()
        or not any(lead in data and re.search(found, data) for lead, found in _HIDDEN_BYTES)
    ):
        return None
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        hidden = find_hidden(line.removesuffix("\r"))
        if hidden is not None:
            return number, hidden.label
    return None


def name_fault(name: str) -> str | None:
    """Say why ``name`` may not be used as a name at all, or None when it is safe.

    This is the safety rule of reading, not the naming rule of agentskills.io: a name ends up in
    prompts, tables, frames and file paths, so what could steer one of those is refused.
    """
    hidden = re.search(_HIDDEN_IN_NAME, name)
    if hidden is not None:
        return f"holds {_label(hidden.group())}"
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
    import unicodedata  # here and below: few texts need it, and it takes a tenth of our start-up

    if unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFC", name):
        return "uses compatibility forms that look like other letters"
    scripts = {_script(char) for char in name if char.isalpha()}
    foreign = scripts - {"LATIN"}
    if "LATIN" in scripts and foreign - _WRITTEN_WITH_LATIN:
        return f"mixes scripts ({', '.join(sorted(word.title() for word in scripts))})"
    if len(foreign - _WRITTEN_WITH_LATIN) > 1:
        return f"mixes scripts ({', '.join(sorted(word.title() for word in scripts))})"
    return None


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    import unicodedata

    return unicodedata.name(char, "UNKNOWN").split()[0]


def _label(char: str) -> str:
    import unicodedata

    fallback = "CONTROL" if unicodedata.category(char) == "Cc" else "CHARACTER"
    return f"U+{ord(char):04X} {unicodedata.name(char, fallback)}"


def _visible(match: re.Match[str]) -> str:
    hidden = match.group(1)
    return match.group() if hidden is None else "".join(map(_written_out, hidden))


def _written_out(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def clean(text: str) -> str:
    """Return the text with every hidden or control character written out as an escape.

    LF and TAB stay. Idempotent. Safe for a terminal, a log line and a prompt.
    """
    return re.sub(_HIDDEN, _visible, text) if _may_hide(text) else text


def _may_hide(text: str) -> bool:
    """Return False where nothing is hidden, as in most texts, in a tenth of the time of looking."""
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError:
        shown = text.replace("\n", "").replace("\t", "")
        return not shown.isprintable() or re.search(_FROM_SELECTORS, shown) is not None
    return len(data.translate(None, _HIDDEN_IN_LATIN)) < len(data)


def clean_line(text: str) -> str:
    """Return the text cleaned and on one line, blanks collapsed."""
    return clean(one_line(text))


_PASSWORD_OPTION = r"((?:ssl)?password=)[^\s&'\"]+"


def without_passwords(text: str) -> str:
    """Return the text with ``***`` for the password of every address in it.

    Of addresses that are not of the web everything up to the last ``@`` is taken for a password,
    as it may hold what should have been escaped.
    """
    if "://" in text and "@" in text:
        text = "".join(map(_without_password, re.split(r"(\s+)", text)))
    return re.sub(_PASSWORD_OPTION, r"\1***", text) if "password" in text else text


_SECRETS = (
    r"(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}",
    r"(?i)((?:token|secret|api[_-]?key|signature|sig)=)[^\s&'\"]+",
    r"\b((?:gh[a-z]|github_pat|sk|xox[a-z])[_-])[\w-]{16,}",
)
"""A header's credentials, parameters of an address, and tokens known by their first letters."""


def without_secrets(text: str) -> str:
    """Return the text with ``***`` for what looks like a password, a token or a key."""
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
    """Return the text with every run of white space as one blank, ends trimmed."""
    return re.sub(_BLANKS, " ", text).strip()


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, at most ``limit`` characters, an ellipsis where it was cut."""
    line = one_line(text)
    return line if len(line) <= limit else line[: max(0, limit - 1)].rstrip() + "…"


def plural(count: int, noun: str) -> str:
    """Return ``"1 skill"``, ``"2 skills"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def escape_frame(text: str) -> str:
    """Return the text unable to open or close a ``[skill:…]`` … ``[/skill]`` frame.

    A backslash goes behind the bracket of anything that reads as a frame tag, whatever its case
    and whatever blanks or invisible characters stand between. :func:`unescape_frame` takes it out
    again, so nothing is lost. Cutting the result anywhere cannot make a frame tag.
    """
    return _frame_tags().sub(r"[\\\1", text) if "[" in text else text


@lru_cache(maxsize=1)
def _element_tags() -> re.Pattern[str]:
    """Compile the pattern of our own elements, when the first text with a ``<`` comes."""
    word = "".join(_GAP + letter for letter in "skill")
    more = "".join(_GAP + letter for letter in "available")
    return re.compile(f"<(?={_GAP}(?:/{_GAP})?(?:{more}{_GAP}_)?{word})", re.IGNORECASE)


def escape_elements(text: str) -> str:
    """Return the text unable to open or close ``<skill_content>``, ``<skill_file>`` and kin.

    The ``<`` of anything that reads as such a tag becomes ``&lt;``, whatever its case and whatever
    blanks or invisible characters stand between. All other mark-up stays as the author wrote it.
    Idempotent; cutting the result anywhere cannot make a tag.
    """
    return _element_tags().sub("&lt;", text) if "<" in text else text


def unescape_frame(text: str) -> str:
    """Return the text as it was before :func:`escape_frame`."""
    return _frame_tags().sub(lambda match: "[" + match.group(1)[1:], text) if "[" in text else text


_MARKS_IN_A_ROW = 30  # Unicode Standard Annex 15, "Stream-Safe Text Format"
_SHORT = 1_000


def stream_safe(text: str) -> str:
    """Return the text with at most 30 combining marks in a row.

    Normalising sorts each run of marks, at a cost that grows with its square; no script stacks
    more than a few. Short texts pass as they are.
    """
    if len(text) <= _SHORT or text.isascii():
        return text
    import unicodedata

    marks = {char for char in set(text) if unicodedata.combining(char)}
    if not marks:
        return text
    kept = []
    run = 0
    for char in text:
        run = run + 1 if char in marks else 0
        if run <= _MARKS_IN_A_ROW:
            kept.append(char)
    return "".join(kept)


def odd_file_name(name: str) -> bool:
    """True for a file name with control, bidi or line-break characters, or that is no text."""
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

    Letters are lower-cased; blank, hyphen and underscore become a hyphen, one each; other ASCII
    is dropped; letters and digits outside ASCII stay. An empty result becomes ``skill``.
    """
    joined = name.lower().replace(" ", "-").replace("_", "-")
    if joined.replace("-", "").isalnum():
        return joined
    return "".join([char for char in joined if char == "-" or char.isalnum()]) or "skill"
