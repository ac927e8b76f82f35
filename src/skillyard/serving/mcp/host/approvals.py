"""Approvals: a person has approved a skill of a server with exactly these files."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.io.atomic_write import atomic_write
from skillyard.io.files import read_regular
from skillyard.serving.mcp.host.entries import ServedSkill
from skillyard.serving.mcp.host.refusals import NotApproved

__all__ = ["Approvals"]

FORMAT = 1
BYTES = 16 * 1024 * 1024


class Approvals:
    """Approvals by (server, skill), in memory or in a JSON file. Thread-safe.

    An approval is valid for one set of URIs and digests. Listing the skill with another set revokes
    it permanently: restoring the old files does not restore the approval.
    """

    def __init__(self, path: str | None = None) -> None:
        """``path`` is a file that only the user may write. Raises InvalidInput if invalid."""
        self._path = path
        self._lock = Lock()
        self._digests: dict[tuple[str, str], str] = {} if path is None else _read(path)

    def approve(self, skill: ServedSkill) -> None:
        """Record that a person approved the skill with the files of its entry. Raises NotApproved.

        Dynamic content cannot be approved in advance, because it is unknown.
        """
        if skill.files is None:
            raise NotApproved(skill.label, skill.uri, "its content is generated on each read")
        with self._lock:
            self._digests[skill.label, skill.uri] = skill.files_digest
            self._write()

    def covers(self, skill: ServedSkill) -> bool:
        """Return True when exactly these files are approved. Revokes an approval of other files."""
        key = (skill.label, skill.uri)
        with self._lock:
            approved = self._digests.get(key)
            if approved is None:
                return False
            if skill.files is not None and approved == skill.files_digest:
                return True
            del self._digests[key]
            self._write()
            return False

    def revoke(self, label: str, uri: str | None = None) -> None:
        """Delete the approval of one skill, or of all skills of a server."""
        with self._lock:
            for key in [k for k in self._digests if k[0] == label and uri in (None, k[1])]:
                del self._digests[key]
            self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        entries = [
            {"server": label, "uri": uri, "files": digest}
            for (label, uri), digest in sorted(self._digests.items())
        ]
        text = json.dumps({"version": FORMAT, "approvals": entries}, indent=1) + "\n"
        atomic_write(self._path, text.encode("utf-8"), mode=0o600)


def _read(path: str) -> dict[tuple[str, str], str]:
    try:
        document: Any = json.loads(read_regular(path, BYTES, follow=True)[0])
        if not isinstance(document, dict) or document.get("version") != FORMAT:
            raise ValueError
        return {
            (str(each["server"]), str(each["uri"])): str(each["files"])
            for each in document["approvals"]
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise InvalidInput(
            f"{path} holds no approvals of this version: move it away, and approve anew"
        ) from None
