"""GitHub: the tree of a repository in one request, its files from the raw host.

A repository is read once at ``HEAD``, whatever the name of its default branch. Later requests are
pinned to that commit or tree.
"""

from __future__ import annotations

import re
from asyncio import gather
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

from skillyard.base.errors import SourceFailed
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.sources.protocol import Hit, Hits, Package, Source, all_parts, hits_by_words
from skillyard.install.sources.repository import (
    FILE_BYTES,
    REFERENCES,
    SKILL_FILE,
    WHOLE,
    Blob,
    chosen_files,
    files_beside,
    is_repository,
    reference_paths,
    skill_folder,
    skill_folders,
)
from skillyard.install.sources.settings import GITHUB_TOKENS, Settings
from skillyard.install.sources.transport import REDIRECTED, RemoteHost, Transport

API_VERSION = {"X-GitHub-Api-Version": "2022-11-28"}
TREE_BYTES = 32 * 1024 * 1024
"""GitHub truncates trees at 100,000 entries, which take about twenty million bytes."""
TREE_FRESH_S = 300.0
FILE_FRESH_S = 3_600.0
MAX_TREES = 8
"""Trees in memory."""
LFS = b"version https://git-lfs.github.com/spec/"

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"[A-Za-z0-9@][A-Za-z0-9._/@+-]{0,199}")


class RepositoryTree(NamedTuple):
    """The regular files of a repository at one moment."""

    blobs: Mapping[str, int]
    """Sizes by path, in the order of the paths."""
    executable: frozenset[str]
    """Paths of the executable files."""
    links: frozenset[str]
    """Paths of links and submodules, which are never followed."""
    ref: str
    """The commit at which files are read, if it is known; else the branch, tag or tree."""
    truncated: bool
    age_s: float
    paths: tuple[str, ...] = ()
    """The paths of the blobs, sorted."""
    folders: tuple[str, ...] = ()
    """The folders that contain a SKILL.md, sorted; ``""`` is the root."""

    def below(self, folder: str) -> Mapping[str, int]:
        """Return the files below a folder, by path; all of them below the root."""
        if not folder:
            return self.blobs
        start = bisect_left(self.paths, f"{folder}/")
        end = bisect_left(self.paths, f"{folder}0", start)  # the character after the slash
        return {path: self.blobs[path] for path in self.paths[start:end]}


class GitHub:
    """Trees and files of repositories."""

    def __init__(self, transport: Transport) -> None:
        """``transport`` knows the hosts ``github-api`` and ``github-raw``."""
        self.transport = transport
        self.renamed: set[str] = set()
        """Repositories whose commit was asked for, and which redirect to another name."""

    async def name_now(self, repository: str) -> str:
        """Return the ``owner/repo`` to which a repository redirects. Raises SourceFailed."""
        _, shape = await self.transport.get_json("github-api", f"/repos/{repository}", "GitHub")
        name = str(shape.get("full_name"))
        return name if is_repository(name) else repository

    async def tree(self, repository: str, ref: str = "HEAD") -> RepositoryTree:
        """Return the files of a repository. Raises SourceFailed."""
        if not is_repository(repository):
            raise SourceFailed("refused", f"{repository!r} is not owner/repo")
        if not _REF.fullmatch(ref) or ".." in ref:
            raise SourceFailed("refused", f"{ref!r} is not a branch, tag or commit")
        trees = self.transport.trees
        tree: RepositoryTree
        if (repository, ref) in trees:
            tree, checked = trees[repository, ref]
            age_s = self.transport.now() - checked
            if 0 <= age_s < TREE_FRESH_S:
                return tree._replace(age_s=age_s)
        path = f"/repos/{repository}/git/trees/{quote(ref, safe='')}?recursive=1"
        reply, answer = await self.transport.get_json(
            "github-api",
            path,
            f"GitHub: {repository}",
            ["tree"],
            fresh_s=TREE_FRESH_S,
            accept="application/vnd.github+json",
            max_bytes=TREE_BYTES,
        )
        if reply.status != 200:
            raise self._no_repository(repository, ref, reply.status)
        tree = _tree(answer)._replace(ref=ref)
        if len(trees) >= MAX_TREES:
            del trees[next(iter(trees))]
        trees[repository, ref] = tree, self.transport.now() - reply.age_s
        return tree._replace(age_s=reply.age_s)

    async def commit(self, repository: str, ref: str = "HEAD") -> str:
        """Return the commit that a branch or tag stands for now. Raises SourceFailed."""
        if not is_repository(repository):
            raise SourceFailed("refused", f"{repository!r} is not owner/repo")
        reply = await self.transport.get(
            "github-api",
            f"/repos/{repository}/commits/{quote(ref, safe='')}",
            accept="application/vnd.github.sha",
        )
        if reply.status != 200:
            raise self._no_repository(repository, ref, reply.status)
        if REDIRECTED in reply.headers:
            self.renamed.add(repository)
        commit = reply.body.decode("ascii", "replace").strip()
        if not _COMMIT.fullmatch(commit):
            what = f"GitHub: the answer names no commit of {repository} for {ref}"
            raise SourceFailed("bad_answer", what)
        return commit

    def _no_repository(self, repository: str, ref: str, status: int) -> SourceFailed:
        """Return the failure for a repository that is missing, or private to others."""
        host = self.transport.hosts["github-api"]
        hint = "check the spelling"
        if host.token_place and not host.token:
            hint += f"; a private repository needs a token in {host.token_place}"
        branch = "" if ref == "HEAD" else f" with {ref}"
        what = f"GitHub has no repository {repository}{branch}"
        return SourceFailed("not_found", what, hint=hint, status=status)

    async def file(self, repository: str, ref: str, path: str) -> bytes:
        """Return one file. Raises SourceFailed, also for a Git LFS pointer."""
        address = f"/{repository}/{quote(ref, safe='')}/{quote(path)}"
        reply = await self.transport.get(
            "github-raw",
            address,
            fresh_s=FILE_FRESH_S,
            accept="text/plain, */*;q=0.5",
            max_bytes=FILE_BYTES,
            check=_is_file,
        )
        if reply.status != 200:
            raise SourceFailed("not_found", f"{repository} has no {path}", status=reply.status)
        return reply.body

    async def package(
        self, hit: Hit, *, ref: str = "HEAD", references: bool = False, whole: bool = False
    ) -> Package:
        """Return a skill's files. Raises SourceFailed.

        ``whole`` reads every file of its folder, at a commit: nothing can change between two.
        """
        if whole and not _COMMIT.fullmatch(ref):
            ref = await self.commit(hit.source, ref)
        tree = await self.tree(hit.source, ref)
        folder = skill_folder(tree.folders, hit.source, hit.id, hit.path)
        if folder is None:
            cut = "; its list of files is cut off" if tree.truncated else ""
            raise SourceFailed("not_found", f"{hit.source} holds no skill {hit.id!r}{cut}")
        inside = f"{folder}/" if folder else ""
        main = f"{inside}{SKILL_FILE}"
        blobs: list[Blob] = []
        if whole:
            beside = files_beside(tree.below(folder), folder)
            blobs = [blob for blob in beside if blob.path != main]
        elif references:
            blobs = reference_paths(tree.below(folder), folder)
        most = WHOLE if whole else REFERENCES
        paths, skipped = chosen_files([Blob(main, 0), *blobs], folder, most)
        answers = await gather(
            *(self.file(hit.source, tree.ref, path) for path in paths), return_exceptions=True
        )
        files = {}
        for path, answer in zip(paths, answers, strict=True):
            if isinstance(answer, SourceFailed) and path != main:
                skipped.append(f"{path.removeprefix(inside)}: {answer.what}")
            elif isinstance(answer, BaseException):
                raise answer
            else:
                files[path.removeprefix(inside)] = answer
        if whole:
            skipped += [
                f"{shown_path(path.removeprefix(inside))}: a link or submodule, not followed"
                for path in sorted(tree.links)
                if path.startswith(inside)
            ]
        return Package(
            files,
            hit.source,
            folder,
            tree.ref if _COMMIT.fullmatch(tree.ref) else "",
            f"https://github.com/{hit.source}/tree/{tree.ref}/{quote(folder)}".rstrip("/"),
            f"{self.transport.hosts['github-raw'].url}/{hit.source}/{tree.ref}/{quote(main)}",
            tree.age_s,
            skipped,
            frozenset(path for path in files if inside + path in tree.executable),
        )


