"""A site that lists its skills under ``/.well-known/`` (draft 0.2.0, else 0.1.0).

The index has a digest for every file; content that does not match is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from skillyard.base.errors import SourceFailed
from skillyard.base.io.files import sha256
from skillyard.install.copies.file_paths import checked_files, is_inside
from skillyard.install.sources.protocol import (
    Hit,
    Hits,
    Package,
    Source,
    all_parts,
    hits_by_words,
)
from skillyard.install.sources.responses import text_in
from skillyard.install.sources.transport import (
    HttpResponse,
    RemoteHost,
    Transport,
    host_of,
    origin_of,
)

if TYPE_CHECKING:
    from skillyard.install.sources.settings import Settings


SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
CURRENT = "/.well-known/agent-skills/index.json"
OLDER = "/.well-known/skills/index.json"
FRESH_S = 300.0
ARCHIVE_BYTES = 16 * 1024 * 1024
FILE_BYTES = 1_048_576
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
MAX_FILES = 64
"""Maximum number of files of one skill in the older index, which are fetched one by one."""


def digest_of(data: bytes) -> str:
    """Return the digest of content as the index writes it."""
    return f"sha256:{sha256(data).hex()}"


class WellKnown:
    """One or more sites. Their hosts in the transport are called ``site:URL``."""

    name = "well-known"

    def __init__(self, transport: Transport, sites: Sequence[str]) -> None:
        self.transport = transport
        self.sites = tuple(sites)

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the listed skills that share words with the query, most shared words first.

        Raises SourceFailed when no site could be reached.
        """
        lists, failures = await all_parts(map(self.list_skills, self.sites))
        texts = ((f"{each.name} {each.description}", each) for some in lists for each in some or ())
        return Hits(hits_by_words(query, texts)[:limit], failures)

    async def list_skills(self, site: str) -> list[Hit]:
        """Return the skills listed below a site's path, else at its root. Raises SourceFailed."""
        host = f"site:{site}"
        last: SourceFailed | None = None
        for base in dict.fromkeys((site.rstrip("/"), origin_of(site))):
            for path, read in ((CURRENT, self._current), (OLDER, self._older)):
                url = base + path
                try:
                    reply, answer = await self.transport.get_json(
                        host, url, url, ["skills"], fresh_s=FRESH_S
                    )
                except SourceFailed as error:
                    last = error
                    continue
                if reply.status == 200:
                    return read(site, url, answer)
        raise last or SourceFailed("not_found", f"{site} lists no skills under {CURRENT}")

    def _current(self, site: str, url: str, answer: Mapping[str, Any]) -> list[Hit]:
        if answer.get("$schema") != SCHEMA:
            raise SourceFailed("bad_answer", f"{url}: an index of another kind than {SCHEMA}")
        hits = []
        for item in filter(_is_object, answer["skills"]):
            name, kind = item.get("name"), item.get("type")
            where, digest = item.get("url"), item.get("digest")
            if kind not in ("skill-md", "archive") or not _is_name(name):
                continue
            if isinstance(where, str) and isinstance(digest, str) and _DIGEST.fullmatch(digest):
                target = urljoin(url, where)
                hits.append(self._hit(site, item, name, target, digest, kind))
        return hits

    def _older(self, site: str, url: str, answer: Mapping[str, Any]) -> list[Hit]:
        hits = []
        for item in filter(_is_object, answer["skills"]):
            name, files = item.get("name"), item.get("files")
            if _is_name(name) and isinstance(files, list) and "SKILL.md" in files:
                paths = [f for f in files if isinstance(f, str) and is_inside(f)][:MAX_FILES]
                base = urljoin(url, f"{name}/")
                hits.append(self._hit(site, item, name, base, "", "\n".join(paths)))
        return hits

    def _hit(
        self, site: str, item: Mapping[str, Any], name: str, url: str, digest: str, kind: str
    ) -> Hit:
        return Hit(
            urlsplit(site).netloc,
            name,
            self.name,
            name=name,
            description=text_in(item.get("description"), 1_024),
            category=site,
            url=url,
            digest=digest,
            kind=kind,
        )

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's files, with verified digests. Raises SourceFailed.

        A hit with only a domain and a name is looked up in the index of that site.
        """
        hit = hit if hit.url else await self._find_hit(hit)
        executable: frozenset[str] | None = None
        if hit.kind == "archive" or hit.digest:
            most = ARCHIVE_BYTES if hit.kind == "archive" else FILE_BYTES
            replies = [await self._reply(hit, hit.url, most)]
            files = {"SKILL.md": replies[0].body}
            if hit.kind == "archive":
                files, executable = _unpack(hit, replies[0].body)
            raw_url = hit.url
        else:
            paths = hit.kind.split("\n") if references or whole else ["SKILL.md"]
            replies = [await self._reply(hit, hit.url + path, FILE_BYTES) for path in paths]
            bodies = (reply.body for reply in replies)
            files, _ = checked_files(zip(paths, bodies, strict=True))
            raw_url = f"{hit.url}SKILL.md"
        if not references and not whole:
            files = {"SKILL.md": files["SKILL.md"]}
        age = max(reply.age_s if reply.stale else 0.0 for reply in replies)
        return Package(files, hit.source, raw_url=raw_url, age_s=age, executable=executable)

    async def _find_hit(self, hit: Hit) -> Hit:
        for site in self.sites:
            if urlsplit(site).netloc == hit.source:
                for each in await self.list_skills(site):
                    if each.id == hit.id:
                        return each
        raise SourceFailed("not_found", f"no site lists {hit.key}")

    async def _reply(self, hit: Hit, url: str, max_bytes: int) -> HttpResponse:
        def check(headers: Mapping[str, str], body: bytes) -> None:
            if hit.digest and digest_of(body) != hit.digest:
                raise SourceFailed(
                    "refused", f"{url} is not what the index promises: its digest differs"
                )

        reply = await self.transport.get(
            f"site:{hit.category}",
            url,
            fresh_s=FRESH_S,
            accept="*/*",
            max_bytes=max_bytes,
            check=check,
        )
        if reply.status != 200:
            raise SourceFailed("not_found", f"{url} is listed and not there", status=reply.status)
        check(reply.headers, reply.body)
        return reply


def _is_object(item: Any) -> bool:
    return isinstance(item, dict)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and is_inside(name) and "/" not in name


def _unpack(hit: Hit, data: bytes) -> tuple[dict[str, bytes], frozenset[str]]:
    from skillyard.base.errors import SkillError
    from skillyard.install.copies.archives import read_archive

    try:
        archived = read_archive(data, "zip" if data.startswith(b"PK") else "tar.gz")
    except SkillError as error:
        what = f"the archive of {hit.key}: {error.message}"
        raise SourceFailed("refused", what, hint=error.hint) from None
    files = {file.path: file.data for file in archived}
    return files, frozenset(file.path for file in archived if file.executable)


def site_source(transport: Transport, settings: Settings, url: str) -> WellKnown:
    """Return the source over a site that a user or a lock names, which must be a public one."""
    if url not in settings.sites:
        host = host_of(url, settings.host_tokens, named_by_user=False)
        transport.add_host(f"site:{url}", host)
    return WellKnown(transport, [url])


def hosts(settings: Settings) -> dict[str, RemoteHost]:
    """Return the sites of the settings."""
    return {f"site:{url}": host_of(url, settings.host_tokens) for url in settings.sites}


def build(settings: Settings, transport: Transport) -> list[Source]:
    """Return the source over the sites of the settings; none without any."""
    return [WellKnown(transport, settings.sites)] if settings.sites else []
