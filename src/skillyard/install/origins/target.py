"""What a user names to add a skill: a name, a repository, an address or a folder.

``docs/guides/add-skills.md`` lists the forms. The form ``#ref@skill`` is that of the common
installer, and is understood after ``owner/repo`` too: the skill follows the last ``@``, as a tag
may hold one. In the address of a page the ref may hold slashes: :meth:`SkillTarget.readings` gives
what it can mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.install.copies.file_paths import checked_path, shown_path
from skillyard.install.git.address import (
    GitAddress,
    check_ref,
    is_git_address,
    parse_git_address,
    refuse_login,
)
from skillyard.install.origins.files import archive_kind
from skillyard.install.sources.repository import is_repository

Kind = Literal["name", "github", "git", "archive", "site", "folder"]
HEAD = "HEAD"
GITLAB = "gitlab"
_GITHUB = ("github.com", "www.github.com")
_GIT_HOSTS = ("codeberg.org", "gitea.com", "bitbucket.org")
"""Hosts where every address of two parts is a repository."""
_FOLDER = re.compile(r"\.{1,2}(?:[/\\]|$)|[/~]|[A-Za-z]:[/\\]")


class SkillTarget(NamedTuple):
    """The parsed target of an ``add``."""

    source: str = ""
    """``owner/repo`` on GitHub."""
    skill_id: str = ""
    name: str = ""
    """A name that is searched."""
    site: str = ""
    """The address of a site or an archive."""
    ref: str = HEAD
    kind: Kind = "name"
    path: str = ""
    """The skill's folder in its source; for a folder on this machine, its path."""
    address: GitAddress | None = None
    source_type: str = ""
    """``git`` or ``gitlab``."""
    page: tuple[str, ...] = ()
    """The parts of a page's address that hold the ref and then the path."""

    def readings(self) -> Iterator[SkillTarget]:
        """Yield what the target can mean: the address of a page with ever more parts as its ref.

        A repository has no branch ``a`` beside a branch ``a/b``, so the first that is there is it.
        """
        yield self
        for end in range(2, len(self.page) + 1):
            ref, path = "/".join(self.page[:end]), "/".join(self.page[end:])
            yield self._replace(ref=check_ref(ref), path=path)


def parse_target(target: str) -> SkillTarget:
    """Return what a target means. Raises InvalidInput."""
    text = target.strip()
    if _FOLDER.match(text):
        path, _, skill = text.rpartition("#")
        if path and not os.path.exists(os.path.expanduser(text)):
            return SkillTarget(kind="folder", path=path, skill_id=skill)
        return SkillTarget(kind="folder", path=text)
    prefix, colon, rest = text.partition(":")
    if colon and prefix in ("github", "gitlab") and not rest.startswith("//"):
        text = rest if prefix == "github" else f"https://gitlab.com/{rest}"
    if text.startswith("git+"):
        return _repository(*_with_ref(text.removeprefix("git+")))
    if "://" in text:
        return _address(text)
    if is_git_address(_without_ref(text)):
        return _repository(*_with_ref(text))
    base, _, fragment = text.partition("#")
    return _shorthand(target, base, fragment)


def _shorthand(target: str, base: str, fragment: str) -> SkillTarget:
    base, at, ref = base.partition("@")
    parts = base.strip("/").split("/")
    source = "/".join(parts[:2])
    if len(parts) < 2 or not is_repository(source):
        if not base or "/" in base or at or fragment:
            raise InvalidInput(
                f"{shown_path(target)!r} names no skill: write a name, owner/repo, owner/repo/id,"
                " an address or ./folder"
            )
        return SkillTarget(name=base)
    if os.path.isfile(os.path.join(*parts, "SKILL.md")):
        raise InvalidInput(
            f"{shown_path(base)!r} is a skill in a folder here, and may be one on GitHub: write"
            f" ./{shown_path(base)} for the folder, or https://github.com/{source}"
        )
    if fragment and not at and "@" in fragment:  # the form of the common installer
        ref, at, fragment = fragment.rpartition("@")
    path = checked_path("/".join(parts[2:])) if len(parts) > 2 else ""
    if at and not ref and not fragment:
        raise InvalidInput(f"{shown_path(target)!r} ends without a branch, tag or commit after @")
    return SkillTarget(
        kind="github",
        source=source,
        skill_id=fragment or ("" if "/" in path else path),
        ref=check_ref(ref) if ref else HEAD,
        path=path if "/" in path or fragment else "",
    )


