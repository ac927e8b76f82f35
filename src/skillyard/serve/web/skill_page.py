"""The page of one skill: its instructions, files, prompt block, and the reasons of its rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.base.text import plural
from skillyard.engine.context.activation import prompt_block
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.operations.skill_explanation import Ahead, Why
from skillyard.engine.resources import Resource
from skillyard.engine.skill import SKILL_FIELDS, Reference, SkillField
from skillyard.install.search import FoundSkill
from skillyard.serve.web.addresses import (
    LOCAL,
    browse_address,
    fits,
    install_line,
    local_address,
    place_of,
    search_address,
    skill_address,
)
from skillyard.serve.web.layout import document
from skillyard.serve.web.markdown import RenderedText, render_markdown, source_block
from skillyard.serve.web.markup import Content, Markup, concat, outward, tag
from skillyard.serve.web.parts import copy_button, copy_line, facts, lead, note, text_of
from skillyard.serve.web.scale import scale_of
from skillyard.serve.web.signals import evidence, score_badge, score_bar, signal_bars, tree
from skillyard.serve.web.words import failure_words, number, score_words, title_words

DESCRIPTION = 2_000
MAX_FILES = 200
"""Maximum number of listed files."""
REMARKS = 20


class SkillView(NamedTuple):
    """The content of the page of one skill, and the request it was found with."""

    found_skill: FoundSkill
    """With its text in ``raw`` and its Markdown files in ``skill.references``."""
    resources: tuple[Resource, ...] = ()
    """Its other files, if they are available."""
    query: str = ""
    scorer: str = ""
    why: Why | None = None
    """Its rank in the catalog for the query; None without a query, and for remote skills."""
    source: bool = False
    """Show the source of the file."""
    file: str = ""
    """Path of the Markdown file to show instead of the instructions."""


def skill_page(view: SkillView) -> bytes:
    """Return the page."""
    skill = view.found_skill.skill
    name = text_of(skill.title or skill.name) or "(no name)"
    return document(
        name,
        _back(view),
        tag("h1", name, dir="auto"),
        lead(text_of(skill.description, DESCRIPTION)),
        _facts(view.found_skill),
        _copies(view.found_skill),
        _reasons(view),
        _text(view),
        _files(view),
        _block(view.found_skill),
        _remarks(view.found_skill),
    )


def _back(view: SkillView) -> Markup:
    if not view.query:
        return tag("p", tag("a", "← Search", href="/", id="back"), class_="back")
    address = search_address(view.query, scorer=view.scorer)
    return tag(
        "p",
        tag(
            "a",
            "← Results for “",
            tag("bdi", text_of(view.query, 80)),
            "”",
            href=address,
            id="back",
        ),
        class_="back",
    )


def _facts(found_skill: FoundSkill) -> Markup | None:
    skill, hit, package = found_skill.skill, found_skill.hit, found_skill.package
    outside = outward(package.url) if package is not None else None
    lives: Content = "this catalog" if place_of(hit) == LOCAL else text_of(hit.source)
    if outside is not None:
        lives = tag("a", lives, href=outside, rel="noopener noreferrer nofollow")
    return facts(
        (
            ("Source", lives),
            *((each.page, _fact(found_skill, each)) for each in SKILL_FIELDS.values() if each.page),
            ("Installs", f"{hit.install_count:,}" if hit.install_count > 0 else ""),
            ("Commit", tag("code", package.commit[:12]) if package and package.commit else ""),
            ("Content hash", tag("code", skill.hash[:16])),
        )
    )


def _fact(found_skill: FoundSkill, each: SkillField) -> Content:
    """Return the skill's value of a field."""
    if each.name == "tags":
        return _tags(found_skill)
    value = getattr(found_skill.skill, each.name)
    return _join_texts(value) if isinstance(value, tuple) else text_of(str(value or ""), 500)


def _tags(found_skill: FoundSkill) -> Content:
    """Return the tags; those of the catalog's skills link to the other skills with them."""
    if place_of(found_skill.hit) != LOCAL:
        return _join_texts(found_skill.skill.tags)
    links = [tag("a", text_of(each), href=browse_address(each)) if fits(browse_address(each))
             else tag("span", text_of(each)) for each in found_skill.skill.tags]  # fmt: skip
    return [concat(", " if place else "", link) for place, link in enumerate(links)]


