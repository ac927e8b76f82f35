"""Which folder is the skill: that one, or none; and which files belong to it, and no other's."""

from __future__ import annotations

from skillyard.install.sources.repository import (
    reference_paths,
)
from tests.install.sources.clients import skill_path
from tests.tables import for_each


def holding(*folders: str) -> list[str]:
    return [f"{folder}/SKILL.md" if folder else "SKILL.md" for folder in folders]


# --- answers that must not happen (skyll.md §3.2) ---

WRONG = {
    "the id ends with the name of the folder of skills": (
        "aws-skills", "acme/stuff", holding("skills/first", "skills/second"),
    ),
    "the only skill of the repository": ("anything", "acme/kit", holding("skills/pdf")),
    "the only skill, at the root": ("anything", "acme/kit", holding("")),
    "another file whose name ends alike": ("pdf", "acme/kit", ["skills/pdf/MYSKILL.md"]),
    "a file in another case of another folder": ("pdf", "acme/kit", ["skills/pdf/SKILL.md.bak"]),
    "whatever lies below docs": ("docs", "acme/kit", holding("docs/pdf")),
    "whatever lies below skills": ("skills", "acme/kit", holding("skills/pdf")),
    "whatever lies below the agent's folder": ("claude", "acme/kit", holding(".claude/skills/pdf")),
    "a parent of that name": ("office", "acme/kit", holding("skills/office/pdf")),
    "the id ends with a long word": ("react-testing", "acme/kit", holding("skills/testing")),
    "the folder ends with -id": ("pdf", "acme/kit", holding("skills/my-pdf")),
    "the folder ends with _id": ("pdf", "acme/kit", holding("skills/my_pdf")),
    "the folder begins with the id": ("pdf", "acme/kit", holding("skills/pdf-forms")),
    "the id begins with the folder": ("pdf-forms", "acme/kit", holding("skills/pdf")),
    "a vendor's prefix that the id lacks": ("react", "acme/kit", holding("skills/vercel-react")),
    "another vendor's prefix": ("openai-react", "acme/kit", holding("skills/claude-react")),
    "a prefix that is no vendor's": ("acme-react", "acme/kit", holding("skills/react")),
    "the prefix alone": ("vercel-", "acme/kit", holding("skills", "")),
    "installed packages": ("pdf", "acme/kit", holding("node_modules/pdf", "x/node_modules/pdf")),
    "git's own folder": ("pdf", "acme/kit", holding(".git/pdf")),
    "what was built": ("pdf", "acme/kit", holding("dist/pdf", "build/pdf", "a/__pycache__/pdf")),
    "an empty id": ("", "acme/kit", holding("", "skills/pdf")),
    "the folder itself": (".", "acme/kit", holding("", "skills/pdf")),
    "the folder above": ("..", "acme/kit", holding("", "skills/pdf")),
    "a path as the id": ("../pdf", "acme/kit", holding("pdf", "skills/pdf")),
    "an absolute path as the id": ("/pdf", "acme/kit", holding("pdf")),
    "a pattern as the id": ("*", "acme/kit", holding("pdf")),
    "the root of a repository that begins so": ("kit", "acme/kit-two", holding("")),
    "the owner's name": ("acme", "acme/kit", holding("")),
    "no skill at all": ("pdf", "acme/kit", ["README.md", "skills/pdf/readme.md"]),
    "nothing": ("pdf", "acme/kit", []),
}  # fmt: skip


@for_each("why", WRONG)
def test_the_body_of_another_skill_is_never_the_answer(why: str) -> None:
    skill_id, repository, paths = WRONG[why]
    assert skill_path(paths, repository, skill_id) is None


