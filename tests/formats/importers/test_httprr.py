from __future__ import annotations

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import httprr, open_input

REQUEST = b'POST /v1/chat/completions HTTP/1.1\r\nHost: api.openai.com\r\nContent-Length: 15\r\n\r\n{"messages":[]}'
RESPONSE = b'HTTP/2.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"choices":[]}'
CHUNKED = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"cho\r\n9\r\nices":[]}\r\n0\r\n\r\n'


def trace(*pairs: tuple[bytes, bytes]) -> bytes:
    held = (b"%d %d\n%s%s" % (len(asked), len(answered), asked, answered) for asked, answered in pairs)
    return b"httprr trace v1\n" + b"".join(held)


def test_a_trace_is_its_exchanges(tmp_path) -> None:
    path = tmp_path / "a.httprr"
    path.write_bytes(trace((REQUEST, RESPONSE), (REQUEST, CHUNKED)))
    session = open_input(str(path))
    assert (session.format, len(session), session.damage) == ("httprr trace", 2, ())
    for number in range(2):
        exchange = session.exchange(number)
        request, response = exchange.request, exchange.response
        assert request and response
        assert (request.method, request.url) == ("POST", "https://api.openai.com/v1/chat/completions")
        assert (request.body.raw, response.body.raw) == (b'{"messages":[]}', b'{"choices":[]}')
        assert response.status == 200


@pytest.mark.parametrize(
    ("data", "count", "line"),
    [
        (trace((REQUEST, RESPONSE))[:-5], 1, "exchange 1: the file ends inside this exchange"),
        (trace((REQUEST, RESPONSE)) + b"what is this\n", 1, "expected a line with two lengths"),
        (trace((REQUEST, RESPONSE), (b"?", RESPONSE)), 1, "exchange 2: the request has no request line"),
        (trace((REQUEST, RESPONSE), (REQUEST, b"?")), 1, "exchange 2: the response has no status line"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, count: int, line: str) -> None:
    session = httprr.read(data, "x")
    assert len(session) == count
    assert len(session.damage) == 1
    assert line in session.damage[0]


def test_a_trace_without_exchange_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="has no exchange"):
        httprr.read(b"httprr trace v1\n", "x")
