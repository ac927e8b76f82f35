"""Decides what the text around a hit makes of it: an order, a quotation or a prohibition.

Skills about security name the techniques that the rules find, and sentences forbid or describe what
a phrase alone would order. A quoted hit of high severity becomes a medium one, so it is still
reported; a forbidden one is none. Text that says to act on what it quotes does not quote it. An
attacker can imitate a context; the guide says so.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from skillyard.check.markdown import Fence
from skillyard.check.scanning.document import DATA, PROSE, SCRIPT, Document
from skillyard.check.scanning.hidden import addresses_agent

_ABOVE = 6
"""Lines before a hit in which a warning counts for it."""
_SECTION = 3_000
"""Characters before a hit in which the heading of its section is looked for."""
_HEADING = re.compile(r"^#{1,6}[ \t][^\n]{1,200}", re.MULTILINE)
_AROUND = 400
"""Characters of a line before and after a hit that are looked at: bounds the work of long lines."""
_WARNING = re.compile(
    r"""\b(?:avoid|dangerous|unsafe|malicious|suspicious|attack\w{0,6}|adversar\w{1,6}|exploit\w{0,6}|vulnerab\w{1,8}|detect\w{0,6}|inject(?:ion|ed)s?|jailbreak\w{0,4}
    |payloads?|threats?|red\s{1,2}flags?|indicators?|anti-?patterns?|wrong|insecure|hijack\w{0,4}|exfiltrat\w{1,5}
    |never\s{1,2}(?:run|use|execute|do|follow)|bad\s{0,2}:|block(?:s\s{0,2}:|ed|list\w{0,3})|den(?:y|ied|ylist)|forbidden|prohibited|manipulat\w{1,5}|phish\w{1,4}|social\s{1,2}engineering|untrusted|attempts?\s{1,2}to)\b
    |❌|⚠|🚫|🚨|恶意|危险|攻击|检测|禁止|注入|风险|越狱|拒绝""",
    re.IGNORECASE | re.VERBOSE,
)
_SEARCH = re.compile(
    r"""\b(?:grep|rg|egrep|ripgrep|re\.(?:compile|search|match|findall)|regex|pattern|yara|sigma|findstr|Select-String|semgrep|new\s{1,2}RegExp)\b|\\b|\\s[*+]|\.\*|\(\?i\)|\[\^""",
    re.IGNORECASE | re.VERBOSE,
)
_CHECKS = re.compile(
    r"\b\w{0,40}(?:sanitiz|validat|reject|is_safe|is_dangerous|assert)\w{0,40}\([^()\n]{0,80}\Z",
    re.IGNORECASE,
)
"""Ends before the text that a function checks."""
_EXAMPLE = re.compile(r"\bexamples?[\"']?\s{0,2}[:=]\s{0,2}[\"']\Z", re.IGNORECASE)
"""Ends before the text that a table of a program gives as an example."""
_EXPECTS = re.compile(r"\bexpect(?:s|ed)?_?\w{0,30}[\"']?\s{0,2}[:=]", re.IGNORECASE)
"""Says what the answer to a quoted text must be: the text is that of a test."""
_SUBJECT = re.compile(
    r"""\b(?:security\s{1,2}(?:\w{1,20}\s{1,2}){0,2}(?:audit|review|scan|test|assess|analy|research|check|issue|mistake|flaw|risk|finding)\w{0,8}|pentest\w{0,4}|penetration|malware|malicious|forensic\w{0,2}|threats?|attack\w{0,5}|red[\s-]team\w{0,4}|exploit\w{0,6}|vulnerab\w{1,8}|phishing|ransomware
    |intrusion|adversar\w{1,5}|ctf|offensive|privilege\s{1,2}escalation|injections?|exfiltration|siem|yara|sigma|reverse\s{1,2}engineer\w{1,4}|backdoors?|rootkits?
    |evasion|hacking|bug\s{1,2}bounty|jailbreak\w{0,4}|shellcode|command\s{1,2}and\s{1,2}control|lateral\s{1,2}movement|kerberos\w{0,6}|guardrails?|threat\s{1,2}hunting|xss|c2)\b
    |安全|渗透|漏洞|恶意|攻击|取证|红队|提权|注入""",
    re.IGNORECASE | re.VERBOSE,
)


_ON_AGENTS = re.compile(
    r"""\b(?:prompt[\s_-]{1,2}injections?|jailbreak\w{0,4}|adversarial|red[\s-]team\w{0,4}
    |(?:audit|scan|vet|review|analy[sz])\w{0,5}\s{1,2}(?:\w{1,20}\s{1,2}){0,3}(?:skills?\b|SKILL\.md))\b
    |越狱|提示词?注入""",
    re.IGNORECASE | re.VERBOSE,
)


class Subject(NamedTuple):
    """What the frontmatter of a skill says that it is about."""

    is_security: bool
    """Attacks, malware, reviews of security. The word `secure` alone says nothing."""
    is_attacks_on_agents: bool
    """Its examples are sentences to an agent."""


@lru_cache(maxsize=64)
def subject_of(frontmatter: str) -> Subject:
    """Return what a skill is about, by the frontmatter of its SKILL.md."""
    searches = (_SUBJECT, _ON_AGENTS)
    return Subject(*(each.search(frontmatter) is not None for each in searches))


_ACT = re.compile(
    r"""(?<!\ba\s)(?<!\bthe\s)\b(?:obey|follow|adopt|act\s{1,2}(?:up)?on|comply\s{1,2}with|live\s{1,2}by|apply|perform|execute|run|do|repeat|carry\s{1,2}out)
    \s{1,2}(?:it|this|that|them|these|those|exactly|whatever|what\s{1,2}it\s{1,2}says)\b
    |\b(?:obey|follow|adopt|act\s{1,2}(?:up)?on|comply\s{1,2}with|live\s{1,2}by)\s{1,2}the\s{1,2}(?:line|sentence|text|example|block|command|quote|motto)s?\b
    |\bcomply[.!]|请照做|照此执行""",
    re.IGNORECASE | re.VERBOSE,
)
"""Says to act on what stands beside it: `run that`, and not `a run that …`."""
_RUN = re.compile(
    r"\b(?:run|execute|use|install\w{0,3}|paste|type|enter|call|with|via)\b[^.`\n]{0,24}[`\"']{0,3}\Z",
    re.IGNORECASE,
)
"""Stands before a command that is to be run."""
_CLAUSE = re.compile(
    r"[.!?:;,|\n—。，；：]|\s-{1,2}\s|\b(?:and|but|then|so|until|unless|before)\b", re.IGNORECASE
)
_NOT = (
    r"\b(?:(?:cause|lead)[sd]?|led|never|cannot|avoid|rather\s{1,2}than|instead\s{1,2}of"
    r"|(?:do|does|did|must|should|shall|may|might|can|could|will|would|and|or|but)\s{1,2}not"
    r"|not\s{1,2}(?:to|allowed|permitted|supposed|meant)|refuses?\s{1,2}to)\b|n['’]t\b"
)
_UNDOES = (
    r"(?!.{0,90}\b(?:only|just|merely|hesitate|fail|forget|refuse|stop|wait|mind|afraid|worry|bother"
    r"|shy|need)\b)"
)
_FORBIDS = re.compile(f"(?:{_NOT}){_UNDOES}", re.IGNORECASE)
_LISTED = re.compile(r"\s{0,3}(?:or\s{1,2})?\w{2,20}ing\b", re.IGNORECASE)
"""A clause that goes on with a list."""
_RESTRICTS = re.compile(
    r"\bonly\s{1,2}(?:to|send|sent|share|in|for)\b|只(?:应|能|会|发)|仅", re.IGNORECASE
)
_SHELLS = frozenset(["sh", "bash", "zsh", "shell", "console"])
_LIVE = _SHELLS | {"", "text", "txt", "plaintext", "markdown", "md", "prompt"}
"""Languages of code blocks whose text may be meant for the agent, or be run by it."""
_LONG_QUOTES = ('"""', "'''", "`")
"""Marks of texts in code that have several lines."""
_LINKS = re.compile(
    r"[\s>*+|\d.)#-]{0,20}(?:[*_]{0,3}\[[^\]\n]{1,300}\]\([^)\s]{1,300}\)[*_]{0,3}[\s|,;:.·]{0,6}){1,20}"
)
"""A line that is links and nothing else: titles of pages."""
_TEST = re.compile(
    r"(?:\A|/)(?:tests?|__tests__|spec)/|(?:\A|/)(?:test_[^/]{1,80}|[^/]{1,80}[._](?:test|spec))\.\w{1,4}\Z"
)
"""Paths of tests of programs."""
_SENTENCE = re.compile(
    r"(?:read|show|list|print|display|the|contents?)\s[\w\s]{0,40}[~./]", re.IGNORECASE
)
"""A request in words, in which a shell finds no command."""
_TURNS = re.compile(r"<\|im_start\|>\s{0,2}(?:user|assistant)|<\|(?:im_end|eot_id|end)\|>")
"""Marks of the other turns of a chat: a template of all of them is no message."""
_COMMENT = re.compile(r"\s{0,40}(?://|#|\*|--|;|/\*)")
_BEGINS = re.compile(
    r"(?:[.!?:;,>\"'`#*/(-]|\b(?:you|must|should|please|now|then|always|and))\s{0,4}\Z",
    re.IGNORECASE,
)
"""Ends before the verb of an order."""
_SAYS = re.compile(r"\b(?:always|now|please|must)\s{0,2}[\"'“`][^\"'“`]{0,80}\Z", re.IGNORECASE)
"""A quotation that the word before it makes an order."""
_LEADING = re.compile(r"[\s\"'`“「«*_>-]*")
"""What a hit may begin with before its first word."""


