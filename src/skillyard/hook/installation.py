"""Adds the hook to a host's settings, and removes it again without a trace.

The hook is one command. A comment at its end marks it as ours and records which of the surrounding
containers were created for it, so that removing needs no other record and keeps the entries of
others. Hosts run the command in a shell, which ignores the comment.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from skillyard.hook import settings_text as js
from skillyard.hook.hosts import EVENT, Host, host_of
from skillyard.hook.settings_file import (
    SettingsFile,
    SettingsRefused,
    delete,
    read_settings,
    replace,
)
from skillyard.io.processes import script_beside, shell_command
from skillyard.io.strict_json import refuse_constant
from skillyard.shapes.hooks import InstallResult

__all__ = [
    "command_of",
    "edit_settings",
    "install",
    "installed_commands",
    "uninstall",
]

TIMEOUT_S = 10
"""Seconds after which the host continues without an answer. An answer takes a hundredth of it."""
_MARK = re.compile(r" # skillyard hook, made: (entry|event|hooks|file)$")
"""The comment. ``made`` names what was created: only the entry, also the list of the event, also
the object ``hooks``, or the file."""


def command_of(host: str, options: tuple[str, ...] = ()) -> str:
    """Return the shell command for a host, without the comment.

    The command always exits with 0. Python exits with 2 when it cannot open its program, and hosts
    block the prompt on 2.
    """
    beside = script_beside("skillyard")
    # -P: a host starts hooks in the project's folder, and Python must not import from there.
    start = [beside] if beside is not None else [sys.executable, "-P", "-m", "skillyard"]
    return f"{shell_command([*start, 'hook', host, *options])} || exit 0"


def install(host: str, *, file: str | None = None, options: tuple[str, ...] = ()) -> InstallResult:
    """Add the hook to the user's settings of a host, or to ``file``.

    Installing the same command again changes nothing. Another command replaces the previous one.
    Raises UnknownName, SettingsRefused.
    """
    target = host_of(host)
    settings = read_settings(file or target.settings())
    command = command_of(host, options)
    if settings.text is None:
        text = _document(command)
        _verify(settings, text, {"hooks": {EVENT: [_group(command, "file")]}})
        replace(settings, text)
        return _result(target, settings, "installed", command)
    text, state = edit_settings(settings.text, command, settings.path)
    if state != "unchanged":
        replace(settings, text)
    return _result(target, settings, state, command)


def _result(host: Host, settings: SettingsFile, state: str, command: str = "") -> InstallResult:
    note = host.note if state in ("installed", "updated") else ""
    return InstallResult(
        host=host.name, file=settings.path, state=state, command=command, note=note
    )


def _group(command: str, created: str) -> dict[str, Any]:
    full_command = f"{command} # skillyard hook, made: {created}"
    return {"hooks": [{"type": "command", "command": full_command, "timeout": TIMEOUT_S}]}


def _document(command: str) -> str:
    return json.dumps({"hooks": {EVENT: [_group(command, "file")]}}, indent=2) + "\n"


def edit_settings(text: str, command: str, path: str = "") -> tuple[str, str]:
    """Return the settings with the command added, and the state. Raises SettingsRefused."""
    document = _parse(text, path)
    ours = list(_ours(document))
    if len(ours) == 1:
        created = _created_by(ours[0]["command"])
        new_command = _group(command, created)["hooks"][0]["command"]
        if ours[0]["command"] == new_command:
            return text, "unchanged"
        return _replace_command(text, new_command, path), "updated"
    if ours:  # several entries of ours, made by copying: leave one
        rest, _ = _remove_hook(text, path)
        return edit_settings(rest, command, path)[0], "updated"
    return _add_hook(text, document, command, path), "installed"


def installed_commands(text: str, path: str = "") -> list[str]:
    """Return our shell commands in a settings text. Raises SettingsRefused."""
    return [str(handler["command"]) for handler in _ours(_parse(text, path))]


def _parse(text: str, path: str) -> dict[str, Any]:
    """Return the document, after checking the types of its ``hooks`` containers."""
    hint = "mend it by hand; nothing was changed"
    try:
        document = json.loads(text.removeprefix("\ufeff"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise SettingsRefused("it is not JSON", path=path, line=line, hint=hint) from None
    if not isinstance(document, dict):
        raise SettingsRefused("it is no JSON object", path=path, hint=hint)
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        raise SettingsRefused("hooks is no object in it", path=path, hint=hint)
    if not isinstance(hooks.get(EVENT, []), list):
        raise SettingsRefused(f"hooks.{EVENT} is no list in it", path=path, hint=hint)
    return document


def _ours(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the handlers with our mark."""
    for group in document.get("hooks", {}).get(EVENT, []):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for handler in handlers if isinstance(handlers, list) else ():
            if _is_ours(handler):
                yield handler


def _is_ours(handler: object) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and _MARK.search(command) is not None


def _created_by(command: str) -> str:
    match = _MARK.search(command)
    return match.group(1) if match else "entry"


class _Place(NamedTuple):
    """A container in the text, and its parts."""

    part: js.Part
    parts: list[js.Part]

    def member(self, key: str) -> tuple[int, js.Part] | None:
        """Return the last member with that key, which is the one that JSON parsers use."""
        members = [(number, part) for number, part in enumerate(self.parts) if part.key == key]
        return members[-1] if members else None


def _object(text: str, part: js.Part) -> _Place:
    return _Place(part, js.members(text, part))


def _array(text: str, part: js.Part) -> _Place:
    return _Place(part, js.elements(text, part))


