"""What an adapter says when its framework is not installed."""

from __future__ import annotations

__all__ = ["framework_missing"]


def framework_missing(extra: str, distribution: str, error: ImportError) -> ImportError:
    """Return the error to raise: it names the extra, and keeps the module that was not found.

    A framework that is there and lacks what we import is too old, too new, or another package of
    the same name.
    """
    if isinstance(error, ModuleNotFoundError):
        what = f"this adapter needs {distribution}, which is not installed"
    else:
        what = f"this adapter does not fit the {distribution} that is installed ({error})"
    return ImportError(
        f"{what}; install it with: pip install 'skillyard[{extra}]'",
        name=error.name,
        path=error.path,
    )
