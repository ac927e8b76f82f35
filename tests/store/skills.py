"""Skills to publish: plain ones by number, and any that a skill can be."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from skillyard import Skill, Triggers
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import FileDigest, StoreKey, Submission, Version
from skillyard.types import Reference

__all__ = [
    "any_skills",
    "any_submissions",
    "current",
    "key",
    "seen_by",
    "skill",
    "skills",
    "standing",
]


def skill(name: str, text: str = "one", **fields: Any) -> Skill:
    """Return a skill whose content is its text."""
    return Skill(name, f"Says {text}.", f"# {name}\n\n{text}\n", **fields)


def skills(count: int, text: str = "one") -> list[Skill]:
    """Return so many skills, s00000 and on."""
    return [skill(f"s{number:05}", text) for number in range(count)]


def key(place: str, tenant: str = "acme", namespace: str = "", source: str = "") -> StoreKey:
    """Return the key of a skill."""
    return StoreKey(tenant, namespace, source, place)


def standing(store: CatalogStore) -> list[Version]:
    """Return every skill that stands, in commit order."""
    page = store.changes(0)
    versions = list(page.upserts)
    while not page.complete:
        page = store.changes(page.position)
        versions += page.upserts
    return versions


def current(store: CatalogStore, wanted: StoreKey) -> Version:
    """Return what stands under a key."""
    return next(version for version in standing(store) if version.key == wanted)


def seen_by(store: CatalogStore, caller: str) -> CatalogStore:
    """Return what a caller sees of a store, over the same connections."""
    return CatalogStore(store._backend, caller)


# NUL, halves of surrogate pairs and everything else that a Python text can be.
_text = st.text(st.characters(), max_size=20)
_texts = st.lists(_text, max_size=3)
_plain = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_maybe = st.none() | _text

any_skills = st.builds(
    Skill,
    name=_text,
    description=_text,
    body=_maybe,
    path=_text,
    id=st.none() | _plain.filter(bool),
    slug=_plain.filter(bool),
    title=_maybe,
    version=_maybe,
    license=_maybe,
    compatibility=_maybe,
    hint=_maybe,
    tags=_texts,
    keywords=_texts,
    triggers=st.builds(Triggers, *[st.lists(_text, max_size=2).map(tuple)] * 3),
    trigger=st.booleans(),
    priority=st.integers(),
    inputs=_texts,
    outputs=_texts,
    safety_notes=_texts,
    allowed_tools=_texts,
    declared_references=_texts,
    references=st.lists(st.builds(Reference, _text, _text, _maybe), max_size=2),
    metadata=st.dictionaries(_text, _json, max_size=3),
    source=st.none() | _plain,
    origin=_maybe,
    install_count=st.integers(-(2**63) + 1, 2**63 - 1),
    curated=st.booleans(),
    hash=st.none() | _text.filter(bool),
    last_modified=st.none() | st.integers(),
    scope=_text,
    frontmatter=_maybe | st.just("name: a\nn: [1, 2.5, true]\nm: {a: \"\\0\\ud800\"}"),
    user_invocable=st.booleans(),
    disable_model_invocation=st.booleans(),
).filter(lambda made: made.id == made.id.replace("\0", "") and _utf8(made.id))  # fmt: skip


def _utf8(text: str) -> bool:
    try:
        return len(text.encode()) <= 512
    except UnicodeEncodeError:
        return False


any_submissions = st.builds(
    Submission,
    any_skills,
    place=st.none() | _plain.filter(bool),
    files=st.lists(
        st.builds(FileDigest, _text, st.text("0123456789abcdef"), st.integers(0)),
        max_size=2,
        unique_by=lambda file: file.path,
    ).map(tuple),
    commit=st.none() | _plain,
    url=st.none() | _plain,
)
