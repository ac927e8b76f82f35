"""Rules about the body: its length, the files it refers to, and hidden text.

Sources: the agentskills.io specification ("Progressive disclosure", "File references"), the rulings
on author guidance, and for hidden text the threat model of reading.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator

from skillyard.check.validation.prose import Place, comments, named_paths
from skillyard.check.validation.rule import Finding, define_rule, quote
from skillyard.check.validation.view import Kind, View
from skillyard.engine.formats.yaml_guard import Scalar

_MAX_LINES = 500
_MAX_TOKENS = 5_000
_BYTES_PER_TOKEN = 4  # the same estimate as that of the budgets in context/
_MAX_DEPTH = 2  # references/guide.md: one folder and a file
_BUNDLED = ("scripts", "references", "assets")


def _at(view: View, place: Place, message: str, hint: str = "") -> Finding:
    return Finding(message, view.body_line(place.line), place.text[:80], hint)


@define_rule(
    "body_empty",
    "The body is empty",
    "agentskills.io: body content",
    "write the instructions below the frontmatter",
    kinds=Kind.SKILLS,
)
def _body_empty(view: View) -> Iterator[Finding]:
    if not view.body:
        yield Finding("there are no instructions below the frontmatter")


@define_rule(
    "body_too_long",
    f"The body has more than {_MAX_LINES} lines or about {_MAX_TOKENS:,} tokens",
    "agentskills.io: progressive disclosure",
    "move what is not always needed into files below references/ and point to them",
    kinds=Kind.SKILLS,
)
def _body_too_long(view: View) -> Iterator[Finding]:
    lines = view.body.count("\n") + 1
    tokens = len(view.body.encode("utf-8", "replace")) // _BYTES_PER_TOKEN
    if lines > _MAX_LINES or tokens > _MAX_TOKENS:
        yield Finding(
            f"the body has {lines:,} lines and about {tokens:,} tokens;"
            f" up to {_MAX_LINES} lines and {_MAX_TOKENS:,} tokens are advised",
            view.body_line(),
        )


@define_rule(
    "html_comment",
    "The body holds an HTML comment",
    "rulings: hidden text is reported",
    "remove it, or write it as text: people who read the page do not see it, models do",
    kinds=Kind.EVERY,
)
def _html_comment(view: View) -> Iterator[Finding]:
    lines = comments(view.body)
    if lines:
        also = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield _at(view, Place("<!--", lines[0]), f"an HTML comment opens here{also}")


@define_rule(
    "reference_missing",
    "A file that the skill points to is not there",
    "agentskills.io: file references",
    "add the file, or correct its path: it is relative to the skill's folder",
    kinds=Kind.WITH_FOLDER,
)
def _reference_missing(view: View) -> Iterator[Finding]:
    checked: set[str] = set()
    for place in view.links:
        path = _relative_path(place.text)
        if path and path not in checked:
            checked.add(path)
            if not _exists(view.directory, path):
                yield _at(view, place, f"the linked file {quote(place.text)} is not there")
    for place in _named_files(view):
        path = _relative_path(place.text)
        if path and path not in checked:
            checked.add(path)
            if not _exists(view.directory, path):
                yield _at(view, place, f"the file {quote(place.text)} is named and not there")
    yield from _declared_missing(view, checked)


def _named_files(view: View) -> Iterator[Place]:
    """Yield paths in the body below a bundled folder that exists. Others are of another project."""
    if not any(f"{folder}/" in view.body for folder in _BUNDLED):
        return
    folders = {folder for folder in _BUNDLED if os.path.isdir(os.path.join(view.directory, folder))}
    if folders:
        yield from (p for p in named_paths(view.body) if p.text.partition("/")[0] in folders)


def _declared_missing(view: View, checked: set[str]) -> Iterator[Finding]:
    node = view.node("references")
    for item in node if isinstance(node, list) else ():
        text = item.text.strip() if isinstance(item, Scalar) else ""
        path = _relative_path(text) if "://" not in text else ""
        if path and path not in checked and not _exists(view.directory, path):
            yield Finding(
                f"the declared reference {quote(text)} is not there", view.line_of(item), text[:80]
            )


@define_rule(
    "reference_outside",
    "A link leads out of the skill's folder",
    "agentskills.io: file references",
    "put the file into the skill's folder: nothing outside is read with the skill",
    kinds=Kind.WITH_FOLDER,
)
def _reference_outside(view: View) -> Iterator[Finding]:
    checked: set[str] = set()
    for place in view.links:
        if place.text not in checked and not _relative_path(place.text):
            checked.add(place.text)
            yield _at(view, place, f"the link to {quote(place.text)} leads out of the folder")


@define_rule(
    "reference_deep",
    "A linked file lies more than one folder deep",
    "agentskills.io: file references",
    "keep references one level deep",
    kinds=[Kind.FOLDER],
)
def _reference_deep(view: View) -> Iterator[Finding]:
    for place in view.links:
        if _relative_path(place.text).count("/") >= _MAX_DEPTH:
            yield _at(view, place, f"{quote(place.text)} lies more than one folder deep")


def _relative_path(target: str) -> str:
    """Return the target relative to the skill's folder, or an empty text when it lies outside."""
    path = target.replace("\\", "/")
    if path.startswith(("/", "~")) or ":" in path or "\0" in path:
        return ""
    path = posixpath.normpath(path)
    return "" if path == ".." or path.startswith("../") else path


def _exists(folder: str, path: str) -> bool:
    """True when the path exists below the folder. Links are not followed and count as existing."""
    place = folder
    for part in path.split("/"):
        place = os.path.join(place, part)
        try:
            status = os.lstat(place)
        except (OSError, ValueError):
            return False
        if stat.S_ISLNK(status.st_mode):
            return True
    return True


CHECKS = (
    _body_empty,
    _body_too_long,
    _html_comment,
    _reference_missing,
    _reference_outside,
    _reference_deep,
)
