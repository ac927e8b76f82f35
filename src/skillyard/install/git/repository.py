"""A remote repository, with what was fetched of it in a bare repository in the user's cache.

Of a commit the trees are fetched, and the contents of the files that are read (a partial clone
without history), where the server can do that. What was fetched once answers without the network.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, TypeVar

from skillyard.base.configuration import cache_folder
from skillyard.base.errors import SourceFailed
from skillyard.base.io.files import sha256
from skillyard.base.io.locks import file_lock
from skillyard.install.git.address import GitAddress, is_commit
from skillyard.install.git.command import Git

_T = TypeVar("_T")

MAX_PACKS = 40
"""Packs of one repository in the cache; beyond, it is fetched anew, because git gets slow."""
LOCK_S = 180.0
"""How long another run may use the same repository."""
_NEW = "new-"
"""Prefix of a repository that is being made."""
_STALE_S = 24 * 3_600.0
"""Age at which one that is being made was left by a run that was killed."""
_HEAD = "HEAD"
_FILTER = "remote.origin.partialclonefilter"


class GitTree(NamedTuple):
    """The entries of a commit."""

    commit: str
    blobs: Mapping[str, str]
    """The object of each regular file, by path."""
    executable: frozenset[str]
    links: frozenset[str]
    """Symbolic links: never followed."""
    submodules: frozenset[str]


class GitRepository:
    """One remote repository. For one task at a time; several processes may use the cache."""

    def __init__(self, address: GitAddress, git: Git, *, offline: bool = False) -> None:
        """``git`` gives limits and options; its folder is replaced by that of the cache."""
        self.address = address
        self.offline = offline
        self.folder = _place(address)
        self._git = git._replace(folder=self.folder)

    def commit(self, ref: str = _HEAD) -> str:
        """Return the commit that a branch or tag stands for now. Raises SourceFailed.

        A branch goes before a tag of the same name, as in ``git clone --branch``.
        """
        if is_commit(ref):
            return ref
        if self.offline:
            return self._exclusive(lambda: self._known(ref))
        os.makedirs(_root(), mode=0o700, exist_ok=True)
        git = self._git._replace(folder=_root())
        names = [_HEAD] if ref == _HEAD else _names(ref)
        # `init` and `ls-remote` need no repository; `--git-dir=.` names none that is there.
        arguments = ("ls-remote", "--", self.address.url, *names)
        output = git.ask(self.address.scheme, *arguments)
        lines = (line.partition("\t") for line in output.decode("utf-8", "replace").splitlines())
        refs = {name: oid for oid, _, name in lines if is_commit(oid)}
        for name in names:
            if name in refs:
                return refs[name]
        if ref == _HEAD:
            raise SourceFailed("not_found", f"{self.address.shown} has no commit yet")
        raise SourceFailed(
            "not_found",
            f"{self.address.shown} has no branch or tag {ref!r}",
            hint="check the spelling; a commit is named by all of its digits",
        )

    def tree(self, ref: str = _HEAD) -> GitTree:
        """Return the entries of a branch, tag or commit, fetched unless they are here.

        Raises SourceFailed.
        """
        commit = self.commit(ref)
        return self._exclusive(lambda: self._tree(ref, commit))

    def _tree(self, ref: str, commit: str) -> GitTree:
        tree = self._tree_here(commit)
        if tree is None:
            if self.offline:
                raise self._offline()
            self._fetch(commit)
            tree = self._tree_here(commit)
        if tree is None:
            raise SourceFailed("bad_answer", f"{self.address.shown} does not give all its folders")
        if not is_commit(ref):
            self._git.read("update-ref", _own_ref(ref), commit)
        return tree

    def _tree_here(self, commit: str) -> GitTree | None:
        """Return the entries of a commit; None unless it and all of its trees are here."""
        if not os.path.isdir(self.folder):
            return None
        try:
            output = self._git.read("ls-tree", "-r", "-z", "--full-tree", commit)
        except SourceFailed as error:
            if error.code in ("timeout", "too_large"):
                raise
            return None
        return _parsed(commit, output)

    def _fetch(self, commit: str, *, partial: bool = True) -> None:
        """Fetch a commit. Raises SourceFailed, also where the server has it no longer."""
        is_new = self._init(commit, partial=partial)
        refs = f"+{commit}:{_own_ref(commit)}"
        try:
            self._fetch_refs("--depth=1", refs)
        except SourceFailed as error:
            # What a killed run left in the way is made anew: see _exclusive.
            if error.code != "bad_answer" or not is_new:
                raise
            try:  # a server that only serves files gives no part of a history
                self._fetch_refs(refs)
            except SourceFailed:
                raise SourceFailed(
                    "not_found",
                    f"{self.address.shown} does not give commit {commit[:12]} ({error.what})",
                    hint="it may be gone upstream; name a branch, or say `skillyard update`",
                ) from None

    def _fetch_refs(self, *arguments: str, stdin: bytes = b"", git: Git | None = None) -> None:
        git = self._git if git is None else git
        options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap="]
        if self._git.read("config", "--default", "", "--get", _FILTER).strip():
            options.append("--filter=blob:none")  # files are fetched apart from their commit
        refs = [each for each in arguments if not each.startswith("--")]
        options += [each for each in arguments if each.startswith("--")]
        git.ask(self.address.scheme, *options, "origin", *refs, stdin=stdin)

    def read_blobs(self, tree: GitTree, paths: Sequence[str], max_bytes: int) -> Iterator[bytes]:
        """Yield the contents of files of a tree, in the order of ``paths``.

        Raises SourceFailed, also when they have more than ``max_bytes`` together.
        """
        objects = [tree.blobs[path] for path in paths]
        yield from self._exclusive(lambda: self._contents(objects, max_bytes), tree.commit)

    def blob_sizes(self, tree: GitTree, paths: Sequence[str]) -> dict[str, int]:
        """Return the sizes of files of a tree, by path; they are fetched first."""
        objects = [tree.blobs[path] for path in paths]
        sizes = self._exclusive(lambda: self._sizes(objects), tree.commit)
        return {path: sizes[tree.blobs[path]] for path in paths}

    def _sizes(self, objects: Sequence[str]) -> dict[str, int]:
        sizes = self._sizes_here(objects)
        missing = [each for each in dict.fromkeys(objects) if each not in sizes]
        if missing:
            if self.offline:
                raise self._offline()
            stdin = "".join(f"{each}\n" for each in missing).encode()
            # Without negotiation: whoever says to have the commit is thought to have its files.
            option = "fetch.negotiationAlgorithm=noop"
            git = self._git._replace(options=(*self._git.options, option))
            self._fetch_refs("--stdin", stdin=stdin, git=git)
            sizes = self._sizes_here(objects)
            if any(each not in sizes for each in missing):
                what = f"{self.address.shown} does not give all files of its commit"
                raise SourceFailed("bad_answer", what, hint="try again later")
        return sizes

    def _sizes_here(self, objects: Sequence[str]) -> dict[str, int]:
        """Return the sizes of those that are here.

        All objects are listed: asked for a missing one, git would fetch it, one at a time.
        """
        names = frozenset(objects)
        options = ("--batch-all-objects", "--batch-check", "--unordered")
        sizes = {}
        for line in self._git.read("cat-file", *options).decode("ascii", "replace").splitlines():
            parts = line.split(" ")
            if len(parts) == 3 and parts[1] == "blob" and parts[0] in names:
                sizes[parts[0]] = int(parts[2])
        return sizes

    def _contents(self, objects: Sequence[str], max_bytes: int) -> list[bytes]:
        stdin = "".join(f"{each}\n" for each in objects).encode()
        most = max_bytes + 128 * len(objects)
        output = self._git.read("cat-file", "--batch", stdin=stdin, max_bytes=most)
        contents = []
        at = 0
        for each in objects:
            end = output.find(b"\n", at)
            header = output[at:end].decode("ascii", "replace").split(" ")
            if end < 0 or header[:2] != [each, "blob"]:
                raise SourceFailed("bad_answer", f"git does not give the object {each[:12]}")
            size = int(header[2])
            contents.append(output[end + 1 : end + 1 + size])
            at = end + 1 + size + 1
        return contents

    def _init(self, commit: str, *, partial: bool) -> bool:
        """Make the bare repository, complete or not at all; False where there is one.

        One that grew too large is made anew.
        """
        if os.path.isdir(self.folder):
            if not self._is_too_large():
                return False
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(_root(), mode=0o700, exist_ok=True)
        beside = tempfile.mkdtemp(prefix=_NEW, dir=_root())
        try:
            kind = "sha256" if len(commit) == 64 else "sha1"
            template = ("--template=", f"--object-format={kind}", "--initial-branch=none")
            self._git._replace(folder=_root()).read("init", "--quiet", "--bare", *template, beside)
            git = self._git._replace(folder=beside)
            git.read("config", "remote.origin.url", self.address.url)
            if partial:
                git.read("config", "remote.origin.promisor", "true")
                git.read("config", _FILTER, "blob:none")
            os.rename(beside, self.folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return True

    def _is_too_large(self) -> bool:
        try:
            with os.scandir(os.path.join(self.folder, "objects", "pack")) as entries:
                sizes = [entry.stat().st_size for entry in entries if entry.name.endswith(".pack")]
        except OSError:
            return True
        return len(sizes) > MAX_PACKS or sum(sizes) > self._git.limits.stored_bytes // 2

    def _known(self, ref: str) -> str:
        """Return the commit that a ref stood for when it was last fetched."""
        if not os.path.isdir(self.folder):
            raise self._offline()
        try:
            output = self._git.read("rev-parse", "--verify", "--quiet", _own_ref(ref))
        except SourceFailed:
            raise self._offline() from None
        return output.decode("ascii", "replace").strip()

    def _offline(self) -> SourceFailed:
        return SourceFailed(
            "offline",
            f"{self.address.shown} is not in the cache",
            hint="unset SKILLYARD_OFFLINE, or offline in [sources] of skillyard.toml",
        )

    def _exclusive(self, work: Callable[[], _T], commit: str = "") -> _T:
        """Do something alone with the repository; where that fails for damage, once more anew.

        ``commit`` is what the repository has to hold for it.
        """
        with _alone(self.folder):
            try:
                if os.path.isdir(self.folder):
                    os.utime(self.folder)  # it is in use: see clear_repositories
                return work()
            except SourceFailed as error:
                if error.code != "bad_answer" or self.offline or not os.path.isdir(self.folder):
                    raise
                shutil.rmtree(self.folder, ignore_errors=True)
                if commit:  # with its files: some servers do not give them by name
                    self._fetch(commit, partial=False)
                return work()


def _names(ref: str) -> list[str]:
    """Return the full names that a short one may stand for, and that of a tag's commit."""
    if ref.startswith("refs/"):
        return [f"{ref}^{{}}", ref]
    return [f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}"]


