"""The requests that only HTTP takes: searches, single skills, and the forms of the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from skillyard.base.operation import Bounds, Operation, Spelling
from skillyard.engine.ranking.match import REQUEST_CHARS
from skillyard.engine.ranking.registry import BUILT_IN
from skillyard.install.sources.repository import REPOSITORY_PATTERN

_DOMAIN = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?"
SOURCE_PATTERN = rf"^(?:{REPOSITORY_PATTERN}|{_DOMAIN})$"
"""``owner/repo``, or a domain; ``local`` looks like one."""
ID_PATTERN = r"^(?!\.{1,2}$)(?=.*\S)[^/\\\x00-\x1f\x7f]+$"

_SCORER = f"How to score: {', '.join(BUILT_IN)}, or a plugin's (default: the one that is set)."


@dataclass(frozen=True, kw_only=True)
class OneSkillRequest:
    """One skill, by its name or by its source and id."""

    include_raw: Annotated[
        bool, "Bring the text of SKILL.md as it stands in the file.", Spelling(on=("http",))
    ] = False
    include_references: Annotated[
        bool,
        "Bring the Markdown files beside each skill, and rank with them where the scorer does.",
        Spelling(flag="--references"),
    ] = False


@dataclass(frozen=True, kw_only=True)
class SearchRequest(OneSkillRequest):
    """A search of the catalog and of the remote sources."""

    query: Annotated[
        str,
        "What is looked for, in words.",
        Bounds(shortest=1, longest=200),
        Spelling(("q", "text"), metavar="QUERY", by_place=True),
    ]
    limit: Annotated[
        int, "How many skills to return.", Bounds(least=1, most=50), Spelling(metavar="K")
    ] = 10
    include_content: Annotated[
        bool,
        "Fetch the instructions. Without them nothing is fetched, and every skill is ranked as one"
        " that has none.",
        Spelling(on=("http",)),
    ] = True
    source: Annotated[
        tuple[str, ...],
        "Ask these sources only: local (the catalog), or a remote one that is allowed here:"
        " registry, skills.sh, github, well-known, or one that a package adds (default:"
        " all that are enabled).",
        Bounds(items=20, longest=100, shortest=1),
        Spelling(("sources",), metavar="SOURCE"),
    ] = ()
    scorer: Annotated[
        str | None, _SCORER, Bounds(shortest=1, longest=100), Spelling(metavar="NAME")
    ] = None
    explain: Annotated[bool, "Add the tree behind each score."] = False
    cards: Annotated[
        int | None,
        "A token budget for instructions: the best skills keep theirs while they fit, the others"
        " come as cards that say how many tokens they left out. 0 gives cards only.",
        Bounds(least=0, most=10_000_000),
        Spelling(on=("http",)),
    ] = None


SEARCH = Operation(
    "search",
    "Search the catalog and the remotes; best first, each with its content.",
    SearchRequest,
    ("GET", "/search"),
)


@dataclass(frozen=True, kw_only=True)
class NamedPath:
    """A path with a name in it."""

    name: Annotated[str, "A skill's exact name, id or slug; or owner/repo/id.", Bounds(longest=500)]


@dataclass(frozen=True, kw_only=True)
class SourcePath:
    """A path with a source and an id in it."""

    source: Annotated[
        str,
        "owner/repo, a domain, or local for the catalog of this service.",
        Bounds(shortest=1, longest=300, pattern=SOURCE_PATTERN),
    ]
    id: Annotated[
        str,
        "The skill's short identifier there.",
        Bounds(shortest=1, longest=200, pattern=ID_PATTERN),
    ]


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """The search page."""

    q: Annotated[
        str | None,
        "What is looked for; without it the page shows the form.",
        Bounds(longest=REQUEST_CHARS),
    ] = None
    source: Annotated[
        tuple[str, ...], "Ask these sources only. May repeat.", Bounds(items=20, longest=100)
    ] = ()
    scorer: Annotated[str | None, _SCORER, Bounds(shortest=1, longest=100)] = None
    limit: Annotated[int, "How many skills to return.", Bounds(least=1, most=50)] = 10
    live: Annotated[
        bool, "Asked while a person types: the catalog of this service alone answers."
    ] = False


@dataclass(frozen=True, kw_only=True)
class SkillPage:
    """The page of one skill."""

    q: Annotated[str, "The query whose ranking is explained.", Bounds(longest=REQUEST_CHARS)] = ""
    scorer: Annotated[str | None, _SCORER, Bounds(shortest=1, longest=100)] = None
    file: Annotated[str, "The Markdown file to show in place of SKILL.md."] = ""
