from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import WireError
from workbench.formats.importers.mitmproxy import MAX_DEPTH
from workbench.formats.importers.mitmproxy import read_tnetstring as read


def written(value: Any) -> bytes:
    """A value as a tnetstring; keys as text."""
    kind, raw = b"~", b""
    if isinstance(value, bool):
        kind, raw = b"!", str(value).lower().encode()
    elif isinstance(value, int | float):
        kind, raw = b"#" if isinstance(value, int) else b"^", repr(value).encode()
    elif isinstance(value, bytes):
        kind, raw = b",", value
    elif isinstance(value, str):
        kind, raw = b";", value.encode("utf-8", "surrogateescape")
    elif isinstance(value, list):
        kind, raw = b"]", b"".join(written(v) for v in value)
    elif isinstance(value, dict):
        kind, raw = b"}", b"".join(written(k) + written(v) for k, v in value.items())
    return b"%d:%s%s" % (len(raw), raw, kind)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.binary() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_was_written_is_read(value: Any) -> None:
    text = written(value)
    assert read(b"x" + text + b"y", 1, len(text) + 2) == (value, len(text) + 1)


@given(VALUES, st.data())
def test_a_cut_value_is_refused(value: Any, data: st.DataObject) -> None:
    text = written(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(WireError):
        read(cut, 0, len(cut))


@given(st.binary(max_size=80) | st.text("0123456789:,;#^!~]}tre", max_size=60).map(str.encode))
def test_anything_else_is_a_value_or_refused(text: bytes) -> None:
    try:
        _, end = read(text, 0, len(text))
    except WireError as error:
        assert "\n" not in str(error)
    else:
        assert 0 < end <= len(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b":,", "no length"),
        (b"-1:,", "no length"),
        (b"9999999999999999:,", "no length"),
        (b"5:abc,", "longer than the data"),
        (b"3:abc?", "unknown type"),
        (b"3:abc#", "not a value of type '#'"),
        (b"4:nope!", "not a value of type '!'"),
        (b"1:x~", "not a value of type '~'"),
        (b"41:" + b"1" * 41 + b"#", "not a value of type '#'"),
        (b"4:1:a,}", "a key without a value"),
        (b"4:9:a,]", "longer than the data"),
    ],
)
def test_faults_are_named(text: bytes, what: str) -> None:
    with pytest.raises(WireError, match=what):
        read(text, 0, len(text))


def test_keys_of_older_files_are_bytes() -> None:
    assert read(b"8:1:a,1:1#}", 0, 11)[0] == {"a": 1}


def test_depth_is_bounded() -> None:
    text = b""
    for _ in range(MAX_DEPTH + 1):
        text = b"%d:%s]" % (len(text), text)
    with pytest.raises(WireError, match="nested containers"):
        read(text, 0, len(text))
