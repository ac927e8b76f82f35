"""How to add an extra to this installation."""

from __future__ import annotations

__all__ = ["install_command"]

_ENVIRONMENTS = {
    "uv-receipt.toml": "uv tool install --force",
    "pipx_metadata.json": "pipx install --force",
}
"""What makes an environment of its own for a command, by the file that it leaves there."""


def install_command(*extras: str) -> str:
    """Return the command that adds the extras to the skillyard that runs.

    It names what that was installed from, as installers note it (PEP 610): a checkout, a file or
    a repository; the name alone where it came from an index. uv and pipx install a command anew,
    with the extras that are named and no others, so there ``all`` is named beside them.
    """
    import os
    import sys

    program = "pip install"
    for file, command in _ENVIRONMENTS.items():
        if os.path.isfile(os.path.join(sys.prefix, file)):
            program = command
            extras = ("all", *(extra for extra in extras if extra in _BESIDE_ALL))
    listed = ",".join(extras)
    is_editable, folder, url = _origin()
    if folder:
        option = "" if not is_editable else "-e " if program.startswith("pip ") else "--editable "
        return f"{program} {option}'{folder}[{listed}]'"
    return f"{program} 'skillyard[{listed}]{f' @ {url}' if url else ''}'"


_BESIDE_ALL = frozenset({"adk", "pydantic-ai", "langchain", "openai-agents"})
"""The extras that ``all`` leaves out: one for each agent framework."""


def _origin() -> tuple[bool, str, str]:
    """Return (editable, folder, address) of the installation; empty for what is not known."""
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads
    from urllib.request import url2pathname

    try:
        noted = loads(distribution("skillyard").read_text("direct_url.json") or "{}")
        url = str(noted.get("url", ""))
        if "dir_info" in noted and url.startswith("file://"):
            is_editable = bool(noted["dir_info"].get("editable"))
            return is_editable, url2pathname(url.removeprefix("file://")), ""
        if "vcs_info" in noted:
            commit = noted["vcs_info"].get("commit_id", "")
            return False, "", f"{noted['vcs_info']['vcs']}+{url}{f'@{commit}' if commit else ''}"
    except (PackageNotFoundError, ValueError, KeyError, AttributeError):
        return False, "", ""
    return False, "", url
