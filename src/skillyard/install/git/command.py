"""Runs the user's ``git`` for one step, without anything that a repository could make it do.

Git is only asked to list refs, to fetch objects into a bare repository and to print objects. There
is no checkout, so no filter, hook, link or submodule of a repository is ever used. The user's own
configuration counts (credential helpers, ssh, proxies), except for what is overridden here.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from threading import Event
from typing import IO, NamedTuple

from skillyard.base.errors import SourceFailed
from skillyard.base.io.processes import Watchdog, end_group, limit_memory, program_path
from skillyard.base.text import clean_line, shorten, without_secrets

_STEP_S = 0.02
_SHOWN = 300

_OVERRIDES = (
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "core.alternateRefsCommand=",
    "core.bigFileThreshold=1m",  # larger objects are streamed, not held in memory
    "transfer.fsckObjects=true",  # refuses `..`, `.git` and odd names in trees, before any use
    "fetch.unpackLimit=1",  # packs are what is measured
    "transfer.bundleURI=false",
    "fetch.fsckObjects=true",
    "fetch.fsck.badTimezone=ignore",  # harmless faults of old programs that wrote commits
    "fetch.fsck.missingSpaceBeforeDate=ignore",
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "fetch.showForcedUpdates=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ANONYMOUS = (
    "credential.helper=",
    "core.askPass=",
    "http.extraHeader=",
    "http.cookieFile=",
    "http.sslCert=",
)
"""Settings of the user that may answer any host; an empty value removes what was set before."""
_UNSET = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_SHALLOW_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_WORK_TREE",
)
"""Variables that point git at another repository: git sets them for the hooks that it runs."""


class GitLimits(NamedTuple):
    """How much one step of git may take."""

    seconds: float = 120.0
    output_bytes: int = 32 * 1024 * 1024
    """A tree of 100,000 entries takes about ten million bytes."""
    stored_bytes: int = 256 * 1024 * 1024
    """What the repository in the cache may grow to."""
    memory_bytes: int = 4 * 1024 * 1024 * 1024
    """Address space of git, on Linux: a list of refs without end is held in memory."""


class Git(NamedTuple):
    """Runs git in one bare repository. Safe to use in a thread."""

    folder: str
    """The bare repository; the folder above it while there is none."""
    stop: Event
    """Ends a running step as soon as it is set."""
    limits: GitLimits = GitLimits()
    options: tuple[str, ...] = ()
    """Further ``name=value`` of the configuration."""
    anonymous: bool = False
    """Git sends no credentials of the user: a stranger chose the host."""

    def read(self, *arguments: str, stdin: bytes = b"", max_bytes: int | None = None) -> bytes:
        """Return what a command prints that only reads objects that are here.

        Raises SourceFailed.
        """
        return self._run(arguments, "", stdin, max_bytes)

    def ask(self, scheme: str, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return what a command prints that asks a remote by one scheme. Raises SourceFailed.

        The user's configuration may replace an address by one over https or ssh
        (``url.<base>.insteadOf``).
        """
        return self._run(arguments, ":".join(dict.fromkeys((scheme, "https", "ssh"))), stdin, None)

    def _run(
        self, arguments: Sequence[str], schemes: str, stdin: bytes, max_bytes: int | None
    ) -> bytes:
        most = self.limits.output_bytes if max_bytes is None else max_bytes
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            Watchdog() as watchdog,
        ):
            given.write(stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self._command(arguments),
                    cwd=self.folder,
                    env=_environment(schemes, anonymous=self.anonymous),
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    # Without a terminal of its own neither git nor ssh can ask a question.
                    start_new_session=True,
                )
            except OSError as error:
                raise SourceFailed("unreachable", f"cannot start git: {error.strerror}") from None
            watchdog.watch(process.pid)
            limit_memory(process, self.limits.memory_bytes)
            problem = self._wait(process, (out, err), most)
            message = _tail(err)
            if problem is not None:
                raise problem
            if process.returncode != 0:
                raise failure_of(message)
            out.seek(0)
            return out.read(most + 1)

    def _command(self, arguments: Sequence[str]) -> list[str]:
        program = program_path("git")
        if program is None:
            raise SourceFailed(
                "unreachable",
                "git is not installed",
                hint="install it (https://git-scm.com/downloads), and run this again",
            )
        anonymous = _ANONYMOUS if self.anonymous else ()
        settings = (*_OVERRIDES, *anonymous, *self.options)
        options = [part for each in settings for part in ("-c", each)]
        bare = [] if arguments[0] in ("init", "version") else ["--git-dir=."]
        return [program, *options, *bare, *arguments]

    def _wait(
        self, process: subprocess.Popen[bytes], outputs: Sequence[IO[bytes]], max_bytes: int
    ) -> SourceFailed | None:
        """Wait for the end, and end the process where a limit is exceeded; return why."""
        limits = self.limits
        deadline = time.monotonic() + limits.seconds
        stored = 0
        try:
            while True:
                try:
                    process.wait(_STEP_S)
                except subprocess.TimeoutExpired:
                    pass
                # Messages may be long: GIT_TRACE adds to them.
                most = (max_bytes, max(max_bytes, limits.output_bytes))
                sizes = [os.fstat(file.fileno()).st_size for file in outputs]
                over = any(size > limit for size, limit in zip(sizes, most, strict=True))
                stored = max(stored, self._stored())  # a file may be missed while it is renamed
                if over or stored > limits.stored_bytes:
                    limit = max_bytes if over else limits.stored_bytes
                    return SourceFailed(
                        "too_large",
                        f"the repository sends more than {limit:,} bytes",
                        hint="name a smaller repository, or clone it and add the folder",
                    )
                if process.returncode is not None:
                    return None
                if self.stop.is_set():
                    return SourceFailed("timeout", "git was stopped")
                if time.monotonic() >= deadline:
                    return SourceFailed(
                        "timeout",
                        f"git did not finish in {limits.seconds:g} s",
                        hint="try again later, or clone the repository and add the folder",
                    )
        finally:
            end_group(process)

    def _stored(self) -> int:
        """Return the size of the packs, complete ones and the one that is being received."""
        try:
            with os.scandir(os.path.join(self.folder, "objects", "pack")) as entries:
                # Git removes the marks *.keep when it has received a pack.
                return sum(e.stat().st_size for e in entries if not e.name.endswith(".keep"))
        except OSError:  # no repository yet, or a file that has just been renamed
            return 0


