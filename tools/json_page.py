"""The generated part of docs/reference/json.md: every document that has a class, by its members."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, NamedTuple, get_args, get_type_hints

import skillyard.base.shapes
from skillyard.base.shapes.library import Card

__all__ = ["document_shapes", "json_sections"]

_OF_WINGS = (
    "skillyard.check.operations.library_check",
    "skillyard.check.operations.skill_scan",
    "skillyard.store.operations.catalog_store",
    "skillyard.store.operations.folder_publish",
    "skillyard.store.values",
)
"""Operations whose results are documents themselves."""
_SHORTEST = 8
"""Words of a description that says more than the name of its member."""
_OFTEN = 2
"""From this number of places on, a member is described once for all of them."""
_ALWAYS = 5
"""From this number on also one that says no more than its name elsewhere."""


def document_shapes() -> dict[str, type[Any]]:
    """Return the class of each document by its schema, sorted."""
    modules = pkgutil.iter_modules(skillyard.base.shapes.__path__)
    names = [f"skillyard.base.shapes.{each.name}" for each in modules]
    found: dict[str, type[Any]] = {}
    for name in (*names, *_OF_WINGS):
        module = importlib.import_module(name)
        for value in vars(module).values():
            if isinstance(value, type) and is_dataclass(value) and value.__module__ == name:
                hint = get_type_hints(value).get("schema")
                found |= {str(schema): value for schema in get_args(hint)}
    return dict(sorted(found.items()))


class _Known(NamedTuple):
    """What has a section of its own."""

    sections: dict[type[Any], str]
    """The title of the section of each class."""
    members: dict[str, str]
    """Members that mean the same in several places, with what they mean."""


def json_sections() -> Iterator[str]:
    """Yield the lines: first what several documents have, then each document."""
    documents = document_shapes()
    uses = Counter(part for shape in documents.values() for part in _parts_below(shape))
    shared = sorted(
        {Card, *(part for part, count in uses.items() if count > 1)} - set(documents.values()),
        key=lambda each: each.__name__,
    )
    sections = {shape: schema for schema, shape in documents.items()}
    sections |= {shape: shape.__name__ for shape in shared}
    everything = [*shared, *documents.values(), *(part for part in uses if part not in sections)]
    members = _members_alike(everything)
    known = _Known(sections, members)
    yield from ("## Members of several documents", "", "Unless a document says otherwise:", "")
    yield from (f"- `{name}`: {text}" for name, text in members.items())
    for shape, title in ((shape, sections[shape]) for shape in [*shared, *documents.values()]):
        line, *below = _members(shape, known, "")
        sentence = f"{_sentence(shape)} " if shape in shared else ""
        yield from ("", f"## {title}", "", f"{sentence}{line}.", *below)


def _members_alike(shapes: Iterable[type[Any]]) -> dict[str, str]:
    """Return the members that are described in the same words in several places.

    One that says no more than its name in some place is left out, unless it is described often.
    """
    described = [(member.name, text) for shape in shapes for member, text in _described(shape)]
    plain = {name for name, text in described if _is_plain(text)}
    counts = Counter(described)
    alike = {each for each, count in counts.items() if count >= _OFTEN and not _is_plain(each[1])}
    plain -= {name for name, text in alike if counts[name, text] >= _ALWAYS}
    names = Counter(name for name, _ in alike)
    return dict(sorted(each for each in alike if each[0] not in plain and names[each[0]] == 1))


def _is_plain(text: str) -> bool:
    """True for a description that says no more than the name of its member."""
    return len(text.split()) < _SHORTEST and "," not in text


def _sentence(shape: type[Any]) -> str:
    return str(shape.__doc__).split("\n\n")[0].replace("\n", " ").replace("``", "`")


def _parts_below(shape: type[Any]) -> Iterator[type[Any]]:
    """Yield the classes that a document has inside it, at any depth, as often as it has them."""
    done: set[type[Any]] = set()
    waiting = [shape]
    while waiting:
        current = waiting.pop()
        for member in fields(current):
            part = _part(current, member)
            if part is not None:
                yield part
                if part not in done:
                    done.add(part)
                    waiting.append(part)


def _part(shape: type[Any], member: Field[Any]) -> type[Any] | None:
    """Return the class of what a member holds, if it has one."""
    return _class_in(get_type_hints(shape).get(member.name))


def _class_in(hint: Any) -> type[Any] | None:
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    return next(filter(None, map(_class_in, get_args(hint))), None)


def _described(shape: type[Any]) -> Iterator[tuple[Field[Any], str]]:
    """Yield the members with what is said of each."""
    hints = get_type_hints(shape, include_extras=True)
    for member in fields(shape):
        if member.name != "schema":
            notes = (each for each in get_args(hints[member.name])[1:] if isinstance(each, str))
            yield member, _lowered(next(notes).removesuffix("."))


def _members(shape: type[Any], known: _Known, indent: str) -> Iterator[str]:
    """Yield one line of members, and below it an entry for each part that only this shape has."""
    names, below = [], []
    for member, text in _described(shape):
        name = member.name if member.default is MISSING else f"{member.name}?"
        plain = _is_plain(text) or known.members.get(member.name) == text
        notes = [] if plain else [text]
        part = _part(shape, member)
        if part in known.sections:
            title = known.sections[part]
            notes.append(f"[{title}](#{title.lower().replace('.', '').replace('/', '')})")
        elif part is not None:
            line, *deeper = _members(part, known, f"{indent}  ")
            below += [f"{indent}- `{member.name}`: {line}", *deeper]
        names.append(f"`{name}`" + (f" ({'; '.join(notes)})" if notes else ""))
    yield ", ".join(names)
    yield from ["", *below] if below and not indent else below


def _lowered(text: str) -> str:
    """Return a sentence with a small first letter, if it starts with a plain word."""
    return text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"
