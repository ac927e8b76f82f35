"""The page of one skill: its instructions, files, prompt block, and the reasons of its rank."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from skillyard.engine.context.activation import prompt_block
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.operations.skill_explanation import WhyResult
from skillyard.engine.resources import Resource
from skillyard.engine.skill import SKILL_FIELDS
from skillyard.install.search import FoundSkill
from skillyard.serve.web.addresses import place_of, skill_address
from skillyard.serve.web.markdown import render_markdown
from skillyard.serve.web.rendering import render, text_of
from skillyard.serve.web.words import failure_words, scale_of


class SkillView(NamedTuple):
    """The content of the page of one skill, and the request it was found with."""

    found_skill: FoundSkill
    """With its Markdown files in ``skill.references``."""
    resources: tuple[Resource, ...] = ()
    """Its other files, if they are available."""
    query: str = ""
    scorer: str = ""
    why: WhyResult | None = None
    """Its rank in the catalog for the query; None without a query, and for remote skills."""
    file: str = ""
    """Path of the Markdown file to show instead of the instructions."""

    def address(self, **values: str) -> str | None:
        """Return the page's address with another representation."""
        hit = self.found_skill.hit
        return skill_address(place_of(hit), hit.id, q=self.query, scorer=self.scorer, **values)

    def file_address(self, path: str, beside: str = "") -> str | None:
        """Return the page of a Markdown file; ``beside`` is the file that links to it."""
        folder = beside.rpartition("/")[0]
        for candidate in (f"{folder}/{path}" if folder else path, path):
            if any(each.path == candidate for each in self.found_skill.skill.references):
                return self.address(file=candidate)
        return None


class _Text(NamedTuple):
    """The shown text of a skill, or what is said in its place, and a link to another text."""

    heading: str = "Instructions"
    html: Markup | None = None
    note: str = ""
    missing: str = ""
    failure: str = ""
    link: str = ""
    address: str | None = None


class _File(NamedTuple):
    path: str
    kind: str
    size: int | None
    address: str | None


def skill_page(view: SkillView) -> bytes:
    """Return the page."""
    found = view.found_skill
    block = None if found.skill.body is None else prompt_block(found.skill)
    skipped = () if found.package is None else found.package.skipped
    return render(
        "skill.html",
        view=view,
        skill_fields=SKILL_FIELDS.values(),
        scale=None if view.why is None else scale_of(view.why.scorer),
        text=_text(view),
        files=_files(view),
        block=block,
        tokens=estimate_tokens(block or ""),
        remarks=[*(f"{each.severity}: {each.message}" for each in found.diagnostics), *skipped],
    )


def _text(view: SkillView) -> _Text:
    skill, failure = view.found_skill.skill, view.found_skill.failure
    if view.file:
        back = _Text(link="Instructions", address=view.address())
        reference = next((each for each in skill.references if each.path == view.file), None)
        if reference is None or reference.content is None:
            missing = f"There is no Markdown file {text_of(view.file)!r} beside this skill."
            return back._replace(missing=missing)
        # Relative links are resolved against this file.
        html, note = render_markdown(
            reference.content, lambda path: view.file_address(path, view.file)
        )
        return back._replace(heading=text_of(reference.path), html=html, note=note)
    if skill.body is None:
        words = "they are not here"
        if failure is not None:
            words = failure_words(failure.code, failure.retry_after_s)
        return _Text(failure=words)
    if not skill.body.strip():
        return _Text(missing="This skill has none.")
    html, note = render_markdown(skill.body, view.file_address)
    return _Text(html=html, note=note)


def _files(view: SkillView) -> list[_File]:
    """Return the files of the skill by path: those that are listed, and those that were read."""
    listed = {each.path: _File(each.path, each.kind, each.size, None) for each in view.resources}
    for each in view.found_skill.skill.references:
        size = None if each.content is None else len(each.content.encode("utf-8", "replace"))
        file = listed.get(each.path, _File(each.path, "reference", size, None))
        listed[each.path] = file._replace(address=view.address(file=each.path))
    return [listed[path] for path in sorted(listed)]
