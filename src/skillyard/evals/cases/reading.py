"""Case files, found and read into dataclasses; each fault has its file and line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partialmethod
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from skillyard.base.errors import (
    AmbiguousName,
    Diagnostic,
    ResourceRefused,
    SkillError,
    SkillNotFound,
    SkillYamlError,
)
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, shorten
from skillyard.engine.catalog import Catalog
from skillyard.engine.formats.frontmatter import decode, unify_lines
from skillyard.engine.formats.yaml_guard import Node, Scalar, plain_value, read_mapping
from skillyard.engine.resources import list_resources, read_file, read_resource
from skillyard.engine.skill import Skill

Kind = TypeVar("Kind")
Entry = TypeVar("Entry")
Place = tuple[str | int, ...]
"""Where a value stands in a file: names of fields, and numbers of items."""
TEXT_CHARS = 100_000
"""Longest text of one field: longer than any prompt, shorter than what a context holds."""
Text = Annotated[str, Field(max_length=TEXT_CHARS)]
SomeText = Annotated[Text, Field(min_length=1)]
NOT_READ = Field(validation_alias="\0")
"""The note of a field that no file sets: its key there is one that no file has."""
FOLDER = "evals"
"""The folder of cases below a skill's folder."""
_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
_CASE_FIELD = re.compile(
    r'^(?:skill|skill_name|candidates):|"(?:prompt|query|user_prompt)"', re.MULTILINE
)
FILE_BYTES = 16_777_216
"""Most bytes of one case file: a hundred thousand prompts, far below what hurts."""
_MAX_QUOTED_CHARS = 60
_YAML_LIMITS = DEFAULT_LIMITS._replace(yaml_nodes=50_000)
"""As for frontmatter, but for files of many prompts."""


def quote(name: str) -> str:
    """Return a name from a file as a message has it: short, and without hidden characters."""
    return clean_line(shorten(name, _MAX_QUOTED_CHARS))


def prompt_key(prompt: str) -> str:
    """Return what two requests have in common that are the same but for case, width and space."""
    return " ".join(unicodedata.normalize("NFKC", prompt).casefold().split())


class Notes:
    """The diagnostics of one read, in the order in which they are added, seen from one file."""

    __slots__ = ("diagnostics", "errors", "path")

    def __init__(self, path: str = "", diagnostics: list[Diagnostic] | None = None) -> None:
        self.path = path
        self.diagnostics = [] if diagnostics is None else diagnostics
        self.errors = 0
        """Of this file."""

    def of_file(self, path: str) -> Notes:
        """Return notes on another file that go into the same list."""
        return Notes(path, self.diagnostics)

    def error(
        self,
        code: str,
        line: int | None,
        message: str,
        hint: str,
        found: object = "",
        *,
        severity: str = "error",
    ) -> None:
        """Record something that keeps the entry from being used."""
        quoted = shorten(found if isinstance(found, str) else repr(found), _MAX_QUOTED_CHARS)
        self.diagnostics.append(
            Diagnostic(code, severity, self.path, message, hint, line=line, found=quoted)
        )
        self.errors += severity == "error"

    warning = partialmethod(error, severity="warning")
    """Record something that is used as it is."""


class Located(NamedTuple):
    """A value of a file, and the lines of its parts."""

    value: Any
    """Texts, numbers, lists and mappings."""
    lines: Mapping[Place, int]
    place: Place = ()
    """Where the value itself stands."""

    def line(self, *place: str | int) -> int | None:
        """Return the line of a part, or of what is nearest around it."""
        whole = (*self.place, *place)
        around = (whole[:end] for end in range(len(whole), -1, -1))
        return next((self.lines[each] for each in around if each in self.lines), None)

    def at(self, *place: str | int) -> Located:
        """Return a part."""
        value = self.value
        for key in place:
            value = value[key]
        return Located(value, self.lines, (*self.place, *place))


