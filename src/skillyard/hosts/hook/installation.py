"""Adds the hook to a host's settings, and removes it again.

The hook is one command. A comment at its end marks it as ours and records whether the file was made
for it, so that removing needs no other record. Hosts run the command in a shell, which ignores the
comment. Only what is added changes in the file, and only that is removed again.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import atomic_write, read_regular, remove_leftovers
from skillyard.base.io.processes import script_beside, shell_command
from skillyard.base.io.strict_json import refuse_constant
from skillyard.base.shapes.hooks import InstallResult
from skillyard.hosts.hook.hosts import EVENT, Host, host_of
from skillyard.hosts.hook.json_text import END, NEW, add_value, remove_value, replace_value

MAX_BYTES = 8 * 1024 * 1024


class SettingsRefused(SkillIoError):
    """A settings file is not usable and was not changed."""

    kind = "SettingsRefused"


class SettingsFile(NamedTuple):
    """The content of a settings file when it was read."""

    path: str
    """The real path. Links to the file stay in place."""
    text: str | None
    """None when the file does not exist."""
    stamp: tuple[int, ...]
    """Empty when the file does not exist."""


def read_settings(path: str, *, to_change: bool = True) -> SettingsFile:
    """Return a settings file. Raises SettingsRefused for what cannot be read.

    With ``to_change`` a read-only file is refused too.
    """
    real = os.path.realpath(path)
    try:
        data, status = read_regular(real, MAX_BYTES, follow=True)
        if to_change and not status.st_mode & 0o222:
            raise PermissionError(errno.EACCES, "it is read-only")
        return SettingsFile(real, data.decode("utf-8"), _stamp(status))
    except FileNotFoundError:
        if os.path.islink(path):
            hint = "mend or remove the link"
            raise SettingsRefused("the link leads nowhere", path=path, hint=hint) from None
        return SettingsFile(real, None, ())
    except OSError as error:
        what, hint = f"cannot use it: {error.strerror}", "check the file, or name one with --file"
        raise SettingsRefused(what, path=path, hint=hint) from None
    except UnicodeDecodeError:
        raise SettingsRefused("it is not UTF-8", path=path, hint="save it as UTF-8") from None


def replace(before: SettingsFile, text: str | None) -> None:
    """Replace the file that was read by one with ``text``, atomically; None deletes it.

    Owner and mode stay. Raises SettingsRefused when the file has changed since it was read or
    cannot be written; it stays as it was then.
    """
    try:
        if text is None:
            _check_unchanged(before)
            os.unlink(before.path)
            return
        os.makedirs(os.path.dirname(before.path), mode=0o700, exist_ok=True)
        remove_leftovers(before.path)
        check = partial(_check_unchanged, before)
        atomic_write(before.path, text.encode("utf-8"), mode=0o600, check=check)
    except UnicodeEncodeError:
        what, hint = "it would hold a path that is no text", "rename the folder"
        raise SettingsRefused(what, path=before.path, hint=hint) from None
    except OSError as error:
        what, hint = f"cannot write it: {error.strerror}", "check the folder and its space"
        raise SettingsRefused(what, path=before.path, hint=hint) from None


def _check_unchanged(before: SettingsFile) -> None:
    try:
        now = _stamp(os.stat(before.path))
    except FileNotFoundError:
        now = ()
    if now != before.stamp:
        what = "it was changed meanwhile"
        raise SettingsRefused(what, path=before.path, hint="do this again")


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


TIMEOUT_S = 10
"""Seconds after which the host continues without an answer. An answer takes a hundredth of it."""
_MARK = re.compile(r" # skillyard hook, made: (item|entry|event|hooks|file)$")
"""The comment. It names the outermost thing that was made: the item of the event's list, that list,
the object of hooks, or the file. An older version wrote ``entry`` for all but the file."""


def command_of(host: str, options: tuple[str, ...] = ()) -> str:
    """Return the shell command for a host, without the comment.

    The command always exits with 0. Python exits with 2 when it cannot open its program, and hosts
    block the prompt on 2.
    """
    return f"{shell_command([*start_of(), 'hook', host, *options])} || exit 0"


def start_of() -> list[str]:
    """Return the words that start this installation of skillyard."""
    beside = script_beside("skillyard")
    # -P: a host starts it in the project's folder, and Python must not import from there.
    return [beside] if beside is not None else [sys.executable, "-P", "-m", "skillyard"]


def install(host: str, *, file: str | None = None, options: tuple[str, ...] = ()) -> InstallResult:
    """Add the hook to the user's settings of a host, or to ``file``.

    Installing the same command again changes nothing. Another command replaces the previous one.
    Raises UnknownName, SettingsRefused.
    """
    target = host_of(host)
    settings = read_settings(file or target.settings())
    command = command_of(host, options)
    text = NEW if settings.text is None else settings.text
    document = parse_settings(text, settings.path)
    ours = list(_ours(document))
    if not ours:
        created = "item" if EVENT in document.get("hooks", {}) else "event"
        created = created if "hooks" in document else "hooks" if settings.text else "file"
        handler = {"type": "command", "command": _marked(command, created), "timeout": TIMEOUT_S}
        replace(settings, add_value(text, ("hooks", EVENT, END), {"hooks": [handler]}))
        return _result(target, settings, "installed", command)
    (place, now), *others = ours
    marked = _marked(command, _MARK.findall(now)[0])
    if not others and now == marked:
        return _result(target, settings, "unchanged", command)
    text = replace_value(text, (*place, "command"), marked)
    replace(settings, _without(text, settings.path, 1))
    return _result(target, settings, "updated", command)


def uninstall(host: str, *, file: str | None = None) -> InstallResult:
    """Remove the hook from a host's settings. Raises UnknownName, SettingsRefused."""
    target = host_of(host)
    settings = read_settings(file or target.settings())
    ours = list(_ours(parse_settings(settings.text, settings.path)))
    if not ours:
        return _result(target, settings, "absent")
    text = _without(settings.text or NEW, settings.path, 0)
    is_made = ours[0][1].endswith(": file") and text.split() == NEW.split()
    replace(settings, None if is_made else text)
    return _result(target, settings, "removed")


