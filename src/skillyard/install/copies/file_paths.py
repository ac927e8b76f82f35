"""Validation of untrusted relative file paths, one by one and as a set.

A path comes from an archive, a remote tree or a download. A valid path is a plain ``a/b/c`` that
means the same file on every system, stays below the folder it is joined to, and can be read
again later (``resources.safe_parts`` accepts every path that is valid here).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from shlex import quote

from skillyard.base.errors import SkillError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, folder_name, shorten

MAX_PATH_BYTES = 512
"""One path in UTF-8. macOS takes 1,024 for a whole path; half is left for the folder above."""
MAX_PART_BYTES = 255
"""One component in UTF-8: what ext4, APFS and most other file systems take."""
MAX_FOLDERS = DEFAULT_LIMITS.tree_depth
"""Maximum number of folders above the file. Deeper files are never listed, so nobody could read
them."""

_READ_CHARS = 65_536
"""Longer paths are refused without further checks, which limits the work of one call."""
_SHOWN_CHARS = 120
"""Length to which a message cuts a hostile path."""

# Characters that Python calls printable although they are invisible: Unicode's
# Default_Ignorable_Code_Point without control and format characters, which are not printable.
_BLANK_MARKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
# The percent-escapes of a dot, a slash, a backslash, NUL and the percent sign.
_ESCAPE = re.compile("%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_DRIVE = re.compile("[A-Za-z]:")
_GIT = re.compile(r"\.git|git~[0-9]+")
_DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9]")


class PathRefused(SkillError):
    """A path that is not a plain relative file path; ``code`` names the violated rule.

    ``reason`` is the rule as text, without the path.
    """

    kind = "PathRefused"

    def __init__(self, message: str, *, reason: str = "", code: str = "", hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint)
        self.reason = reason or message


_RULES = {
    "path_not_text": "it is no Unicode text",
    "path_empty": "it names no file",
    "path_too_long": (
        f"it has more than {MAX_PATH_BYTES} bytes, or a component more than {MAX_PART_BYTES}"
    ),
    "path_too_deep": f"it lies more than {MAX_FOLDERS} folders deep",
    "path_git": "a component is .git or reads as it on some system",
    "path_device": "a component is the name of a device on some systems",
    "path_hidden_character": "it holds a control character or one that shows nothing",
    "path_backslash": "it holds a backslash",
    "path_absolute": "it is absolute",
    "path_home": "it begins in a home folder",
    "path_drive": "it begins with a drive letter",
    "path_colon": "it holds a colon, which opens a stream or a scheme",
    "path_traversal": "it leads upwards by ..",
    "path_escape": "it holds a percent escape",
    "path_look_alike": "it holds a look-alike of a slash, a backslash or ..",
    "path_edge": "a component ends with a dot or a blank, which some systems drop",
    "path_folder": "it ends like a folder",
    "path_duplicate": "it is there twice",
    "path_collision": "another path differs from it only in case or in Unicode form",
    "path_file_and_folder": "it is both a file and a folder",
}
"""What is wrong, by code."""
_HINT = "give each file a plain path below the skill's folder, such as references/guide.md"


def shown_path(path: str) -> str:
    """Return an untrusted path on one short line, safe to print."""
    return shorten(clean_line(shorten(path, 4 * _SHOWN_CHARS)), _SHOWN_CHARS)


def name_in_shell(name: str) -> str:
    """Return the name of an entry of the lock as a hint prints it in a command.

    What looks like an option is replaced by the name of its folder, which commands take too.
    """
    name = folder_name(name) if name.startswith("-") else name
    return quote(shorten(clean_line(name), 80))


def _refused(path: str, code: str) -> PathRefused:
    reason = _RULES[code]
    what = f"refused the path `{shown_path(path)}`: {reason}"
    return PathRefused(what, reason=reason, code=code, hint=_HINT)


def checked_path(path: str) -> str:
    """Return the path as ``a/b/c``, without empty components and ``.``; characters are unchanged.

    Raises PathRefused for anything that is not the path of a file below its folder with the same
    meaning on every system: absolute and upward paths, drives, streams, reserved names, hidden
    characters, look-alikes of separators, and paths that are too long or too deep.
    """
    code = _whole_fault(path)
    if code:
        raise _refused(path, code)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts:
        raise _refused(path, "path_empty")
    if parts[0].startswith("~"):
        raise _refused(path, "path_home")
    for part in parts:
        code = _part_fault(part)
        if code:
            raise _refused(path, code)
    if path.endswith(("/", "/.")):
        raise _refused(path, "path_folder")
    if len(parts) - 1 > MAX_FOLDERS:
        raise _refused(path, "path_too_deep")
    checked = "/".join(parts)
    if len(checked.encode()) > MAX_PATH_BYTES:
        raise _refused(path, "path_too_long")
    return checked


def _whole_fault(path: str) -> str:
    """Return the code of the rule that the whole path violates; empty without one."""
    if not path.strip():
        return "path_empty"
    if len(path) > _READ_CHARS:
        return "path_too_long"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "path_not_text"
    if path.startswith(("/", "\\\\")):
        return "path_absolute"
    if _DRIVE.match(path):
        return "path_drive"
    if "\\" in path:
        return "path_backslash"
    return "path_escape" if _ESCAPE.search(path) else ""


def _part_fault(part: str) -> str:
    """Return the code of the rule that one component violates; empty without one."""
    if part == "..":
        return "path_traversal"
    name = _bare(part)
    if _GIT.fullmatch(name):
        return "path_git"
    if _DEVICE.fullmatch(name.split(".", 1)[0].rstrip()):
        return "path_device"
    if not part.isprintable() or _BLANK_MARKS.search(part):
        return "path_hidden_character"
    if ":" in part:
        return "path_colon"
    plain = unicodedata.normalize("NFKC", part)
    if not part.isascii() and ("/" in plain or "\\" in plain or not plain.strip(". ")):
        return "path_look_alike"
    if part.rstrip(". ") != part:
        return "path_edge"
    return "path_too_long" if len(part.encode()) > MAX_PART_BYTES else ""


def _bare(part: str) -> str:
    """Return a component as the most lenient file systems read it, in lower case.

    HFS+ drops invisible characters; NTFS drops trailing dots and blanks, and everything from a
    colon. Compatibility forms (full width, superscripts) count as the plain character.
    """
    visible = "".join(char for char in part if char.isprintable())
    plain = unicodedata.normalize("NFKC", _BLANK_MARKS.sub("", visible))
    return plain.split(":", 1)[0].rstrip(". ").casefold()


def collision_key(path: str) -> str:
    """Return the path as a system that ignores case and Unicode form reads it.

    Canonical caseless matching of the Unicode Standard, chapter 3.13 (D145).
    """
    if path.isascii():
        return path.lower()
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())
    return unicodedata.normalize("NFD", apart)


class FilePaths:
    """The validated paths of one tree. No two of them are the same file on any system."""

    __slots__ = ("_files", "_folders", "_parents", "_spelled")

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._parents: set[str] = set()
        self._spelled: dict[str, str] = {}

    def add_file(self, path: str) -> None:
        """Add a checked path. Raises PathRefused when it collides with another."""
        if path in self._files:
            raise _refused(path, "path_duplicate")
        if path in self._folders or path in self._parents:
            raise _refused(path, "path_file_and_folder")
        self._place(path)
        self._files.add(path)

    def add_folder(self, path: str) -> None:
        """Add the path of a folder. Raises PathRefused when it collides with a file."""
        if path in self._folders:
            raise _refused(path, "path_duplicate")
        if path in self._files:
            raise _refused(path, "path_file_and_folder")
        self._place(path)
        self._folders.add(path)

    def _place(self, path: str) -> None:
        """Record the spelling of the path and of each folder above it."""
        self._spell(path, path)
        above = path.rpartition("/")[0]
        while above and above not in self._parents:
            if above in self._files:
                raise _refused(above, "path_file_and_folder")
            self._spell(above, path)
            self._parents.add(above)
            above = above.rpartition("/")[0]

    def _spell(self, place: str, path: str) -> None:
        if self._spelled.setdefault(collision_key(place), place) != place:
            raise _refused(path, "path_collision")


def is_inside(path: str) -> bool:
    """True for a plain relative path of a file that means the same on every system."""
    try:
        return checked_path(path) == path
    except PathRefused:
        return False


def checked_files(contents: Iterable[tuple[str, bytes]]) -> tuple[dict[str, bytes], list[str]]:
    """Return (files by path, the left-out ones with reasons)."""
    files: dict[str, bytes] = {}
    skipped: list[str] = []
    taken = FilePaths()
    for path, data in contents:
        try:
            checked = checked_path(path)
            taken.add_file(checked)
        except PathRefused as error:
            skipped.append(f"{shown_path(path)}: {error.reason}")
        else:
            files[checked] = data
    return files, skipped