def _add_hook(text: str, document: dict[str, Any], command: str, path: str) -> str:
    """Return the settings with a new entry at the end of the event's list."""
    top = _object(text, js.whole(text))
    member = top.member("hooks")
    if member is None:
        value: Any = {EVENT: [_group(command, "hooks")]}
        new = js.insert(text, top.part, top.parts, _member("hooks", value, text, 1), 1)
        return _verify(None, new, {**document, "hooks": value}, path)
    hooks = _object(text, member[1])
    event = hooks.member(EVENT)
    if event is None:
        value = [_group(command, "event")]
        new = js.insert(text, hooks.part, hooks.parts, _member(EVENT, value, text, 2), 2)
        expected = {**document, "hooks": {**document["hooks"], EVENT: value}}
        return _verify(None, new, expected, path)
    groups = _array(text, event[1])
    group = _group(command, "entry")
    new = js.insert(text, groups.part, groups.parts, _json(group, text, 3), 3)
    value = [*document["hooks"][EVENT], group]
    expected = {**document, "hooks": {**document["hooks"], EVENT: value}}
    return _verify(None, new, expected, path)


def _member(key: str, value: Any, text: str, depth: int) -> str:
    return f"{json.dumps(key)}: {_json(value, text, depth)}"


def _json(value: Any, text: str, depth: int) -> str:
    """Return a value formatted like the text: on one line if the text is a single line."""
    if "\n" not in text.strip():
        return json.dumps(value)
    end, unit = ("\r\n" if "\r\n" in text else "\n"), js.unit(text)
    return json.dumps(value, indent=unit).replace("\n", end + unit * depth)


def _verify(settings: SettingsFile | None, text: str, expected: Any, path: str = "") -> str:
    """Return the text if it parses to the expected document. Raises SettingsRefused."""
    if json.loads(text.removeprefix("\ufeff")) != expected:
        where = settings.path if settings is not None else path
        hint = "a key may stand in it twice; mend it by hand; nothing was changed"
        raise SettingsRefused("the hook has no safe place in it", path=where, hint=hint)
    return text


def _handlers(text: str) -> Iterator[tuple[_Place, _Place, int, _Place, int]]:
    """Yield (hooks, list, index of the group, its handlers, index of ours), last first."""
    top = _object(text, js.whole(text))
    member = top.member("hooks")
    hooks = None if member is None else _object(text, member[1])
    event = None if hooks is None else hooks.member(EVENT)
    if hooks is None or event is None:
        return
    groups = _array(text, event[1])
    for number in reversed(range(len(groups.parts))):
        part = groups.parts[number]
        inner = _object(text, part).member("hooks") if text[part.value] == "{" else None
        if inner is None or text[inner[1].value] != "[":
            continue
        handlers = _array(text, inner[1])
        for place in reversed(range(len(handlers.parts))):
            own = handlers.parts[place]
            if _is_ours(json.loads(text[own.value : own.end])):
                yield hooks, groups, number, handlers, place


def _replace_command(text: str, command: str, path: str) -> str:
    """Return the settings with another command in our handler."""
    for _, _, _, handlers, place in _handlers(text):
        member = _object(text, handlers.parts[place]).member("command")
        if member is not None:
            part = member[1]
            return text[: part.value] + json.dumps(command) + text[part.end :]
    raise SettingsRefused("the hook cannot be found in it", path=path, hint="mend it by hand")


def _remove_hook(text: str, path: str) -> tuple[str, str | None]:
    """Return the settings without the hook, and what was created for it (None: no hook is there).

    Containers that were created for the hook and are empty now are removed too.
    """
    created: str | None = None
    while True:
        handler = next(_handlers(text), None)
        if handler is None:
            return text, created
        hooks, groups, number, handlers, place = handler
        own = handlers.parts[place]
        created = _created_by(json.loads(text[own.value : own.end])["command"])
        text = _remove_entry(text, hooks, groups, number, handlers, place, created)
        _parse(text, path)


def _remove_entry(
    text: str,
    hooks: _Place,
    groups: _Place,
    number: int,
    handlers: _Place,
    place: int,
    created: str,
) -> str:
    if len(handlers.parts) > 1:
        return js.remove(text, handlers.part, handlers.parts, place)
    group = _object(text, groups.parts[number])
    if len(group.parts) > 1 and not _only_ours(group):
        return js.remove(text, handlers.part, handlers.parts, place)
    if len(groups.parts) > 1 or created == "entry":
        return js.remove(text, groups.part, groups.parts, number)
    event = hooks.member(EVENT)
    assert event is not None
    if len(hooks.parts) > 1 or created == "event":
        return js.remove(text, hooks.part, hooks.parts, event[0])
    top = _object(text, js.whole(text))
    member = top.member("hooks")
    assert member is not None
    return js.remove(text, top.part, top.parts, member[0])


def _only_ours(group: _Place) -> bool:
    """Return True when a group has no members besides our handlers."""
    return all(part.key == "hooks" for part in group.parts)


def uninstall(host: str, *, file: str | None = None) -> InstallResult:
    """Remove the hook from a host's settings. Raises UnknownName, SettingsRefused."""
    target = host_of(host)
    settings = read_settings(file or target.settings())
    if settings.text is None:
        return _result(target, settings, "absent")
    _parse(settings.text, settings.path)
    text, created = _remove_hook(settings.text, settings.path)
    if created is None:
        return _result(target, settings, "absent")
    if created == "file" and json.loads(text.removeprefix("\ufeff")) == {}:
        delete(settings)
    else:
        replace(settings, text)
    return _result(target, settings, "removed")
