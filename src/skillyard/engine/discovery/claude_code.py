"""Says which files Claude Code loads as skills: it is more lenient than the specification."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillyard.base.io.paths import ancestors, is_below
from skillyard.engine.discovery.hosts import expand_pattern

CLAUDE_HOME = "${CLAUDE_CONFIG_DIR:-~/.claude}"
_FOLDERS = ("skills", "plugins")


def is_read_by_claude_code(path: str) -> bool:
    """True for a skill's file in a folder of skills or plugins of Claude Code.

    Real paths are compared, so the answer does not depend on how a root is written. Both the folder
    itself and one skill in it may be links, as installers make them.
    """
    folder = os.path.dirname(os.path.abspath(path))
    real = os.path.realpath(os.path.dirname(path) or os.curdir)
    return any(
        real == place
        or is_below(real, place)
        or os.path.realpath(os.path.join(place, os.path.basename(folder))) == real
        for place in _places(folder, real)
    )


def _places(folder: str, real: str) -> Iterator[str]:
    """Yield the real paths of the host's folders: the user's, and those of projects above."""
    homes = [expand_pattern(CLAUDE_HOME)]
    homes += [
        os.path.join(above, ".claude") for each in (folder, real) for above in ancestors(each)
    ]
    for home in dict.fromkeys(homes):
        for name in _FOLDERS:
            place = os.path.join(home, name)
            if os.path.isdir(place):
                yield os.path.realpath(place)
