"""What is judged beside the bytes: where requests arrive, how answers end, what is legal JSON."""

from __future__ import annotations

import pytest

from workbench.recorder.audit import verdicts
from workbench.recorder.audit.verdicts import AuditPlace


@pytest.mark.parametrize(
    ("came", "path", "expected"),
    [
        ("/v1/messages", "/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("/anthropic/v1/messages", "/v1/models/x", "/anthropic/v1/models/x"),
        ("/messages", "/v1/messages/count_tokens", "/messages/count_tokens"),
        ("/v1/v1/messages", "/v1/models", "/v1/v1/models"),
        ("/v1/messages?key=1", "/v1/messages", "/v1/messages"),
    ],
)
def test_a_path_is_expected_where_a_plain_request_arrived(came: str, path: str, expected: str) -> None:
    assert verdicts._expected_path(path, AuditPlace("/v1/messages", came, "anthropic-messages")) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"a":1E400,"b":"Infinity NaN \\" Infinity"}', ""),
        (b'{"a":Infinity}', "Infinity is not valid JSON"),
        (b'{"a":[-Infinity,"\\\\"]}', "-Infinity is not valid JSON"),
        (b'{"a":NaN}', "NaN is not valid JSON"),
        (b'{"a":"\xed\xa0\xbd"}', "byte 6 is not UTF-8"),
    ],
)
def test_what_no_strict_reader_takes_is_said(text: bytes, words: str) -> None:
    assert verdicts._why_illegal(text) == words
