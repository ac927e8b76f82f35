"""Starting an index from another one that holds the same files already."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from skillyard.errors import IndexDamaged, SkillIoError
from skillyard.index.index_writer import lock_index
from skillyard.index.library_spec import LibrarySpec, index_folder
from skillyard.index.manifest import NAME, read_manifest, write_file

__all__ = ["clone_index"]


def clone_index(spec: LibrarySpec, other: LibrarySpec) -> bool:
    """Give a place without an index that can be used what the index of another one holds.

    The roots of the other one come first among those of the place, so that each file has the same
    key in both. What else belongs to the place, or does not, is for bringing the index up to date.
    Files are linked where the file system can: segments are never changed. False where nothing was
    done. Raises SkillIoError, also where another process changes the index (``index_busy``).
    """
    if not _can_clone(spec.resolved(), other.resolved()):
        return False
    folder, source = index_folder(spec), index_folder(other)
    try:
        newest = read_manifest(source)
    except IndexDamaged:
        return False
    if newest is None or folder == source:
        return False
    manifest, data = newest
    names = {part.file for part in manifest.parts if part.file}
    names |= {side.file for side in manifest.sides.values()}
    with lock_index(folder, 0.0):
        if _has_settings(folder, manifest.settings):
            return False
        try:
            for name in sorted(names):
                _link_or_copy(os.path.join(source, name), os.path.join(folder, name))
        except FileNotFoundError:  # merged away meanwhile
            return False
        except OSError as error:
            raise SkillIoError(f"cannot copy the index: {error.strerror}", path=folder) from None
        write_file(folder, NAME, data)
    return True


def _has_settings(folder: str, settings: Mapping[str, str]) -> bool:
    """True for a folder with an index made with these settings."""
    try:
        own = read_manifest(folder)
    except IndexDamaged:
        return False
    return own is not None and own[0].settings == settings


def _can_clone(spec: LibrarySpec, other: LibrarySpec) -> bool:
    if spec.limits != other.limits or other.admission is not None:
        return False
    if other.scopes and (spec.roots, spec.scopes) != (other.roots, other.scopes):
        return False
    return bool(other.roots) and spec.roots[: len(other.roots)] == other.roots


def _link_or_copy(source: str, target: str) -> None:
    if os.path.lexists(target):  # left over: a name stands for the content
        os.unlink(target)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
