from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.gateway.v1.renaming import renamed


def test_only_the_bytes_of_the_name_change() -> None:
    body = b'{ "a" : 1.50 , "model":"ollama/x", "messages":[{"model":"ollama/x"}],"n":1e2,"t":"\xc3\xa4\\u00e4" }'
    wanted = body.replace(b'"model":"ollama/x", ', b'"model":"x", ')
    assert renamed(body, "x") == wanted


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"model"', b'{"model":}', b"nonsense", b'{"a":1}', b"{}"]
)
def test_what_holds_no_name_is_left_alone(body: bytes) -> None:
    assert renamed(body, "x") == body


@given(
    st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.lists(st.booleans())),
    st.text(),
)
def test_any_object_keeps_the_rest(fields: dict[str, object], name: str) -> None:
    value = {**fields, "model": "old"}
    assert json.loads(renamed(json.dumps(value).encode(), name)) == {**value, "model": name}
