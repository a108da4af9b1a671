"""A stream without the secrets that were sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.send.credentials import SecretMask
from workbench.wire.redaction import Redactor

SECRETS = ("sk-abcabcabcabc", "abcabd")


@given(st.lists(st.sampled_from([*SECRETS, "sk-abc", "abc", "x", "sk-", "d"]), max_size=12), st.data())
def test_however_it_is_cut_no_secret_gets_through(words, data):
    text = "".join(words).encode()
    redactor = Redactor(salt=b"same")
    mask, shown, at = SecretMask(redactor, SECRETS), b"", 0
    while at < len(text):
        end = data.draw(st.integers(at + 1, len(text)))
        shown, at = shown + mask.feed(text[at:end]), end
    shown += mask.close()
    assert len(shown) == len(text)
    whole = SecretMask(redactor, SECRETS)
    assert shown == whole.feed(text) + whole.close()
    assert not any(secret.encode() in shown for secret in SECRETS)


def test_nothing_is_held_back_for_long():
    mask = SecretMask(Redactor(), ("secret-1",))
    assert mask.feed(b"all of it") == b"all of it"
    assert mask.feed(b"and sec") == b"and " and mask.feed(b"ond") == b"second" and mask.close() == b""
    assert SecretMask(Redactor(), ()).feed(b"sec") == b"sec"
