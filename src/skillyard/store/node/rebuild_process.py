"""Large changes, made in a process of their own, so that answers do not wait for them."""

from __future__ import annotations

import os
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event
from typing import Any

from skillyard.errors import SkillIoError, SkillyardError, StoreFailed, StoreUnavailable
from skillyard.store.node.child_lifetime import LOOK_S, end_with_parent
from skillyard.store.node.generation_builder import rebuild
from skillyard.store.node.state import NodeState
from skillyard.store.opening import login_of, open_store

__all__ = ["Aside"]

END_S = 5.0
"""What a process may take to end when it is told to, before it is killed."""


class Aside:
    """Run ``generation_builder.rebuild`` in another process, one run at a time."""

    def __init__(self, url: str, caller: str | None, state: NodeState, jobs: int) -> None:
        self._url = url
        self._caller = caller
        self._state = state
        self._jobs = jobs
        self._ended = Event()
        self.taken = 0
        """Skills taken over so far; 0 when nothing is made."""

    def rebuild(self, *, anew: bool = False) -> None:
        """Make the store's last generation the one that answers; see ``applying.rebuild``.

        Raises StoreFailed and SkillIoError as they came up there, and SkillIoError when the
        process died. Returns at once after :meth:`end`; what was reached is gone on with.
        """
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        where = (self._url, self._caller, self._state.folder)
        arguments = (theirs, *where, self._jobs, anew, os.getpid())
        # The address travels through a pipe: it may hold a password, and arguments are public.
        process = context.Process(target=_rebuild, args=arguments, name="skillyard-rebuild")
        process.start()
        theirs.close()
        said: tuple[Any, ...] = ()
        try:
            while not self._ended.is_set():
                if not ours.poll(LOOK_S):
                    continue
                try:
                    said = ours.recv()
                except EOFError:
                    break
                if said[0] != "taken":
                    break
                self.taken = said[1]
        finally:
            self.taken = 0
            _end(process, ours)
        if not self._ended.is_set():
            _raise(said, process.exitcode, self._state.folder)

    def end(self) -> None:
        """Let a process that is running end; none is started any more."""
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


def _raise(said: tuple[Any, ...], code: int | None, folder: str) -> None:
    """Raise what the process could not do. Raises StoreFailed, SkillIoError."""
    kind = said[0] if said else ""
    if kind == "done":
        return
    if kind == "store":
        raise StoreUnavailable(said[1], said[2])
    if kind == "failed":
        raise SkillIoError(said[1], path=folder)
    raise SkillIoError(
        f"the process that takes the store's skills over ended with {code}",
        path=folder,
        hint="it goes on where it was; look for a lack of memory",
    )


def _rebuild(
    pipe: Connection,
    url: str,
    caller: str | None,
    folder: str,
    jobs: int,
    anew: bool,
    parent: int,
) -> None:
    """What the process does: one rebuild; its parent hears how it went."""
    end_with_parent(parent)
    told = 0.0

    def tell(taken: int) -> None:
        nonlocal told
        if time.monotonic() - told > LOOK_S:
            told = time.monotonic()
            pipe.send(("taken", taken))

    try:
        state = NodeState(folder, caller, login_of(url))
        with state.lock_making(), open_store(url, caller=caller, connections=2) as store:
            rebuild(store, state, jobs=jobs, progress=tell, anew=anew)
        pipe.send(("done",))
    except StoreFailed as error:
        pipe.send(("store", error.store, error.what + (f"; {error.hint}" if error.hint else "")))
    except (SkillyardError, OSError) as error:
        pipe.send(("failed", str(error)))
    except BrokenPipeError:
        pass