def _is_file(headers: Mapping[str, str], body: bytes) -> None:
    if body.startswith(LFS):
        raise SourceFailed("bad_answer", "the file is kept in Git LFS, and only a pointer is here")
    if headers.get("content-type", "").startswith("text/html"):
        raise SourceFailed("bad_answer", "a web page came instead of the file")


def _tree(answer: Any) -> RepositoryTree:
    """Return the tree that an answer lists, without the requested ref and the age of the answer."""
    blobs: dict[str, int] = {}
    executable: set[str] = set()
    links: set[str] = set()
    for entry in answer["tree"]:
        if not isinstance(entry, dict) or not isinstance(entry.get("path"), str):
            continue
        path = entry["path"]
        size = entry.get("size")
        if entry.get("type") == "blob" and entry.get("mode") in ("100644", "100755", "100664"):
            blobs[path] = size if type(size) is int and size >= 0 else 0
            if entry["mode"] == "100755":
                executable.add(path)
        elif entry.get("type") in ("blob", "commit"):
            links.add(path)
    paths = tuple(sorted(blobs))
    return RepositoryTree(
        MappingProxyType({path: blobs[path] for path in paths}),
        frozenset(executable),
        frozenset(links),
        "",
        answer.get("truncated") is True,
        0.0,
        paths,
        tuple(skill_folders(paths)),
    )


class GitHubSource:
    """The repositories that the settings name, each listed with one request."""

    name = "github"

    def __init__(self, github: GitHub, repositories: Sequence[str]) -> None:
        self.github = github
        self.repositories = tuple(repositories)

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the skills whose folder shares a word with the query, from all repositories.

        Their descriptions are unknown until they are fetched. Raises SourceFailed when no
        repository could be listed.
        """
        trees, failures = await all_parts(map(self.github.tree, self.repositories))
        listed: list[tuple[str, Hit]] = []
        for repository, tree in zip(self.repositories, trees, strict=True):
            for folder in () if tree is None else tree.folders:
                name = folder.rpartition("/")[2] or repository.rpartition("/")[2]
                listed.append((name, Hit(repository, name, self.name, name=name, path=folder)))
            if tree is not None and tree.truncated:
                what = f"{repository}: its list of files is cut off"
                failures.append(SourceFailed("too_large", what))
        return Hits(hits_by_words(query, listed)[:limit], failures)

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's files. Raises SourceFailed."""
        return await self.github.package(hit, references=references, whole=whole)


def hosts(settings: Settings) -> dict[str, RemoteHost]:
    """Return GitHub's API, and where it serves files."""
    token, place = settings.github_token, " or ".join(GITHUB_TOKENS)
    return {
        "github-api": RemoteHost(settings.github_api_url, API_VERSION, token, place),
        "github-raw": RemoteHost(settings.github_raw_url, token=token, token_place=place),
    }


def build(settings: Settings, transport: Transport) -> list[Source]:
    """Return the source over the repositories of the settings; none without any."""
    if not settings.repositories:
        return []
    return [GitHubSource(GitHub(transport), settings.repositories)]