def installed_commands(text: str, path: str = "") -> list[str]:
    """Return our shell commands in a settings text. Raises SettingsRefused.

    Of a key that stands twice the last one holds, as for the hosts: nothing is written here.
    """
    return [command for _, command in _ours(parse_settings(text, path, dict))]


def command_parts(command: str) -> tuple[str, list[str]]:
    """Return the program that a command of ours starts, and the arguments of skillyard in it."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return "", []
    start = words.index("hook") if "hook" in words else len(words)
    end = words.index("||", start) if "||" in words[start:] else None  # an alternative of the shell
    return "".join(words[:1]), words[start:end]


def _result(host: Host, settings: SettingsFile, state: str, command: str = "") -> InstallResult:
    note = host.note if state in ("installed", "updated") else ""
    return InstallResult(
        host=host.name, file=settings.path, state=state, command=command, note=note
    )


def _marked(command: str, created: str) -> str:
    return f"{command} # skillyard hook, made: {created}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. Raises ValueError for a key that stands in it twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands in it twice")
    return members


def parse_settings(
    text: str | None,
    path: str,
    members: Callable[[list[tuple[str, Any]]], dict[str, Any]] = _unique,
) -> dict[str, Any]:
    """Return the document, after checking the types of its ``hooks`` containers."""
    if text is None:
        return {}
    try:
        document: dict[str, Any] = json.loads(
            text.removeprefix("\ufeff"), parse_constant=refuse_constant, object_pairs_hook=members
        )
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        what = f"it is not JSON: {getattr(error, 'msg', error)}"
    else:
        hooks = document.get("hooks", {}) if isinstance(document, dict) else None
        if isinstance(hooks, dict) and isinstance(hooks.get(EVENT, []), list):
            return document
        line, what = None, f"it is no object with an object hooks, of which {EVENT} is a list"
    hint = "nothing in it was changed: correct it there, then do this again"
    raise SettingsRefused(what, path=path, line=line, hint=hint)


def _ours(document: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the path and the command of each handler with our mark."""
    for number, group in enumerate(document.get("hooks", {}).get(EVENT, [])):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for place, handler in enumerate(handlers if isinstance(handlers, list) else []):
            command = handler.get("command") if isinstance(handler, dict) else None
            if isinstance(command, str) and _MARK.search(command):
                yield ("hooks", EVENT, number, "hooks", place), command


def _without(text: str, path: str, first: int) -> str:
    """Return settings without our handlers from the ``first`` on, and without what was made."""
    while ours := list(_ours(document := parse_settings(text, path)))[first:]:
        place, command = ours[-1]
        hooks, group = document["hooks"], document["hooks"][EVENT][place[2]]
        if len(group["hooks"]) == 1 and group.keys() == {"hooks"}:
            stays = {"item": 3, "event": 2}.get(_MARK.findall(command)[0], 1)
            place = place[: 3 if len(hooks[EVENT]) > 1 else max(stays, 2 if len(hooks) > 1 else 1)]
        text = remove_value(text, place)
    return text
