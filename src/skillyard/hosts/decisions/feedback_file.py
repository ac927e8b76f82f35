"""Stores the user's feedback: one private file of JSON lines, replaced atomically.

The file is small by its limits, so each change reads it whole and writes it whole, under a lock. A
reader sees the content before or after a change.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skillyard.base.configuration import state_folder
from skillyard.base.errors import InvalidInput, SkillIoError
from skillyard.hosts.decisions.files import FEEDBACK_FILE, moment

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


class _Content(NamedTuple):
    entries: tuple[Feedback, ...]
    unreadable: int


_EMPTY = _Content((), 0)


def feedback_path() -> str:
    """Return the path of the file, which need not exist."""
    return os.path.join(state_folder(), FEEDBACK_FILE)


def list_feedback() -> FeedbackList:
    """Return all judgements, oldest first. Raises SkillIoError."""
    from skillyard.base.shapes.feedback import FeedbackList

    path = feedback_path()
    content = _read(path)
    return FeedbackList(file=path, entries=content.entries, unreadable=content.unreadable)


def add_feedback(
    slug: str,
    request: str,
    *,
    right: bool,
    note: str = "",
    by: By = "user",
    now: float | None = None,
) -> FeedbackChange:
    """Store one judgement; it replaces an earlier one of the same skill, request and giver.

    The oldest ones are dropped when there are too many, those of clients and those of the user each
    within their own limit. ``now`` is in Unix seconds (default: the present). Raises InvalidInput
    for a request or a note that is empty or too long, and SkillIoError.
    """
    from skillyard.base.shapes.feedback import Feedback

    request, note = request.strip(), note.strip()
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
    when = moment(time.time() if now is None else now)

    def change(content: _Content) -> tuple[Sequence[Feedback], Feedback, list[Feedback]]:
        number = max([each.number for each in content.entries], default=0) + 1
        new = Feedback(
            number=number,
            time=when,
            skill=slug,
            right=right,
            request=_encodable(request),
            note=_encodable(note),
            by=by,
        )
        replaced = [each for each in content.entries if _is_about_the_same(each, new)]
        return [*(e for e in content.entries if e not in replaced), new], new, replaced

    return _change(change)


def undo_feedback(number: int | None = None) -> FeedbackChange:
    """Remove one judgement, the user's last one without a number. Raises InvalidInput for none."""

    def change(content: _Content) -> tuple[Sequence[Feedback], None, list[Feedback]]:
        if number is None:
            removed = [each for each in content.entries if each.by == "user"][-1:]
        else:
            removed = [each for each in content.entries if each.number == number]
        if not removed:
            which = "from you" if number is None else f"with the number {number}"
            raise InvalidInput(
                f"there is no feedback {which}: skillyard feedback --list shows what there is",
                field="number",
            )
        return [each for each in content.entries if each not in removed], None, removed

    return _change(change)


def clear_feedback(slug: str | None = None) -> FeedbackChange:
    """Remove all judgements, or those about one skill. Raises SkillIoError."""

    def change(content: _Content) -> tuple[Sequence[Feedback], None, list[Feedback]]:
        removed = [each for each in content.entries if slug in (None, each.skill)]
        return [each for each in content.entries if each not in removed], None, removed

    return _change(change)


def _change(
    change: Callable[[_Content], tuple[Sequence[Feedback], Feedback | None, list[Feedback]]],
) -> FeedbackChange:
    """Read the file, change its entries and write it, while no other process does."""
    from skillyard.base.io.atomic_write import atomic_write
    from skillyard.base.io.locks import file_lock
    from skillyard.base.shapes.encoder import encode
    from skillyard.base.shapes.feedback import FeedbackChange

    path = feedback_path()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with file_lock(f"{path}.lock", timeout_s=LOCK_S):
            before = _read(path)
            entries, added, removed = change(before)
            kept, dropped = _within_limits(entries)
            lines = [json.dumps(encode(each), ensure_ascii=False) + "\n" for each in kept]
            atomic_write(path, "".join(lines).encode(), mode=0o600)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SkillIoError(
            f"feedback cannot be stored: {why}",
            path=path,
            code="io_error",
            hint="check that the folder can be written to, or set SKILLYARD_STATE to another one",
        ) from None
    return FeedbackChange(
        file=path,
        added=added,
        removed=tuple(removed),
        dropped=tuple(dropped),
        total=len(kept),
        unreadable=before.unreadable,
    )


def _within_limits(entries: Sequence[Feedback]) -> tuple[list[Feedback], list[Feedback]]:
    """Return the newest entries, and those that are dropped."""
    own = [each for each in entries if each.by == "user"]
    clients = [each for each in entries if each.by != "user"]
    dropped = [*own[:-MAX_OWN], *clients[:-MAX_CLIENTS]]
    numbers = {each.number for each in dropped}
    return [each for each in entries if each.number not in numbers], dropped


def _is_about_the_same(one: Feedback, other: Feedback) -> bool:
    return (one.skill, one.request, one.by) == (other.skill, other.request, other.by)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def read_as_evidence(path: str) -> tuple[SkillFeedback, ...]:
    """Return the feedback of a file, read again when the file has changed.

    Raises SkillIoError.
    """
    try:
        status = os.lstat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return ()
        raise _unreadable(path, error.strerror or str(error)) from None
    return _evidence_at(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=2)
def _evidence_at(path: str, *stamp: int) -> tuple[SkillFeedback, ...]:
    from skillyard.engine.ranking.query import SkillFeedback

    return tuple(
        SkillFeedback(each.skill, each.request, each.right, each.by != "user")
        for each in _read(path).entries
    )


def _read(path: str) -> _Content:
    """Return the entries of the file; a line that is not one is counted. Raises SkillIoError."""
    from skillyard.base.io.files import is_private
    from skillyard.engine.resources import read_file

    if not os.path.lexists(path):
        return _EMPTY
    content = read_file(path, MAX_BYTES)
    if not is_private(content.status):
        raise _unreadable(path, "other users may write to it")
    entries = [_entry(line) for line in content.data.split(b"\n") if line.strip()]
    read = tuple(each for each in entries if each is not None)
    return _Content(read, len(entries) - len(read))


def _unreadable(path: str, why: str) -> SkillIoError:
    hint = "make it a plain file of yours with mode 600, or remove it"
    return SkillIoError(why, path=path, code="io_error", hint=hint)


def _entry(line: bytes) -> Feedback | None:
    """Return the judgement of a line; None for anything else."""
    from skillyard.base.io.strict_json import strict_loads
    from skillyard.base.shapes.feedback import Feedback

    try:
        fields = strict_loads(line.decode())
        entry = Feedback(**{"note": "", "by": "user", **fields})
    except (ValueError, TypeError, RecursionError):
        return None
    return entry if _is_sound(entry) else None


def _is_sound(entry: Feedback) -> bool:
    texts: tuple[tuple[Any, int], ...] = (
        (entry.time, 40),
        (entry.skill, MAX_SLUG_CHARS),
        (entry.request, MAX_REQUEST_CHARS),
        (entry.note, MAX_NOTE_CHARS),
    )
    return (
        type(entry.number) is int
        and 0 < entry.number < 10**9
        and type(entry.right) is bool
        and entry.by in ("user", "mcp", "http")
        and all(isinstance(text, str) and len(text) <= limit for text, limit in texts)
    )