def _address(text: str) -> SkillTarget:
    try:
        urlsplit(text).port  # noqa: B018  # raises for no port
    except ValueError:  # whose text may repeat a part of a password
        raise InvalidInput(
            "the address has no valid host and port: write https://host/path, without a user name"
            " or password"
        ) from None
    refuse_login(text)
    base, _, fragment = text.partition("#")
    parts = urlsplit(base)
    host = parts.hostname or ""
    path = [unquote(part) for part in parts.path.split("/") if part]
    if host in _GITHUB and len(path) >= 2 and "download" not in path[3:4]:
        return _on_github(path, fragment)
    if host == "raw.githubusercontent.com" and len(path) >= 4:
        return _on_github([*path[:2], "blob", *path[2:]], fragment)
    if host in ("skills.sh", "www.skills.sh") and len(path) >= 2:
        skill = path[2] if len(path) > 2 else ""
        return SkillTarget(kind="github", source="/".join(path[:2]), skill_id=skill)
    if is_git_address(_without_ref(base)):
        return _repository(*_with_ref(text))
    if archive_kind(base) is not None and parts.scheme in ("https", "http"):
        if parts.query:
            raise InvalidInput(
                f"{shown_path(base.partition('?')[0])} has parameters, which may hold a secret that"
                " would end up in the lock file; download and unpack it, and add the folder"
            )
        return SkillTarget(kind="archive", site=base, skill_id=fragment)
    if "_git" in path[:-1]:  # Azure DevOps
        end = parts.path.split("/").index("_git") + 2
        url = f"{parts.scheme}://{parts.netloc}{'/'.join(parts.path.split('/')[:end])}"
        return _repository(url, *_fragment(fragment))
    page = _page(host, path)
    if page is not None:
        repository, (named, *inside), source_type = page[0], page[1] or ("",), page[2]
        ref, skill = _fragment(fragment)
        below = [part for part in inside if part != "SKILL.md"]
        url = f"{parts.scheme}://{parts.netloc}/{repository.removesuffix('.git')}.git"
        return SkillTarget(
            kind="git",
            address=parse_git_address(url),
            source_type=source_type,
            ref=check_ref(named or ref or HEAD),
            path=checked_path("/".join(below)) if below else "",
            skill_id=skill,
            page=(named, *below),
        )
    if parts.scheme != "https":
        raise InvalidInput(
            f"only https addresses are asked, and {shown_path(base)} is none; the address of a git"
            " repository ends in .git or begins with git+"
        )
    return SkillTarget(kind="site", site=base.rstrip("/"), skill_id=fragment)


def _on_github(path: list[str], fragment: str) -> SkillTarget:
    source = f"{path[0]}/{path[1].removesuffix('.git')}"
    if not is_repository(source):
        raise InvalidInput(f"{shown_path(source)} is not owner/repo")
    ref, skill = _fragment(fragment)
    below: list[str] = []
    if len(path) > 3 and path[2] in ("tree", "blob"):
        ref, below = path[3], path[4:]
        if below[:1] and path[3] == "refs":  # refs/heads/main
            ref, below = "/".join(path[5:6]), path[6:]
    elif len(path) > 3 and path[2] == "archive":
        ref = re.sub(r"\.(?:zip|tar\.gz)$", "", "/".join(path[3:]))
        ref = re.sub(r"^refs/(?:heads|tags)/", "", ref)
    below = [part for part in below if part != "SKILL.md"]
    folder = checked_path("/".join(below)) if below else ""
    return SkillTarget(
        kind="github",
        source=source,
        skill_id=skill,
        ref=check_ref(ref or HEAD),
        path=folder,
        page=(ref, *below),
    )


def _page(host: str, path: list[str]) -> tuple[str, Sequence[str], str] | None:
    """Return repository, parts of the ref and the path, and source type of a page of a forge.

    None for another page than one of GitLab, Gitea, Forgejo or Bitbucket.
    """
    if "-" in path[1:]:
        at = path.index("-", 1)
        if path[at + 1 : at + 2] and path[at + 1] in ("tree", "blob", "raw") and path[at + 2 :]:
            return "/".join(path[:at]), path[at + 2 :], GITLAB
    if len(path) > 4 and path[2] in ("src", "raw") and path[3] in ("branch", "tag", "commit"):
        return "/".join(path[:2]), path[4:], "git"
    if host == "bitbucket.org" and len(path) > 3 and path[2] == "src":
        return "/".join(path[:2]), path[3:], "git"
    if host == "gitlab.com" and len(path) >= 2:
        return "/".join(path), (), GITLAB
    if host in _GIT_HOSTS and len(path) == 2:
        return "/".join(path), (), "git"
    return None


def _fragment(fragment: str) -> tuple[str, str]:
    """Return ref and skill of ``ref``, ``ref@skill`` or ``@skill``, as the installer writes it."""
    ref, at, skill = fragment.rpartition("@")
    return (unquote(ref), unquote(skill)) if at else (unquote(fragment), "")


def _without_ref(text: str) -> str:
    return _with_ref(text)[0]


def _with_ref(text: str) -> tuple[str, str, str]:
    """Return address, ref and skill of a repository, ``.git@ref`` in pip's manner included."""
    base, _, fragment = text.partition("#")
    ref, skill = _fragment(fragment)
    before, at, named = base.rpartition(".git@")
    if not at and "://" in base and "@" in urlsplit(base).path:
        scheme, _, rest = base.partition("://")
        host, _, path = rest.partition("/")
        path, _, named = path.partition("@")
        return f"{scheme}://{host}/{path}", named, skill or fragment
    if at:
        return f"{before}.git", named, skill or fragment
    return base, ref, skill


def _repository(url: str, ref: str, skill: str) -> SkillTarget:
    address = parse_git_address(url)
    return SkillTarget(
        kind="git",
        address=address,
        source_type=GITLAB if address.url.startswith("https://gitlab.com/") else "git",
        ref=check_ref(ref or HEAD),
        skill_id=skill,
    )