def yaml_value(text: str, notes: Notes) -> Located | None:
    """Return the mapping of a YAML file, or None and a note.

    Anchors, aliases, tags, merge keys, duplicate keys, and too much depth or size are refused as in
    frontmatter (:mod:`skillyard.engine.formats.yaml_guard`).
    """
    try:
        nodes = read_mapping(text, notes.path, _YAML_LIMITS, first_line=1)[0]
    except SkillYamlError as error:
        message = error.message.replace("the frontmatter", "the file")
        hint = "keep one plain YAML mapping of fields in the file"  # theirs are for SKILL.md
        notes.error(error.code, error.line, message, hint, error.found)
        return None
    lines: dict[Place, int] = {}

    def plain(node: Node, place: Place) -> Any:
        if isinstance(node, Scalar):
            lines[place] = node.line + 1
            return plain_value(node)
        parts: Iterable[tuple[Any, Node]]
        parts = enumerate(node) if isinstance(node, list) else node.items()
        values = {key: plain(part, (*place, key)) for key, part in parts}
        first = next((lines[each] for key in values if (each := (*place, key)) in lines), None)
        if first is not None:
            lines[place] = first
        return list(values.values()) if isinstance(node, list) else values

    return Located(plain(nodes, ()), lines)


def json_value(text: str, notes: Notes, line: int = 1) -> Located | None:
    """Return a JSON text; None, and a note, where it is none. ``line`` is that of all of it."""
    try:
        return Located(strict_loads(text), {(): line})
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg}, column {error.colno}"
        bad = text.split("\n")[error.lineno - 1].strip()
        where = line + error.lineno - 1
        notes.error("json_invalid", where, message, "check quotes, commas and brackets there", bad)
    except (RecursionError, ValueError) as error:
        message = f"JSON that is refused: {error}"
        notes.error("json_invalid", line, message, "write it another way, and less nested")
    return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a class, and of the classes in it."""
    schema = _adapter(kind).json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    names = (name for part in parts for name in part.get("properties", ()) if name.isprintable())
    return tuple(dict.fromkeys(names))


def checked(kind: type[Kind], entry: Located, notes: Notes) -> Kind | None:
    """Return a value of a file as a dataclass; None, and a note for each fault, without one."""
    key: Any = kind  # for the cache, that of a type
    try:
        # From JSON, because there a list is a tuple, and a whole number is a number, also strictly.
        read: Kind = _adapter(key).validate_json(json.dumps(entry.value), strict=True)
        return read
    except ValidationError as error:
        faults = error.errors(include_url=False)
    for fault in faults:
        # What is wrong with a list as a whole follows from what is wrong with its items.
        place, size = fault["loc"], len(fault["loc"])
        if not any(size < len(each["loc"]) and each["loc"][:size] == place for each in faults):
            _note_fault(fault, key, entry, notes)
    return None


def _note_fault(fault: Mapping[str, Any], kind: Any, entry: Located, notes: Notes) -> None:
    place: Place = tuple(part for part in fault["loc"] if part != "[key]")
    name, last = quote(name_of(entry, place)) or "the entry", str(place[-1]) if place else ""
    if fault["type"] in ("missing", "missing_argument"):
        message, hint = f"{name} is missing", f"add {last}"
    elif fault["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        message, hint = f"there is no field {name}", f"known are {', '.join(_fields_of(kind))}"
    else:
        _, should, hint = fault["msg"].removesuffix(" after validation, not 0").partition("should ")
        message, hint = f"{name} is wrong", f"it should {hint}" if should else fault["msg"]
    notes.error("case_bad_field", entry.line(*place), message, hint, fault["input"])


def name_of(entry: Located, place: Place = ()) -> str:
    """Return the name of a part of a file: ``criteria[2].weight``."""
    name = ""
    for key in (*entry.place, *place):
        name += f"[{key}]" if isinstance(key, int) else f".{key}" if name else key
    return name


def known_skill(
    name: str, field: str, line: int | None, catalog: Catalog, notes: Notes
) -> Skill | None:
    """Return the skill that a name or id of a file refers to; None, and a note, without one."""
    try:
        return catalog.get(name)
    except SkillNotFound as error:
        why, hint = "is not there", error.hint or "check the name, and the folder of skills"
    except AmbiguousName:
        why, hint = "is there several times", "use an id"
    notes.error(
        "case_bad_field", line, f"{field} names a skill that {why}: {quote(name)}", hint, name
    )
    return None


def note_not_used(notes: Notes) -> None:
    """Note a file of no known format; it may belong to another tool."""
    hint = "begin a file of cases with skill: NAME; other files can lie in a folder below"
    notes.warning("case_file_not_used", None, "the file holds no cases, and is not read", hint)


class SourceFile(NamedTuple):
    """The text of one file."""

    path: str
    text: str
    """UTF-8 decoded, without a byte order mark, line ends as LF."""
    home: str | None = None
    """The skill in whose folder it lies."""


@dataclass(frozen=True, slots=True)
class CasePlaces:
    """Where the cases of a run lie."""

    paths: tuple[str, ...] = ()
    """Files or folders."""
    in_skills: bool = False
    """Look into the ``evals`` folders of the skills instead."""
    skill: str | None = None
    """The skill of files that name none."""


@dataclass(frozen=True, slots=True)
class Dataset(Generic[Entry]):
    """The cases of some files, in the order of the files and of the entries in them."""

    cases: tuple[Entry, ...]
    diagnostics: tuple[Diagnostic, ...]
    """By file, then line. A case that an error is about is not among the cases."""
    sha256: str
    """Over the texts of the files, sorted by path."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``error``."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