def _own_ref(ref: str) -> str:
    """Return the name under which the cache stores what a ref, whatever its name, stands for."""
    return f"refs/skillyard/{sha256(ref.encode()).hex()[:32]}"


def _parsed(commit: str, output: bytes) -> GitTree:
    blobs: dict[str, str] = {}
    executable, links, submodules = set(), set(), set()
    for entry in filter(None, output.split(b"\0")):
        facts, _, raw = entry.partition(b"\t")
        mode, kind, oid = facts.decode("ascii").split(" ")
        path = raw.decode("utf-8", "surrogateescape")
        if kind == "commit":
            submodules.add(path)
        elif mode == "120000":
            links.add(path)
        elif kind == "blob":
            blobs[path] = oid
            if mode == "100755":
                executable.add(path)
    ordered = {path: blobs[path] for path in sorted(blobs)}
    return GitTree(commit, ordered, frozenset(executable), frozenset(links), frozenset(submodules))


def _root() -> str:
    return os.path.join(cache_folder(), "git")


def _place(address: GitAddress) -> str:
    return os.path.join(_root(), f"{sha256(address.url.encode()).hex()[:40]}.git")


def note_named(address: GitAddress) -> None:
    """Remember that the user of this machine named a repository, as long as it is in the cache."""
    with suppress(OSError), open(_marker(_place(address)), "x", encoding="ascii"):
        pass


