"""The command that adds an extra to this installation."""

from __future__ import annotations

_ENVIRONMENTS = {
    "uv-receipt.toml": "uv tool install --force",
    "pipx_metadata.json": "pipx install --force",
}
"""The install commands of tools that create one environment for each program, by their marker
file."""


def install_command(*extras: str) -> str:
    """Return the command that adds extras to the running installation of skillyard.

    The command names the origin that the installer recorded (PEP 610): a checkout, a file or a
    repository. Without a record it names the package. uv and pipx reinstall the program with only
    the named extras, so ``all`` is added for them.
    """
    import os
    import sys

    program = "pip install"
    for file, command in _ENVIRONMENTS.items():
        if os.path.isfile(os.path.join(sys.prefix, file)):
            program = command
            extras = ("all", *(extra for extra in extras if extra in _BESIDE_ALL))
    names = ",".join(extras)
    is_editable, folder, url = _origin()
    if folder:
        option = "" if not is_editable else "-e " if program.startswith("pip ") else "--editable "
        return f"{program} {option}'{folder}[{names}]'"
    return f"{program} 'skillyard[{names}]{f' @ {url}' if url else ''}'"


_BESIDE_ALL = frozenset(
    {"encoder", "eval-agent", "sigstore", "adk", "pydantic-ai", "langchain", "openai-agents"}
)
"""The extras that ``all`` does not include: the encoder, the verifier of signatures, and one for
each agent framework."""


def _origin() -> tuple[bool, str, str]:
    """Return (editable, folder, URL) of the installation. Unknown values are empty."""
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads
    from urllib.request import url2pathname

    try:
        record = loads(distribution("skillyard").read_text("direct_url.json") or "{}")
        url = str(record.get("url", ""))
        if "dir_info" in record and url.startswith("file://"):
            is_editable = bool(record["dir_info"].get("editable"))
            return is_editable, url2pathname(url.removeprefix("file://")), ""
        if "vcs_info" in record:
            commit = record["vcs_info"].get("commit_id", "")
            return False, "", f"{record['vcs_info']['vcs']}+{url}{f'@{commit}' if commit else ''}"
    except (PackageNotFoundError, ValueError, KeyError, AttributeError):
        return False, "", ""
    return False, "", url