def find_sources(places: CasePlaces, catalog: Catalog, notes: Notes) -> list[SourceFile]:
    """Return the case files of folders, files themselves, or of skills."""
    if places.in_skills:
        return skill_sources(catalog.candidates, notes)
    paths = dict.fromkeys(path for place in places.paths for path in _files_of(place))
    return [source for path in paths for source in _source(path, None, notes)]


def skill_sources(skills: Iterable[Skill], notes: Notes) -> list[SourceFile]:
    """Return the case files in the ``evals`` folders of skills.

    Only regular files inside a skill's own folder are read, never through a link that leaves it.
    """
    sources: list[SourceFile] = []
    for skill in skills:
        try:
            names = [each.path for each in list_resources(skill, nested=True)]
        except ResourceRefused:  # a single document has no folder
            continue
        for name in names:
            folder, _, file = name.rpartition("/")
            if folder == FOLDER and file.endswith(_ENDINGS):
                path = os.path.join(os.path.dirname(skill.path), FOLDER, file)
                sources += _source(path, skill, notes)
    return sources


def _files_of(place: str) -> list[str]:
    """Return the files of a folder that may hold cases, sorted; a file returns itself.

    A missing folder has no files. A missing file is returned, so that reading it gives the error.
    """
    if not os.path.isdir(place):
        return [place] if place.endswith(_ENDINGS) or os.path.lexists(place) else []
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return [place]  # reading it gives the error
    fit = (each for each in names if each.endswith(_ENDINGS) and not each.startswith("."))
    return [os.path.join(place, name) for name in fit]


def _source(path: str, home: Skill | None, notes: Notes) -> Iterator[SourceFile]:
    """Yield a file of cases. One that cannot be read, or that looks like no such file, is noted."""
    try:
        if home is None:
            data = read_file(path, FILE_BYTES).data
        else:
            data = read_resource(home, f"{FOLDER}/{os.path.basename(path)}")
        text = unify_lines(decode(data, path))
    except SkillError as error:
        notes.diagnostics.append(error.diagnostic())
        return
    if _CASE_FIELD.search(text):
        yield SourceFile(path, text, home.name if home is not None else None)
    else:
        note_not_used(notes.of_file(path))


def build_dataset(
    cases: Iterable[Entry], notes: Notes, files: Sequence[SourceFile]
) -> Dataset[Entry]:
    """Return the dataset of a layer, its diagnostics in order.

    In the digest the length of each file precedes its text, so two different sets of files have
    different digests; the paths are not part of it.
    """
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        data = file.text.encode("utf-8", "surrogatepass")
        digest.update(b"%d\n" % len(data) + data)
    listed = tuple(cases)  # before the diagnostics, of which some may come from it
    in_order = sorted(notes.diagnostics, key=lambda d: (d.path, d.line or 0, d.code, d.message))
    return Dataset(listed, tuple(in_order), digest.hexdigest())
