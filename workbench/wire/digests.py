"""What passed a recorder: length and SHA-256 of each body as it was received, and as it was sent on.

Both are of bodies without their transfer coding (chunk framing) and still in their content coding (gzip …), computed
by the recorder from the bytes that it read and from those that it handed to the other connection. They stand in
``Exchange.meta["digests"]``: {"request": {"in", "out", "bytes_in", "bytes_out"}, "response": …}, hexadecimal; a
direction that nothing came in is missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.ir import NOTHING, JsonValue
from workbench.wire.exchange import Exchange, HttpRequest, HttpResponse, Origin

DIGESTS = "digests"
"""Key of ``Exchange.meta``."""

SIDES = ("request", "response")

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Passed(NamedTuple):
    """One body: SHA-256 (hexadecimal) and length of what came in and of what went out."""

    came: str
    left: str
    bytes_in: int
    bytes_out: int

    @property
    def is_equal(self) -> bool:
        """What went out is what came in."""
        return self.came == self.left and self.bytes_in == self.bytes_out

    @property
    def told(self) -> Mapping[str, JsonValue]:
        """As it stands in ``Exchange.meta``."""
        return {"in": self.came, "out": self.left, "bytes_in": self.bytes_in, "bytes_out": self.bytes_out}

    @property
    def words(self) -> str:
        """In words: equal, or how they differ."""
        if self.is_equal:
            return "equal"
        if self.bytes_in == self.bytes_out:
            return "differ"
        return f"differ: {self.bytes_in:,} bytes in, {self.bytes_out:,} bytes out"


def to_meta(passed: Mapping[str, Passed]) -> Mapping[str, JsonValue]:
    """For ``Exchange.meta``, from what passed by side."""
    return {DIGESTS: {side: each.told for side, each in passed.items()}} if passed else NOTHING


def passed(exchange: Exchange) -> dict[str, Passed]:
    """What passed, by side; empty where that was not recorded, or is no statement of that kind."""
    told = exchange.meta.get(DIGESTS)
    if exchange.origin is not Origin.RECORDED or not isinstance(told, Mapping):
        return {}
    return {side: each for side in SIDES if (each := _read(told.get(side)))}


def _read(told: JsonValue) -> Passed | None:
    match told:
        case {"in": str(came), "out": str(left), "bytes_in": int(bytes_in), "bytes_out": int(bytes_out)}:
            is_digest = _SHA256.fullmatch(came) and _SHA256.fullmatch(left)
            return Passed(came, left, bytes_in, bytes_out) if is_digest else None
    return None


def problems(exchange: Exchange) -> Iterator[str]:
    """Bodies that are not the bytes that passed, though they were kept as they were: one line each."""
    for side, each in passed(exchange).items():
        http = exchange.request if side == "request" else exchange.response
        if http is None or not _is_as_received(http):
            continue
        raw = http.body.raw
        if len(raw) != each.bytes_in:
            yield f"the {side} body has {len(raw):,} bytes; {each.bytes_in:,} were received"
        elif hashlib.sha256(raw).hexdigest() != each.came:
            yield f"the {side} body is not what was received: its SHA-256 differs"


def _is_as_received(http: HttpRequest | HttpResponse) -> bool:
    """The recording says of nothing in the body that it was left out or replaced."""
    body = http.body
    return body.is_raw and body.original_length is None and not any(r.where == "body" for r in http.redactions)
