"""How every answer looks, as JSON Schema: the one place that describes them."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMAS"]

Schema = dict[str, Any]


def _text(about: str = "", **more: Any) -> Schema:
    return _said({"type": "string", **more}, about)


def _integer(about: str = "", **more: Any) -> Schema:
    return _said({"type": "integer", **more}, about)


def _number(about: str = "", **more: Any) -> Schema:
    return _said({"type": "number", **more}, about)


def _flag(about: str = "") -> Schema:
    return _said({"type": "boolean"}, about)


def _list(items: Schema, about: str = "") -> Schema:
    return _said({"type": "array", "items": items}, about)


def _map(values: Schema, about: str = "") -> Schema:
    return _said({"type": "object", "additionalProperties": values}, about)


def _ref(name: str, about: str = "") -> Schema:
    return _said({"$ref": f"#/components/schemas/{name}"}, about)


def _maybe(schema: Schema) -> Schema:
    """Return the schema with null as a further value."""
    if "$ref" in schema:
        about = schema.get("description", "")
        return _said({"anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}]}, about)
    return {**schema, "type": [schema["type"], "null"]}


def _said(schema: Schema, about: str) -> Schema:
    return {**schema, "description": about} if about else schema


def _record(about: str, *, optional: tuple[str, ...] = (), **members: Schema) -> Schema:
    """Return an object of exactly these members; those not optional are always there."""
    return {
        "type": "object",
        "description": about,
        "properties": members,
        "required": [name for name in members if name not in optional],
        "additionalProperties": False,
    }


def _schema_name(name: str) -> Schema:
    return _text("Name and version of this shape.", const=name)


_QUERY = _record(
    "The request that was understood.",
    text=_text("The request in words."),
    files=_list(_text(), "Paths in play."),
    recent_activity=_list(_text(), "What was done lately."),
    include_tags=_list(_text(), "Only skills with one of these tags."),
    exclude_tags=_list(_text(), "No skills with one of these tags."),
    include_references=_flag("Whether reference files count."),
)
_DIAGNOSTIC = _record(
    "One finding about one file.",
    code=_text("Identifier of the rule."),
    severity=_text("error, warning or info."),
    path=_text("The file."),
    line=_maybe(_integer("1-based line.")),
    column=_maybe(_integer("1-based column.")),
    message=_text("What is wrong."),
    found=_text("What stood there, shortened."),
    hint=_text("What to do."),
)
_EXPLANATION = _record(
    "One node of the tree behind a score.",
    optional=("note", "parts"),
    label=_text("What this part is."),
    value=_number("Its value."),
    op=_text("How the value follows from the parts."),
    note=_text("What was matched."),
    parts=_list(_ref("Explanation"), "The parts."),
)
_MATCH = _record(
    "One skill of a ranking.",
    optional=("rejected_because", "explanation"),
    name=_text("Its name."),
    id=_text("Its document id."),
    slug=_text("Its short identifier."),
    path=_text("Its file."),
    score=_number("The scorer's score."),
    level=_maybe(_text("The scorer's band for this score.")),
    reason=_text("The grounds of the score in one line."),
    signals=_map(_number(), "The parts of the raw score by label."),
    rejected_because=_text("Why a selection left it out."),
    explanation=_ref("Explanation", "The tree behind the score."),
)
_POLICY = _record(
    "The bounds that were applied.",
    min_score=_number("The floor."),
    top_k=_integer("How many may be chosen."),
)
_DIAGNOSTICS = _list(_ref("Diagnostic"), "What did not load, or loaded with a remark.")
_DIAGNOSTICS_COUNT = _integer("How many remarks there are on the files of the catalog.")
_ADDRESS = _maybe(_text())

_SKILL = _record(
    "One skill with its content.",
    optional=("skipped", "explanation"),
    id=_text("Its short identifier at its source."),
    title=_text("Its title, else its name."),
    description=_maybe(_text("What it is for.")),
    version=_maybe(_text("As its author wrote it.")),
    allowed_tools=_list(_text(), "Tools that its author names; a wish, not a permission."),
    source=_text("owner/repo, a domain, or local."),
    refs=_record(
        "Where a person can look at it.",
        skills_sh=_text("On skills.sh; empty where it is not there."),
        github=_text("Where its folder was read; empty where there is no such address."),
        raw=_said(_ADDRESS, "Its SKILL.md."),
    ),
    install_count=_integer("Installs that the marketplace counts."),
    relevance_score=_number("The ranker's score; 0 where nothing was ranked."),
    content=_maybe(_text("The instructions; null where they were not asked for or not had.")),
    raw_content=_maybe(_text("The text of SKILL.md as it came.")),
    metadata={"type": "object", "description": "Further frontmatter, as its author wrote it."},
    references=_list(
        _record(
            "One Markdown file beside the skill.",
            name=_text("Its file name."),
            path=_text("Below the skill's folder."),
            content=_maybe(_text("Its text.")),
            raw_url=_said(_ADDRESS, "Where it lies."),
        ),
        "Files beside it, where they were asked for.",
    ),
    fetch_error=_maybe(_text("Why there is no content.")),
    name=_text("Its frontmatter name."),
    curated=_flag("Whether a registry lists it as curated."),
    found_by=_list(_text(), "The sources that know it."),
    level=_maybe(_text("The scorer's band for its score.")),
    reason=_text("The grounds of its score in one line."),
    signals=_map(_number(), "The parts of its score by label."),
    digest=_text("SHA-256 of its SKILL.md."),
    commit=_maybe(_text("The commit that it was read at.")),
    age_s=_maybe(_number("How old the content is where its remote could not be asked.")),
    diagnostics=_list(_ref("Diagnostic"), "What was noticed while it was read."),
    skipped=_list(_text(), "Files that were left out, each with the reason."),
    tokens=_integer("Estimated tokens of its instructions and references."),
    omitted=_flag("True where the token budget left out its texts."),
    explanation=_ref("Explanation", "The tree behind its score."),
)
_SEARCH = _record(
    "What a search found, best first.",
    schema=_schema_name("skillyard.search/1"),
    query=_text("The query that was understood."),
    count=_integer("How many skills follow."),
    skills=_list(_ref("Skill"), "The skills."),
    ranker=_text("The scorer that ranked."),
    floor=_maybe(_number("The score from which a skill fits, where the scorer has one.")),
    abstained=_flag("True when no skill reaches the floor."),
    considered=_integer("Different skills that the sources named."),
    partial=_flag("True when a source failed: there may be more."),
    sources=_list(
        _record(
            "What one source did.",
            optional=("code", "message", "retry_after_s"),
            name=_text("Its name."),
            state=_text("ok, partial (some of it failed) or failed."),
            found=_integer("Skills that it named."),
            code=_text("The kind of failure."),
            message=_text("What went wrong."),
            retry_after_s=_number("When it makes sense to ask again."),
        ),
        "Every source that was asked.",
    ),
)
_RANKED = _record(
    "A ranking as it is.",
    optional=("diagnostics",),
    schema=_schema_name("skillyard.rank/1"),
    query=_ref("Query"),
    scorer=_text("The scorer that ranked."),
    matches=_list(_ref("Match"), "Best first."),
    total=_integer("How many skills have a score at all."),
    diagnostics_count=_DIAGNOSTICS_COUNT,
    diagnostics=_DIAGNOSTICS,
)
_SELECTED = _record(
    "A choice, or an abstention.",
    optional=("diagnostics",),
    schema=_schema_name("skillyard.select/1"),
    query=_ref("Query"),
    scorer=_text("The scorer that ranked."),
    policy=_ref("Policy"),
    selected=_list(_ref("Match"), "The skills that were chosen."),
    maybe=_list(_ref("Match"), "Where nothing was chosen, skills that come near."),
    rejected=_list(_ref("Match"), "The best of the others, each with its reason."),
    considered=_integer("How many skills were looked at."),
    abstained=_flag("True when nothing passed."),
    fallback=_flag("True when the generalist was taken."),
    menu=_list(_text(), "Ids of skills too close to choose between."),
    question=_text("What to ask the user then."),
    diagnostics_count=_DIAGNOSTICS_COUNT,
    diagnostics=_DIAGNOSTICS,
)
_EVALUATED = _record(
    "The documented answer of skill_evaluate.",
    schema=_schema_name("skillyard.evaluate/1"),
    results=_list(
        _record(
            "One recommendation.",
            skillName=_text("The skill."),
            confidence=_number("0 to 1."),
            level=_text("high, medium or low."),
            reason=_text("What matched."),
        ),
        "Best first.",
    ),
    message=_text("The same as Markdown."),
)
_AHEAD = _record(
    "A skill that ranks higher.",
    rank=_integer("Its place."),
    match=_ref("Match"),
    by=_list(
        _record(
            "One signal in which the two differ.",
            signal=_text("Its label."),
            theirs=_number("The other skill's."),
            ours=_number("This skill's."),
            lead=_number("The difference."),
        ),
        "Largest lead first.",
    ),
    because=_text("What decided, where it was not the score."),
)
_WHY = _record(
    "Everything about one skill and one query.",
    schema=_schema_name("skillyard.why/1"),
    query=_ref("Query"),
    scorer=_text("The scorer that ranked."),
    match=_ref("Match"),
    rank=_maybe(_integer("Its place; null where it has none.")),
    total=_integer("How many skills have a score."),
    before=_integer("How many of them go before it."),
    policy=_ref("Policy"),
    chosen=_flag("Whether the scorer's own policy would choose it."),
    ahead=_list(_ref("Ahead"), "The best of the skills before it."),
    hints=_list(_text(), "What the numbers do not show."),
    sentences=_list(_text(), "What matched, what came close and what the floor did, for people."),
)
_HEALTH = _record(
    "The true state of the service.",
    status=_text(
        "healthy; degraded (it answers, and something failed); or, with 503, starting, unavailable,"
        " stopping."
    ),
    version=_text("Of the software."),
    cache_stats=_record(
        "What is kept of remote answers.",
        entries=_integer("Answers."),
        bytes=_integer("Of their bodies."),
        oldest=_maybe(_number("Seconds since 1970 of the one confirmed longest ago.")),
    ),
    catalog=_record(
        "The skills of this service.",
        skills=_integer("How many: without copies and convention documents."),
        diagnostics=_integer("Remarks on their files."),
        generation=_integer("Grows by one with each change since the start."),
        digest=_maybe(_text("Names the content; equal on every node with the same files.")),
        reloads=_integer("How often the files had changed."),
        failure=_maybe(_text("The kind of what kept the files from being read last.")),
        counts=_record(
            "What the skills are, and what is not counted among them.",
            skills=_integer("Distinct skills."),
            selectable=_integer("Of the skills: those that a request can choose."),
            by_name_only=_integer("Of the skills: those that only an explicit @name chooses."),
            shadowed=_integer("Of the skills: those that lose to another of the same name."),
            copies=_integer("Further places of skills, with the same bytes."),
            conventions=_integer("AGENTS.md, CLAUDE.md and kin."),
            files=_integer("All files that loaded."),
        ),
    ),
    store=_maybe(
        _record(
            "How the node stands to the store that it follows; null for files.",
            generation=_integer("The generation that answers."),
            head=_integer("The last one that the store is known to have."),
            behind=_integer("How many it is behind that."),
            age_s=_maybe(_number("Seconds since the store last said that nothing is newer.")),
            failure=_maybe(_text("What went wrong when the store was last asked.")),
            taken=_integer("Skills taken over so far by a large change; 0 when there is none."),
            ready=_flag("What /readyz says."),
        )
    ),
    building=_maybe(
        _record(
            "How far the index of a large library is that is made for the first time.",
            done=_integer("Files that the index knows."),
            total=_maybe(_integer("Files in all.")),
            seconds_left=_maybe(_number("About how long it will take.")),
        )
    ),
    sources=_list(
        _record(
            "One source.",
            name=_text("Its name."),
            state=_text("ok, failed, or unasked so far."),
            age_s=_maybe(_number("Seconds since it last answered or failed.")),
            code=_maybe(_text("The kind of failure.")),
            message=_text("What went wrong."),
        ),
        "What the sources last did.",
    ),
    sources_failure=_maybe(_text("What keeps the sources from being there at all.")),
    requests=_record(
        "What is going on.",
        working=_integer("Requests that are worked on."),
        waiting=_integer("Requests that wait."),
    ),
)
_ROOT = _record(
    "Names and links.",
    name=_text("skillyard."),
    version=_text("Of the software."),
    description=_text("What it is for."),
    links=_map(_text(), "Where to go on."),
    routes=_list(
        _record(
            "One route.",
            method=_text("GET or POST."),
            path=_text("Its path."),
            description=_text("What it answers."),
        ),
        "Every route.",
    ),
)
_WELL_KNOWN = {
    "type": "object",
    "description": "The index of discovery draft 0.2.0.",
    "properties": {
        "$schema": _text("Which draft this follows."),
        "skills": _list(
            _record(
                "One skill.",
                name=_text("Its name."),
                type=_text("skill-md, or archive where it has more files."),
                description=_text("What it is for."),
                url=_text("Its SKILL.md or zip archive, relative to this index."),
                digest=_text("sha256: and 64 digits, of the bytes as they are served."),
            ),
            "Every skill that may be fetched, by name.",
        ),
    },
    "required": ["$schema", "skills"],
    "additionalProperties": False,
}
_ERROR_PART = {
    **_record(
        "What went wrong, for programs.",
        optional=("near", "sources"),
        code=_text("Identifier of the error."),
        message=_text("What is wrong."),
        field=_maybe(_text("The field that is wrong.")),
        hint=_text("What to do."),
        near=_list(_text(), "Names or ids that may have been meant."),
        sources=_list({"type": "object"}, "The sources that failed, each with its reason."),
    )
}
_ERROR = _record(
    "Every answer that is not what was asked for.",
    detail=_said(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": _ref("Fault")}]},
        "The message; with 422 a list, one entry for each fault.",
    ),
    error=_ERROR_PART,
)
_FAULT = _record(
    "One thing that is wrong with one field.",
    loc=_list({"type": ["string", "integer"]}, "query, body or path; then the field."),
    msg=_text("What is wrong."),
    type=_text("The kind of fault."),
)

SCHEMAS: dict[str, Schema] = {
    "Ahead": _AHEAD,
    "Diagnostic": _DIAGNOSTIC,
    "Error": _ERROR,
    "Evaluated": _EVALUATED,
    "Explanation": _EXPLANATION,
    "Fault": _FAULT,
    "Health": _HEALTH,
    "Match": _MATCH,
    "Policy": _POLICY,
    "Query": _QUERY,
    "Ranked": _RANKED,
    "Root": _ROOT,
    "SearchResult": _SEARCH,
    "Selected": _SELECTED,
    "Skill": _SKILL,
    "WellKnownIndex": _WELL_KNOWN,
    "Why": _WHY,
}
"""By the names under which routes refer to them."""
