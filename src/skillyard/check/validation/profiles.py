"""The three profiles, as one table: the severity of each code under each profile.

``lenient``
    A skill that loads has no errors, except for a cycle of requirements: the other errors are
    exactly those of reading. Everything else is a warning or a note.
``spec``
    The text of the agentskills.io specification, with YAML 1.2 types. Extensions of the other
    documents are warnings.
``reference``
    The verdict of the specification's reference validator: six fields, its YAML dialect, its
    fences, its definition of a letter. It does not check bodies.

A diagnostic of *reading* keeps at least its original severity: no profile hides that a file does
not load.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.check.validation import field_types

ERROR = "error"
WARNING = "warning"
INFO = "info"
OFF = "off"
DEFAULT_PROFILE = "lenient"
REFERENCE = "reference"

_WORDS = {"E": ERROR, "W": WARNING, "I": INFO, "-": OFF}
_RANK = {OFF: 0, INFO: 1, WARNING: 2, ERROR: 3}

# Columns: code, lenient, spec, reference. E error, W warning, I info, - off.
_TABLE = """
allowed_tools_commas      - W -
allowed_tools_not_string  - W -
binary_file               E E E
body_empty                I I -
body_too_long             W W -
byte_order_mark           W W -
changed_while_reading     E E E
compatibility_empty       I E -
compatibility_not_string  W E E
compatibility_too_long    W E E
copies_differ             W W -
description_empty         W E E
description_missing       W E E
description_not_string    E E E
description_too_long      W E E
descriptions_confusable   W W -
encoding_not_utf8         E E E
extension_fields          - W E
field_alias               W E E
field_too_long            E E E
file_name_case            W E -
file_too_large            E E E
final_newline_missing     - I -
folder_unreadable         W W W
frontmatter_missing       W E E
frontmatter_too_large     E E E
frontmatter_unclosed      E E E
hidden_character          W W -
html_comment              W W -
identical_copy            I I -
index_busy                E E E
index_damaged             E E E
index_missing             E E E
index_stray_file          I I I
io_error                  E E E
license_not_string        W E -
line_ends_crlf            - I -
link_as_text              E E E
link_broken               W W W
link_loop                 W W W
link_outside              W W W
linked_worktree           I I I
list_from_text            W W -
list_too_long             E E E
manifest_path             W W W
manifest_unreadable       W W W
metadata_not_map          W E -
metadata_not_string_map   - E -
name_bad_chars            W E E
name_dir_mismatch         W E E
name_double_hyphen        W E E
name_edge_hyphen          W E E
name_empty                W E E
name_file_mismatch        I I -
name_lookalike            W W -
name_missing              W E E
name_not_ascii            W W -
name_not_lowercase        W E E
name_not_string           E E E
name_shadowed             I I -
name_shared               I I -
name_too_long             W E E
not_a_regular_file        W W W
not_boolean               W W -
not_integer               W W -
oasis_id_not_folder       I I -
oasis_id_not_slug         W W -
oasis_id_twice            W W -
oasis_incomplete          W W -
odd_file_name             W W W
pattern_generic           W W -
plugin_disabled           I I I
plugin_remote             I I I
reference_deep            - I -
reference_missing         W W -
reference_outside         W W -
requirement_cycle         E E -
requirement_unmet         W W -
requires_unread           W W -
resource_refused          E E E
skill_md_missing          W E E
skill_md_twice            W W W
tag_on_every_skill        I I -
too_many_folders          E E E
too_many_resources        W W W
tool_unknown              W W -
trailing_blanks           - I -
tree_too_deep             W W W
trigger_looks_like_glob   W W -
trigger_shared            W W -
unexpected_fields         I E E
variant                   I I -
yaml_alias                E E E
yaml_anchor               E E E
yaml_bad_key              E E E
yaml_directive            E E E
yaml_duplicate_key        E E E
yaml_invalid              E E E
yaml_merge_key            E E E
yaml_not_mapping          E E E
yaml_repaired             W E E
yaml_tag                  E E E
yaml_too_deep             E E E
yaml_too_large            E E E
"""
_OF_TYPES = "WW-"
"""The row of each code of ``field_types`` that the table does not name."""

_YAML_CODES = (
    *("yaml_alias", "yaml_anchor", "yaml_bad_key", "yaml_directive", "yaml_duplicate_key"),
    *("yaml_merge_key", "yaml_tag", "yaml_too_deep", "yaml_too_large"),
)
RENAMED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        REFERENCE: MappingProxyType(
            dict.fromkeys(_YAML_CODES, "yaml_invalid")
            | dict.fromkeys(("extension_fields", "field_alias"), "unexpected_fields")
        )
    }
)
"""Codes that a profile reports under a more general code, because its source has no finer one."""


def _profiles() -> Mapping[str, Mapping[str, str]]:
    of_types = [[code, *_OF_TYPES] for code in (*field_types.TEXTS, *field_types.LISTS)]
    rows = [*of_types, *(line.split() for line in _TABLE.strip().split("\n"))]
    return MappingProxyType(
        {
            name: MappingProxyType({row[0]: _WORDS[row[column]] for row in rows})
            for column, name in enumerate((DEFAULT_PROFILE, "spec", REFERENCE), 1)
        }
    )


PROFILES = _profiles()
"""Profile name -> code -> ``error``, ``warning``, ``info`` or ``off``."""


def profile_of(name: str) -> Mapping[str, str]:
    """Return the severities of a profile. Raises UnknownName, or InvalidInput for a wrong type."""
    if not isinstance(name, str):
        raise InvalidInput(f"profile must be a string, not {type(name).__name__}")
    if name not in PROFILES:
        raise UnknownName("profile", name, PROFILES)
    return PROFILES[name]


def rule_severity(profile: str, code: str) -> str:
    """Return the severity of a rule's finding under a profile."""
    return PROFILES[profile].get(code, WARNING)


def reading_severity(profile: str, code: str, reported: str) -> str:
    """Return the severity of a diagnostic of reading: the profile's, but never a lower one.

    A code that is not in the table keeps its reported severity.
    """
    severity = PROFILES[profile].get(code, reported)
    if profile == DEFAULT_PROFILE or (severity == OFF and reported == ERROR):
        return reported
    return severity if severity == OFF else max(severity, reported, key=_RANK.__getitem__)
