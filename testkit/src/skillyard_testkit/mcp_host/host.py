"""Loads the skills of one server: list, approve, load, read. Everything is verified."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Literal, NamedTuple, Protocol

from mcp_types import (
    BlobResourceContents,
    PaginatedRequestParams,
    ReadResourceResult,
    Request,
    RequestParams,
    Result,
    TextResourceContents,
)
from pydantic import ConfigDict

from skillyard_testkit.mcp_host.entries import Listed, ServedFile, ServedSkill, entry_of
from skillyard_testkit.mcp_host.refusals import EntryInvalid, HostRefused, NotApproved, Unverified
from skillyard_testkit.mcp_host.verifier import instructions_of, verify_bytes

__all__ = ["LoadedSkill", "Session", "SkillHost"]

PAGES = 1_000
SKILLS = 100_000
"""Maximum pages and skills of one listing, so that an endless one is cut."""
MAX_DYNAMIC_BYTES = 1_048_576
"""Maximum bytes of a generated SKILL.md, whose size no entry gives."""


class _Uri(RequestParams):
    uri: str


class _List(Request[PaginatedRequestParams, Literal["skills/list"]]):
    method: Literal["skills/list"] = "skills/list"
    params: PaginatedRequestParams


class _Get(Request[_Uri, Literal["skills/get"]]):
    method: Literal["skills/get"] = "skills/get"
    params: _Uri


class _Answer(Result):
    """A result whose members are checked one by one."""

    model_config = ConfigDict(extra="allow")


class Session(Protocol):
    """The used part of the SDK's ``ClientSession``."""

    async def send_request(self, request: Any, result_type: type[Any]) -> Any:
        """Send a request and return its typed result."""

    async def read_resource(self, uri: str) -> Any:
        """Return the contents of a resource."""


class LoadedSkill(NamedTuple):
    """A loaded skill with the entry that it was loaded from."""

    skill: ServedSkill
    text: str
    """The instructions."""


class SkillHost:
    """The skills of one server. ``label`` is the host's name for it, never the server's."""

    def __init__(self, label: str, session: Session) -> None:
        self.label = label
        self._session = session
        self._approved: dict[str, frozenset[ServedFile]] = {}

    async def listing(self) -> Listed:
        """Return the server's listing. Fetches no file.

        Entries that violate the extension are left out and reported. Raises HostRefused when the
        response is not a listing, and the errors of the session.
        """
        skills: dict[str, ServedSkill] = {}
        invalid: list[EntryInvalid] = []
        cursor: str | None = None
        cursors: set[str] = set()
        for _ in range(PAGES):
            params = PaginatedRequestParams(cursor=cursor)
            page, cursor = self._page(
                await self._session.send_request(_List(params=params), _Answer)
            )
            for entry in page:
                try:
                    skill = entry_of(self.label, entry)
                    if skill.uri in skills:
                        raise EntryInvalid(self.label, skill.uri, "it is listed twice")
                    skills[skill.uri] = skill
                except EntryInvalid as error:
                    invalid.append(error)
            if cursor is None:
                return Listed(tuple(skills.values()), tuple(invalid), True)
            if cursor in cursors or len(skills) + len(invalid) > SKILLS:
                break
            cursors.add(cursor)
        return Listed(tuple(skills.values()), tuple(invalid), False)

    def _page(self, answer: _Answer) -> tuple[list[Any], str | None]:
        members = answer.model_extra or {}
        skills, cursor = members.get("skills"), members.get("nextCursor")
        if not isinstance(skills, list) or not (cursor is None or isinstance(cursor, str)):
            raise HostRefused(self.label, "skills/list", "the answer is no page of skills")
        return skills, cursor

    async def get(self, uri: str) -> ServedSkill:
        """Return the current entry of one skill, listed or not.

        Raises EntryInvalid, and the errors of the session for an unknown URI.
        """
        answer = await self._session.send_request(_Get(params=_Uri(uri=uri)), _Answer)
        skill = entry_of(self.label, (answer.model_extra or {}).get("skill"))
        if skill.uri != uri:
            raise EntryInvalid(self.label, uri, "the server answered with another skill")
        return skill

    def approve(self, skill: ServedSkill) -> None:
        """Record that somebody approved the skill with exactly these files. Raises NotApproved."""
        self._check_own(skill)
        if skill.files is None:
            raise NotApproved(skill.label, skill.uri, "its content is generated on each read")
        self._approved[skill.uri] = frozenset(skill.files)

    def approved(self, skill: ServedSkill) -> bool:
        """Return True when exactly these files are approved; an approval of others is revoked."""
        self._check_own(skill)
        files = None if skill.files is None else frozenset(skill.files)
        if files is not None and self._approved.get(skill.uri) == files:
            return True
        self._approved.pop(skill.uri, None)
        return False

    async def load(self, skill: ServedSkill, *, dynamic: bool = False) -> LoadedSkill:
        """Return an approved skill's verified instructions.

        ``dynamic`` confirms that a person has just agreed to load generated content once. Raises
        NotApproved, Unverified, and the errors of the session.
        """
        self._check_own(skill)
        if skill.files is None:
            if not dynamic:
                raise NotApproved(self.label, skill.uri, "its content is generated on each read")
            data = await self._read(skill.uri)
            if len(data) > MAX_DYNAMIC_BYTES:
                raise Unverified(self.label, skill.uri, "it is larger than a SKILL.md may be")
        else:
            if not self.approved(skill):
                raise NotApproved(self.label, skill.uri, "nobody has approved these files")
            data = await self._read_verified(skill, skill.file(skill.uri))
        return LoadedSkill(skill, instructions_of(skill, data))

    async def read(self, loaded: LoadedSkill, path: str) -> bytes:
        """Return a file of a loaded skill, by its path in the skill's folder or its URI.

        Only files of the entry are read, and only from this server. Raises Unverified, and the
        errors of the session.
        """
        skill = loaded.skill
        self._check_own(skill)
        uri = path if "://" in path else f"{skill.root}/{path}"
        return await self._read_verified(skill, skill.file(uri), uri)

    async def refresh(self, loaded: LoadedSkill) -> ServedSkill:
        """Return the current entry. A changed set of files revokes the approval."""
        skill = await self.get(loaded.skill.uri)
        self.approved(skill)
        return skill

    def _check_own(self, skill: ServedSkill) -> None:
        if skill.label != self.label:
            raise HostRefused(self.label, skill.uri, f"it is a skill of {skill.label}")

    async def _read_verified(
        self, skill: ServedSkill, file: ServedFile | None, uri: str = ""
    ) -> bytes:
        if file is None:
            raise Unverified(self.label, uri or skill.uri, "the skill's entry does not list it")
        data = await self._read(file.uri)
        verify_bytes(skill, file, data)
        return data

    async def _read(self, uri: str) -> bytes:
        """Return the bytes of a resource of this server. Raises Unverified."""
        result = await self._session.read_resource(uri)
        contents = result.contents if isinstance(result, ReadResourceResult) else []
        matches = [each for each in contents if each.uri == uri]
        if len(matches) != 1:
            raise Unverified(self.label, uri, "the server did not answer with this file")
        content = matches[0]
        if isinstance(content, TextResourceContents):
            return content.text.encode("utf-8", "surrogatepass")
        assert isinstance(content, BlobResourceContents)
        try:
            return base64.b64decode(content.blob, validate=True)
        except (ValueError, binascii.Error):
            raise Unverified(self.label, uri, "its content is no base64") from None