def is_quoted(
    document: Document, start: int, end: int, *, subject: Subject, phrase: bool = False
) -> bool:
    """True when the text around a hit shows it as an example, or forbids or restricts it.

    In code blocks, code spans and tables of a skill about security every command counts as quoted.
    ``phrase``: the hit is a sentence to the agent. A model reads it in a block as well, so in one
    without a programming language it only counts as quoted if the skill is about attacks on agents.
    """
    start += _LEADING.match(document.text[start:end]).end()  # type: ignore[union-attr]
    first, last = document.line(start), document.line(end)
    begin = max(document.start_of(first), start - _AROUND)
    after = document.text[end : min(document.end_of(last), end + _AROUND)]
    before = document.text[begin:start]
    line = document.text[begin:end] + after
    searches = _SEARCH.search(line) is not None
    if document.kind != PROSE:  # a search word in a comment behind a command means nothing
        if _is_input_of_test(document, start, end, is_sentence=phrase):
            return True
        if document.kind != DATA and _COMMENT.match(before) is not None:
            return _is_remark(before, line) if phrase else subject.is_security
        if phrase and _EXPECTS.search(document.lines(last, last + 2)[:_AROUND]) is not None:
            return _is_inside_quotes(before)
        is_example = (
            searches
            or (phrase and subject.is_security)
            or (document.kind == DATA and subject.is_attacks_on_agents)
            or _CHECKS.search(before) is not None
            or (subject.is_security and _EXAMPLE.search(before) is not None)
        )
        return is_example and _is_inside_quotes(before)
    fence = document.fence_at(start)
    if phrase and (
        _LINKS.fullmatch(document.lines(first, last)) is not None
        or _is_template(document, fence, start, end)
    ):
        return True
    if _is_acted_on(document, end, min(document.end_of(last + 2), end + _AROUND)):
        return False
    if phrase and fence is not None and fence.language not in _LIVE:
        if _COMMENT.match(before) is not None:
            return _is_remark(before, line)
        if any(document.text.count(mark, fence.start, start) % 2 for mark in _LONG_QUOTES):
            return True
    if phrase and _stands_in_quotes(before, line[len(before) :]) and not _SAYS.search(before):
        return True
    if phrase and _is_limited(before, document.text[start:end], after):
        return True
    if searches and _quotes(line):
        return True
    is_live = phrase and fence is not None and fence.language in _LIVE
    if fence is not None and (subject.is_attacks_on_agents if is_live else subject.is_security):
        return True
    in_cell = line.lstrip().startswith("|") or before.count("`") % 2
    if subject.is_security and in_cell and (phrase or _RUN.search(before) is None):
        return True
    is_code = fence is not None or before.count("`") % 2 == 1
    return _is_warned_of(document, begin, end, f"{before} {after}", is_code=is_code)