def _join_texts(texts: Iterable[str]) -> str:
    return ", ".join(text_of(text) for text in texts)


def _copies(found_skill: FoundSkill) -> Markup:
    hit = found_skill.hit
    place = hit.id if hit.source == LOCAL else f"{hit.source}/{hit.id}"
    line = install_line(hit)
    return tag(
        "div",
        copy_line("id", text_of(place, 600)),
        copy_line("install line", line) if line else None,
        class_="copies",
    )


def _reasons(view: SkillView) -> Markup | None:
    if view.why is None:
        return _explanation_link(view)
    why, match = view.why, view.why.match
    scale = scale_of(why.scorer)
    return tag(
        "section",
        tag("h2", "Why this rank", id="why"),
        lead(_rank_sentence(why)),
        tag("p", why.note) if why.note else None,
        score_badge(match.score, match.level),
        score_bar(match.score, scale, why.min_score),
        signal_bars(match.signals, scale),
        evidence(match),
        tag("ul", [tag("li", text_of(hint, 500)) for hint in why.hints]) if why.hints else None,
        _ahead(view, why.ahead),
        tag("details", tag("summary", "Every term of the score"), tree(match.explanation)),
        aria_labelledby="why",
    )


def _explanation_link(view: SkillView) -> Markup | None:
    """Return a link to the explanation of the rank of a remote skill."""
    if not view.query:
        return None
    address = search_address(view.query, scorer=view.scorer)
    return tag(
        "p",
        "It is ranked among what a search finds: ",
        tag("a", "the results say why it stands where it stands", href=address),
        ".",
        class_="aside after",
    )


def _rank_sentence(why: Why) -> str:
    among = plural(why.total, "skill")
    if why.rank is None:
        place = f"It is not among the {among} with a score."
    else:
        place = f"It ranks {why.rank:,} of {among} with a score, by {why.scorer}."
    verdict = "It would be chosen" if why.chosen else "It would not be chosen"
    return f"{place} {verdict}: a choice takes up to {why.top_k} that reach {why.min_score:.3g}."


def _ahead(view: SkillView, ahead: Sequence[Ahead]) -> Markup | None:
    if not ahead:
        return None
    rows = []
    for each in ahead:
        skill = each.match.skill
        address = local_address(skill.id, view.query, view.scorer)
        name = text_of(skill.title or skill.name)
        leads = ", ".join(
            f"{title_words(signal.label)} {number(signal.theirs)} to {number(signal.ours)}"
            for signal in each.signals
            if signal.lead > 0
        )
        rows.append(
            tag(
                "li",
                tag("a", name, href=address, dir="auto") if address else name,
                f" ({score_words(each.match.score)})",
                f": {leads}" if leads else None,
                f"; {each.because}" if each.because else None,
                value=each.rank,
            )
        )
    return concat(tag("h3", "What ranks higher"), tag("ol", rows, class_="ahead"))


def _text(view: SkillView) -> Markup:
    heading, content, links = _representation(view)
    return tag(
        "section",
        tag(
            "div",
            tag("h2", heading, id="text", dir="auto"),
            tag("ul", [tag("li", link) for link in links], class_="views") if links else None,
            class_="head",
        ),
        note(f"This text is {content.note}.") if content.note else None,
        tag("div", content.html, class_="prose", dir="auto"),
        aria_labelledby="text",
    )


