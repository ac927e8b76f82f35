"""Stores the user's feedback: one private file of JSON lines, replaced atomically.

The file is small by its limits, so each change reads it whole and writes it whole, under a lock. A
reader sees the content before or after a change.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from skillyard.base.errors import InvalidInput, SkillIoError, io_errors
from skillyard.hosts.decisions.files import feedback_path, moment

if TYPE_CHECKING:
    from skillyard.base.shapes.feedback import Feedback, FeedbackChange, FeedbackList
    from skillyard.engine.ranking.query import SkillFeedback

MAX_OWN = 500
"""Judgements of the user that are stored. Comparing a request with 500 takes 35 ms in a new process
and 9 ms in a running one."""
MAX_CLIENTS = 100
"""Judgements of a server's clients that are stored, beside those of the user."""
MAX_REQUEST_CHARS = 2_000
MAX_NOTE_CHARS = 500
MAX_SLUG_CHARS = 300
MAX_BYTES = 16 * 1024 * 1024
"""The largest file that is read: 600 entries of the longest texts, each character escaped."""
LOCK_S = 10.0
"""Seconds to wait for another process that writes; a change takes milliseconds."""

By = Literal["user", "mcp", "http"]


def list_feedback() -> FeedbackList:
    """Return all judgements, oldest first. Raises SkillIoError."""
    from skillyard.base.shapes.feedback import FeedbackList

    path = feedback_path()
    return FeedbackList(file=path, entries=tuple(_read(path)))


def add_feedback(
    slug: str, request: str, *, right: bool, note: str = "", by: By = "user"
) -> FeedbackChange:
    """Store one judgement; it replaces an earlier one of the same skill, request and giver.

    The oldest ones are dropped when there are too many, those of clients and those of the user each
    within their own limit. Raises InvalidInput for a request that is empty and for a text that is
    too long, and SkillIoError.
    """
    from skillyard.base.shapes.feedback import Feedback

    request, note = (text.strip().encode("utf-8", "replace").decode() for text in (request, note))
    if not request:
        raise InvalidInput("feedback needs the request that it is about", field="request")
    for name, text, limit in (
        ("request", request, MAX_REQUEST_CHARS),
        ("note", note, MAX_NOTE_CHARS),
        ("name", slug, MAX_SLUG_CHARS),
    ):
        if len(text) > limit:
            raise InvalidInput(
                f"the {name} has {len(text):,} characters, and feedback stores {limit:,}:"
                " shorten it",
                field=name,
            )

    def change(entries: list[Feedback]) -> list[Feedback]:
        number = max([each.number for each in entries], default=0) + 1
        new = Feedback(
            number=number,
            time=moment(time.time()),
            skill=slug,
            right=right,
            request=request,
            note=note,
            by=by,
        )
        about = (slug, request, by)
        return [*(e for e in entries if (e.skill, e.request, e.by) != about), new]

    return _change(change)


def undo_feedback(number: int | None = None) -> FeedbackChange:
    """Remove one judgement, the user's last one without a number. Raises InvalidInput for none."""

    def change(entries: list[Feedback]) -> list[Feedback]:
        own = [each.number for each in entries if each.by == "user"]
        last = number if number is not None else own[-1] if own else None
        left = [each for each in entries if each.number != last]
        if len(left) == len(entries):
            which = "from you" if number is None else f"with the number {number}"
            raise InvalidInput(
                f"there is no feedback {which}: skillyard feedback --list shows what there is",
                field="number",
            )
        return left

    return _change(change)


def clear_feedback(slug: str | None = None) -> FeedbackChange:
    """Remove all judgements, or those about one skill. Raises SkillIoError."""
    return _change(lambda entries: [each for each in entries if slug not in (None, each.skill)])


def _change(change: Callable[[list[Feedback]], list[Feedback]]) -> FeedbackChange:
    """Read the file, change its entries and write it, while no other process does."""
    from skillyard.base.io.files import atomic_write
    from skillyard.base.io.locks import file_lock
    from skillyard.base.shapes.encoder import encode
    from skillyard.base.shapes.feedback import FeedbackChange

    path = feedback_path()
    hint = "check that the folder can be written to, or set SKILLYARD_STATE to another one"
    with io_errors("store feedback", path, hint):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with file_lock(f"{path}.lock", timeout_s=LOCK_S):
            before = _read(path)
            after = change(before)
            dropped = _beyond_limits(after)
            stored = [each for each in after if each not in dropped]
            lines = [json.dumps(encode(each), ensure_ascii=False) + "\n" for each in stored]
            atomic_write(path, "".join(lines).encode(), mode=0o600)
    numbers = {each.number for each in before}
    left = {each.number for each in after}
    return FeedbackChange(
        file=path,
        added=next((each for each in after if each.number not in numbers), None),
        removed=tuple(each for each in before if each.number not in left),
        dropped=tuple(dropped),
        total=len(stored),
    )


def _beyond_limits(entries: Sequence[Feedback]) -> list[Feedback]:
    """Return the oldest entries of the user and of clients, for which there is no room."""
    own = [each for each in entries if each.by == "user"]
    clients = [each for each in entries if each.by != "user"]
    return [*own[:-MAX_OWN], *clients[:-MAX_CLIENTS]]


def read_as_evidence(path: str) -> tuple[SkillFeedback, ...]:
    """Return the feedback of a file, read again when the file has changed. Raises SkillIoError."""
    try:
        status = os.lstat(path)
    except OSError:
        return ()  # it was removed meanwhile
    return _evidence_at(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=2)
def _evidence_at(path: str, *stamp: int) -> tuple[SkillFeedback, ...]:
    from skillyard.engine.ranking.query import SkillFeedback

    return tuple(
        SkillFeedback(each.skill, each.request, each.right, each.by != "user")
        for each in _read(path)
    )


def _read(path: str) -> list[Feedback]:
    """Return the entries of the file. Raises SkillIoError, with the line that is not one."""
    from skillyard.base.io.files import is_private
    from skillyard.engine.resources import read_file

    if not os.path.lexists(path):
        return []
    content = read_file(path, MAX_BYTES)
    if not is_private(content.status):
        hint = "make it a plain file of yours with mode 600, or remove it"
        raise SkillIoError("other users may write to it", path=path, hint=hint)
    entries = []
    for number, line in enumerate(content.data.split(b"\n"), 1):
        try:
            if line.strip():
                entries.append(_entry(line))
        except (ValueError, TypeError, RecursionError):
            hint = "mend the line, or remove it"
            raise SkillIoError("no judgement", path=path, line=number, hint=hint) from None
    return entries


def _entry(line: bytes) -> Feedback:
    """Return the judgement of a line. Raises ValueError, TypeError and RecursionError."""
    from skillyard.base.shapes.feedback import Feedback

    entry = Feedback(**json.loads(line))
    texts = (entry.time, entry.skill, entry.request, entry.note, entry.by)
    if type(entry.number) is not int or not all(isinstance(text, str) for text in texts):
        raise TypeError
    return entry
