"""Every kind of secret, in every place where one has been seen, stays out of what is written."""

from __future__ import annotations

import gzip
import re
import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from tests.planted import BARE, BY_SHAPE, ISSUED, KINDS, PLACES, STREAMS, texts
from workbench.wire.exchange import Exchange
from workbench.wire.redaction import Redactor
from workbench.wire.secrets.escapes import FILL, decode_escapes
from workbench.wire.stream import read_stream

PIECE = 10
"""As many characters of a secret in their order say too much."""

WEAK = (
    *("x-signature", "x-session-id", "x-key", "token", "sig", "code", "auth", "jwt", "AWSAccessKeyId", "Policy"),
    *(
        "bearer",
        "authorization",
        "JSON",
        "kubeconfig",
        "proxy",
        "scheme",
        "table",
        "bold",
        "behind",
        "said",
        "setter",
        "URL",
    ),
)
"""Names that hold other things too: a password of words is not told from them there."""


def private(secret: str) -> str:
    """The part that only its owner knows."""
    if "PRIVATE" in secret:
        return secret.split("KEY-----")[1].partition("\n-----")[0].strip()
    core = re.split("services/|catch/[0-9]+/", secret)[-1]
    return core[min(20, len(core) // 2) :]


def left(secret: str, exchange: Exchange) -> set[str]:
    """Pieces of a secret in what is written of an exchange, however they are written."""
    safe = Redactor(salt=b"t").exchange(exchange)
    text = texts(safe) + events(safe)
    forms = [text, decode_escapes(text.encode("latin-1")).replace(FILL, b"").decode("latin-1")]
    forms.append("".join(re.findall(r'"(?:content|text)": "((?:[^"\\]|\\.)*)"', text)))
    whole = re.sub(r"(?<=[A-Za-z0-9+/]{60})\\n *(?=[A-Za-z0-9+/])", "", text)
    for run in re.findall(r"[A-Za-z0-9+/]{24,}", whole):
        with suppress(ValueError):
            forms.append(bytes.fromhex(run).decode("latin-1"))
        with suppress(ValueError):
            inner = b64decode(run + "=" * (-len(run) % 4))
            forms.append(inner.decode("latin-1"))
            with suppress(OSError, EOFError, zlib.error):
                forms.append(gzip.decompress(inner).decode("latin-1"))
    core = private(secret)
    size = min(PIECE, len(core))
    pieces = {core[at : at + size] for at in range(len(core) - size + 1)}
    return {piece for piece in pieces if "\n" not in piece and any(piece in form for form in forms)}


def events(exchange: Exchange) -> str:
    """The data of the answer's events, which AWS frames write in base64."""
    answer = exchange.response.body.raw if exchange.response else b""
    stream = read_stream(answer)
    assert not stream.faults or "inside a message" in stream.faults[0].text
    return b"\n".join(event.data or b"" for event in stream.events).decode("latin-1")


def leaks(places: Mapping[str, Callable[[str], Exchange]], kinds: Mapping[str, str], place: str) -> list[str]:
    return [kind for kind, secret in kinds.items() if left(secret, places[place](secret))]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("place", PLACES)
def test_no_secret_with_a_name_is_left(place: str) -> None:
    is_weak = place.rpartition(" ")[2] in WEAK or place.startswith(("list", "cookie", "form rows"))
    kinds = {kind: secret for kind, secret in KINDS.items() if not (is_weak and kind == "password")}
    assert not leaks(PLACES, kinds, place)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("place", STREAMS)
def test_no_secret_in_the_pieces_of_a_stream_is_left(place: str) -> None:
    assert not leaks(STREAMS, KINDS, place)


@pytest.mark.parametrize("place", ["text", "result", "base64", "error"])
def test_no_secret_of_the_issuers_we_know_is_left(place: str) -> None:
    assert not leaks(BARE, ISSUED, place)


def test_no_such_secret_in_pieces_is_left() -> None:
    assert not leaks(STREAMS, ISSUED, "pieces of all sizes")


@pytest.mark.parametrize("place", BARE)
def test_no_secret_with_a_shape_is_left(place: str) -> None:
    assert not leaks(BARE, BY_SHAPE, place)
