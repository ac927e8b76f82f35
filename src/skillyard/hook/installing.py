"""Putting the hook into a host's settings, and taking exactly that out again.

The hook is one command. A comment at its end says that it is ours and which of the things around
it were made for it, so that taking it out needs no record elsewhere and leaves what others put
there. Hosts give a command to a shell, which passes over the comment.
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

__all__ = ["Installed", "command_of", "edited", "install", "installed_commands", "uninstall"]

TIMEOUT_S = 10
"""After which the host goes on without us; an answer takes a hundredth of it."""
_MADE = ("entry", "event", "hooks", "file")
"""What installing made: the entry alone, the list of the event too, ``hooks`` too, the file."""
_MARK = re.compile(r" # skillyard hook, made: (entry|event|hooks|file)$")


class Installed(NamedTuple):
    """What installing or taking out did to one settings file."""

    host: str
    file: str
    state: str
    """``installed``, ``updated`` or ``unchanged``; ``removed`` or ``absent``."""
    command: str
    note: str

    def to_dict(self) -> dict[str, Any]:
        """Return one entry of ``skillyard.hook-install/1`` and ``skillyard.hook-uninstall/1``."""
        return self._asdict()


def command_of(host: str, options: tuple[str, ...] = ()) -> str:
    """Return the shell command that a host is to run, without the comment.

    It ends with 0 whatever happens: an interpreter that is gone must not block prompts, and
    Python itself ends with 2, which does, when it cannot open its program.
    """
    beside = script_beside("skillyard")
    # -P: a host starts hooks in the project, and nothing must be imported from there.
    start = [beside] if beside is not None else [sys.executable, "-P", "-m", "skillyard"]
    return f"{shell_command([*start, 'hook', host, *options])} || exit 0"


def install(host: str, *, file: str | None = None, options: tuple[str, ...] = ()) -> Installed:
    """Put the hook into a host's settings, the user's own unless ``file`` is named.

    Doing it again changes nothing; another command takes the place of the one that was there.
    Raises UnknownName, SettingsRefused.
    """
    known = host_of(host)
    settings = read_settings(file or known.settings())
    command = command_of(host, options)
    if settings.text is None:
        text = _document(command)
        _checked(settings, text, {"hooks": {EVENT: [_group(command, "file")]}})
        replace(settings, text)
        return _done(known, settings, "installed", command)
    text, state = edited(settings.text, command, settings.path)
    if state != "unchanged":
        replace(settings, text)
    return _done(known, settings, state, command)


def _done(host: Host, settings: SettingsFile, state: str, command: str = "") -> Installed:
    note = host.note if state in ("installed", "updated") else ""
    return Installed(host.name, settings.path, state, command, note)


def _group(command: str, made: str) -> dict[str, Any]:
    marked = f"{command} # skillyard hook, made: {made}"
    return {"hooks": [{"type": "command", "command": marked, "timeout": TIMEOUT_S}]}


def _document(command: str) -> str:
    return json.dumps({"hooks": {EVENT: [_group(command, "file")]}}, indent=2) + "\n"


def edited(text: str, command: str, path: str = "") -> tuple[str, str]:
    """Return the settings with the command in them, and what that did. Raises SettingsRefused."""
    document = _parsed(text, path)
    ours = list(_ours(document))
    if len(ours) == 1:
        made = _made_by(ours[0]["command"])
        wanted = _group(command, made)["hooks"][0]["command"]
        if ours[0]["command"] == wanted:
            return text, "unchanged"
        return _recommanded(text, wanted, path), "updated"
    if ours:  # by somebody's copying: one is enough
        without, _ = _without(text, path)
        return edited(without, command, path)[0], "updated"
    return _with(text, document, command, path), "installed"


def installed_commands(text: str, path: str = "") -> list[str]:
    """Return the shell commands of ours that a settings text holds. Raises SettingsRefused."""
    return [str(handler["command"]) for handler in _ours(_parsed(text, path))]


def _parsed(text: str, path: str) -> dict[str, Any]:
    """Return the document, whose places for hooks are what they should be."""
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
    """Yield the handlers that carry our mark."""
    for group in document.get("hooks", {}).get(EVENT, []):
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for handler in handlers if isinstance(handlers, list) else ():
            if _is_ours(handler):
                yield handler


def _is_ours(handler: object) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and _MARK.search(command) is not None


def _made_by(command: str) -> str:
    found = _MARK.search(command)
    return found.group(1) if found else "entry"


class _Place(NamedTuple):
    """A container in the text and its parts."""

    part: js.Part
    parts: list[js.Part]

    def member(self, key: str) -> tuple[int, js.Part] | None:
        """Return the last member of that key: the one that readers of JSON take."""
        found = [(number, part) for number, part in enumerate(self.parts) if part.key == key]
        return found[-1] if found else None


def _object(text: str, part: js.Part) -> _Place:
    return _Place(part, js.members(text, part))


def _array(text: str, part: js.Part) -> _Place:
    return _Place(part, js.elements(text, part))


def _with(text: str, document: dict[str, Any], command: str, path: str) -> str:
    """Return the settings with a new entry at the end of the event's list."""
    top = _object(text, js.whole(text))
    found = top.member("hooks")
    if found is None:
        value: Any = {EVENT: [_group(command, "hooks")]}
        new = js.insert(text, top.part, top.parts, _member("hooks", value, text, 1), 1)
        return _checked(None, new, {**document, "hooks": value}, path)
    hooks = _object(text, found[1])
    event = hooks.member(EVENT)
    if event is None:
        value = [_group(command, "event")]
        new = js.insert(text, hooks.part, hooks.parts, _member(EVENT, value, text, 2), 2)
        expected = {**document, "hooks": {**document["hooks"], EVENT: value}}
        return _checked(None, new, expected, path)
    listed = _array(text, event[1])
    group = _group(command, "entry")
    new = js.insert(text, listed.part, listed.parts, _json(group, text, 3), 3)
    value = [*document["hooks"][EVENT], group]
    expected = {**document, "hooks": {**document["hooks"], EVENT: value}}
    return _checked(None, new, expected, path)


