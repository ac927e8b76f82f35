"""The listing rules of agent hosts: budgets, caps, and what is dropped first.

These are facts about other programs, with their sources and dates. A host shows its model one entry
for each skill. When they do not all fit, each host cuts in its own way, mostly without a notice.
:mod:`skillyard.context.listing` computes the effect for a library.
"""

from __future__ import annotations

from typing import NamedTuple

from skillyard.errors import UnknownName

__all__ = [
    "ALPHABETICAL",
    "BLOCKS",
    "DEFAULT_WINDOW",
    "HOSTS",
    "LEAST_USED",
    "LINES",
    "NOTHING",
    "PATHS",
    "SHORTEN",
    "ListingRule",
    "rule_of",
]

DEFAULT_WINDOW = 200_000
"""Tokens of a model's context, where neither a person nor the host's rule says how many."""
_CHARS_PER_TOKEN = 4
"""Of both hosts that have a share of the context."""

LEAST_USED = "least used"
"""Every name stays; descriptions are given out whole, the most used skills first. One that does
not fit any more is passed over, and a shorter one behind it may still fit."""
SHORTEN = "shorten"
"""All descriptions are shortened alike; where not even the names fit, the last are left out."""
ALPHABETICAL = "alphabetical"
"""Entries are whole until the budget is used up; the rest of the alphabet is names."""
NOTHING = "nothing"
"""No budget is known."""

LINES = "lines"
"""``- name: description``"""
PATHS = "paths"
"""``- name: description (file: r0/path)``, with the folders of a table that stands before it."""
BLOCKS = "blocks"
"""A ``<skill>`` element with name, description and location."""


class ListingRule(NamedTuple):
    """How one host lists skills."""

    name: str
    title: str
    overflow: str
    """What gives way: one of the words above."""
    form: str = LINES
    """How an entry is written."""
    share: float = 0.0
    """Of the context, that the listing may take; 0 where it is a fixed number."""
    fixed: int = 0
    """Characters, where it is no share."""
    unit: str = "characters"
    window: int = DEFAULT_WINDOW
    """Tokens of the context of the models that it is mostly used with."""
    own: int = 0
    """Of the budget, what the skills take that come with the host, always whole."""
    table: int = 0
    """What the table of folders of short paths may take beside the budget; the rest counts."""
    description_chars: int | None = None
    """Characters of one entry's description; what is longer is cut."""
    when_to_use: bool = False
    """The frontmatter's ``when_to_use`` is shown behind the description."""
    hides_manual: bool = False
    """Skills with ``disable-model-invocation`` are not listed."""
    agents: tuple[str, ...] = ()
    """Whose folders of the user's skills it reads (``discovery.AGENT_FOLDERS``); none: unknown."""
    hidden_by: str = ""
    """A file beside SKILL.md that keeps a skill from the model with
    ``policy: {allow_implicit_invocation: false}``."""
    refused_in_names: str = ""
    """Characters: a skill with one of them in its name is not listed, and neither are capitals."""
    remedy: str = ""
    """What its user can set."""
    source: str = ""

    @property
    def by_use(self) -> bool:
        """True when the host keeps what is used most."""
        return self.overflow == LEAST_USED

    def budget(self, window: int | None = None) -> int | None:
        """Return the budget in the host's unit for a context of that many tokens, None for none.

        Without a window it is that of the host's usual models.
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
            agents=("Claude Code",),
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
            agents=("Codex", "agents"),
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
"""The rules by the name of the host."""


def rule_of(host: str) -> ListingRule:
    """Return the rule of that host. Raises UnknownName, listing the known ones."""
    rule = HOSTS.get(host)
    if rule is None:
        raise UnknownName("host", host, HOSTS)
    return rule
