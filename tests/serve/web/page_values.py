"""Values that pages are made of, as the use cases would give them."""

from __future__ import annotations

from typing import Any

import skillyard as sy
from skillyard import Diagnostic, Query, Skill
from skillyard.engine.operations.skill_explanation import why_skill
from skillyard.engine.resources import Resource
from skillyard.errors import SourceFailed
from skillyard.hosts.operations.skill_selection import select_skills
from skillyard.install.search import FoundSkill, SourceStatus
from skillyard.install.sources.protocol import Hit, Package
from skillyard.serve.web.rendering import environment
from skillyard.serve.web.search_page import Question, SearchOffer, results_page
from skillyard.serve.web.skill_page import SkillView, skill_page
from skillyard.types import Reference, SearchResult

OFFER = SearchOffer(("local", "skills.sh"), ("hybrid", "overlap"), "hybrid")


def pages_of(text: str) -> list[bytes]:
    """Return every page with the text in every place that somebody else fills."""
    skill = Skill(
        text or "x", text, text, "skills/x/SKILL.md", slug=text or "x", title=text, version=text,
        license=text, compatibility=text, tags=(text,), keywords=(text,), allowed_tools=(text,),
        safety_notes=(text,), source=text,
        references=(Reference(text, text, text), Reference("b", "b.md", text)),
        metadata={text: text},
    )  # fmt: skip
    other = sy.Skill("other", f"Words {text}", text, "skills/y/SKILL.md")
    catalog = sy.Catalog.from_skills([skill, other])
    query = Query(f"words {text}")
    selected = select_skills(catalog, query, scorer="overlap")
    hit = Hit(text or "x", text or "x", text, name=text, install_count=3, curated=True)
    package = Package({}, text, text, text, text, text, skipped=(text,))
    said = Diagnostic(code="x", severity="warning", path=text, message=text)
    failure = SourceFailed("rate_limited", text, retry_after_s=40)
    found = FoundSkill(skill, hit, (text, "x"), None, package, text, (said,), failure)
    ranked = [
        found._replace(match=match, skill=match.skill)
        for match in sy.rank(catalog, query.text, scorer="overlap")
    ]
    statuses = (SourceStatus(text, "failed", 0, text, text, 3.0), SourceStatus("local", "ok", 2))
    result = SearchResult(query.text, (found, *ranked), statuses, text, 2)
    asked = Question(text, (text,), text, 7, live=True)
    why = why_skill(catalog, catalog.skills[0].id, query, scorer="overlap")
    listed = (Resource(text, 3, text), Resource("b.md", 3, "reference"))
    views = (
        SkillView(found, listed, text, text, why),
        SkillView(found, listed, "", "", None, text),
        SkillView(found._replace(skill=skill.replace(body=None))),
    )
    return [results_page(OFFER, asked, result, selected), *(skill_page(view) for view in views)]


def example() -> SearchResult:
    """Return what a search of one catalog and three remotes might give, the same each time."""
    skills = [
        sy.Skill("pdf-forms", "Fills in PDF forms.", "Look at the form.", "s/pdf-forms/SKILL.md"),
        sy.Skill("pdf-tables", "Extracts tables from PDF files.", "Use a ruler.", "s/t/SKILL.md",
                 slug="tables", source="acme/skills", install_count=1_200),
        sy.Skill("forms", "A form on paper & more <b>.", None, "s/forms/SKILL.md"),
    ]  # fmt: skip
    hits = {
        "pdf-forms": Hit("local", "pdf-forms", "local"),
        "pdf-tables": Hit("acme/skills", "tables", "skills.sh", install_count=1_200, curated=True),
        "forms": Hit("docs.example", "forms", "well-known"),
    }
    found = [
        FoundSkill(match.skill, hits[match.skill.name], (hits[match.skill.name].found_by,), match,
                   failure=SourceFailed("timeout", "x") if match.skill.body is None else None)
        for match in sy.rank(skills, "fill in a pdf form", scorer="overlap")
    ]  # fmt: skip
    return SearchResult("fill in a pdf form", tuple(found), statuses(), "overlap", 3)


def statuses() -> tuple[SourceStatus, ...]:
    return (
        SourceStatus("local", "ok", 1),
        SourceStatus("skills.sh", "ok", 1),
        SourceStatus("github", "failed", 0, "rate_limited", "slow down", 40.0),
        SourceStatus("well-known", "partial", 1, "unreachable", "no route"),
    )


def macro(name: str, *arguments: Any) -> str:
    """Return a part of the pages, as a template would show it."""
    made = getattr(environment().get_template("macros.html").module, name)(*arguments)
    return str(made).strip()
