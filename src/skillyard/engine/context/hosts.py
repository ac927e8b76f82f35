"""The listing rules of agent hosts: budgets, caps, and what is dropped first.

These are facts about other programs, with their sources and dates. A host shows its model one entry
for each skill. When they do not all fit, each host cuts in its own way, mostly without a notice.
:mod:`skillyard.engine.context.listing` computes the effect for a library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from skillyard.base.errors import SkillError, UnknownName
from skillyard.base.io.files import is_below
from skillyard.base.text import clean_line
from skillyard.engine.catalog import Catalog
from skillyard.engine.discovery.hosts import user_folders
from skillyard.engine.skill import Origin, Skill

DEFAULT_WINDOW = 200_000
"""Tokens of a model's context, unless the caller or the host's rule specifies another number."""
_CHARS_PER_TOKEN = 4
"""For the two hosts whose budget is a share of the context."""

LEAST_USED = "least used"
"""All names are listed. Descriptions are added whole, those of the most used skills first. One that
does not fit is skipped, and a shorter one after it may still fit."""
SHORTEN = "shorten"
"""All descriptions are shortened equally. When not even the names fit, the last entries are left
out."""
ALPHABETICAL = "alphabetical"
"""Entries are complete until the budget is used up; the others, later in the alphabet, are names
only."""
NOTHING = "nothing"
"""The host has no known budget."""

LINES = "lines"
"""``- name: description``"""
PATHS = "paths"
"""``- name: description (file: r0/path)``, after a table of folders."""
BLOCKS = "blocks"
"""A ``<skill>`` element with name, description and location."""


class ListingRule(NamedTuple):
    """How one host lists skills."""

    name: str
    title: str
    overflow: str
    """What is dropped first: one of the constants above."""
    form: str = LINES
    """The form of an entry."""
    share: float = 0.0
    """Share of the context that the listing may use; 0 for a fixed budget."""
    fixed: int = 0
    """Budget in characters, when it is not a share."""
    unit: str = "characters"
    window: int = DEFAULT_WINDOW
    """Context size in tokens of the models that the host is mostly used with."""
    own: int = 0
    """Part of the budget that the host's own skills use; they are never shortened."""
    table: int = 0
    """Size that the table of folders may have in addition to the budget; the rest counts."""
    description_chars: int | None = None
    """Maximum characters of a description in one entry; longer ones are cut."""
    when_to_use: bool = False
    """The frontmatter's ``when_to_use`` is appended to the description."""
    hides_manual: bool = False
    """Skills with ``disable-model-invocation`` are not listed."""
    host: str = ""
    """The host in the table of folders (``discovery.hosts``), whose user folders it reads; empty:
    unknown."""
    hidden_by: str = ""
    """A file beside SKILL.md that hides a skill from the model with ``policy:
    {allow_implicit_invocation: false}``."""
    refused_in_names: str = ""
    """Characters that names must not contain. Skills with one of them, or with capitals, are not
    listed."""
    remedy: str = ""
    """The setting that its user can change."""
    source: str = ""

    @property
    def by_use(self) -> bool:
        """True when the host prefers the most used skills."""
        return self.overflow == LEAST_USED

    def budget(self, window: int | None = None) -> int | None:
        """Return the budget in the host's unit; None without a budget.

        ``window`` is the context in tokens (default: that of the host's usual models).
        """
        if not self.share:
            return self.fixed or None
        per_token = 1 if self.unit == "tokens" else _CHARS_PER_TOKEN
        return int((self.window if window is None else window) * per_token * self.share)


HOSTS: dict[str, ListingRule] = {
    rule.name: rule
    for rule in (
        ListingRule(
            "claude-code",
            "Claude Code",
            LEAST_USED,
            share=0.01,
            own=4_249,
            host="claude-code",
            description_chars=1_536,
            when_to_use=True,
            hides_manual=True,
            remedy="skillListingBudgetFraction and skillListingMaxDescChars in settings.json, or "
            "SLASH_COMMAND_TOOL_CHAR_BUDGET",
            source="Claude Code's settings and skills pages, November 2026; requests that release "
            "2.1.197 sent to its model, its own skills among them; with Opus 4.8 it counts 3 "
            "characters to a token, not 4: 30,000 for a million tokens",
        ),
        ListingRule(
            "codex",
            "Codex",
            SHORTEN,
            PATHS,
            share=0.02,
            unit="tokens",
            window=272_000,
            table=36,
            host="codex",
            description_chars=1_024,
            hidden_by="agents/openai.yaml",
            remedy="a shorter library: disable skills or plugins that are not used",
            source="openai/codex, core-skills/src/render.rs, 2026; requests that release 0.169.0 "
            "sent to its model",
        ),
        ListingRule(
            "copilot-cli",
            "Copilot CLI",
            ALPHABETICAL,
            BLOCKS,
            fixed=15_000,
            hides_manual=True,
            remedy="SKILL_CHAR_BUDGET",
            source="measured by dotnet/skills on releases 1.0.36 and 1.0.61 (SkillProfiler)",
        ),
        ListingRule(
            "vscode",
            "VS Code",
            NOTHING,
            hides_manual=True,
            refused_in_names="/:.",
            remedy="a name of lower-case letters, digits and hyphens",
            source="reports: names with a slash, a colon, a dot or capitals are passed over "
            "without a word; no budget of the listing is documented",
        ),
    )
}
"""The rules by host name."""


