"""A stream that was held back, merged or split differently."""

from __future__ import annotations

import json

import pytest

from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

ASKED = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "tell me"}]}
WORDS = [f"word {n} " for n in range(10)]


def events(words, tokens=200):
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
    yield {"type": "message_start", "message": {**message, "usage": {"input_tokens": 1, "output_tokens": 1}}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for word in words:
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": tokens}}
    yield {"type": "message_stop"}


def sighting(hop, words, first, last, tokens=200):
    """A stream whose events came evenly from the first to the last second; None for no times."""
    blocks = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events(words, tokens)]
    chunks, end = [], 0
    for n, block in enumerate(blocks):
        end += len(block)
        if first is not None:
            chunks.append(Chunk(end, first + (last - first) * n / (len(blocks) - 1)))
    body = Body(b"".join(blocks), chunks=tuple(chunks))
    kind = Headers((("content-type", "text/event-stream"),))
    request = HttpRequest(url="/v1/messages", body=Body(json.dumps(ASKED).encode()))
    return Exchange(hop, request, HttpResponse(200, kind, body), hop=hop)


def found(*exchanges):
    findings = Inspector(MemorySession("s", exchanges), provider="generic").run().findings
    return [f for f in findings if f.rule == "gateway.buffered"]


MERGED = ["".join(WORDS)]
TWO = [
    ("as it came", (WORDS, 0.51, 3.01), (WORDS, 0.5, 3.0), None),
    ("held back", (WORDS, 3.0, 3.01), (WORDS, 0.5, 3.0), ("warning", "buffered between 'upstream' (exchange 2)")),
    ("merged", (MERGED, 0.5, 3.0), (WORDS, 0.5, 3.0), ("info", "merged")),
    ("split differently", (WORDS, None, None), (MERGED, None, None), ("info", "split differently")),
    ("no times", (WORDS, None, None), (WORDS, None, None), None),
    ("a short answer", (WORDS, 0.5, 0.5), (WORDS, 0.4, 0.5), None),
]


@pytest.mark.parametrize(("client", "upstream", "expected"), [t[1:] for t in TWO], ids=[t[0] for t in TWO])
def test_two_places(client, upstream, expected):
    findings = found(sighting("client", *client), sighting("upstream", *upstream))
    assert len(findings) == (expected is not None)
    for finding in findings:
        assert (finding.severity.value, finding.exchange, finding.side) == (expected[0], 0, "response")
        assert expected[1] in finding.message
        assert finding.origin.hop == "client"


ALONE = [
    ("all at once after a while", 5.0, 5.01, 200, True),
    ("one by one", 1.0, 5.0, 200, False),
    ("a quick answer", 0.3, 0.31, 200, False),
    ("a few tokens come quickly", 5.0, 5.01, 20, False),
    ("no times", None, None, 200, False),
]


@pytest.mark.parametrize(("first", "last", "tokens", "is_held"), [a[1:] for a in ALONE], ids=[a[0] for a in ALONE])
def test_one_place_alone(first, last, tokens, is_held):
    findings = found(sighting("", WORDS, first, last, tokens))
    assert bool(findings) == is_held
    for finding in findings:
        assert "arrived at once, 5.0 s after the request" in finding.message
        assert "200 tokens within" in finding.evidence
