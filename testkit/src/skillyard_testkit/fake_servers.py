"""All fake servers together: their content, their faults, and the log of their requests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from types import TracebackType
from typing import Any, Self

from skillyard.base.errors import InvalidInput
from skillyard_testkit.faults import FaultQueue
from skillyard_testkit.github.api import GitHubApi
from skillyard_testkit.github.raw import GitHubRaw
from skillyard_testkit.github.repositories import Repositories, Repository
from skillyard_testkit.github.snapshots import ManyFiles, as_bytes
from skillyard_testkit.messages import Request, Response, text_response
from skillyard_testkit.request_log import RecordedRequest, RequestLog
from skillyard_testkit.server import LoopbackServer
from skillyard_testkit.site import Site
from skillyard_testkit.skills_sh.api import SkillsSh
from skillyard_testkit.skills_sh.api_v1 import GENERATED_AT
from skillyard_testkit.skills_sh.listing import ListedSkill, Listing
from skillyard_testkit.switches import Switches
from skillyard_testkit.well_known import WellKnown, make_published_skill

__all__ = ["FakeServers"]

_SECONDARY_WAIT_S = 60
_SHAPES = ("current", "old")


class FakeServers:
    """Five servers on 127.0.0.1 for as long as the context lasts.

    ::

        with FakeServers() as servers:
            servers.add_repository("demo/skills", {"skills/x/SKILL.md": "…"})
            servers.list_skill("demo/skills", "x", installs=120)
            servers.faults.add("github_raw", "/demo/*", status(503))
            urlopen(servers.skills_sh + "/api/search?q=x")
            assert servers.count("skills_sh") == 1

    Everything may be added and changed while they run, and before. ``clock`` gives seconds since
    1970; the windows of the rate limits follow it.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self.switches = Switches()
        self._repositories = Repositories()
        self._listing = Listing(self._repositories)
        self._record = RequestLog()
        self._closing = Event()
        self._servers: dict[str, LoopbackServer] = {}
        self._urls: dict[str, str] = {}
        self._api = GitHubApi(self._current_switches, self._repositories)
        self._site = WellKnown(self._current_switches)
        sites: tuple[Site, ...] = (
            SkillsSh(self._current_switches, self._listing),
            self._api,
            GitHubRaw(self._current_switches, self._repositories),
            self._site,
            Site(self._current_switches),
        )
        self._sites = {site.name: site for site in sites}
        for site in sites:
            site.clock = clock
        self.faults = FaultQueue(self._sites)

    def _current_switches(self) -> Switches:
        return self.switches

    def __enter__(self) -> Self:
        """Start every server. Raises RuntimeError when they ran already."""
        if self._urls:
            raise RuntimeError("these servers ran already: create new FakeServers")
        try:
            for name, site in self._sites.items():
                server = LoopbackServer(self._responder(site), self._closing)
                self._servers[name] = server
                self._urls[name] = site.base = server.url
            self._api.raw_base = self._urls["github_raw"]
            for server in self._servers.values():
                server.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every server; see ``close``."""
        self.close()

    def close(self) -> None:
        """End every server, connection and thread, those that hang too. The log stays."""
        self._closing.set()
        while self._servers:
            self._servers.popitem()[1].close()

    def url(self, server: str) -> str:
        """Return a server's base URL, without a slash at its end. Raises RuntimeError."""
        if server not in self._urls:
            raise RuntimeError("the servers do not run yet: use `with FakeServers() as servers:`")
        return self._urls[server]

    @property
    def skills_sh(self) -> str:
        """Base URL of skills.sh."""
        return self.url("skills_sh")

    @property
    def github_api(self) -> str:
        """Base URL of GitHub's REST API."""
        return self.url("github_api")

    @property
    def github_raw(self) -> str:
        """Base URL of GitHub's raw content."""
        return self.url("github_raw")

    @property
    def well_known(self) -> str:
        """Origin of the site with the well-known index."""
        return self.url("well_known")

    @property
    def other(self) -> str:
        """Base URL of another host, which responds 200 to everything."""
        return self.url("other")

    def sources(self) -> dict[str, str | list[str]]:
        """Return the section ``[sources]`` of ``skillyard.toml`` that names the servers."""
        return {
            "skills_sh_url": self.skills_sh,
            "github_api_url": self.github_api,
            "github_raw_url": self.github_raw,
            "sites": [self.well_known],
        }

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, in order of arrival."""
        return self._record.requests

    def count(self, server: str, prefix: str = "") -> int:
        """Return how many requests a server got whose path starts with ``prefix``.

        Raises InvalidInput for an unknown server.
        """
        self._check_server(server)
        return self._record.count(server, prefix)

    def max_in_flight(self, server: str) -> int:
        """Return the most requests that a server had in flight together. Raises InvalidInput."""
        self._check_server(server)
        return self._record.max_in_flight(server)

    def _check_server(self, server: str) -> None:
        if server not in self._sites:
            raise InvalidInput(f"no server {server!r}: give one of {', '.join(self._sites)}")

    @property
    def search_shape(self) -> str:
        """``current`` or ``old``: the items of skills.sh's search."""
        return self.switches.search_shape

    @search_shape.setter
    def search_shape(self, shape: str) -> None:
        if shape not in _SHAPES:
            raise InvalidInput(f"no shape {shape!r}: give one of {', '.join(_SHAPES)}")
        self.switches.search_shape = shape

    @property
    def well_known_version(self) -> str:
        """Version of the well-known index."""
        return self.switches.well_known_version

    @well_known_version.setter
    def well_known_version(self, version: str) -> None:
        self.switches.well_known_version = version

    def add_repository(
        self,
        full_name: str,
        files: Mapping[str, str | bytes] | None = None,
        default_branch: str = "main",
        symlinks: Mapping[str, str] | None = None,
        submodules: Mapping[str, str] | None = None,
        private: bool = False,
        renamed_to: str | None = None,
    ) -> Repository:
        """Add a repository, or its next commit; without files, links and modules it is empty.

        A private one is there for ``switches.github_token`` alone. A renamed one redirects to the
        other name. Raises InvalidInput for names and paths that cannot be.
        """
        return self._repositories.add(
            full_name,
            {path: as_bytes(content) for path, content in (files or {}).items()},
            symlinks or {},
            submodules or {},
            default_branch,
            private=private,
            renamed_to=renamed_to,
        )

    def add_big_tree(self, full_name: str, files: int) -> Repository:
        """Add a repository of so many files, not counting folders. No file's text is stored.

        Its skills are ``skills/skill-00000`` and so on, of ten files each.
        """
        return self._repositories.add(
            full_name, ManyFiles(files), {}, {}, "main", private=False, renamed_to=None
        )

    def list_skill(
        self,
        source: str,
        slug: str,
        name: Any = None,
        installs: Any = 0,
        *,
        path: str | None = None,
        curated: bool = False,
        duplicate: bool = False,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        """List a skill on skills.sh, under ``owner/repo`` or a bare domain.

        ``name`` is the slug where none is given. ``installs`` may be any JSON value, and
        ``fields`` are laid over every item. ``path`` is the skill's folder in its repository,
        where that is not simply called like the slug. Raises InvalidInput for what is no JSON.
        """
        try:
            json.dumps([name, installs, dict(fields or {})])
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{source}/{slug}: give JSON values only ({error})") from None
        title = slug if name is None else name
        self._listing.add(
            ListedSkill(source, slug, title, installs, path, curated, duplicate, dict(fields or {}))
        )

    def add_audit(
        self,
        source: str,
        slug: str,
        provider: str,
        status: str = "pass",
        summary: str = "",
        risk_level: str = "low",
        categories: Sequence[str] = (),
    ) -> None:
        """Add an audit of a listed skill. Raises InvalidInput for an unknown status."""
        if status not in ("pass", "warn", "fail"):
            raise InvalidInput(f"no audit status {status!r}: give pass, warn or fail")
        audit = {
            "provider": provider,
            "slug": provider.lower().replace(" ", "-"),
            "status": status,
            "summary": summary,
            "auditedAt": GENERATED_AT,
            "riskLevel": risk_level,
            "categories": list(categories),
        }
        self._listing.audit(f"{source}/{slug}", audit)

    def add_well_known(
        self,
        name: str,
        files: Mapping[str, str | bytes],
        kind: str = "skill-md",
        *,
        ending: str = "tar.gz",
        description: str | None = None,
        artifact: bytes | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        """Publish a skill on the well-known site, with the digest of what is served.

        ``ending`` is ``tar.gz`` or ``zip``. ``artifact`` is served in place of what the files
        make, for archives that no good site has; ``fields`` are laid over the index's entry.
        Raises InvalidInput.
        """
        self._site.add(
            make_published_skill(
                name,
                {path: as_bytes(content) for path, content in files.items()},
                kind,
                ending=ending,
                description=description,
                artifact=artifact,
                fields=dict(fields or {}),
            )
        )

    def _responder(self, site: Site) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            number, together = self._record.arrived(site.name, request)
            response = self._handle(site, request, together)
            if response.status:  # silence is no answer, and stays in flight
                self._record.answered(number, response.status)
            return response

        return respond

    def _handle(self, site: Site, request: Request, together: int) -> Response:
        """Return the response to one request: latency, then methods, faults, rate limits."""
        switches = self.switches
        wait = switches.server_latency_s.get(site.name, switches.latency_s)
        if wait > 0 and self._closing.wait(wait):
            return Response(0, then="hang")
        if request.method not in ("GET", "HEAD") and site.name != "other":
            return text_response("Method Not Allowed\n", 405, allow="GET, HEAD")
        fault = self.faults.take(site.name, request.path)
        rate_limit = site.rate_limit(request)
        if fault is not None:
            response = fault(site, request)
        elif rate_limit and rate_limit.at_once is not None and together > rate_limit.at_once:
            response = site.secondary_limit_response(request, rate_limit.status, _SECONDARY_WAIT_S)
        else:
            response = site.respond(request)
        return site.apply_rate_limit(request, response, is_fault=fault is not None)
