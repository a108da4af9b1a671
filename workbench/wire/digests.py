"""Length and SHA-256 of each body that a recorder received and sent on.

Both are of bodies without transfer coding (chunk framing) and with content coding (gzip …), computed by the recorder
from the bytes it read and the bytes it passed to the other connection. They are stored in ``Exchange.meta["digests"]``:
{"request": {"in", "out", "bytes_in", "bytes_out"}, "response": …}, hexadecimal; a direction without data is missing.
Digests of a WebSocket cover all bytes after the handshake, in each direction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.ir import NOTHING, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.wire.exchange import Exchange, ExchangeKind, HttpRequest, HttpResponse, Origin

DIGESTS = "digests"
"""Key of ``Exchange.meta``."""

SIDES = ("request", "response")

_SHA256 = regex.compile(r"[0-9a-f]{64}")


class BodyDigest(NamedTuple):
    """SHA-256 (hexadecimal) and length of one body as received and as sent on."""

    digest_in: str
    digest_out: str
    bytes_in: int
    bytes_out: int

    @property
    def is_equal(self) -> bool:
        """True if the bytes sent on equal the bytes received."""
        return self.digest_in == self.digest_out and self.bytes_in == self.bytes_out

    @property
    def as_meta(self) -> Mapping[str, JsonValue]:
        """Value for ``Exchange.meta``."""
        return {"in": self.digest_in, "out": self.digest_out, "bytes_in": self.bytes_in, "bytes_out": self.bytes_out}

    @property
    def words(self) -> str:
        """Description: equal, or how they differ."""
        if self.is_equal:
            return "equal"
        if self.bytes_in == self.bytes_out:
            return "differ"
        return f"differ ({self.bytes_in:,} bytes in, {self.bytes_out:,} bytes out)"


def to_meta(passed: Mapping[str, BodyDigest]) -> Mapping[str, JsonValue]:
    """Value for ``Exchange.meta``, from the digests by side."""
    return {DIGESTS: {side: each.as_meta for side, each in passed.items()}} if passed else NOTHING


def read_digests(exchange: Exchange) -> dict[str, BodyDigest]:
    """Digests by side; empty if not recorded or malformed."""
    meta = exchange.meta.get(DIGESTS)
    if exchange.origin is not Origin.RECORDED or not isinstance(meta, Mapping):
        return {}
    return {side: each for side in SIDES if (each := _read(meta.get(side)))}


def _read(meta: JsonValue) -> BodyDigest | None:
    match meta:
        case {"in": str(came), "out": str(left), "bytes_in": int(bytes_in), "bytes_out": int(bytes_out)}:
            is_digest = _SHA256.fullmatch(came) and _SHA256.fullmatch(left)
            return BodyDigest(came, left, bytes_in, bytes_out) if is_digest else None
    return None


def problems(exchange: Exchange) -> Iterator[str]:
    """Stored bodies that differ from the received bytes although they claim to be raw, one line each."""
    for side, each in read_digests(exchange).items():
        http = exchange.request if side == "request" else exchange.response
        if exchange.kind is ExchangeKind.WEBSOCKET or http is None or not _is_as_received(http):
            continue
        raw = http.body.raw
        if len(raw) != each.bytes_in:
            yield f"the {side} body has {len(raw):,} bytes; {each.bytes_in:,} were received"
        elif hashlib.sha256(raw).hexdigest() != each.digest_in:
            yield f"the {side} body differs from the received body: the SHA-256 is different"


def _is_as_received(http: HttpRequest | HttpResponse) -> bool:
    """True if nothing in the body is marked as omitted or replaced."""
    body = http.body
    return body.is_raw and body.original_length is None and not any(r.where == "body" for r in http.redactions)