def rule_of(host: str) -> ListingRule:
    """Return the rule of a host. Raises UnknownName, listing the known ones."""
    rule = HOSTS.get(host)
    if rule is None:
        raise UnknownName("host", host, HOSTS)
    return rule


_READ = (Origin.AGENTSKILLS, None)
"""Origins that hosts read: folders with a SKILL.md, and skills built in code."""


def listed_skills(
    catalog: Catalog, rule: ListingRule
) -> tuple[list[Skill], list[tuple[Skill, str]]]:
    """Return (listed skills, unread skills with reasons) for the host."""
    skills: list[Skill] = []
    unread: list[tuple[Skill, str]] = []
    shadowed = catalog.shadowed
    for skill in catalog:
        why = _unread(skill, rule)
        winner = shadowed.get(skill)
        # A winner that this host does not find does not shadow the skill there.
        is_first = winner is None or winner.name != skill.name  # of a plugin, and listed as such
        if not why and winner is not None and not is_first and not _elsewhere(winner, rule):
            same = skill.path in catalog.further
            what = "a copy of" if same else "another skill of that name goes first:"
            why = f"{what} {winner.path}"
        if why:
            unread.append((skill, why))
        else:
            skills.append(skill)
    return skills, unread


def _unread(skill: Skill, rule: ListingRule) -> str:
    if elsewhere := _elsewhere(skill, rule):
        return elsewhere
    if rule.hides_manual and skill.disable_model_invocation:
        return "disable-model-invocation: only the user calls it"
    if rule.hidden_by and _is_hidden(skill, rule.hidden_by):
        return f"{rule.hidden_by}: only the user calls it"
    odd = [char for char in skill.name if char in rule.refused_in_names]
    if odd or (rule.refused_in_names and skill.name != skill.name.lower()):
        return f"the host passes over names with {repr(odd[0]) if odd else 'capitals'}"
    return ""


def _elsewhere(skill: Skill, rule: ListingRule) -> str:
    """Return why the host does not find a skill; empty when it does."""
    if skill.origin not in _READ:
        return f"layout {skill.origin}: hosts read folders with a SKILL.md"
    if not rule.host or skill.scope != "user" or not skill.path:
        return ""
    folders = list(user_folders([rule.host]))
    if skill.plugin is not None:  # plugins lie beside the user's own skills
        folders = [os.path.dirname(folder) for folder in folders]
    if any(is_below(skill.path, folder) for folder in folders):
        return ""
    return f"a folder of another agent, which {rule.title} does not look into"


def _is_hidden(skill: Skill, name: str) -> bool:
    """Return True when a file beside the skill disables its selection by the model."""
    if not skill.path or not os.path.isfile(os.path.join(os.path.dirname(skill.path), name)):
        return False
    from skillyard.engine.formats.yaml_guard import Scalar, read_mapping
    from skillyard.engine.resources import read_resource

    try:
        text = read_resource(skill, name).decode("utf-8", "replace")
        policy = read_mapping(text, name)[0].get("policy")
    except SkillError:  # an unreadable file disables nothing
        return False
    allowed = policy.get("allow_implicit_invocation") if isinstance(policy, dict) else None
    return isinstance(allowed, Scalar) and allowed.text == "false"


def order_of(rule: ListingRule) -> Callable[[Skill], tuple[int, str, str]]:
    """Return the key of the order in which the host lists skills."""
    if rule.overflow != SHORTEN:
        return lambda skill: (0, *skill.key)

    def place(skill: Skill) -> tuple[int, str, str]:
        """Skills of the repository first, then those of Codex, then those of the user."""
        theirs = 2 if skill.scope == "user" else 0
        return (1 if _is_systems(skill.path) else theirs, *skill.key)

    return place


def short_paths(skills: Iterable[Skill], roots: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return ``r0/name/SKILL.md`` by path, for skills with a path, and the table of the folders.

    The folders are the roots of the library, or lie below them.
    """
    known = sorted((os.path.abspath(root) for root in roots), key=len, reverse=True)
    numbers: dict[str, int] = {}
    short = {}
    paths = {skill.path for skill in skills if skill.path}
    for path in sorted(paths, key=lambda path: (_is_systems(path), path)):
        whole = os.path.abspath(path)
        holder = os.path.dirname(os.path.dirname(whole))
        above = [root for root in known if whole.startswith(root + os.sep)]
        folder = holder if _is_systems(path) or not above else above[0]
        inner = os.path.join(folder, "skills")
        if whole.startswith(inner + os.sep) and holder != folder:
            folder = inner
        below = os.path.relpath(whole, folder).replace(os.sep, "/")
        short[path] = clean_line(f"r{numbers.setdefault(folder, len(numbers))}/{below}")
    return short, [f"- `r{number}` = `{clean_line(each)}`" for each, number in numbers.items()]


def _is_systems(path: str) -> bool:
    """Return True for a skill that comes with the host."""
    return "/.system/" in path.replace("\\", "/")
