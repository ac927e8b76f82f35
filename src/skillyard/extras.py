"""How to add an extra to this installation."""

from __future__ import annotations

__all__ = ["install_command"]


def install_command(*extras: str) -> str:
    """Return the pip command that adds the extras to the skillyard that runs.

    It names what that was installed from, as installers note it (PEP 610): a checkout, a file or
    a repository; the name alone where it came from an index.
    """
    listed = ",".join(extras)
    option, folder, url = _origin()
    if folder:
        return f"pip install {option}'{folder}[{listed}]'"
    return f"pip install 'skillyard[{listed}]{f' @ {url}' if url else ''}'"


def _origin() -> tuple[str, str, str]:
    """Return (pip's option, folder, address) of the installation; empty for what is not known."""
    from importlib.metadata import PackageNotFoundError, distribution
    from json import loads
    from urllib.request import url2pathname

    try:
        noted = loads(distribution("skillyard").read_text("direct_url.json") or "{}")
        url = str(noted.get("url", ""))
        if "dir_info" in noted and url.startswith("file://"):
            option = "-e " if noted["dir_info"].get("editable") else ""
            return option, url2pathname(url.removeprefix("file://")), ""
        if "vcs_info" in noted:
            commit = noted["vcs_info"].get("commit_id", "")
            return "", "", f"{noted['vcs_info']['vcs']}+{url}{f'@{commit}' if commit else ''}"
    except (PackageNotFoundError, ValueError, KeyError, AttributeError):
        return "", "", ""
    return "", "", url
