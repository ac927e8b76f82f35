"""Adds the hook to a host's settings, and removes it again.

The hook is one command. A comment at its end marks it as ours and records whether the file was made
for it, so that removing needs no other record. Hosts run the command in a shell, which ignores the
comment. The file is written again as hosts write theirs: the same values in the same order, with
its own indentation.
"""

from __future__ import annotations

import errno
import json
import os
import re
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
_MARK = re.compile(r" # skillyard hook, made: (entry|event|hooks|file)$")
"""The comment. ``file`` says that the whole file was made; ``event`` and ``hooks`` stand in
settings that an older version wrote."""


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
    document = parse_settings(settings.text, settings.path)
    hooks = document.setdefault("hooks", {})
    ours = list(_ours(hooks))
    if not ours:
        created = "file" if settings.text is None else "entry"
        handler = {"type": "command", "command": _marked(command, created), "timeout": TIMEOUT_S}
        hooks.setdefault(EVENT, []).append({"hooks": [handler]})
        write_settings(settings, document)
        return _result(target, settings, "installed", command)
    marked = _marked(command, _MARK.findall(ours[0]["command"])[0])
    if len(ours) == 1 and ours[0]["command"] == marked:
        return _result(target, settings, "unchanged", command)
    ours[0]["command"] = marked
    _remove(document, ours[1:])
    write_settings(settings, document)
    return _result(target, settings, "updated", command)


def uninstall(host: str, *, file: str | None = None) -> InstallResult:
    """Remove the hook from a host's settings. Raises UnknownName, SettingsRefused."""
    target = host_of(host)
    settings = read_settings(file or target.settings())
    document = parse_settings(settings.text, settings.path)
    ours = list(_ours(document.get("hooks", {})))
    if not ours:
        return _result(target, settings, "absent")
    is_made = any(handler["command"].endswith(": file") for handler in ours)
    _remove(document, ours)
    if is_made and not document:
        replace(settings, None)
    else:
        write_settings(settings, document)
    return _result(target, settings, "removed")


def installed_commands(text: str, path: str = "") -> list[str]:
    """Return our shell commands in a settings text. Raises SettingsRefused.

    Of a key that stands twice the last one holds, as for the hosts: nothing is written here.
    """
    hooks = parse_settings(text, path, dict).get("hooks", {})
    return [str(handler["command"]) for handler in _ours(hooks)]


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


def _handlers(group: object) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []


def _ours(hooks: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for group in hooks.get(EVENT, []):
        for handler in _handlers(group):
            command = handler.get("command") if isinstance(handler, dict) else None
            if isinstance(command, str) and _MARK.search(command):
                yield handler


def _remove(document: dict[str, Any], ours: list[dict[str, Any]]) -> None:
    """Remove handlers of ours, and what holds nothing more."""
    hooks = document["hooks"]
    left = []
    for group in hooks[EVENT]:
        handlers = _handlers(group)
        others = [each for each in handlers if all(each is not own for own in ours)]
        if others != handlers:
            handlers[:] = others
            if not others and group.keys() == {"hooks"}:
                continue
        left.append(group)
    hooks[EVENT] = left
    if not left:
        del hooks[EVENT]
    if not hooks:
        del document["hooks"]


def write_settings(settings: SettingsFile, document: dict[str, Any]) -> None:
    """Replace the settings, in the layout that they have. Raises SettingsRefused."""
    old = "{\n}\n" if settings.text is None else settings.text
    plain = old.removeprefix("\ufeff")
    indented = re.search(r"\n([ \t]+)\S", plain)
    indent = None if "\n" not in plain.strip() else indented[1] if indented else "  "
    try:
        text = json.dumps(
            document, indent=indent, ensure_ascii=plain.isascii(), allow_nan=False
        ).encode()
    except ValueError:  # an infinite number, or half of a character
        hint = "mend it by hand; nothing was changed"
        raise SettingsRefused("a value in it has no JSON", path=settings.path, hint=hint) from None
    if "\r\n" in old:
        text = text.replace(b"\n", b"\r\n")
    mark, tail = old[: len(old) - len(plain)], plain[len(plain.rstrip()) :]
    replace(settings, f"{mark}{text.decode()}{tail}")
