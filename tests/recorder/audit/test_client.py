"""The near end: URLs as people give them."""

from __future__ import annotations

import pytest

from workbench.errors import UsageError
from workbench.recorder.audit.client import read_base


@pytest.mark.parametrize(
    ("given", "path", "target"),
    [
        ("http://127.0.0.1:4000", "/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("http://127.0.0.1:4000/", "/v1/messages", "/v1/messages"),
        ("127.0.0.1:4000/v1", "/v1/chat/completions", "/v1/chat/completions"),
        ("http://h/openai/v1/", "/v1/chat/completions?a=/v1", "/openai/v1/chat/completions?a=/v1"),
        ("http://h/v1beta", "/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
        ("http://h/v1", "/v1beta/models/m:generateContent", "/v1/v1beta/models/m:generateContent"),
        ("http://h/anthropic", "/v1/messages", "/anthropic/v1/messages"),
    ],
)
def test_a_base_url_is_what_a_client_is_given(given: str, path: str, target: str) -> None:
    assert read_base(given).target(path) == target


@pytest.mark.parametrize("given", ["ftp://h", "http://", "http://h:99999", "http://h?x=1", "http://a:b@h"])
def test_what_is_no_url_is_refused(given: str) -> None:
    with pytest.raises(UsageError):
        read_base(given)


@pytest.mark.parametrize(
    ("given", "authority"),
    [("http://h:80/x", "h"), ("https://h", "h"), ("https://h:80", "h:80"), ("http://[::1]:4000", "[::1]:4000")],
)
def test_the_host_header_is_as_clients_write_it(given: str, authority: str) -> None:
    assert read_base(given).authority == authority
