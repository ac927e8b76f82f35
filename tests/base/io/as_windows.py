"""Run commands with the standard library that the modules of skillyard would meet on Windows.

``python as_windows.py STEPS``: a JSON list of ``{"arguments": [...], "input": "..."}``, each run
through the command line in this one process; prints a JSON list of their ends. Only skillyard sees
the other library: a different ``import`` answers its modules. What Windows lacks is missing, and
folders cannot be opened, entries have no inode, files that are open or mapped cannot be replaced or
removed, pipes cannot be waited for, and event loops take neither signals nor descriptors.
"""

from __future__ import annotations

import asyncio
import builtins
import io
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from tests.base.io.stubs import LACKING_MODULES, lacking_names

OWN = "skillyard"


def reduced(module: ModuleType, **changes: Any) -> ModuleType:
    """Return a copy of a module without the names that Windows lacks, and with other ones."""
    copy = ModuleType(module.__name__)
    lacking = lacking_names(module.__name__)
    copy.__dict__.update({k: v for k, v in vars(module).items() if k not in lacking})
    copy.__dict__.update(changes)
    return copy


class Sys(ModuleType):
    """``sys`` of another platform; everything else is looked up when it is used."""

    platform = "win32"

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)


class Entry:
    """A folder's entry as Windows lists it: without the numbers that identify the file."""

    def __init__(self, entry: os.DirEntry[str]) -> None:
        self._entry = entry
        self.name, self.path = entry.name, entry.path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        found = self._entry.stat(follow_symlinks=follow_symlinks)
        fields = list(found)
        fields[stat.ST_INO] = fields[stat.ST_DEV] = fields[stat.ST_NLINK] = 0
        return os.stat_result(fields, {name: getattr(found, name) for name in TIMES})


TIMES = ("st_atime", "st_mtime", "st_ctime", "st_atime_ns", "st_mtime_ns", "st_ctime_ns")


class Scan:
    """``os.scandir``, of paths alone."""

    def __init__(self, path: Any = ".") -> None:
        if isinstance(path, int):
            raise TypeError("scandir: path should be string, bytes, os.PathLike or None, not int")
        self._entries = os.scandir(path)

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self._entries.close()

    def __iter__(self) -> Iterator[Entry]:
        return map(Entry, self._entries)


def in_use(path: Any) -> bool:
    """Return True for a file that this process has open or mapped."""
    real = os.path.realpath(path)
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}") == real:
                return True
        except OSError:
            pass
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.rstrip("\n").endswith(f" {real}") for line in maps)


def guarded(name: str) -> Any:
    real = getattr(os, name)

    def act(*paths: Any, **options: Any) -> Any:
        if any(value is not None for value in options.values()):
            raise NotImplementedError(f"{name}: {', '.join(options)} unavailable on this platform")
        for path in paths:
            if os.path.isfile(path) and in_use(path):
                raise PermissionError(13, "the process cannot access the file", path)
        if name == "rename" and os.path.lexists(paths[1]):
            raise FileExistsError(17, "cannot create a file when that file already exists")
        return real(*paths)

    return act


def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    if dir_fd is not None:
        raise NotImplementedError("dir_fd unavailable on this platform")
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    return os.open(path, flags, mode)


def killed(pid: int, number: int) -> None:
    raise AssertionError(f"kill({pid}, {number}) would interrupt or end a process")


def selected(reading: Any, writing: Any, failing: Any, timeout: float | None = None) -> Any:
    if not all(isinstance(each, socket.socket) for each in (*reading, *writing, *failing)):
        raise OSError(10038, "an operation was attempted on something that is not a socket")
    return select.select(reading, writing, failing, timeout)


def without_flags(*arguments: Any, creationflags: int = 0, **options: Any) -> Any:
    assert options.get("close_fds", True), "handles would be inherited"
    return subprocess.Popen(*arguments, **options)


def refuse(*_: Any) -> Any:
    raise NotImplementedError


WINDOWS = {
    "os": reduced(
        os, name="nt", linesep="\r\n", O_BINARY=0, O_NOINHERIT=0,
        open=opened, scandir=Scan, kill=killed, supports_dir_fd=set(), supports_fd=set(),
        **{name: guarded(name) for name in ("remove", "unlink", "rename", "replace", "rmdir")},
    ),
    "sys": Sys("sys"),
    "signal": reduced(signal),
    "select": reduced(select, select=selected),
    "socket": reduced(socket, SO_EXCLUSIVEADDRUSE=socket.SO_REUSEADDR),
    "subprocess": reduced(
        subprocess, Popen=without_flags, CREATE_NEW_PROCESS_GROUP=512, CREATE_NO_WINDOW=134217728
    ),
}  # fmt: skip


def install() -> None:
    """Let the modules of skillyard import the library of Windows from now on."""
    import platformdirs.windows

    vars(platformdirs.windows)["get_win_folder"] = lambda _: os.environ["LOCALAPPDATA"]
    real = builtins.__import__
    for name in ("add_signal_handler", "remove_signal_handler", "add_reader", "add_writer"):
        setattr(asyncio.SelectorEventLoop, name, refuse)

    def chosen(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        importer = (globals or {}).get("__name__", "")
        if importer.split(".")[0] == OWN or (importer == "__main__" and "skillyard" in sys.argv[0]):
            if name in LACKING_MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name.partition(".")[0] in WINDOWS:
                return WINDOWS[name.partition(".")[0]]
        return real(name, globals, locals, fromlist, level)

    builtins.__import__ = chosen


def end_of(arguments: list[str], given: str) -> dict[str, Any]:
    """Run one command line in this process; return its exit code and what it printed."""
    from skillyard.cli import main

    streams = sys.stdin, sys.stdout, sys.stderr, sys.argv
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    reading, writing = os.pipe()
    with open(writing, "wb") as pipe:
        pipe.write(given.encode())
    try:
        with open(reading, encoding="utf-8") as sys.stdin:
            sys.stdout, sys.stderr, sys.argv = out, err, [OWN, *arguments]
            code = main()
    finally:
        sys.stdin, sys.stdout, sys.stderr, sys.argv = streams
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return {"code": code, "out": texts[0], "err": texts[1]}


def run(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run steps one after the other."""
    return [end_of(step["arguments"], step.get("input", "")) for step in steps]


if __name__ == "__main__":
    if sys.argv[1] != "posix":
        install()
    if sys.argv[2] == "-":
        from skillyard.cli import main

        sys.argv[:] = ["skillyard", *sys.argv[3:]]
        sys.exit(main())
    print(json.dumps(run(json.loads(sys.argv[2]))))