def _representation(view: SkillView) -> tuple[str, RenderedText, list[Markup]]:
    """Return the heading, the text, and links to the other representations."""
    skill = view.found_skill.skill
    whole, source = _address(view), _address(view, view="source")
    if view.file:
        reference = next((r for r in skill.references if r.path == view.file), None)
        if reference is not None and reference.content is not None:
            # Relative links are resolved against this file.
            content = render_markdown(reference.content, lambda path: _file(view, path, view.file))
            return text_of(reference.path), content, [_link("Instructions", whole)]
        missing = lead(f"There is no Markdown file {text_of(view.file)!r} beside this skill.")
        return "Instructions", RenderedText(missing), [_link("Instructions", whole)]
    if view.source:
        raw = view.found_skill.raw or skill.body or ""
        return "SKILL.md", RenderedText(source_block(raw)), [_link("Rendered", whole)]
    if skill.body is None:
        failure = view.found_skill.failure
        words = (
            failure_words(failure.code, failure.retry_after_s) if failure else "they are not here"
        )
        return (
            "Instructions",
            RenderedText(note(f"They could not be had: {words}.", kind="bad")),
            [],
        )
    if not skill.body.strip():
        return "Instructions", RenderedText(lead("This skill has none.")), [_link("Source", source)]
    return (
        "Instructions",
        render_markdown(skill.body, lambda path: _file(view, path)),
        [_link("Source", source)],
    )


def _link(name: str, address: str | None) -> Markup:
    return tag("a", name, href=f"{address}#text") if address else tag("span", name)


def _address(page: SkillView, /, **values: str) -> str | None:
    """Return this page's address with another representation."""
    hit = page.found_skill.hit
    return skill_address(place_of(hit), hit.id, q=page.query, scorer=page.scorer, **values)


def _file(view: SkillView, path: str, beside: str = "") -> str | None:
    """Return the page of a Markdown file of the skill; ``beside`` is the file that links to it."""
    folder = beside.rpartition("/")[0]
    for candidate in (f"{folder}/{path}" if folder else path, path):
        if any(reference.path == candidate for reference in view.found_skill.skill.references):
            return _address(view, file=candidate)
    return None


def _files(view: SkillView) -> Markup | None:
    read = {reference.path: reference for reference in view.found_skill.skill.references}
    sizes = {resource.path: resource for resource in view.resources}
    paths = sorted({*read, *sizes})
    if not paths:
        return None
    rows = [_file_row(view, path, read.get(path), sizes.get(path)) for path in paths[:MAX_FILES]]
    more = len(paths) - len(rows)
    return tag(
        "section",
        tag("h2", "Files", id="files"),
        tag("ul", rows, class_="files"),
        tag("p", f"and {more:,} more", class_="aside") if more else None,
        aria_labelledby="files",
    )


def _file_row(
    view: SkillView, path: str, reference: Reference | None, resource: Resource | None
) -> Markup:
    label = tag("code", text_of(path, 300), dir="ltr")
    address = _address(view, file=path) if reference is not None else None
    size = resource.size if resource is not None else None
    if size is None and reference is not None and reference.content is not None:
        size = len(reference.content.encode("utf-8", "replace"))
    kind = resource.kind if resource is not None else "reference"
    return tag(
        "li",
        tag("a", label, href=f"{address}#text") if address else label,
        " ",
        tag("span", kind, "" if size is None else f", {_bytes(size)}", class_="aside"),
    )


def _bytes(size: int) -> str:
    if size < 1_024:
        return plural(size, "byte")
    return f"{size / 1_024:,.1f} KiB" if size < 1_024**2 else f"{size / 1_024**2:,.1f} MiB"


def _block(found_skill: FoundSkill) -> Markup | None:
    if found_skill.skill.body is None:
        return None
    block = prompt_block(found_skill.skill)
    about = (
        f"What a model reads when this skill is chosen: about {estimate_tokens(block):,} tokens."
    )
    return tag(
        "section",
        tag(
            "div",
            tag("h2", "Prompt block", id="block"),
            copy_button(" prompt block", source="block-text"),
            class_="head",
        ),
        lead(about),
        tag(
            "details",
            tag("summary", "Show it"),
            tag("pre", block, id="block-text", class_="source", tabindex=0, dir="auto"),
        ),
        aria_labelledby="block",
    )


def _remarks(found_skill: FoundSkill) -> Markup | None:
    skipped = () if found_skill.package is None else found_skill.package.skipped
    remarks = [*(f"{d.severity}: {d.message}" for d in found_skill.diagnostics), *skipped]
    if not remarks:
        return None
    rows = [tag("li", text_of(remark, 500)) for remark in remarks[:REMARKS]]
    return tag(
        "section",
        tag("h2", "Remarks on its files", id="remarks"),
        tag("ul", rows),
        aria_labelledby="remarks",
    )
