"""The reasons that end a run early, and the detection of repeated equal failures."""

from __future__ import annotations

from skillyard.errors import InvalidInput, SkillyardError
from skillyard.evals.models.protocol import ModelFailed

__all__ = ["RunStopped", "Streaks"]

REASONS = ("budget", "fail_fast", "interrupted")


class RunStopped(SkillyardError):
    """No further call may start; what was done before is good.

    ``reason`` is ``budget``, ``fail_fast`` or ``interrupted``; ``failure`` the model's last
    failure where that is what stopped the run, else None.
    """

    def __init__(self, reason: str, what: str, failure: ModelFailed | None = None) -> None:
        if reason not in REASONS:
            raise InvalidInput(f"a run stops for one of {', '.join(REASONS)}, not {reason!r}")
        super().__init__(what)
        self.reason = reason
        self.failure = failure

    def again(self) -> RunStopped:
        """Return an equal error to be raised elsewhere: each thread raises one of its own."""
        return RunStopped(self.reason, str(self), self.failure)


class Streaks:
    """Failures of the same fingerprint in a row, counted for each model by itself.

    A run that asks two models would otherwise hide the one that always fails behind the one that
    always answers. Not safe for threads by itself: the caller holds its lock.
    """

    def __init__(self, consecutive: int | None) -> None:
        """``consecutive`` failures stop the run, 1 and up; None: never."""
        if consecutive is not None and consecutive < 1:
            raise InvalidInput(f"consecutive must be 1 or more, or None, not {consecutive}")
        self._limit = consecutive
        self._streaks: dict[str, tuple[str, int]] = {}

    def answered(self, model: str) -> None:
        """Note that the model answered: its streak is over."""
        self._streaks.pop(model, None)

    def failed(self, model: str, failure: ModelFailed) -> RunStopped | None:
        """Note a failure; return what stops the run when it was one too many.

        A permanent failure always is: no other request will fare better.
        """
        if failure.permanent:
            return RunStopped("fail_fast", f"stopped: {failure}", failure)
        fingerprint, length = self._streaks.get(model, ("", 0))
        length = length + 1 if fingerprint == failure.fingerprint else 1
        self._streaks[model] = (failure.fingerprint, length)
        if self._limit is None or length < self._limit:
            return None
        alike = f"{length} calls in a row failed alike" if length > 1 else "a call failed"
        return RunStopped("fail_fast", f"stopped: {alike}; the last: {failure}", failure)
