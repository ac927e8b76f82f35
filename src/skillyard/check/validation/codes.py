"""The table of all diagnostic codes, with title, source and hint.

It contains the codes of the rules and those of reading. The reference page of error codes is
generated from ``RULES``. A test checks that ``RULES`` lists exactly the codes in the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from skillyard.check.validation import (
    body,
    descriptions,
    field_types,
    fields,
    library,
    names,
    text_form,
)
from skillyard.check.validation.profiles import PROFILES
from skillyard.check.validation.rule import Rule

CHECKS: tuple[Rule, ...] = (
    *names.CHECKS,
    *descriptions.CHECKS,
    *fields.CHECKS,
    *body.CHECKS,
    *text_form.CHECKS,
)
"""The rules over one file, in the order in which they run."""


class RuleText(NamedTuple):
    """The description of a code."""

    title: str
    source: str
    hint: str
    severities: Mapping[str, str]
    """Profile name -> severity. For codes of reading it is the lowest reported severity."""


_INDEX = "design: the index"
_READING = "reading"
_YAML = "reading: YAML under guard"
_FENCES = "agentskills.io: frontmatter"
_TYPES = "reading: field types"
_SCAN = "reading: discovery"

_OF_READING = {
    "binary_file": (
        "The file holds a NUL byte",
        _READING,
        "remove the NUL byte, or delete the file if it is not a skill",
    ),
    "changed_while_reading": (
        "A file or folder was replaced while it was being read",
        _READING,
        "load again",
    ),
    "encoding_not_utf8": ("The file is not UTF-8", _READING, "save the file as UTF-8"),
    "field_too_long": (
        "A field is longer than any reader needs",
        _READING,
        "shorten it; details belong in the body",
    ),
    "file_name_case": ("The file is called skill.md", _FENCES, "rename it to SKILL.md"),
    "file_too_large": (
        "The file is larger than the limit",
        _READING,
        "move long material into files beside it",
    ),
    "folder_unreadable": ("A folder cannot be listed", _SCAN, "check its permissions"),
    "frontmatter_missing": (
        "The first line is not ---",
        _FENCES,
        "start the file with a line of three hyphens, the fields, and three hyphens again",
    ),
    "frontmatter_too_large": (
        "The frontmatter is larger than the limit",
        _READING,
        "move long text into the body",
    ),
    "frontmatter_unclosed": (
        "There is no second line of three hyphens",
        _FENCES,
        "put a line of exactly three hyphens, not indented, after the last field",
    ),
    "hidden_character": (
        "A control, bidirectional or invisible character",
        "reading: frontmatter is hostile, the body is content",
        "remove it",
    ),
    "index_busy": (
        "Another process is changing the index",
        _INDEX,
        "try again when it has finished",
    ),
    "index_damaged": ("The index is damaged", _INDEX, "run `skillyard index build`"),
    "index_missing": ("There is no index", _INDEX, "run `skillyard index build`"),
    "index_stray_file": (
        "A file in the index's folder belongs to no generation",
        _INDEX,
        "nothing to do: the next change of the index takes it away",
    ),
    "identical_copy": (
        "The file is a copy of another skill's, byte for byte",
        "rulings: identical copies",
        "nothing to do; delete one of them if you do not need both",
    ),
    "io_error": (
        "The file cannot be read",
        _READING,
        "check that it exists, is a plain file and may be read",
    ),
    "link_as_text": (
        "A link was checked out as a text file, so the skill behind it is missing",
        _SCAN,
        "say `git config core.symlinks true` and check the file out again, or copy the folder",
    ),
    "link_broken": ("A link leads nowhere", _SCAN, "remove it"),
    "link_loop": ("A link leads to a folder that it lies in", _SCAN, "remove it"),
    "link_outside": (
        "A link leads out of where it may lead",
        _SCAN,
        "put the file itself there, or name the real folder as a root",
    ),
    "linked_worktree": (
        "A worktree of the repository that it lies in holds the skills of another branch",
        _SCAN,
        "nothing to do; name it as a root to read its skills",
    ),
    "list_from_text": ("A list is written as one text", _TYPES, "write `field: [a, b]`"),
    "list_too_long": ("A list has more items than any reader needs", _READING, "shorten it"),
    "manifest_path": (
        "A manifest names a folder that is not there or leads out of its own",
        _SCAN,
        "correct the path, or install again what the manifest belongs to",
    ),
    "manifest_unreadable": (
        "The manifest of a plugin, an extension or a package cannot be used",
        _SCAN,
        "repair the file",
    ),
    "metadata_not_map": (
        "The field metadata is no mapping",
        "agentskills.io: metadata",
        "write `metadata:` with keys below it",
    ),
    "name_shadowed": (
        "Another skill of the same name goes first",
        "rulings: same name twice",
        "rename one of them, or load this one by its id",
    ),
    "name_shared": (
        "Two skills have the same name",
        "rulings: same name twice",
        "rename one of them; until then use the id",
    ),
    "not_a_regular_file": (
        "Something that is no file stands where a file should",
        _SCAN,
        "make it a text file",
    ),
    "not_boolean": ("A switch is neither true nor false", _TYPES, "write `field: true` or false"),
    "not_integer": ("A number is no integer", _TYPES, "write `field: 0`, for instance"),
    "oasis_id_twice": (
        "Two Oasis skills have the same id",
        "Oasis: discovery rules",
        "rename one of them, or load this one by its id",
    ),
    "oasis_incomplete": (
        "An Oasis skill misses a required field",
        "Oasis: discovery rules",
        "give id, name, description, triggers (a list) and priority (an integer)",
    ),
    "odd_file_name": (
        "A file or folder name holds control characters or is no valid text",
        _SCAN,
        "rename it",
    ),
    "plugin_disabled": (
        "A plugin or an extension is installed and not enabled",
        _SCAN,
        "enable it in its host to read its skills",
    ),
    "plugin_remote": (
        "A plugin of a marketplace lies on another machine; it is not fetched",
        _SCAN,
        "install it with its host, or its skills with `skillyard add`",
    ),
    "requires_unread": (
        "What a skill requires is written in a form that is not read",
        _TYPES,
        "write `requires:` with the lists `skills`, `tools` and `programs`",
    ),
    "resource_refused": (
        "A path that is no file inside the skill's folder",
        "reading: resources",
        "give the path of a file inside the skill's folder, as listed",
    ),
    "skill_md_missing": (
        "There is no SKILL.md",
        "agentskills.io: directory structure",
        "add a file called exactly SKILL.md",
    ),
    "skill_md_twice": (
        "Two spellings of SKILL.md lie side by side",
        _SCAN,
        "remove one of them; every host reads SKILL.md",
    ),
    "too_many_folders": (
        "There are more folders than are looked at",
        _SCAN,
        "name a root closer to the skills",
    ),
    "too_many_resources": (
        "A skill has more files than are listed",
        "reading: resources",
        "pack them, or divide the skill",
    ),
    "tree_too_deep": (
        "A folder lies deeper than is looked at",
        _SCAN,
        "name a root closer to the skills",
    ),
    "trigger_looks_like_glob": (
        "A trigger phrase looks like a file pattern",
        "rulings: author guidance",
        "put file patterns under `triggers:` / `files:`",
    ),
    "variant": (
        "The file has nearly the text of another skill of its name, or is its translation",
        "rulings: identical copies",
        "nothing to do: they count as one skill; load this one by its id",
    ),
    "yaml_alias": ("YAML alias", _YAML, "write the value out where it is used"),
    "yaml_anchor": ("YAML anchor", _YAML, "remove the & mark, or quote the value if it is text"),
    "yaml_bad_key": (
        "A key that is no plain text",
        _YAML,
        "write each field as `key: value` with plain text as the key",
    ),
    "yaml_directive": ("YAML directive", _YAML, "remove the line that starts with a percent sign"),
    "yaml_duplicate_key": ("A key stands twice", _YAML, "keep one of the two"),
    "yaml_invalid": (
        "The frontmatter is not valid YAML",
        _YAML,
        "check quotes, indentation and brackets around this place",
    ),
    "yaml_merge_key": ("YAML merge key", _YAML, "write the merged fields out"),
    "yaml_not_mapping": (
        "The frontmatter is no list of fields",
        _YAML,
        "write one field a line, for instance `name: my-skill`",
    ),
    "yaml_repaired": (
        "The frontmatter was read only after values had been put in quotes",
        _YAML,
        "put the value in quotes yourself: other readers may refuse the file",
    ),
    "yaml_tag": ("YAML tag", _YAML, "remove the ! mark, or quote the value if it is text"),
    "yaml_too_deep": ("The frontmatter is nested too deeply", _YAML, "flatten the structure"),
    "yaml_too_large": (
        "The frontmatter holds too many values",
        _YAML,
        "move data into a file beside the skill",
    ),
}


def _type_texts() -> dict[str, tuple[str, str, str]]:
    """Return the texts of the codes that contain the name of a field."""
    texts = {
        code: (f"The field {field} is not text", _TYPES, "write it on one line")
        for code, field in field_types.TEXTS.items()
    }
    lists = {
        code: (f"The field {field} is no list of texts", _TYPES, "write a list")
        for code, field in field_types.LISTS.items()
    }
    return texts | lists


def _rules() -> Mapping[str, RuleText]:
    texts = _type_texts()
    texts |= {rule.code: (rule.title, rule.source, rule.hint) for rule in CHECKS}
    texts |= library.TEXTS
    texts |= _OF_READING
    return MappingProxyType(
        {
            code: RuleText(
                *texts[code], MappingProxyType({name: PROFILES[name][code] for name in PROFILES})
            )
            for code in sorted(texts)
        }
    )


RULES = _rules()
"""Code -> title, source, hint and the severity under each profile."""
