"""The folders that the user added a skill from. A link or a lock entry may lead there.

Both may come with a clone, so neither says by itself that the user knows the folder.
"""

from __future__ import annotations

import os

from skillyard.base.configuration import note_path, write_note
from skillyard.base.io.files import is_below
from skillyard.engine.discovery.hosts import folders_upwards


def note_added_source(folder: str) -> None:
    """Note that the user added a skill from a folder of this machine; links must be resolved."""
    write_note(note_path(folder, "sources"), "")


def may_read_source(folder: str, project: str) -> bool:
    """True for a folder of the project's repository, and one that the user added a skill from.

    Links in ``folder`` must be resolved. Where the repository holds the home folder, as one of
    dotfiles does, or there is none, it must lie in the project itself.
    """
    home, project = os.path.realpath(os.path.expanduser("~")), os.path.realpath(project)
    above = [each for each in folders_upwards(project) if not is_below(f"{home}{os.sep}", each)]
    root = above[-1] if above else project
    return folder == root or is_below(folder, root) or os.path.isfile(note_path(folder, "sources"))
