"""What comes on standard input may be anything; what is taken from it is bounded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.hosts.hook.prompt import (
    MAX_BYTES,
    BadPayload,
    parse_payload,
)
from tests.tables import for_each

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_prompt_or_a_named_fault(data: bytes) -> None:
    try:
        found = parse_payload(data)
    except BadPayload:
        return
    assert found.text == json.loads(data)["prompt"]


@for_each(
    ("data", "what"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON in UTF-8"),
        (b"[" * 200_000, "nested too deep"),
        (b"9" * 5_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "prompt is missing"),
        (b'{"prompt": 1}', "not text"),
        (b'{"prompt": "x", "hook_event_name": "Stop"}', "not the event UserPromptSubmit"),
        (b" " * (MAX_BYTES + 1), "more than 4,194,304 bytes"),
    ],
)
def test_each_fault_has_its_words(data: bytes, what: str) -> None:
    with pytest.raises(BadPayload, match=what):
        parse_payload(data)


@for_each("cwd", [None, 1, "", "relative", "/a\0b", "/\ud800", ["/"]])
def test_a_folder_that_can_be_none_is_no_project_and_no_fault(cwd: object) -> None:
    data = json.dumps({"prompt": "x", "cwd": cwd}).encode()
    assert parse_payload(data) == ("x", "")