def _environment(schemes: str, *, anonymous: bool) -> dict[str, str]:
    unset = (*_UNSET, "GIT_ASKPASS", "SSH_ASKPASS") if anonymous else _UNSET
    variables = {name: value for name, value in os.environ.items() if name not in unset}
    return variables | {
        "LC_ALL": "C",  # messages are sorted into kinds
        "GIT_ALLOW_PROTOCOL": schemes,  # goes before every setting; empty allows none
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",  # each step says what it fetches; a plain web server has no end
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "GCM_INTERACTIVE": "never",
    }


def _tail(file: IO[bytes]) -> str:
    """Return the last of what git said, which may repeat what a remote said."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8_192))
    return file.read(8_192).decode("utf-8", "replace")


_DENIED = re.compile(
    r"could not read (username|password)|authentication failed|permission denied"
    r"|terminal prompts disabled|access denied|returned error: 40[13]|invalid credentials"
)
_NOT_FOUND = re.compile(
    r"not found|does not exist|not appear to be a git repository|returned error: 404"
    r"|not exported|no such file or directory|unknown repository"
)
_UNREACHABLE = re.compile(
    r"could not resolve|failed to connect|connection (refused|reset|timed out)|unreachable"
    r"|couldn't connect|ssl|certificate|hung up|early eof|unable to connect|no route"
)
_CREDENTIALS = (
    "check that `git ls-remote` works with this address: git's credential helper and ssh keys count"
)
_KINDS = (
    (re.compile("host key verification failed"), "denied", "connect once with ssh, check its key"),
    (re.compile("transport '.*' not allowed|fsck|dubious ownership"), "refused", ""),
    (re.compile("out of memory"), "too_large", "clone it yourself, and add the folder"),
    (_DENIED, "denied", _CREDENTIALS),
    (_NOT_FOUND, "not_found", "check the address; a private repository may answer like this"),
    (_UNREACHABLE, "unreachable", "check the network and the proxy"),
)


def failure_of(message: str) -> SourceFailed:
    """Return the failure that git's messages stand for, without passwords and on one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    said = [line for line in lines if re.match("(?:fatal|error): ", line)]
    # The first fault is the cause; what follows says that the rest could not go on either.
    cause = (said or lines or ["it gave no reason"])[0]
    # Up to the last `@`: a token in the user's configuration may have `/` and `@` itself.
    text = re.sub(r"//\S*@", "//", without_secrets(clean_line(cause)))
    text = shorten(re.sub("^(?:fatal|error): ", "", text), _SHOWN)
    for pattern, code, hint in _KINDS:
        if pattern.search(message.lower()):
            return SourceFailed(code, f"git: {text}", hint=hint)
    return SourceFailed("bad_answer", f"git: {text}")
