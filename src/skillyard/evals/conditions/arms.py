"""The arms of an evaluation: the system text of each condition.

All arms have the same role sentence. They differ only in the framed block after it, so a difference
between two arms is caused by the disclosed text (spec/evals.md §1.5, §1.7).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput, ResourceRefused, SkillError, SkillIoError
from skillyard.base.io.processes import program_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line
from skillyard.engine.context.budget import TRUNCATED
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_file, read_resource, real_resource_path, safe_parts
from skillyard.engine.skill import Skill
from skillyard.evals.conditions.summaries import extract_summary, line_feeds, split_document
from skillyard.evals.criteria import DEFAULT_ROLE

CHARS_PER_TOKEN = 4.0
"""English prose has about four characters a token; 3.6 is reported for Claude 4.7 and later
(spec/evals.md §1.7, from measurements that others published)."""

SMALL_BELOW_BYTES = 5_000
LARGE_ABOVE_BYTES = 15_000
"""Tiers of a body (spec/evals.md §1.7): both bounds belong to ``medium``."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of one text."""

    bytes: int
    """In UTF-8."""
    tokens_estimated: int
    method: str
    """The method of the estimate: ``chars/4`` or ``chars/3.6``."""


def estimate_tokens(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """Return the estimated tokens of a text: characters over the constant, rounded up.

    0 for an empty text. Raises InvalidInput unless ``chars_per_token`` is finite and above 0.
    """
    if not 0 < chars_per_token < inf:
        raise InvalidInput(f"chars_per_token must be above 0 and finite, not {chars_per_token!r}")
    return ceil(len(text) / chars_per_token)


def size_of(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> Size:
    """Return the bytes and the estimated tokens of a text. Raises InvalidInput as the estimate."""
    return Size(
        len(text.encode("utf-8", "surrogatepass")),
        estimate_tokens(text, chars_per_token),
        f"chars/{chars_per_token:g}",
    )


def tier(body_bytes: int) -> str:
    """Return ``small`` (under 5,000 bytes), ``medium`` (to 15,000 inclusive) or ``large``."""
    if body_bytes < SMALL_BELOW_BYTES:
        return "small"
    return "large" if body_bytes > LARGE_ABOVE_BYTES else "medium"


MAX_SIBLING_BYTES = 10_000
"""Default limit for the raw bytes of all siblings together (fn-58.6)."""
STOP_AT_BYTES = 100
"""If fewer bytes than this remain, no more files are read."""
_MAX_PARTS = 2  # a folder and a file: `references/details.md`


class Sibling(NamedTuple):
    """One file that is given to a model beside the skill."""

    name: str
    """As listed."""
    text: str
    """With LF line ends. If it was cut, its last line is a note about that."""
    truncated: bool


class Siblings(NamedTuple):
    """The result of reading a list of siblings. Each distinct name is in exactly one field."""

    files: tuple[Sibling, ...]
    missing: tuple[str, ...]
    """Names without a file."""
    refused: tuple[tuple[str, str], ...]
    """Names that may not be read, or are no text, each with the reason."""
    left_out: tuple[str, ...] = ()
    """Names that the budget did not reach."""


def read_siblings(
    folder: str, names: Sequence[str], max_bytes: int = MAX_SIBLING_BYTES
) -> Siblings:
    """Read the listed files of a skill's folder, in order, up to ``max_bytes`` raw bytes in all.

    The file that crosses the budget is cut between two characters and marked; files behind it are
    left out, and so is everything once 100 bytes or fewer remain. A name that comes twice is read
    once. Files larger than ``limits.resource_bytes`` are refused. Raises InvalidInput for a
    negative budget; no file makes it raise.
    """
    if max_bytes < 0:
        raise InvalidInput(f"max_sibling_bytes must be 0 or more, not {max_bytes}")
    skill = Skill("siblings", "Files beside a skill.", "", path=os.path.join(folder, "SKILL.md"))
    files: list[Sibling] = []
    missing: list[str] = []
    refused: list[tuple[str, str]] = []
    left_out: list[str] = []
    done: set[tuple[str, ...]] = set()
    remaining = max_bytes
    for name in dict.fromkeys(names):
        try:
            parts = _allowed_parts(name)
            if parts in done:
                continue
            done.add(parts)
            if remaining <= STOP_AT_BYTES:
                left_out.append(name)
            elif not os.path.lexists(os.path.join(folder, *parts)):
                missing.append(name)
            else:
                data = _plain_file(skill, folder, parts)
                files.append(_cut(name, data, remaining))
                remaining -= len(data)
        except SkillError as error:
            refused.append((name, error.message))
    return Siblings(tuple(files), tuple(missing), tuple(refused), tuple(left_out))


def _allowed_parts(name: str) -> tuple[str, ...]:
    parts = safe_parts(name)
    if len(parts) > _MAX_PARTS:
        raise ResourceRefused(f"refused {name!r}: it lies more than one folder below the skill")
    if len(parts) == 1 and parts[0].lower() == "skill.md":
        raise ResourceRefused(f"refused {name!r}: it is the skill itself")
    return parts


def _plain_file(skill: Skill, folder: str, parts: tuple[str, ...]) -> bytes:
    path = "/".join(parts)
    if real_resource_path(skill, path) != os.path.join(os.path.realpath(folder), *parts):
        raise ResourceRefused(f"refused {path!r}: it is a link, or lies behind one")
    return read_resource(skill, path)


def _cut(name: str, data: bytes, remaining: int) -> Sibling:
    """Return the file's text within the budget. Raises SkillIoError for what is no UTF-8 text."""
    try:
        text = decode(data, name)
    except SkillIoError as error:
        raise ResourceRefused(f"refused {name!r}: {error.message}") from None
    if len(data) <= remaining:
        return Sibling(name, line_feeds(text), False)
    text_within = line_feeds(data[:remaining].decode("utf-8", "ignore"))
    return Sibling(name, f"{text_within.rstrip()}\n{TRUNCATED}", True)


_SECONDS = 30.0


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
            command, check=False, capture_output=True, timeout=_SECONDS, env=environment
        )

    if run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").returncode:
        raise InvalidInput(
            f"--old-version {commit}: neither a folder nor a commit of the repository of {folder}"
        )
    return run


def old_path(skill: Skill, folder: str) -> str | None:
    """Return the skill's document in a folder, or in its folder with the skill's name."""
    name = os.path.basename(skill.path) or "SKILL.md"
    own = os.path.basename(os.path.dirname(os.path.abspath(skill.path))) if skill.path else ""
    paths = (os.path.join(folder, *below, name) for below in ((own,), (skill.name,), ()))
    return next((path for path in paths if os.path.isfile(path)), None)


_CONDITIONS = ("full", "summary", "baseline", "full_siblings")
"""The arms of the size-impact document."""
CONTENT = "SKILL CONTENT"
SUMMARY = "SKILL SUMMARY"
SIBLING = "SIBLING FILE"
_HYPHENS = 3
_MAX_COUNTED_RUN = 80
# Possessive and anchored at the start of a run, so that a long run of hyphens is passed once.
_DELIMITER_LIKE = re.compile(r"(?<!-)(-{3,}+)[ \t]*+(?:BEGIN|END)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Arm:
    """The system text of one condition, and its size."""

    condition: str
    system: str
    """The whole system text."""
    injected: str
    """The framed block in it; empty for the baseline."""
    size: Size
    """Of the injected block, delimiters included."""
    raw: Size
    """Of the skill's own text in it, without delimiters."""

    def sizes(self) -> dict[str, Any]:
        """Return the sizes as results have them."""
        return {**asdict(self.size), "raw_bytes": self.raw.bytes}


@dataclass(frozen=True, slots=True)
class Arms:
    """The arms of one skill, and what could not become part of one."""

    arms: dict[str, Arm]
    """By condition, in the documented order."""
    body_bytes: int
    """Of the body, stripped, in UTF-8."""
    tier: str
    """``small``, ``medium`` or ``large``, by the body's bytes."""
    summary_error: str | None = None
    """``empty`` where the skill has neither description nor scope, so no summary arm."""
    missing_siblings: tuple[str, ...] = ()
    refused_siblings: tuple[tuple[str, str], ...] = ()
    """Names and reasons."""
    left_out_siblings: tuple[str, ...] = ()
    """Names that ``max_sibling_bytes`` did not reach."""


def frame(what: str, text: str) -> str:
    """Return the text between ``--- BEGIN <what> ---`` and ``--- END <what> ---`` lines.

    If the text contains a similar line, the frame uses more hyphens than the text, so no line of
    the text equals a line of the frame. Against runs longer than 80 hyphens the frame uses a length
    that does not occur in the text.
    """
    runs = {len(length) for length in _DELIMITER_LIKE.findall(text)}
    count = max((length + 1 for length in runs if length <= _MAX_COUNTED_RUN), default=_HYPHENS)
    while count in runs:
        count += 1
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
    unless at least one sibling could be read. Raises InvalidInput for a budget below 0 or
    characters per token that are not above 0.
    """
    body = split_document(skill_md).body.strip()
    block = frame(CONTENT, body)
    summary = extract_summary(skill_md) if "summary" in conditions else None
    beside = _siblings(folder, siblings if "full_siblings" in conditions else (), max_sibling_bytes)
    texts = {"enhanced": (block, body), "full": (block, body)}
    if summary is not None:
        texts["summary"] = (frame(SUMMARY, summary), summary)
    if old_md is not None:
        old_body = split_document(old_md).body.strip()
        texts["old"] = (frame(CONTENT, old_body), old_body)
    texts["baseline"] = ("", "")
    if beside.files:
        together = "\n\n".join([block, *map(_framed_sibling, beside.files)])
        texts["full_siblings"] = (together, body + "".join(each.text for each in beside.files))
    arms = {
        name: _arm(name, role, injected, raw, chars_per_token)
        for name, (injected, raw) in texts.items()
        if name in conditions
    }
    body_bytes = size_of(body, chars_per_token).bytes
    return Arms(
        arms,
        body_bytes,
        tier(body_bytes),
        summary_error="empty" if "summary" in conditions and summary is None else None,
        missing_siblings=beside.missing,
        refused_siblings=beside.refused,
        left_out_siblings=beside.left_out,
    )


def _siblings(folder: str | None, names: Sequence[str], max_bytes: int) -> Siblings:
    if folder is None:  # a skill that comes from no folder has nothing beside it
        return Siblings((), tuple(dict.fromkeys(names)), ())
    return read_siblings(folder, names, max_bytes)


def _framed_sibling(sibling: Sibling) -> str:
    return frame(f"{SIBLING} {clean_line(sibling.name)}", sibling.text)


def _arm(condition: str, role: str, block: str, raw: str, chars_per_token: float) -> Arm:
    return Arm(
        condition,
        f"{role}\n\n{block}" if block else role,
        block,
        size_of(block, chars_per_token),
        size_of(raw, chars_per_token),
    )