def _is_warned_of(document: Document, begin: int, end: int, line: str, *, is_code: bool) -> bool:
    """True when a line, the ones above it, the next one or the heading of code has a warning.

    ``begin``: where the part of the line that is looked at begins.
    """
    first, last = document.line(begin), document.line(end)
    start = max(document.start_of(max(first - _ABOVE, 1)), begin - 2 * _AROUND)
    near = [line, document.text[start:begin], document.lines(last + 1, last + 1)[:_AROUND]]
    if is_code:
        near.append(_heading(document, first))
    return any(_WARNING.search(each) is not None for each in near)


def _heading(document: Document, line: int) -> str:
    """Return the heading of the section that a line is in; empty without one near it."""
    text = document.text
    start = document.start_of(line)
    headings = [
        match[0]
        for match in _HEADING.finditer(text, max(0, start - _SECTION), start)
        if document.fence_at(match.start()) is None
    ]
    return headings[-1] if headings else ""


def _is_input_of_test(document: Document, start: int, end: int, *, is_sentence: bool) -> bool:
    """True for a sentence in a string of a program's test. What may be a command is none."""
    if document.kind != SCRIPT or _TEST.search(document.path.lower()) is None:
        return False
    if not is_sentence and _SENTENCE.match(document.text, start, end) is None:
        return False
    before = document.text[document.start_of(document.line(start)) : start]
    return _is_inside_quotes(before) or any(
        document.text.count(mark, 0, start) % 2 for mark in _LONG_QUOTES[:2]
    )


