"""Validation of the names of tenants, namespaces, callers and skills."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from skillyard.base.errors import InvalidInput, StoreRefused
from skillyard.store.values import Durability, Grant, StoreKey

_WORD = r"[a-z0-9][a-z0-9._-]{0,62}"
_TENANT = re.compile(_WORD)
_NAMESPACE = re.compile(rf"(?:{_WORD}(?:/{_WORD}){{0,7}})?")
_NOT_PLAIN = re.compile("[\0\ud800-\udfff]")
MAX_NAMESPACE = 256
MAX_BYTES = 512
"""Maximum bytes of a source, a place or an id. All parts of a key together stay below the 2,704
bytes that PostgreSQL can index, and above the longest real path below a source, 178 bytes."""


def plain(text: str) -> bool:
    """Return True for text that UTF-8 and PostgreSQL can store: no NUL, no unpaired surrogate."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_plain(text: str) -> str:
    """Return the text with U+FFFD for every character that :func:`plain` rejects."""
    return _NOT_PLAIN.sub("\ufffd", text)


def checked_tenant(tenant: str) -> str:
    """Return the tenant's name. Raises InvalidInput."""
    if not isinstance(tenant, str) or _TENANT.fullmatch(tenant) is None:
        raise InvalidInput(
            "tenant must be 1 to 63 lower case letters, digits, dots, hyphens or underscores,"
            " beginning with a letter or digit"
        )
    return tenant


def checked_namespace(namespace: str) -> str:
    """Return the namespace; empty is the tenant's root. Raises InvalidInput."""
    if not isinstance(namespace, str) or (
        len(namespace) > MAX_NAMESPACE or _NAMESPACE.fullmatch(namespace) is None
    ):
        raise InvalidInput(
            "namespace must be up to 8 words like a tenant's name, joined by `/`,"
            f" {MAX_NAMESPACE} characters in all"
        )
    return namespace


def checked_words(what: str, text: str) -> str:
    """Return the name of a publisher or a caller. Raises InvalidInput."""
    if not isinstance(text, str) or not text.strip() or not plain(text) or len(text) > 200:
        raise InvalidInput(f"{what} must be text of 1 to 200 characters without NUL")
    return text


def checked_number(what: str, number: int, most: int, least: int = 1) -> int:
    """Return a whole number within its bounds. Raises InvalidInput."""
    if type(number) is not int or not least <= number <= most:
        raise InvalidInput(f"{what} must be a whole number from {least} to {most:,}")
    return number


def checked_durability(durability: Durability) -> Durability:
    """Return the durability. Raises InvalidInput."""
    if durability not in get_args(Durability):
        raise InvalidInput(f"durability must be local or synchronous, not {durability!r}")
    return durability


def checked_grant(grant: Grant) -> Grant:
    """Return the grant with its distinct places, sorted. Raises InvalidInput."""
    if not isinstance(grant, Grant) or isinstance(grant.places, str):
        raise InvalidInput("a grant is a Grant, its places a list of text")
    checked_words("caller", grant.caller)
    checked_tenant(grant.tenant)
    checked_namespace(grant.namespace)
    if not all(isinstance(place, str) and place and plain(place) for place in grant.places):
        raise InvalidInput("a grant's places must be text, not empty, without NUL")
    return replace(grant, places=tuple(sorted(set(grant.places))))


def checked_key(key: StoreKey, store: str) -> StoreKey:
    """Return the key. Raises InvalidInput, and StoreRefused for parts that cannot be stored."""
    checked_tenant(key.tenant)
    checked_namespace(key.namespace)
    for what, part in (("source", key.source), ("place", key.place)):
        refuse_odd(store, key, what, part)
    if not key.place:
        raise StoreRefused(store, f"{key}: a skill is kept under its slug, and this one is empty")
    return key


def refuse_odd(store: str, key: StoreKey, what: str, text: str) -> None:
    """Raise StoreRefused for text that an index cannot store: too long, NUL, surrogates."""
    if not plain(text):
        raise StoreRefused(
            store, f"the {what} of {to_plain(str(key))!r} holds NUL or half a surrogate pair"
        )
    if len(text.encode()) > MAX_BYTES:
        raise StoreRefused(
            store, f"the {what} of {str(key)[:80]!r} is longer than {MAX_BYTES} bytes"
        )
