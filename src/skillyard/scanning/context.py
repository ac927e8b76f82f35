"""Decides whether a hit is quoted: shown as something to look for or to avoid.

Skills about security name the techniques that the rules find. A quoted hit of high severity becomes
a medium one, so it is still reported. An attacker can imitate this; the guide says so.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skillyard.scanning.document import PROSE, Document

__all__ = ["is_negated", "is_quoted", "subject_is_security"]

_ABOVE = 6
"""Lines before a hit in which a warning counts for it."""
_AROUND = 400
"""Characters of a line before and after a hit that are looked at: bounds the work of long lines."""
_WARNING = re.compile(
    r"""\b(?:avoid|dangerous|unsafe|malicious|suspicious|attack\w{0,6}|adversar\w{1,6}|exploit\w{0,6}|vulnerab\w{1,8}|detect\w{0,6}|inject(?:ion|ed)s?|jailbreak\w{0,4}
    |payloads?|threats?|red\s{1,2}flags?|indicators?|anti-?patterns?|wrong|insecure|hijack\w{0,4}|exfiltrat\w{1,5}
    |never\s{1,2}(?:run|use|execute|do|follow)|bad\s{0,2}:|manipulat\w{1,5}|phish\w{1,4}|social\s{1,2}engineering|untrusted|attempts?\s{1,2}to)\b
    |❌|⚠|🚫|🚨|恶意|危险|攻击|检测|禁止|注入|风险|越狱|拒绝""",
    re.IGNORECASE | re.VERBOSE,
)
_SEARCH = re.compile(
    r"""\b(?:grep|rg|egrep|ripgrep|re\.(?:compile|search|match|findall)|regex|pattern|yara|sigma|findstr|Select-String|semgrep|new\s{1,2}RegExp)\b|\\b|\\s[*+]|\.\*|\(\?i\)|\[\^""",
    re.IGNORECASE | re.VERBOSE,
)
_SUBJECT = re.compile(
    r"""\b(?:security|secure|pentest\w{0,4}|penetration|malware|malicious|forensic\w{0,2}|threats?|attack\w{0,5}|red[\s-]team\w{0,4}|exploit\w{0,6}|vulnerab\w{1,8}|phishing|ransomware
    |intrusion|adversar\w{1,5}|ctf|offensive|privilege\s{1,2}escalation|injections?|exfiltration|siem|yara|sigma|reverse\s{1,2}engineer\w{1,4}|hardening|incident|backdoors?|rootkits?
    |evasion|hacking|bug\s{1,2}bounty|jailbreak\w{0,4}|shellcode|credentials?|command\s{1,2}and\s{1,2}control|lateral\s{1,2}movement|persistence|kerberos\w{0,6}|guardrails?|hunting|xss|c2)\b
    |安全|渗透|漏洞|恶意|攻击|取证|红队|提权|注入""",
    re.IGNORECASE | re.VERBOSE,
)


def subject_is_security(document: Document) -> bool:
    """True for a skill whose frontmatter says that it is about security."""
    return _about_security(document.parts[0])


@lru_cache(maxsize=64)
def _about_security(frontmatter: str) -> bool:
    return _SUBJECT.search(frontmatter) is not None


def is_quoted(document: Document, start: int, end: int, *, security: bool) -> bool:
    """True when the text around a hit shows it as an example of something bad.

    ``security``: the skill is about security. In its code blocks every hit counts as quoted.
    """
    first = document.line(start)
    begin = max(document.start_of(first), start - _AROUND)
    after = document.text[end : min(document.end_of(document.line(end)), end + _AROUND)]
    rest = f"{document.text[begin:start]} {after}"
    line = document.text[begin:end] + after
    searches = _SEARCH.search(line) is not None
    if document.kind != PROSE:  # a search word in a comment behind a command means nothing
        return searches and _is_inside_quotes(document.text[begin:start])
    if searches and _quotes(line):
        return True
    if security and document.fence_at(start) is not None:
        return True
    above = document.text[
        max(document.start_of(max(first - _ABOVE, 1)), begin - 2 * _AROUND) : begin
    ]
    return _WARNING.search(rest) is not None or _WARNING.search(above) is not None


_NEGATION = re.compile(
    r"(?:\b(?:never|do[ \t]{1,2}not|don['’]t|must[ \t]{1,2}not|should[ \t]{1,2}not|cannot|can['’]t)"
    r"[ \t]{1,2}(?:\w{1,12}[ \t]{1,2})?"
    r"|不要|禁止|切勿)[*_`\"']{0,3}\Z",
    re.IGNORECASE,
)


def is_negated(document: Document, start: int) -> bool:
    """True when the words before a hit in prose forbid it. A program does not read them."""
    if document.kind != PROSE:
        return False
    before = document.text[max(0, start - 40) : start]
    return _NEGATION.search(before) is not None


def _is_inside_quotes(before: str) -> bool:
    return any(before.count(mark) % 2 for mark in "\"'`")


def _quotes(line: str) -> bool:
    return any(mark in line for mark in "\"'`/|")
