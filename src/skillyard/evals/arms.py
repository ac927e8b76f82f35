"""The arms of an evaluation: the system text of each condition, and the summary of a skill."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Container, Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import (
    InvalidFrontmatter,
    InvalidInput,
    ResourceRefused,
    SkillError,
    SkillYamlError,
)
from skillyard.base.io.processes import program_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line
from skillyard.engine.context.budget import TRUNCATED
from skillyard.engine.formats.frontmatter import decode, quote_plain_values, split, unify_lines
from skillyard.engine.formats.yaml_guard import NULLS, Scalar, plain_value, read_mapping
from skillyard.engine.resources import (
    read_file,
    read_resource,
    real_resource_path,
    safe_parts,
    skill_folder,
)
from skillyard.engine.skill import Skill

_LEVEL_TWO = re.compile(r" {0,3}##(?:[ \t](.*))?")
_REFERENCE = re.compile(r"\[skill:[^\]\n]+\]")
_BLANK_RUN = re.compile(r"\n{3,}")
# A run of backticks whose line holds another one is inline code, not the opening of a block.
_FENCE = re.compile(r"[ \t]*(?:(`{3,}+)[^`]*|(~{3,}+).*)")
_DESCRIPTION = re.compile(r"^description[ \t]*:[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_NO_PLAIN_TEXT = ("|", ">", "[", "{")


@check_arguments
def extract_summary(text: str) -> str | None:
    """Return the deterministic summary of a SKILL.md text, or None when it would be empty.

    It is the frontmatter's ``description``, one line feed, and the first ``## Scope`` section
    without fenced code and without ``[skill:name]`` references. Raises nothing.
    """
    document = split_document(text)
    return "\n".join(filter(None, (document.description, scope_of(document.body)))) or None


def scope_of(body: str) -> str:
    """Return the content of the first ``## Scope`` section of a body with LF line ends.

    The section ends before the next level-2 heading. Headings inside fenced code are ignored.
    Headings of other levels belong to the section.
    """
    lines: list[str] = []
    inside = False
    for line in _outside_fences(body):
        title = _level_two_title(line)
        if title is None:
            if inside:
                lines.append(_without_references(line))
        elif inside:
            break
        else:
            inside = title == "Scope"
    return _BLANK_RUN.sub("\n\n", "\n".join(lines)).strip()


def _outside_fences(body: str) -> Iterator[str]:
    """Yield the lines outside fenced code; a block that is never closed runs to the end."""
    fence = ""
    for line in body.split("\n"):
        if fence:
            fence = "" if closes_fence(line, fence) else fence
        elif not (fence := opening_fence(line)):
            yield line


def _level_two_title(line: str) -> str | None:
    """Return the text of an ATX heading of level 2 (CommonMark 0.31, §4.2); None for other lines.

    Closing hashes are no text, and count as such only behind a blank.
    """
    heading = _LEVEL_TWO.fullmatch(line)
    if heading is None:
        return None
    title = (heading[1] or "").strip(" \t")
    bare = title.rstrip("#")
    return title if bare and bare[-1] not in " \t" else bare.rstrip(" \t")


def _without_references(line: str) -> str:
    # Only the text before the last bracket can hold a whole reference. Looking no further keeps
    # the search linear in a line of many openings without an end.
    head, bracket, tail = line.rpartition("]")
    return _REFERENCE.sub("", head + bracket) + tail


def opening_fence(line: str) -> str:
    """Return the marks with which a line opens a block, at any indentation; empty if it does not.

    Three or more backticks without another one behind them, or three or more tildes.
    """
    opening = _FENCE.fullmatch(line)
    return "" if opening is None else opening[1] or opening[2]


def closes_fence(line: str, fence: str) -> bool:
    """True when a line ends the block that ``fence`` opened: as many of its marks, nothing else."""
    mark = line.strip(" \t")
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)


class DocumentParts(NamedTuple):
    """The two parts of a skill document that a model may be given."""

    description: str
    """Stripped; empty if it is missing or not a text."""
    body: str
    """The text after the frontmatter, with LF line ends and otherwise unchanged."""


def line_feeds(text: str) -> str:
    """Return the text without one leading byte order mark, with CRLF and lone CR as LF."""
    return unify_lines(text).replace("\r", "\n")


def split_document(text: str) -> DocumentParts:
    """Return description and body of a skill document. Raises nothing."""
    text = line_feeds(text)
    # A catalog caps the block; here a block of any size still is no body.
    limits = DEFAULT_LIMITS._replace(frontmatter_bytes=4 * len(text))
    try:
        block = split(text, "", limits).block
    except InvalidFrontmatter:
        return DocumentParts("", text)
    closing = text.index("\n") + 1 + len(block)
    # The body of `split` is trimmed, which would make a heading of indented code on its first line.
    return DocumentParts(_description(block), text[closing:].partition("\n")[2])


def _description(block: str) -> str:
    """Return the description, as YAML or else as the last line with that name has it."""
    for candidate in (block, quote_plain_values(block)[0]):
        try:
            node = read_mapping(candidate, "")[0].get("description")
        except SkillYamlError:
            continue
        value = plain_value(node) if isinstance(node, Scalar) else None
        return value.strip() if isinstance(value, str) else ""
    line: str = (_DESCRIPTION.findall(block) or [""])[-1]
    if line in NULLS or line.startswith(_NO_PLAIN_TEXT):
        return ""
    is_quoted = len(line) > 1 and line[0] == line[-1] and line[0] in "'\""
    return line[1:-1].strip() if is_quoted else line


DEFAULT_ROLE = (
    "You are an experienced professional. Answer the request completely and correctly, "
    "in a form that can be used as it is."
)
"""What every answer is asked to be: the first sentence of each system text."""
CHARS_PER_TOKEN = 4.0
"""English prose has about four characters a token; 3.6 is reported for Claude 4.7 and later
(spec/evals.md §1.7, from measurements that others published)."""
MAX_SIBLING_BYTES = 10_000
"""Default limit for the raw bytes of all siblings together (fn-58.6)."""
_SMALL_BELOW_BYTES = 5_000
_LARGE_ABOVE_BYTES = 15_000
"""Tiers of a body (spec/evals.md §1.7): both bounds belong to ``medium``."""
_STOP_AT_BYTES = 100
"""If fewer bytes than this remain, no more siblings are read."""
_CONDITIONS = ("full", "summary", "baseline", "full_siblings")
"""The arms of the size-impact document."""
# Possessive and anchored at the start of a run, so that a long run of hyphens is passed once.
_DELIMITER_LIKE = re.compile(r"(?<!-)(-{3,}+)[ \t]*+(?:BEGIN|END)", re.IGNORECASE)
_GIT_SECONDS = 30.0


class Arms(NamedTuple):
    """The arms of one skill, and what could not become part of one."""

    systems: dict[str, str]
    """The whole system text of each condition, in the documented order."""
    facts: dict[str, Any]
    """What results say of the arms: ``size_tier``, ``body_bytes``, ``summary_error`` (``empty``
    where the skill has neither description nor scope, so no summary arm), ``missing_siblings``,
    ``refused_siblings`` (names and reasons), and in ``conditions`` the size of what each arm
    injects, with and without delimiters."""


def estimate_tokens(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """Return the estimated tokens of a text: characters over the constant, rounded up."""
    return ceil(len(text) / chars_per_token)


def frame(what: str, text: str) -> str:
    """Return the text between ``--- BEGIN <what> ---`` and ``--- END <what> ---`` lines.

    Where the text contains a similar line, the frame has a number of hyphens that the text does
    not have, so no line of the text equals a line of the frame.
    """
    runs = {len(hyphens) for hyphens in _DELIMITER_LIKE.findall(text)}
    count = next(length for length in range(3, len(runs) + 4) if length not in runs)
    hyphens = "-" * count
    return f"{hyphens} BEGIN {what} {hyphens}\n{text}\n{hyphens} END {what} {hyphens}"


def skill_arms(
    skill_md: str,
    folder: str | None,
    *,
    conditions: Container[str] = _CONDITIONS,
    role: str = DEFAULT_ROLE,
    siblings: Sequence[str] = (),
    max_sibling_bytes: int = MAX_SIBLING_BYTES,
    chars_per_token: float = CHARS_PER_TOKEN,
    old_md: str | None = None,
) -> Arms:
    """Return those of the arms of a skill that ``conditions`` names.

    ``full`` (in L5: ``enhanced``) is the whole body, ``summary`` an extract, ``baseline`` nothing,
    ``full_siblings`` the body with files beside it, and ``old`` the body of ``old_md``.
    ``skill_md`` is the text of its SKILL.md, ``folder`` the folder of its siblings. There is no
    ``summary`` arm without a summary (``summary_error`` says so) and no ``full_siblings`` arm
    unless at least one sibling could be read.
    """
    body = split_document(skill_md).body.strip()
    summary = extract_summary(skill_md) if "summary" in conditions else None
    files, missing, refused = read_siblings(
        folder, siblings if "full_siblings" in conditions else (), max_sibling_bytes
    )
    own = [("SKILL CONTENT", body)]
    texts = {"enhanced": own, "full": own}
    if summary is not None:
        texts["summary"] = [("SKILL SUMMARY", summary)]
    if old_md is not None:
        texts["old"] = [("SKILL CONTENT", split_document(old_md).body.strip())]
    texts["baseline"] = []
    if files:
        named = ((f"SIBLING FILE {clean_line(name)}", text) for name, text in files.items())
        texts["full_siblings"] = [*own, *named]
    injected = {
        name: "\n\n".join(frame(*block) for block in blocks)
        for name, blocks in texts.items()
        if name in conditions
    }
    size = _bytes_of(body)
    facts = {
        "size_tier": _tier(size),
        "body_bytes": size,
        "summary_error": "empty" if "summary" in conditions and summary is None else None,
        "missing_siblings": missing,
        "refused_siblings": [list(each) for each in refused.items()],
        "conditions": {
            name: {
                "bytes": _bytes_of(text),
                "tokens_estimated": estimate_tokens(text, chars_per_token),
                "method": f"chars/{chars_per_token:g}",
                "raw_bytes": sum(_bytes_of(raw) for _, raw in texts[name]),
            }
            for name, text in injected.items()
        },
    }
    systems = {name: f"{role}\n\n{text}" if text else role for name, text in injected.items()}
    return Arms(systems, facts)


def _tier(body_bytes: int) -> str:
    if body_bytes < _SMALL_BELOW_BYTES:
        return "small"
    return "large" if body_bytes > _LARGE_ABOVE_BYTES else "medium"


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def read_siblings(
    folder: str | None, names: Sequence[str], max_bytes: int
) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """Return the texts of the listed files of a skill's folder, up to ``max_bytes`` in all.

    The other two are the names without a file, and the reasons for those that are not read. The
    file that crosses the budget is cut between two characters and marked; files behind it are not
    read, nor is anything once 100 bytes or fewer remain. No file makes it raise.
    """
    skill = Skill(
        "siblings", "Files beside a skill.", "", path=os.path.join(folder or "", "SKILL.md")
    )
    files: dict[str, str] = {}
    missing: list[str] = []
    refused: dict[str, str] = {}
    remaining = max_bytes
    for name in dict.fromkeys(names):
        try:
            parts = safe_parts(name)
            path = "/".join(parts)
            if path in files:
                continue
            if len(parts) > 2 or path.lower() == "skill.md":  # a folder and a file at most
                refused[name] = "it is the skill itself, or more than one folder below it"
            elif folder is None or not os.path.lexists(os.path.join(folder, *parts)):
                missing.append(name)
            elif remaining <= _STOP_AT_BYTES:
                refused[name] = "it does not fit into max_sibling_bytes"
            elif real_resource_path(skill, path) != os.path.join(os.path.realpath(folder), *parts):
                refused[name] = "it is a link, or lies behind one"
            else:
                data = read_resource(skill, path)
                files[path] = line_feeds(decode(data, name))
                if len(data) > remaining:
                    within = line_feeds(data[:remaining].decode("utf-8", "ignore"))
                    files[path] = f"{within.rstrip()}\n{TRUNCATED}"
                remaining -= len(data)
        except SkillError as error:
            refused[name] = error.message
    return files, missing, refused


def document_of(skill: Skill) -> tuple[str, str | None]:
    """Return the text of a skill's document, and the folder of the files beside it.

    A skill that was created in code is rendered, and has no folder. Raises SkillIoError and
    SkillError when the file has changed or cannot be read.
    """
    if not skill.path:
        fields = {"name": skill.name, "description": skill.description}
        front = "".join(f"{field}: {json.dumps(value)}\n" for field, value in fields.items())
        return f"---\n{front}---\n\n{skill.body or ''}\n", None
    data = read_file(skill.path, DEFAULT_LIMITS.skill_file_bytes).data
    try:
        folder = skill_folder(skill)
    except ResourceRefused:  # a single document, with nothing beside it
        folder = None
    return decode(data, skill.path), folder


def old_document(skill: Skill, where: str) -> str | None:
    """Return the text of the skill's document as it was; None where there was none.

    ``where`` is a folder, which holds the document or a folder with the skill's name; or a commit,
    tag or branch of the repository in which the skill lies. Raises InvalidInput where Git cannot
    answer, and SkillIoError.
    """
    if os.path.isdir(where):
        path = old_path(skill, where)
        if path is None:
            return None
        return decode(read_file(path, DEFAULT_LIMITS.skill_file_bytes).data, path)
    # Without filters and converters, which the configuration of a repository could name.
    blob = git_runner(skill, where)("cat-file", "blob", f"{where}:./{os.path.basename(skill.path)}")
    return decode(blob.stdout, skill.path) if blob.returncode == 0 else None


def git_runner(skill: Skill, commit: str) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Return what runs Git in a skill's folder, where the commit is known to be one.

    Raises InvalidInput where Git cannot answer.
    """
    folder = os.path.dirname(os.path.abspath(skill.path))
    git = program_path("git")
    if not skill.path or git is None or commit.startswith("-"):
        raise InvalidInput(f"--old-version {commit}: there is no such folder, and no Git to ask")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [git, "-C", folder, *arguments]
        return subprocess.run(
            command, check=False, capture_output=True, timeout=_GIT_SECONDS, env=environment
        )

    if run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").returncode:
        raise InvalidInput(
            f"--old-version {commit}: neither a folder nor a commit of the repository of {folder}"
        )
    return run


def old_path(skill: Skill, folder: str) -> str | None:
    """Return the skill's document in a folder, or in its folder with the skill's name."""
    name = os.path.basename(skill.path) or "SKILL.md"
    paths = (os.path.join(folder, skill.name, name), os.path.join(folder, name))
    return next((path for path in paths if os.path.isfile(path)), None)
