"""Processes: started apart from this one, ended with their children, and how many run at once."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

ESSENTIAL_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ") + (
    ("COMSPEC", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR") if sys.platform == "win32" else ()
)
"""Environment variables that programs need to be found, to start and to know language and time."""


def temporary_home(folder: str) -> dict[str, str]:
    """Return the variables that make a folder a program's home and place for temporary files."""
    own = ["TEMP", "TMP", "USERPROFILE"] if sys.platform == "win32" else ["TMPDIR"]
    return dict.fromkeys(["HOME", *own], folder)


def program_path(name: str) -> str | None:
    """Return the absolute path of a program; None where there is none.

    On Windows the working folder would come first, and a strange project may hold such a file.
    """
    import shutil

    path = shutil.which(name)
    return path if path is not None and os.path.isabs(path) else None


def script_beside(name: str) -> str | None:
    """Return the path of a command installed beside this interpreter; None where there is none."""
    import shutil

    return shutil.which(name, path=os.path.dirname(sys.executable))


def system_shell() -> str:
    """Return the POSIX shell: on Windows whichever ``sh`` is on the path, as Git brings one."""
    return "sh" if sys.platform == "win32" else "/bin/sh"


def shell_command(arguments: list[str]) -> str:
    """Return a command line for the system's shell.

    On Windows it is one that cmd.exe and the bash of Git read alike, where no argument holds a
    double quote, ``%``, ``$`` or a backtick: with ``/`` in paths, and in double quotes.
    """
    if sys.platform != "win32":
        import shlex

        return shlex.join(arguments)
    return " ".join(map(_double_quoted, arguments))


def _double_quoted(argument: str) -> str:
    text = argument.replace("\\", "/")
    plain = text and all(char.isalnum() or char in "/:._-" for char in text)
    return text if plain else f'"{text}"'


def start_detached(arguments: list[str]) -> bool:
    """Start a program without terminal or streams, which outlives this process.

    ``arguments[0]`` is its path. False when it could not be started.
    """
    try:
        if sys.platform == "win32":
            _start_on_windows(arguments)
        else:
            _spawn(arguments)
    except (OSError, ValueError):
        return False
    return True


if sys.platform == "win32":

    def _start_on_windows(arguments: list[str]) -> None:
        import subprocess

        apart = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        nothing = subprocess.DEVNULL
        started = subprocess.Popen(
            arguments, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=apart
        )
        started.returncode = 0  # nobody waits for it, and no warning says so

else:

    def _spawn(arguments: list[str]) -> None:
        # posix_spawn: a hook starts this, and importing subprocess takes longer than its answer.
        program, null = arguments[0], os.devnull
        nothing = [(os.POSIX_SPAWN_OPEN, stream, null, os.O_RDWR, 0o600) for stream in (0, 1, 2)]
        try:
            os.posix_spawn(program, arguments, os.environ, file_actions=nothing, setsid=True)
        except NotImplementedError:  # a system without sessions: a group of its own must do
            os.posix_spawn(program, arguments, os.environ, file_actions=nothing, setpgroup=0)


def limit_memory(process: subprocess.Popen[bytes], max_bytes: int) -> None:
    """Limit the address space of a process that was just started, and of its children.

    On Linux; elsewhere no process can set another one's limit.
    """
    if sys.platform == "linux":
        import resource

        try:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (max_bytes, max_bytes))
        except (ProcessLookupError, PermissionError, ValueError):
            pass  # it has ended, or has a lower limit already


def lower_priority() -> None:
    """Let other processes go first, where the system lets a process say so."""
    if sys.platform != "win32":
        os.nice(5)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group of its own, with the children that it left, and wait.

    Windows has no groups that outlive their leader: the children that it still has are ended.
    """
    if sys.platform == "win32":
        _end_tree(process)
    else:
        import signal

        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    process.wait()


class Watchdog:
    """A context in which one process is ended with its children if this one is killed.

    That process leads a group of its own, which is killed. A shell waits for the end of a pipe that
    only this process holds open, because nothing can be done on SIGKILL itself, and
    ``PR_SET_PDEATHSIG`` of Linux reaches no children. Does nothing on Windows, and where no shell
    can be started.
    """

    def __init__(self) -> None:
        self._is_watching = False
        self._shell: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Watchdog:
        if sys.platform == "win32":
            return self
        import subprocess

        ending = 'kill -s KILL -- "-$pid"'
        nothing = subprocess.DEVNULL
        with suppress(OSError):
            self._shell = subprocess.Popen(
                [system_shell(), "-c", f"read -r pid && {{ read -r end || {{ {ending}; }}; }}"],
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=nothing,
                stderr=nothing,
                bufsize=0,
                start_new_session=True,  # whoever kills our group does not kill it
            )
        return self

    def watch(self, pid: int) -> None:
        """Name the process, once."""
        self._is_watching = True
        self._write(f"{pid}\n")

    def __exit__(self, *_: object) -> None:
        if self._is_watching:
            self._write("end\n")
        if self._shell is not None:
            self._shell.communicate()

    def _write(self, text: str) -> None:
        pipe = None if self._shell is None else self._shell.stdin
        if pipe is not None and not pipe.closed:
            with suppress(BrokenPipeError):  # somebody ended the shell: nobody watches
                pipe.write(text.encode("ascii"))


if sys.platform == "win32":

    def _end_tree(process: subprocess.Popen[bytes]) -> None:
        import subprocess

        if process.poll() is not None:
            return
        try:
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(process.pid)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            pass
        process.kill()


def may_be_running(pid: int) -> bool:
    """Return False where no process has this number; True where one has, or nobody can tell.

    On Windows the call that asks would send an interrupt, so nobody can tell.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass  # somebody else's process
    return True


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