def _member(key: str, value: Any, text: str, depth: int) -> str:
    return f"{json.dumps(key)}: {_json(value, text, depth)}"


def _json(value: Any, text: str, depth: int) -> str:
    """Return a value as it looks in this text: on one line where the text is one line."""
    if "\n" not in text.strip():
        return json.dumps(value)
    end, unit = ("\r\n" if "\r\n" in text else "\n"), js.unit(text)
    return json.dumps(value, indent=unit).replace("\n", end + unit * depth)


def _checked(settings: SettingsFile | None, text: str, expected: Any, path: str = "") -> str:
    """Return the text when it reads as what was meant; else nothing must be written."""
    if json.loads(text.removeprefix("\ufeff")) != expected:
        where = settings.path if settings is not None else path
        hint = "a key may stand in it twice; mend it by hand; nothing was changed"
        raise SettingsRefused("the hook has no safe place in it", path=where, hint=hint)
    return text


def _handlers(text: str) -> Iterator[tuple[_Place, _Place, int, _Place, int]]:
    """Yield (hooks, list, number of the group, its handlers, number of ours), last first."""
    top = _object(text, js.whole(text))
    found = top.member("hooks")
    hooks = None if found is None else _object(text, found[1])
    event = None if hooks is None else hooks.member(EVENT)
    if hooks is None or event is None:
        return
    listed = _array(text, event[1])
    for number in reversed(range(len(listed.parts))):
        part = listed.parts[number]
        inner = _object(text, part).member("hooks") if text[part.value] == "{" else None
        if inner is None or text[inner[1].value] != "[":
            continue
        handlers = _array(text, inner[1])
        for place in reversed(range(len(handlers.parts))):
            own = handlers.parts[place]
            if _is_ours(json.loads(text[own.value : own.end])):
                yield hooks, listed, number, handlers, place


def _recommanded(text: str, command: str, path: str) -> str:
    """Return the settings with another command in our one handler."""
    for _, _, _, handlers, place in _handlers(text):
        found = _object(text, handlers.parts[place]).member("command")
        if found is not None:
            part = found[1]
            return text[: part.value] + json.dumps(command) + text[part.end :]
    raise SettingsRefused("the hook cannot be found in it", path=path, hint="mend it by hand")


def _without(text: str, path: str) -> tuple[str, str | None]:
    """Return the settings without the hook, and what was made for it (None: it is not there).

    What was made for it and holds nothing else by now goes with it.
    """
    made: str | None = None
    while True:
        found = next(_handlers(text), None)
        if found is None:
            return text, made
        hooks, listed, number, handlers, place = found
        own = handlers.parts[place]
        made = _made_by(json.loads(text[own.value : own.end])["command"])
        text = _taken_out(text, hooks, listed, number, handlers, place, made)
        _parsed(text, path)


def _taken_out(
    text: str,
    hooks: _Place,
    listed: _Place,
    number: int,
    handlers: _Place,
    place: int,
    made: str,
) -> str:
    if len(handlers.parts) > 1:
        return js.remove(text, handlers.part, handlers.parts, place)
    group = _object(text, listed.parts[number])
    if len(group.parts) > 1 and not _only_ours(group):
        return js.remove(text, handlers.part, handlers.parts, place)
    if len(listed.parts) > 1 or made == "entry":
        return js.remove(text, listed.part, listed.parts, number)
    event = hooks.member(EVENT)
    assert event is not None
    if len(hooks.parts) > 1 or made == "event":
        return js.remove(text, hooks.part, hooks.parts, event[0])
    top = _object(text, js.whole(text))
    member = top.member("hooks")
    assert member is not None
    return js.remove(text, top.part, top.parts, member[0])


def _only_ours(group: _Place) -> bool:
    """Return True when a group holds nothing that somebody might have put beside our handler."""
    return all(part.key == "hooks" for part in group.parts)


def uninstall(host: str, *, file: str | None = None) -> Installed:
    """Take the hook out of a host's settings. Raises UnknownName, SettingsRefused."""
    known = host_of(host)
    settings = read_settings(file or known.settings())
    if settings.text is None:
        return _done(known, settings, "absent")
    _parsed(settings.text, settings.path)
    text, made = _without(settings.text, settings.path)
    if made is None:
        return _done(known, settings, "absent")
    if made == "file" and json.loads(text.removeprefix("\ufeff")) == {}:
        delete(settings)
    else:
        replace(settings, text)
    return _done(known, settings, "removed")
