"""The fields of every route's request."""

from __future__ import annotations

from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.serve.runtime.fields import Field
from skillyard.serve.runtime.request_fields import (
    EXCLUDE_TAGS,
    FILES,
    INCLUDE_TAGS,
    LIMIT,
    MIN_SCORE,
    PACKAGE_SCOPE,
    RECENT_ACTIVITY,
    REFERENCES,
    REQUEST_CHARS,
    SCORER,
    SHOW_DETAILS,
    TEXT,
    THRESHOLD,
    TOOLS,
    TOP_K,
    WRONG_COST,
)
from skillyard.serve.runtime.request_fields import FEEDBACK as _FEEDBACK
from skillyard.serve.runtime.skill_lookup import ID_PATTERN, SOURCE_PATTERN

_Q = Field(
    "q",
    "text",
    "What is looked for, in words.",
    True,
    shortest=1,
    longest=200,
    aliases=("query", "text"),
)
_SCORER = SCORER._replace(
    about=f"{SCORER.about} Default: {DEFAULT_SCORER}, or what skillyard.toml says."
)
_RAW = Field(
    "include_raw", "flag", "Bring the text of SKILL.md as it stands in the file.", default=False
)
_EXPLAIN = Field("explain", "flag", "Add the tree behind each score.", default=False)

_SEARCH_REST = (
    LIMIT,
    Field(
        "include_content",
        "flag",
        "Fetch the instructions. Without them nothing is fetched, and every skill is ranked as one"
        " that has none.",
        default=True,
    ),
    _RAW,
    REFERENCES,
    Field(
        "source",
        "texts",
        "Ask these sources only: local (the catalog of this service), or a remote one that its"
        " operator allows: registry, skills.sh, github, well-known, servers, or one that a package"
        " adds. May repeat. Default: all of these.",
        items=20,
        longest=100,
        shortest=1,
        aliases=("sources",),
    ),
    SCORER._replace(about=f"{SCORER.about} Default: the one of the settings."),
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
SEARCH_BODY = (_Q._replace(name="query", aliases=("q", "text")), *_SEARCH_REST)

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
ONE_SKILL = (_RAW, REFERENCES)

_DIAGNOSTICS = Field(
    "diagnostics", "flag", "List what did not load, or loaded with a remark.", default=False
)
_QUERY = (
    TEXT._replace(name="q", default="", aliases=("query", "text")),
    FILES,
    RECENT_ACTIVITY,
    INCLUDE_TAGS,
    EXCLUDE_TAGS,
    REFERENCES,
    PACKAGE_SCOPE,
    TOOLS,
)

RANK = (*_QUERY, _SCORER, LIMIT, _EXPLAIN, _DIAGNOSTICS)
FEEDBACK = (
    NAME._replace(about="The skill's exact name, id or slug.", shortest=1),
    *_FEEDBACK,
)
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
    TEXT._replace(default="", aliases=("query", "q")),
    FILES,
    RECENT_ACTIVITY,
    INCLUDE_TAGS,
    EXCLUDE_TAGS,
    REFERENCES,
    PACKAGE_SCOPE,
    TOOLS,
    _SCORER,
    TOP_K,
    MIN_SCORE,
    WRONG_COST,
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
    TEXT._replace(aliases=("query", "q")),
    FILES,
    RECENT_ACTIVITY,
    THRESHOLD,
    LIMIT,
    SHOW_DETAILS,
)

_PAGE_SCORER = _SCORER._replace(about="The scorer that ranks. Default: the one of the service.")
PAGE_SEARCH = (
    Field(
        "q",
        "text",
        "What is looked for; without it the page shows the form.",
        longest=REQUEST_CHARS,
    ),
    Field("source", "texts", "Ask these sources only. May repeat.", items=20, longest=100),
    _PAGE_SCORER,
    LIMIT,
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
