"""Prepares a WebSocket for a Python program that sends its messages again, each when the server is as far as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from workbench.errors import WireError
from workbench.formats.exporters._request_to_send import Piece, RequestToSend, SecretVariable, request_to_send
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import Body, Exchange, Frame, Headers, HttpRequest, Redactor, loads

_DATA = ("text", "binary")

PROGRAM = '''
def kind(data):
    """The type of a message, else its keys."""
    try:
        value = json.loads(data)
        return value.get("type") or sorted(value)
    except (ValueError, AttributeError):
        return None


def learn(old, new, ids):
    """Note which ids of this run stand for those of the recording."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            if key.endswith("id") and isinstance(old[key], str) and isinstance(new[key], str):
                ids[json.dumps(old[key]).encode()] = json.dumps(new[key]).encode()
            learn(old[key], new[key], ids)
    elif isinstance(old, list) and isinstance(new, list):
        for one, other in zip(old, new):
            learn(one, other, ids)


def replay(url, headers, protocols, messages):
    """Send the messages; before each wait for the one that the server had sent before it."""
    ids = {}
    with connect(url, additional_headers=headers, subprotocols=protocols, user_agent_header=None, max_size=None) as ws:
        for opcode, count, data in messages:
            if opcode != "wait":
                for old, new in ids.items():
                    data = data.replace(old, new)
                ws.send(data.decode() if opcode == "text" else data)
            while count:
                got = ws.recv(timeout=PATIENCE)
                print(got if isinstance(got, str) else got.decode(errors="replace"), flush=True)
                count = 0 if kind(got) == "error" else count - (kind(got) == kind(data))
                if not count and kind(data) is not None:
                    learn(json.loads(data), json.loads(got), ids)
'''.strip()
"""Functions of the program; ``PATIENCE`` is a number there."""


@dataclass(frozen=True, slots=True)
class SocketStep:
    """A message that is sent, or one of the server that is awaited.

    Attributes:
        opcode: "text" or "binary"; "wait" for one of the server.
        count: the how many-eth of its kind is awaited; 0 for one that is sent.
        data: its pieces, with variables in place of secrets.
    """

    opcode: str
    count: int
    data: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class SocketReplay:
    """A WebSocket to send again.

    Attributes:
        request: its handshake, without the headers that a library makes.
        protocols: subprotocols that are offered, each as pieces.
    """

    request: RequestToSend
    protocols: tuple[tuple[Piece, ...], ...]
    steps: tuple[SocketStep, ...]


def socket_replay(exchange: Exchange, redactor: Redactor) -> SocketReplay:
    """Prepare a connection. Raises LocalProtocolError, as ``request_to_send`` does."""
    shaken = exchange.request or HttpRequest()
    plain = replace(shaken, url=re.sub(r"^ws(?=s?:)", "http", shaken.url))
    asked = request_to_send(replace(exchange, request=plain), redactor)
    protocols = next((value for name, value in asked.headers if name.lower() == "sec-websocket-protocol"), ())
    headers = tuple((name, value) for name, value in asked.headers if not name.lower().startswith("sec-websocket-"))
    request = replace(asked, headers=headers, url=_as_socket(asked.url), body=())
    steps = tuple(_steps(exchange, redactor, plain.url))
    return SocketReplay(request, tuple(_protocols(shaken, protocols)), steps)


def _as_socket(url: Sequence[Piece]) -> tuple[Piece, ...]:
    first = url[0]
    return (b"ws" + first[4:], *url[1:]) if isinstance(first, bytes) and first.startswith(b"http") else tuple(url)


def _protocols(shaken: HttpRequest, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    """The names that were offered; of one with a key in it, only the part before the last dot is plain."""
    secret = next((piece for piece in pieces if isinstance(piece, SecretVariable)), None)
    for name in (shaken.headers.get("sec-websocket-protocol") or "").split(","):
        plain, dot, _ = name.strip().rpartition(".")
        if secret and dot and "key" in plain:
            yield f"{plain}.".encode(), secret
        elif name.strip():
            yield (name.strip().encode(),)


def _steps(exchange: Exchange, redactor: Redactor, url: str) -> Iterator[SocketStep]:
    frames = [frame for frame in exchange.frames if frame.opcode in _DATA]
    for direction, run in groupby(frames, key=lambda frame: frame.direction):
        steps = list(run)
        if direction == "sent":
            for frame in steps:
                yield SocketStep(frame.opcode, 0, _pieces(frame, redactor, url))
        else:
            count = sum(_kind(frame.data) == _kind(steps[-1].data) for frame in steps)
            yield SocketStep("wait", count, _pieces(steps[-1], redactor, url))


def _pieces(frame: Frame, redactor: Redactor, url: str) -> tuple[Piece, ...]:
    return request_to_send(Exchange("", HttpRequest("POST", url, Headers(), Body(frame.data))), redactor).body


def _kind(data: bytes) -> JsonValue:
    """As ``kind`` in the program."""
    try:
        value = loads(data)
    except WireError:
        return None
    return (value.get("type") or sorted(value)) if isinstance(value, dict) else None
