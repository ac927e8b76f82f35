"""Another skillyard server as a source: its search, and its skills as archives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from skillyard.base.errors import SourceFailed
from skillyard.install.copies.file_paths import checked_files
from skillyard.install.sources.protocol import Hit, Package, Source
from skillyard.install.sources.responses import text_in
from skillyard.install.sources.skills_sh import installs_of
from skillyard.install.sources.transport import HttpResponse, RemoteHost, Transport, host_of

if TYPE_CHECKING:
    from skillyard.install.sources.settings import Settings

FRESH_S = 60.0
ANSWER_BYTES = 16 * 1024 * 1024
NAME_CHARACTERS = 500
"""Maximum length of a source, an id or a title; repositories, domains and folders have shorter
names."""
NO_OTHERS = "scripts and other files, if there are any: a server gives Markdown alone"


class ServerSource:
    """One server. Its host in the transport is called ``server:URL``."""

    def __init__(self, transport: Transport, url: str) -> None:
        self.transport = transport
        self.url = url
        self.base = url.rstrip("/")

    @property
    def name(self) -> str:
        """``server:`` and its address."""
        return f"server:{self.url}"

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the skills that the server finds, in its order. Raises SourceFailed."""
        parameters = urlencode(
            {"q": query[:200], "limit": min(limit, 50), "include_content": "false"}
        )
        _, answer = await self._json(f"/search?{parameters}", "skills")
        hits = map(self._hit, answer["skills"])
        return [hit for hit in hits if hit is not None][:limit]

    def _hit(self, item: Any) -> Hit | None:
        if not isinstance(item, dict):
            return None
        source, skill_id = (
            text_in(item.get(each), NAME_CHARACTERS + 1) for each in ("source", "id")
        )
        if not source or not skill_id or max(len(source), len(skill_id)) > NAME_CHARACTERS:
            return None
        return Hit(
            source,
            skill_id,
            self.name,
            name=text_in(item.get("title"), NAME_CHARACTERS) or skill_id,
            description=text_in(item.get("description"), 1_024),
            install_count=installs_of(item.get("install_count")),
            curated=item.get("curated") is True,
        )

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's files. Raises SourceFailed."""
        parameters = urlencode(
            {
                "include_raw": "true",
                "include_references": "true" if references or whole else "false",
            }
        )
        path = f"/skills/{quote(hit.source)}/{quote(hit.id, safe='')}"
        reply, item = await self._json(f"{path}?{parameters}")
        raw = item.get("raw_content")
        if not isinstance(raw, str):
            raise SourceFailed("not_found", f"{self.url} has no content of {hit.key}")
        others = item.get("references")
        texts = [("SKILL.md", raw)]
        texts += [
            (str(reference.get("path", "")), str(reference.get("content", "")))
            for reference in (others if isinstance(others, list) else ())
            if isinstance(reference, dict)
        ]
        encoded = ((name, text.encode("utf-8", "surrogatepass")) for name, text in texts)
        files, skipped = checked_files(encoded)
        if whole:
            skipped.append(NO_OTHERS)
        return Package(
            files,
            hit.source,
            url=self.base + path,
            raw_url=self.base,
            age_s=reply.age_s if reply.stale else 0.0,
            skipped=skipped,
        )

    async def _json(self, path: str, *lists: str) -> tuple[HttpResponse, dict[str, Any]]:
        reply, answer = await self.transport.get_json(
            self.name, path, self.url, lists, fresh_s=FRESH_S, max_bytes=ANSWER_BYTES
        )
        if reply.status != 200:
            raise SourceFailed("not_found", f"{self.url}{path} is not there", status=reply.status)
        return reply, answer


def hosts(settings: Settings) -> dict[str, RemoteHost]:
    """Return the servers of the settings."""
    return {f"server:{url}": host_of(url, settings.host_tokens) for url in settings.servers}


def build(settings: Settings, transport: Transport) -> list[Source]:
    """Return one source for each server of the settings."""
    return [ServerSource(transport, url) for url in settings.servers]
