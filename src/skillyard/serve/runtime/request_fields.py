"""The fields that requests over HTTP and tools of MCP share: names, kinds, bounds and defaults.

A surface describes a field in its own words with ``_replace(about=…)``.
"""

from __future__ import annotations

from skillyard.engine.ranking.registry import BUILT_IN
from skillyard.hosts.decisions.feedback_file import MAX_NOTE_CHARS, MAX_REQUEST_CHARS
from skillyard.serve.runtime.fields import Field

REQUEST_CHARS = 20_000
"""A request in words: prompts that carry a page of text pass."""

TEXT = Field("text", "text", "The request in words.", longest=REQUEST_CHARS)
FILES = Field(
    "files",
    "texts",
    "Paths in play; compared with file patterns, never opened. May repeat.",
    items=200,
)
RECENT_ACTIVITY = Field(
    "recent_activity",
    "texts",
    "What was done lately, in words. May repeat.",
    items=200,
    aliases=("recentActivity",),
)
INCLUDE_TAGS = Field("include_tags", "texts", "Keep only skills with one of these tags.")
EXCLUDE_TAGS = Field("exclude_tags", "texts", "Leave out skills with one of these tags.")
TOOLS = Field(
    "tools",
    "texts",
    "Names of the tools that the caller has: skills that require others are not chosen. May repeat."
    " Without any, tools are not checked.",
    items=1_000,
)
REFERENCES = Field(
    "include_references",
    "flag",
    "Bring the Markdown files beside each skill, and rank with them where the scorer does.",
    default=False,
)
PACKAGE_SCOPE = Field(
    "package_scope",
    "flag",
    "With files: skills below packages/a count for files below it only.",
    default=False,
)
SCORER = Field(
    "scorer",
    "text",
    f"The scorer that ranks: {', '.join(BUILT_IN)}, or one that a package adds.",
    shortest=1,
    longest=100,
)
LIMIT = Field("limit", "integer", "How many skills to return.", default=10, least=1, most=50)
TOP_K = Field(
    "top_k",
    "integer",
    "How many skills may be chosen. Default: as the scorer's document says.",
    least=0,
    most=50,
)
MIN_SCORE = Field(
    "min_score",
    "number",
    "The score that a skill must reach. Default: as the scorer's document says.",
)
WRONG_COST = Field(
    "wrong_cost",
    "number",
    "What a wrong skill costs where a missed one costs 1; the score to reach follows from it."
    " Default: as the scorer's document says, 2 for hybrid. Not with min_score.",
    above=0,
)
FEEDBACK = (
    Field("right", "flag", "False when the skill was wrong for the request.", True),
    Field(
        "request",
        "text",
        "The request that it was selected for; the judgement counts for similar ones.",
        True,
        shortest=1,
        longest=MAX_REQUEST_CHARS,
    ),
    Field("note", "text", "Why, for the owner of the library.", longest=MAX_NOTE_CHARS),
)
"""The fields of a judgement besides the name of the skill."""
THRESHOLD = Field(
    "threshold", "number", "The confidence that a skill must reach.", default=0.3, least=0, most=1
)
SHOW_DETAILS = Field(
    "show_details",
    "flag",
    "Say in the message what matched.",
    default=False,
    aliases=("showDetails",),
)
