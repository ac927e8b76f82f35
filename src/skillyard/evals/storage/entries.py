"""Stored generations and judgements: one JSON file each, written atomically, shared by runs.

The name of an entry is its key, a digest of everything that can change the answer.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from skillyard.base.errors import SkillIoError
from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.files import read_regular
from skillyard.base.io.locks import file_lock
from skillyard.base.io.sha256 import sha256
from skillyard.evals.judgement.prompt import JudgeQuestion
from skillyard.evals.models.protocol import ChatModel, ModelRequest

GENERATIONS = "generations"
JUDGEMENTS = "judgements"
SHARED = "_without_skill"
"""The folder of answers that no skill had a part in."""
ENTRY_BYTES = 16_777_216
"""Largest entry that is read. Answers of 64,000 tokens have about 400,000 bytes."""
FOLDER_HINT = "check the folder and its space; --output-dir names another one"
_LOCKS = ".locks"
"""The folder of 256 files, each the lock of the keys that end in its two digits, and the lock of
the budgets."""
_SCHEMA = 1
"""Part of every key: raised when the meaning of an entry changes."""
_SAFE = re.compile(r"[^a-z0-9._-]+")

_Tokens = Annotated[int | None, Field(ge=0, le=1_000_000_000)]
_Dollars = Annotated[float, Field(ge=0, le=1_000_000_000)]


class EntryUsage(TypedDict):
    """Tokens by the provider's count; None where it gave none."""

    input_tokens: _Tokens
    output_tokens: _Tokens


class Entry(TypedDict):
    """What a run reads in an entry; it is written with more, which says how it came about."""

    key: str
    cost: _Dollars
    usage: EntryUsage
    fake: bool
    text: NotRequired[str]
    """Of a generation."""
    stop_reason: NotRequired[str]
    parsed: NotRequired[dict[str, Any] | None]
    """Of a judgement."""
    raw_judge_text: NotRequired[str]
    attempts: NotRequired[Annotated[int, Field(ge=0, le=1_000)]]
    judge_error: NotRequired[str | None]


_ENTRY = TypeAdapter(Entry)
_REQUIRED: Mapping[str, set[str]] = {
    GENERATIONS: {"text", "stop_reason"},
    JUDGEMENTS: {"parsed", "raw_judge_text"},
}


class Entries:
    """The entries of one results folder. Safe for many threads and many processes.

    An entry that cannot be read counts as missing and is reported through ``warn`` with its path;
    the next answer replaces it.
    """

    def __init__(self, results: str, warn: Callable[[str], None] = lambda text: None) -> None:
        self._results = results
        self._warn = warn
        self._reported: set[str] = set()

    def path(self, kind: str, skill: str, key: str) -> str:
        """Return an entry's path below the results folder, with forward slashes.

        A skill's name is converted to a folder name that is safe on every system. Two names may
        share a folder; their entries differ by key.
        """
        folder = _SAFE.sub("-", skill.lower()).strip(".-") or "unnamed"
        return f"{kind}/{folder[:100]}/{key}.json"

    def read(self, path: str) -> Entry | None:
        """Return the entry at a path, which may come from a results file; None without a good one.

        The path is that of :meth:`path`; any other has no entry.
        """
        kind, *parts = path.split("/")
        if kind not in _REQUIRED or len(parts) != 2 or _SAFE.search("".join(parts)):
            return None
        try:
            data, _ = read_regular(self._full(path), ENTRY_BYTES, follow=True)
            entry = _ENTRY.validate_json(data, strict=True)
            if f"{entry['key']}.json" == parts[1] and _REQUIRED[kind] <= entry.keys():
                return entry
            why = "it is the entry of another key"
        except FileNotFoundError:
            return None
        except OSError as error:
            why = error.strerror or "unreadable"
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            why = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
        self.refuse(path, why)
        return None

    def refuse(self, path: str, why: str) -> None:
        """Report once that an entry cannot be used."""
        if path not in self._reported:
            self._reported.add(path)
            self._warn(f"{path}: cannot be used ({why}), so it counts as missing")

    def write(self, path: str, entry: Mapping[str, Any]) -> None:
        """Write an entry atomically. Raises SkillIoError."""
        text = json.dumps(entry, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        # Half of a surrogate pair is no character, and no reader of JSON need take it.
        write_file(self._full(path), text.encode("utf-8", "replace"), "entry")

    def lock(self, path: str) -> AbstractContextManager[object]:
        """Return the lock of an entry, held, between threads and between processes.

        After waiting for the lock, the caller should read again, because the other holder may have
        stored the answer. The lock ends with the process that holds it. Raises SkillIoError.
        """
        return lock_between_processes(self._results, f"{path[-7:-5]}.lock")

    def _full(self, path: str) -> str:
        return os.path.join(self._results, *path.split("/"))


def lock_between_processes(results: str, name: str) -> AbstractContextManager[object]:
    """Return a lock of a results folder, held. Raises SkillIoError."""
    path = os.path.join(results, _LOCKS, name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return file_lock(path, timeout_s=None, mode=None)
    except OSError as error:
        message = f"cannot lock the results: {error.strerror}"
        raise SkillIoError(message, path=path, hint=FOLDER_HINT) from None


def write_file(
    path: str,
    data: bytes,
    what: str,
    *,
    hint: str = FOLDER_HINT,
    write: Callable[[str, bytes], None] = atomic_write,
) -> None:
    """Write a file, and the folders above it. Raises SkillIoError, which calls it ``what``."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write(path, data)
    except OSError as error:
        message = f"cannot write the {what}: {error.strerror}"
        raise SkillIoError(message, path=path, hint=hint) from None


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a value's one JSON text, in hexadecimal: sorted keys, no blanks."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hex()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hex()


def generation_key(model: ChatModel, request: ModelRequest, run: int) -> str:
    """Return the key of one generation (evals.md §1.11).

    It contains the provider, the server (with its port and path, unless it is the provider's own),
    the model, both texts, every parameter that is sent, and the run: run 0 and
    run 1 of one prompt are two answers. It does not contain the skill, so all skills with the same
    prompt share the answer without a skill.
    """
    return digest_of(
        {
            "schema": _SCHEMA,
            "kind": "generation",
            "provider": model.provider,
            "host": model.host,
            "model": request.model,
            "system": request.system,
            "user": request.user,
            "sent": model.sent(request),
            "run": run,
        }
    )


def judgement_key(model: ChatModel, question: JudgeQuestion) -> str:
    """Return the key of one judgement."""
    return digest_of(
        {
            "schema": _SCHEMA,
            "kind": "judgement",
            "provider": model.provider,
            "host": model.host,
            "judge_model": question.judge_model,
            "prompt_version": question.prompt_version,
            "user_prompt": text_digest(question.user_prompt),
            "criteria": [[each.name, each.weight, each.description] for each in question.criteria],
            "slots": [text_digest(each) for each in question.slots],
            "run": question.run,
        }
    )
