"""The error of an adapter whose framework is not installed."""

from __future__ import annotations

from skillyard.base.extras import install_command


def framework_missing(extra: str, distribution: str, error: ImportError) -> ImportError:
    """Return the ImportError to raise. It names the extra and the missing module.

    A framework that is installed but lacks a name is too old, too new, or another package of the
    same name.
    """
    if isinstance(error, ModuleNotFoundError):
        what = f"this adapter needs {distribution}, which is not installed"
    else:
        what = f"this adapter does not fit the {distribution} that is installed ({error})"
    return ImportError(
        f"{what}; install it with: {install_command(extra)}",
        name=error.name,
        path=error.path,
    )
