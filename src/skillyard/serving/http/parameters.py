"""The fields of every route's request."""

from __future__ import annotations

from skillyard.ranking.registry import BUILT_IN, DEFAULT_SCORER
from skillyard.serving.http.fields import Field
from skillyard.serving.runtime.skill_lookup import ID_PATTERN, SOURCE_PATTERN

__all__ = [
    "EVALUATE",
    "ID",
    "NAME",
    "ONE_SKILL",
    "PAGE_BROWSE",
    "PAGE_EVALUATE",
    "PAGE_SEARCH",
    "PAGE_SKILL",
    "RANK",
    "SEARCH",
    "SEARCH_BODY",
    "SELECT",
    "SOURCE",
    "VERSION",
    "WHY",
]

REQUEST_CHARS = 20_000
"""A request in words: prompts that carry a page of text pass."""

_Q = Field("q", "text", "What is looked for, in words.", True, shortest=1, longest=200)
_LIMIT = Field("limit", "integer", "How many skills to return.", default=10, least=1, most=50)
_REFERENCES = Field(
    "include_references",
    "flag",
    "Bring the Markdown files beside each skill, and rank with them where the scorer does.",
    default=False,
)
_RAW = Field(
    "include_raw", "flag", "Bring the text of SKILL.md as it stands in the file.", default=False
)
_EXPLAIN = Field("explain", "flag", "Add the tree behind each score.", default=False)
_SCORER = Field(
    "scorer",
    "text",
    f"The scorer that ranks: {', '.join(BUILT_IN)}, or one that a package adds.",
    default=DEFAULT_SCORER,
    shortest=1,
    longest=100,
)

_SEARCH_REST = (
    _LIMIT,
    Field(
        "include_content",
        "flag",
        "Fetch the instructions. Without them nothing is fetched, and every skill is ranked as one"
        " that has none.",
        default=True,
    ),
    _RAW,
    _REFERENCES,
    Field(
        "source",
        "texts",
        "Ask these sources only: registry, skills.sh, github, well-known, servers, local (the"
        " catalog of this service), or one that a package adds. May repeat.",
        items=20,
        longest=100,
        shortest=1,
        alias="sources",
    ),
    _SCORER._replace(default=None, about=f"{_SCORER.about} Default: the one of the settings."),
    _EXPLAIN,
    Field(
        "cards",
        "integer",
        "A token budget for instructions: the best skills keep theirs while they fit, the others"
        " come as cards that say how many tokens they left out. 0 gives cards only.",
        least=0,
        most=10_000_000,
    ),
)
SEARCH = (_Q, *_SEARCH_REST)
SEARCH_BODY = (_Q._replace(name="query", alias="q"), *_SEARCH_REST)

NAME = Field(
    "name",
    "text",
    "A skill's exact name, id or slug; or owner/repo/id.",
    True,
    longest=500,
)
SOURCE = Field(
    "source",
    "text",
    "owner/repo, a domain, or local for the catalog of this service.",
    True,
    shortest=1,
    longest=300,
    pattern=SOURCE_PATTERN,
)
ID = Field(
    "id",
    "text",
    "The skill's short identifier there.",
    True,
    shortest=1,
    longest=200,
    pattern=ID_PATTERN,
)
ONE_SKILL = (_RAW, _REFERENCES)

_FILES = Field(
    "files",
    "texts",
    "Paths in play; compared with file patterns, never opened. May repeat.",
    items=200,
)
_RECENT = Field(
    "recent_activity",
    "texts",
    "What was done lately, in words. May repeat.",
    items=200,
    alias="recentActivity",
)
_TEXT = Field("text", "text", "The request in words.", longest=REQUEST_CHARS)
_INCLUDE_TAGS = Field("include_tags", "texts", "Keep only skills with one of these tags.")
_EXCLUDE_TAGS = Field("exclude_tags", "texts", "Leave out skills with one of these tags.")
_DIAGNOSTICS = Field(
    "diagnostics", "flag", "List what did not load, or loaded with a remark.", default=False
)
_QUERY = (
    Field("q", "text", "The request in words.", longest=REQUEST_CHARS, default=""),
    _FILES,
    _RECENT,
    _INCLUDE_TAGS,
    _EXCLUDE_TAGS,
    _REFERENCES,
)

RANK = (*_QUERY, _SCORER, _LIMIT, _EXPLAIN, _DIAGNOSTICS)
WHY = (
    NAME._replace(about="The skill's exact name, id or slug.", shortest=1),
    *_QUERY,
    _SCORER,
    Field(
        "limit",
        "integer",
        "How many of the skills that rank higher to compare.",
        default=5,
        least=0,
        most=50,
    ),
    _EXPLAIN,
)
SELECT = (
    _TEXT._replace(default="", alias="query"),
    _FILES,
    _RECENT,
    _INCLUDE_TAGS,
    _EXCLUDE_TAGS,
    _REFERENCES,
    _SCORER,
    Field(
        "top_k",
        "integer",
        "How many skills may be chosen. Default: as the scorer's document says.",
        least=0,
        most=50,
    ),
    Field(
        "min_score",
        "number",
        "The score that a skill must reach. Default: as the scorer's document says.",
    ),
    Field(
        "wrong_cost",
        "number",
        "What a wrong skill costs where a missed one costs 1; the score to reach follows from it."
        " Default: as the scorer's document says, 2 for hybrid. Not with min_score.",
    ),
    Field("fallback_tag", "text", "The tag of the skill to take when none reaches it.", shortest=1),
    Field(
        "limit",
        "integer",
        "How many of the skills that were not chosen to name.",
        default=10,
        least=0,
        most=10,
    ),
    _EXPLAIN,
    _DIAGNOSTICS,
)
EVALUATE = (
    _TEXT,
    _FILES,
    _RECENT,
    Field(
        "threshold",
        "number",
        "The confidence that a skill must reach.",
        default=0.3,
        least=0,
        most=1,
    ),
    _LIMIT,
    Field(
        "show_details",
        "flag",
        "Say in the message what matched.",
        default=False,
        alias="showDetails",
    ),
)

_PAGE_SCORER = _SCORER._replace(default=None, about="The scorer that ranks. Default: hybrid.")
PAGE_SEARCH = (
    Field(
        "q",
        "text",
        "What is looked for; without it the page shows the form.",
        longest=REQUEST_CHARS,
    ),
    Field("source", "texts", "Ask these sources only. May repeat.", items=20, longest=100),
    _PAGE_SCORER,
    _LIMIT,
    Field(
        "live",
        "flag",
        "Asked while a person types: the catalog of this service alone answers.",
        default=False,
    ),
)
PAGE_SKILL = (
    Field("q", "text", "The query whose ranking is explained.", default="", longest=REQUEST_CHARS),
    _PAGE_SCORER,
    Field(
        "view",
        "text",
        "How the skill is shown: rendered, or as the source of its file.",
        default="rendered",
        choices=("rendered", "source"),
    ),
    Field("file", "text", "The Markdown file to show in place of SKILL.md.", default=""),
)
PAGE_EVALUATE = (
    _TEXT._replace(default=""),
    Field("files", "text", "Paths in play, one a line.", default="", longest=REQUEST_CHARS),
)
PAGE_BROWSE = (
    Field("tag", "text", "List the skills with this tag alone.", default="", longest=200),
    Field(
        "page",
        "integer",
        "Which page of the list; beyond the last one it is the last.",
        default=1,
        least=1,
        most=1_000_000,
    ),
)
VERSION = Field("v", "text", "The hash of the content, so that it may be kept for good.")
