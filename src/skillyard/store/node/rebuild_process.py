"""Rebuilds of a node's index in a separate process, so that requests do not wait for them."""

from __future__ import annotations

import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event
from typing import Any

from skillyard.base.errors import SkillIoError, SkillyardError
from skillyard.base.io.workers import end_with_parent
from skillyard.engine.catalog.roots import Admission
from skillyard.store.node.generation_builder import catch_up
from skillyard.store.node.state import NodeState
from skillyard.store.opening import login_of, open_store

LOOK_S = 0.2
"""Interval in seconds between two looks at the process."""
END_S = 5.0
"""Seconds that the process may take to end before it is killed."""


class RebuildProcess:
    """Run ``generation_builder.catch_up`` in another process, one run at a time."""

    def __init__(self, url: str, caller: str | None, state: NodeState, jobs: int) -> None:
        self._url = url
        self._caller = caller
        self._state = state
        self._jobs = jobs
        self._ended = Event()
        self.copied = 0
        """Skills copied so far; 0 when no rebuild runs."""

    def rebuild(self, *, anew: bool = False) -> None:
        """Bring the node to the store's last generation; see ``generation_builder.catch_up``.

        Raises SkillyardError with what the process says, and SkillIoError when it died. Returns at
        once after :meth:`end`.
        """
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        where = (self._url, self._caller, self._state.folder, self._state.policy)
        arguments = (theirs, *where, self._jobs, anew)
        # The address is sent through a pipe: it may contain a password, and arguments are public.
        process = context.Process(target=_rebuild, args=arguments, name="skillyard-rebuild")
        process.start()
        theirs.close()
        failure: str | None = None
        try:
            while failure is None and not self._ended.is_set():
                if not ours.poll(LOOK_S):
                    continue
                try:
                    message = ours.recv()
                except EOFError:
                    break
                if isinstance(message, str):
                    failure = message
                else:
                    self.copied = message
        finally:
            self.copied = 0
            _end(process, ours)
        if failure is None and not self._ended.is_set():
            raise SkillIoError(
                f"the process that takes the store's skills over ended with {process.exitcode}",
                path=self._state.folder,
                hint="it is tried again; check for a lack of memory",
            )
        if failure:
            raise SkillyardError(failure)

    def end(self) -> None:
        """End the running process. None is started afterwards."""
        self._ended.set()


def _end(process: Any, ours: Any) -> None:
    ours.close()
    process.join(END_S if process.exitcode is None else 0)
    if process.exitcode is None:
        process.terminate()
        process.join(END_S)
    if process.exitcode is None:
        process.kill()
        process.join()


def _rebuild(
    pipe: Connection,
    url: str,
    caller: str | None,
    folder: str,
    policy: Admission | None,
    jobs: int,
    anew: bool,
) -> None:
    """Run one rebuild in the child process; send counts, then the failure or an empty text."""
    end_with_parent()
    reported_at = 0.0

    def tell(copied: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at > LOOK_S:
            reported_at = time.monotonic()
            pipe.send(copied)

    try:
        state = NodeState(folder, caller, login_of(url), policy)
        with state.lock_making(), open_store(url, caller=caller, connections=2) as store:
            catch_up(store, state, jobs=jobs, progress=tell, anew=anew)
        pipe.send("")
    except BrokenPipeError:
        pass
    except (SkillyardError, OSError) as error:
        pipe.send(str(error) or type(error).__name__)
