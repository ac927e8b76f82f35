"""Rules that need more than patterns: names, allowed tools, commands on load, misleading links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillyard.base.errors import SkillError
from skillyard.base.lookalikes import look_alikes
from skillyard.base.text import name_fault
from skillyard.check.scanning.document import PROSE, Document
from skillyard.check.scanning.rule import Pattern, RuleHit
from skillyard.check.scanning.words import group
from skillyard.engine.formats.agentskills import split_tools
from skillyard.engine.formats.yaml_guard import Node, Scalar, read_mapping

_KNOWN_SKILLS = """
    algorithmic-art brand-guidelines canvas-design claude-api code-review codex-review doc docx
    doc-coauthoring frontend-design git-commit internal-comms mcp-builder pdf pptx
    react-best-practices skill-creator skill-installer slack-gif-creator systematic-debugging
    test-driven-development theme-factory using-superpowers vercel-react-best-practices
    web-artifacts-builder web-design-guidelines webapp-testing writing-plans writing-skills xlsx
"""
"""Names of widely installed skills that others imitate: those of the vendors' own repositories, and
the most installed ones of public registries (2026)."""
_KNOWN = frozenset(_KNOWN_SKILLS.split())
_NAME = re.compile(r"^name:[ \t]{0,8}[\"']?([^\n\"'#]{1,256})", re.MULTILINE)
_ALLOWED = group("allowed allowed_tools")
_TOOLS = re.compile(r"^allowed[-_]tools:", re.MULTILINE)


def _is_skill(document: Document) -> bool:
    return document.path.lower() == "skill.md"


def look_alike_name(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield the name of a skill that looks like a known one."""
    if not _is_skill(document):
        return
    match = _NAME.search(document.data[:4_000].decode("utf-8", "replace"))
    if match is None:
        return
    name = match[1].strip()
    note = _fault(name)
    if note:
        start = document.start_of(match.string.count("\n", 0, match.start()) + 1)
        yield RuleHit(start, start, note=note)


def _fault(name: str) -> str:
    alike = look_alikes(name, _KNOWN)
    if alike:
        return f"it looks like {', '.join(alike)}"
    fault = None if name.isascii() else name_fault(name)
    return f"the name {fault}" if fault else ""


_WIDE = frozenset(["*", "all", "bash", "bash(*)", "bash(*:*)", "shell", "execute", "powershell"])
_COMMANDS = re.compile(
    r"^[ \t]{0,12}(?:`{3,}|~{3,})[ \t]{0,4}(?:ba|z|c|k)?"
    r"(?:sh|shell|console|terminal|powershell|pwsh|cmd|bat)\b|\bscripts?/"
    r"|`[a-z][\w.-]{1,30}\s[^`\n]{1,200}`"
    r"|\b(?:run|execute|terminal|command|bash|shell|CLI|npm|npx|pip|git)\b|[运执]行",
    re.IGNORECASE | re.MULTILINE,
)


def tools_too_wide(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield the field of allowed tools that permits every command while the body needs none."""
    if not _is_skill(document) or not document.has(_ALLOWED):
        return
    block, body = document.parts
    place = _TOOLS.search(block)
    if place is None or _COMMANDS.search(body) is not None:
        return
    wide = [tool for tool in _tools(block) if tool.lower() in _WIDE]
    if wide:
        start = document.text.find(block) + place.start()
        yield RuleHit(
            start, start, note=f"it allows {', '.join(wide)}, and the body runs no command"
        )


def _tools(block: str) -> list[str]:
    try:
        fields = read_mapping(block, "SKILL.md")[0]
    except SkillError:
        return []
    node: Node | None = fields.get("allowed-tools", fields.get("allowed_tools"))
    if isinstance(node, Scalar):
        return split_tools(node.text)
    items = node if isinstance(node, list) else []
    return [item.text.strip() for item in items if isinstance(item, Scalar)]


_ON_LOAD = re.compile(r"(?:^|(?<=\s))!`([^`\n]{1,400})`")
_NETWORK = re.compile(r"\b(?:curl|wget|nc|ssh|scp|base64|eval)\b", re.IGNORECASE)
_NETWORK_WORDS = group("curl wget nc ssh scp base64 eval")


def runs_on_load(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield commands that some hosts run while they load a skill, if they use the network."""
    if document.kind == PROSE and document.has(_NETWORK_WORDS) and "!`" in document.lowered:
        for match in _ON_LOAD.finditer(document.text):
            if _NETWORK.search(match[1]) is not None:
                yield RuleHit(match.start(), match.end())


_URL = r"https?://(?:[^\s/@\]()<>\"']{1,80}@)?([\w.-]{4,120})"
_LINK = re.compile(
    rf"\[\s{{0,3}}<?{_URL}[^\s\]]{{0,300}}\s{{0,3}}\]\(\s{{0,3}}<?{_URL}[^\s)]{{0,400}}"
)
_ELEMENT = re.compile(rf"href=[\"']?{_URL}[^<\n]{{0,400}}>\s{{0,3}}{_URL}[^<\n]{{0,300}}</a>")
_OWN = frozenset(["localhost", "example.com", "example.org", "example.net"])
_SCHEMES = group("http https")


def misleading_link(document: Document, patterns: tuple[Pattern, ...]) -> Iterator[RuleHit]:
    """Yield links in prose whose text is an address on the site of somebody else."""
    text = document.lowered
    if document.kind != PROSE or not document.has(_SCHEMES):
        return
    links = [(match, match[1], match[2]) for match in _LINK.finditer(text)]
    if "href=" in text:
        links += [(match, match[2], match[1]) for match in _ELEMENT.finditer(text)]
    for match, shown, target in links:
        if _site(shown) != _site(target) and _site(shown) not in _OWN:
            yield RuleHit(
                match.start(), match.end(), note=f"it shows {shown} and leads to {target}"
            )


def _site(host: str) -> str:
    """Return the last two labels of a host, three below a short one such as ``co.uk``."""
    labels = host.strip(".").split(".")
    short = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if short else -2 :])