RIGHT = {
    "the usual place": ("pdf", holding("skills/pdf", "skills/x"), "skills/pdf"),
    "claude": ("pdf", holding(".claude/skills/pdf"), ".claude/skills/pdf"),
    "cursor": ("pdf", holding(".cursor/skills/pdf"), ".cursor/skills/pdf"),
    "github": ("pdf", holding(".github/skills/pdf"), ".github/skills/pdf"),
    "agent": ("pdf", holding(".agent/skills/pdf"), ".agent/skills/pdf"),
    "agents": ("pdf", holding(".agents/skills/pdf"), ".agents/skills/pdf"),
    "at the root": ("pdf", holding("pdf", "x"), "pdf"),
    "a category between": ("pdf", holding("skills/office/pdf"), "skills/office/pdf"),
    "a package": ("pdf", holding("plugins/office/skills/pdf"), "plugins/office/skills/pdf"),
    "the usual place before others": (
        "pdf", holding("a/pdf", ".claude/skills/pdf", "skills/pdf", "pdf"), "skills/pdf",
    ),
    "the earlier usual place": (
        "pdf", holding(".agents/skills/pdf", ".claude/skills/pdf", "pdf"), ".claude/skills/pdf",
    ),
    "nearest to the root": ("pdf", holding("a/b/c/pdf", "z/pdf", "a/b/pdf"), "z/pdf"),
    "without a vendor's prefix": ("vercel-react", holding("skills/react"), "skills/react"),
    "with its prefix first": (
        "vercel-react", holding("skills/react", "skills/vercel-react"), "skills/vercel-react",
    ),
    "with its prefix first, elsewhere": (
        "claude-x", holding("skills/y", "deep/claude-x"), "deep/claude-x",
    ),
    "called like its repository": ("kit", holding(""), ""),
    "called like its repository, among others": ("kit", holding("", "skills/pdf"), ""),
}  # fmt: skip


@for_each("why", RIGHT)
def test_the_folder_that_is_named_like_the_skill_is_the_answer(why: str) -> None:
    skill_id, paths, expected = RIGHT[why]
    for order in (paths, paths[::-1], sorted(paths)):
        assert skill_path(order, "acme/kit", skill_id) == expected


REGISTERED = {
    "the truth": ("finishing-branch", holding("skills/finishing-a-branch", "skills/other"),
                  "skills/finishing-a-branch", "skills/finishing-a-branch"),
    "before a folder of that name": ("pdf", holding("skills/pdf", "odd/place"), "odd/place",
                                     "odd/place"),
    "not there": ("pdf", holding("skills/pdf"), "skills/gone", "skills/pdf"),
    "not there, nor elsewhere": ("pdf", holding("skills/x"), "skills/gone", None),
    "with a slash": ("pdf", holding("odd/place"), "odd/place/", "odd/place"),
    "above the root": ("pdf", holding("odd/place"), "../odd/place", None),
    "a folder of folders": ("pdf", holding("odd/place"), "odd", None),
    "a beginning of a name": ("pdf", holding("odd/place"), "odd/pla", None),
}  # fmt: skip


@for_each("why", REGISTERED)
def test_a_registered_path_is_the_truth_if_it_is_there(why: str) -> None:
    skill_id, paths, registered, expected = REGISTERED[why]
    assert skill_path(paths, "acme/kit", skill_id, registered) == expected


# --- which files belong to it ---

TREE = {
    "SKILL.md": 1, "README.md": 1, "references/root.md": 1,
    "skills/pdf/SKILL.md": 1, "skills/pdf/forms.md": 1, "skills/pdf/UPPER.MD": 1,
    "skills/pdf/scripts/run.py": 1, "skills/pdf/references/a.md": 1,
    "skills/pdf/references/deep/b.md": 1, "skills/pdf/docs/c.md": 1, "skills/pdf/examples/d.md": 1,
    "skills/pdf/rules/e.md": 1, "skills/pdf/resources/f.md": 1, "skills/pdf/other/g.md": 1,
    "skills/pdf/references/data.json": 1,
    "skills/pdf/inner/SKILL.md": 1, "skills/pdf/inner/references/h.md": 1,
    "skills/pdf-forms/i.md": 1, "skills/pdf-forms/SKILL.md": 1, "skills/pdfx.md": 1,
}  # fmt: skip


def references(folder: str) -> set[str]:
    return {blob.path for blob in reference_paths(TREE, folder)}