def _is_template(document: Document, fence: Fence | None, start: int, end: int) -> bool:
    """True for the mark of one turn in a block that has the marks of other ones."""
    if fence is None:
        return False
    is_mark = document.text.startswith("<|", start) or "<|" in document.text[start - 2 : end]
    return is_mark and _TURNS.search(document.text, end, fence.end) is not None


def _is_remark(before: str, line: str) -> bool:
    """True for a sentence in a comment of code that is no order to whoever reads the code."""
    is_order = _BEGINS.search(before) is not None or addresses_agent(line)
    return not is_order or _stands_in_quotes(before, line[len(before) :])


def _is_acted_on(document: Document, start: int, end: int) -> bool:
    """True when a part of a text says to act on what stands above it.

    A prohibition says nothing of that kind, and a quotation neither.
    """
    for match in _ACT.finditer(document.text, start, end):
        line = document.line(match.start())
        before = document.text[document.start_of(line) : match.start()]
        after = document.text[match.end() : document.end_of(line)]
        if not (_is_forbidden(before) or _stands_in_quotes(before, after)):
            return True
    return False


def _is_limited(before: str, hit: str, after: str) -> bool:
    """True when the clause of a hit forbids it, or says for whom alone it is."""
    clause = f"{_CLAUSE.split(before[-100:])[-1]}{hit}{_CLAUSE.split(after)[0]}"
    return _is_forbidden(before) or _RESTRICTS.search(clause) is not None


def _is_forbidden(before: str) -> bool:
    """True when the clause that a text ends with has a negation that nothing undoes.

    What is listed after it is forbidden too: `rather than asking twice, going on without …`.
    """
    clauses = _CLAUSE.split(before[-200:])
    first = len(clauses) - 1
    while first > 0 and _LISTED.match(clauses[first]) is not None:
        first -= 1
    return any(_FORBIDS.search(each) is not None for each in clauses[first:])


_NEGATION = re.compile(
    r"(?:\b(?:never|do[ \t]{1,2}not|don['’]t|must[ \t]{1,2}not|should[ \t]{1,2}not|cannot|can['’]t)"
    r"[ \t]{1,2}(?:(?!only|just|merely)\w{1,12}[ \t]{1,2})?"
    r"|不要|禁止|切勿)[*_`\"']{0,3}\Z",
    re.IGNORECASE,
)


def is_negated(document: Document, start: int) -> bool:
    """True when the words before a hit in prose forbid it. A program does not read them."""
    if document.kind != PROSE:
        return False
    before = document.text[max(0, start - 40) : start]
    return _NEGATION.search(before) is not None


def _stands_in_quotes(before: str, after: str) -> bool:
    """True when a quotation or a code span begins before and ends behind a place in a line."""
    if any(before.count(mark) % 2 and mark in after for mark in '"`'):
        return True
    if any(before.rfind(a) > before.rfind(b) and b in after for a, b in ("“”", "「」", "«»")):
        return True
    return _OPENED.search(before) is not None and _CLOSED.search(after) is not None


_OPENED = re.compile(r"(?:\A|[\s(\[])'[^']{0,80}\Z")
_CLOSED = re.compile(r"'(?:\W|\Z)")


def _is_inside_quotes(before: str) -> bool:
    return any(before.count(mark) % 2 for mark in "\"'`")


def _quotes(line: str) -> bool:
    return any(mark in line for mark in "\"'`/|")
