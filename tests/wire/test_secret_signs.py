"""A text that is taken to hold no secret after two passes holds none for the whole search either."""

from __future__ import annotations

from base64 import b64encode

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.regex import AnyOf
from workbench.wire.secrets.search import REACH, find, join_overlapping, search

INNER = "password=hunter2-Xy9!"
NAMES = ("password", "PassWord", "p%61ssword", "pass\\u0077ord", "pa&#115;sword", "api_key", "token", "pwd", "cookie")
SIGNS = ("=", ":", ": ", "%3D", "%253A", "\\u003d", "&#x3d;", "&#61;", " is ", "Bearer ", "-u ", "-p", "://", "@")
VALUES = ("hunter2-Xy9!", "hunter2%2DXy9%21", "dummy", "aB3dE6gH9kq7Zt2Lm4", b64encode(INNER.encode()).decode(), "user")
WORDS = st.sampled_from((*NAMES, *SIGNS, *VALUES, " ", "\n", "&", ";", '"', "\\", "'", ",", "the model "))


@settings(max_examples=200)
@given(st.lists(WORDS, max_size=8).map("".join))
@example("pa&#115;sword: hunter2-Xy9!")
@example("p%61ssword%3Dhunter2-Xy9!")
@example("%70%61%73%73%77%6f%72%64 : hunter2-Xy9!")
def test_nothing_is_left_out(text: str) -> None:
    raw = text.encode()
    assert find(raw) == join_overlapping(one for one in search(raw) if one.kind != REACH)


@given(st.lists(st.sampled_from((*NAMES, "tok", "en", "=", " ", "0a1b")), max_size=5).map("".join))
def test_looking_for_several_texts_at_once_finds_what_looking_for_each_does(whole: str) -> None:
    texts, raw = [name.encode() for name in (*NAMES, "=")], whole.encode()
    found = AnyOf(texts)
    found.is_in(bytes(8 * 1024))  # from then on by a pattern, or by the texts whose bytes are there
    assert found.is_in(raw) is any(text in raw for text in texts)


def test_the_verifier_of_a_sign_in_is_found_in_json_as_in_a_form() -> None:
    verifier = b"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B
    for text in (b'{"grant_type": "authorization_code", "code_verifier": "%b"}', b"code=x&code_verifier=%b"):
        body = text % verifier
        assert [body[secret.start : secret.end] for secret in find(body)] == [verifier]
    assert not find(b'{"verifier": "python", "code_verifier": "a string of 43 characters"}')
