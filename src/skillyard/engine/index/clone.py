"""Clones an index as the start of another one that contains the same files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from skillyard.base.errors import IndexDamaged, SkillIoError
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.index_writer import lock_index
from skillyard.engine.index.library_spec import index_folder
from skillyard.engine.index.manifest import NAME, read_manifest, write_file


def clone_index(spec: LibrarySpec, other: LibrarySpec) -> bool:
    """Copy the index of ``other`` to ``spec``, which has no usable index yet.

    The roots of ``other`` must come first among the roots of ``spec``, so that each file has the
    same key in both. A following update adds and removes the remaining files. Files are hard-linked
    where the file system supports it, since segments are immutable. Returns False when nothing was
    copied. Raises SkillIoError; its code is ``index_busy`` when another process writes the index.
    """
    if not _can_clone(spec.resolve(), other.resolve()):
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
        except FileNotFoundError:  # a writer merged the segment away
            return False
        except OSError as error:
            raise SkillIoError(f"cannot copy the index: {error.strerror}", path=folder) from None
        write_file(folder, NAME, data)
    return True


def _has_settings(folder: str, settings: Mapping[str, str]) -> bool:
    """True when the folder contains an index with these settings."""
    try:
        own = read_manifest(folder)
    except IndexDamaged:
        return False
    return own is not None and own[0].settings == settings


def _can_clone(spec: LibrarySpec, other: LibrarySpec) -> bool:
    if (spec.limits, spec.policy) != (other.limits, other.policy) or other.files is not None:
        return False
    if other.scopes and (spec.roots, spec.scopes) != (other.roots, other.scopes):
        return False
    return bool(other.roots) and spec.roots[: len(other.roots)] == other.roots


def _link_or_copy(source: str, target: str) -> None:
    if os.path.lexists(target):  # the name contains the content hash
        os.unlink(target)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