def is_named(address: GitAddress) -> bool:
    """True for a repository that the user named before, and that is in the cache."""
    place = _place(address)
    return os.path.isdir(place) and os.path.exists(_marker(place))


def _marker(place: str) -> str:
    return f"{place[:-4]}.named"


def clear_repositories(*, unused_s: float = 0.0) -> None:
    """Remove the repositories of the cache that were not used for some seconds.

    Those that another run uses stay.
    """
    now = time.time()
    try:
        entries = [
            entry
            for entry in os.scandir(_root())
            if (entry.name.endswith(".git") and now - entry.stat().st_mtime >= unused_s)
            or (entry.name.startswith(_NEW) and now - entry.stat().st_mtime >= _STALE_S)
        ]
    except OSError:
        return
    for entry in entries:
        with suppress(SourceFailed), _alone(entry.path, 0.0):
            shutil.rmtree(entry.path, ignore_errors=True)
            with suppress(OSError):
                os.unlink(_marker(entry.path))


@contextmanager
def _alone(folder: str, timeout_s: float = LOCK_S) -> Iterator[None]:
    """Lock a repository of the cache against other runs. Raises SourceFailed."""
    root = os.path.dirname(folder)
    try:
        os.makedirs(root, mode=0o700, exist_ok=True)
        held = file_lock(f"{folder[:-4]}.lock", timeout_s=timeout_s)
    except BlockingIOError:
        what = "another run uses the same repository"
        raise SourceFailed("timeout", what, hint="run this again when it has ended") from None
    except OSError as error:
        what = f"cannot use the cache in {root}: {error.strerror}"
        raise SourceFailed("unreachable", what, hint="set SKILLYARD_CACHE to a folder") from None
    with held:
        yield
