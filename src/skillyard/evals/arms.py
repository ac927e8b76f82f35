"""The arms of an evaluation: the system text of each condition.

All arms have the same role sentence. They differ only in the framed block after it, so a difference
between two arms is caused by the disclosed text (spec/evals.md §1.5, §1.7).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SkillError
from skillyard.base.io.processes import program_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line
from skillyard.engine.context.budget import TRUNCATED
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import read_file, read_resource, real_resource_path, safe_parts
from skillyard.engine.skill import Skill
from skillyard.evals.criteria import DEFAULT_ROLE
from skillyard.evals.summaries import extract_summary, line_feeds, split_document

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
_MAX_COUNTED_RUN = 80
# Possessive and anchored at the start of a run, so that a long run of hyphens is passed once.
_DELIMITER_LIKE = re.compile(r"(?<!-)(-{3,}+)[ \t]*+(?:BEGIN|END)", re.IGNORECASE)
_GIT_SECONDS = 30.0


class Size(NamedTuple):
    """The size of what an arm injects, as results have it."""

    bytes: int
    """In UTF-8, delimiters included."""
    tokens_estimated: int
    method: str
    """The method of the estimate: ``chars/4`` or ``chars/3.6``."""
    raw_bytes: int
    """Of the skill's own text, without delimiters."""


class Arm(NamedTuple):
    """The system text of one condition, and its size."""

    system: str
    """The whole system text."""
    injected: str
    """The framed block in it; empty for the baseline."""
    size: Size


@dataclass(frozen=True, slots=True)
class Arms:
    """The arms of one skill, and what could not become part of one."""

    arms: dict[str, Arm]
    """By condition, in the documented order."""
    body_bytes: int
    """Of the body, stripped, in UTF-8."""
    summary_error: str | None = None
    """``empty`` where the skill has neither description nor scope, so no summary arm."""
    missing_siblings: tuple[str, ...] = ()
    refused_siblings: tuple[tuple[str, str], ...] = ()
    """Names and reasons."""

    @property
    def tier(self) -> str:
        """``small`` (under 5,000 bytes), ``medium`` (to 15,000 inclusive) or ``large``."""
        if self.body_bytes < _SMALL_BELOW_BYTES:
            return "small"
        return "large" if self.body_bytes > _LARGE_ABOVE_BYTES else "medium"


def estimate_tokens(text: str, chars_per_token: float = CHARS_PER_TOKEN) -> int:
    """Return the estimated tokens of a text: characters over the constant, rounded up."""
    return ceil(len(text) / chars_per_token)


def frame(what: str, text: str) -> str:
    """Return the text between ``--- BEGIN <what> ---`` and ``--- END <what> ---`` lines.

    If the text contains a similar line, the frame uses more hyphens than the text, so no line of
    the text equals a line of the frame. Against runs longer than 80 hyphens the frame uses a length
    that does not occur in the text.
    """
    runs = {len(length) for length in _DELIMITER_LIKE.findall(text)}
    count = max((length + 1 for length in runs if length <= _MAX_COUNTED_RUN), default=3)
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
    arms = {
        name: _arm(role, blocks, chars_per_token)
        for name, blocks in texts.items()
        if name in conditions
    }
    error = "empty" if "summary" in conditions and summary is None else None
    return Arms(arms, _bytes_of(body), error, tuple(missing), tuple(refused.items()))


def _arm(role: str, blocks: Sequence[tuple[str, str]], chars_per_token: float) -> Arm:
    """Return the arm of these names and texts."""
    injected = "\n\n".join(frame(what, text) for what, text in blocks)
    size = Size(
        _bytes_of(injected),
        estimate_tokens(injected, chars_per_token),
        f"chars/{chars_per_token:g}",
        sum(_bytes_of(text) for _, text in blocks),
    )
    return Arm(f"{role}\n\n{injected}" if injected else role, injected, size)


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
                files[path] = _cut(decode(data, name), data, remaining)
                remaining -= len(data)
        except SkillError as error:
            refused[name] = error.message
    return files, missing, refused


def _cut(text: str, data: bytes, remaining: int) -> str:
    """Return the text of a file, within the budget."""
    if len(data) <= remaining:
        return line_feeds(text)
    text_within = line_feeds(data[:remaining].decode("utf-8", "ignore"))
    return f"{text_within.rstrip()}\n{TRUNCATED}"


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
