"""What is found in a recording with a bridge in it: each place is judged by who got what passed there."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.recorder.translation.bridging import bench, blocks, posted
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpResponse
from workbench.wire.session import MemorySession
from workbench.wire.translation import Translation

JSON = Headers((("content-type", "application/json"),))


def recorded(branch):
    """Two turns of a client that loses what its upstream thought, at both places."""
    one = bench("deepseek", "openai-chat")
    found, said = list[Exchange](), b""
    for turn in range(2):
        body = blocks()
        if turn:
            calls = [part for part in json.loads(said)["content"] if part["type"] == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "a"} for call in calls]
            body = blocks({"role": "assistant", "content": calls}, {"role": "user", "content": results})
        asked = posted("http://127.0.0.1:9/v1/messages", body)
        _, said = one.ask("/v1/messages", body)
        answer = HttpResponse(200, JSON, Body(said))
        client = Exchange(f"c{turn}", asked, answer, hop="client", started_at=10.0 * turn, duration=1.0)
        heard = HttpResponse(200, JSON, Body(one.heard))
        sent = replace(client, id=f"u{turn}", request=one.turn.request, response=heard, hop="upstream")
        found += [
            client,
            replace(sent, parent=client.id if branch else None, branch=branch, started_at=10 * turn + 0.1),
        ]
    return MemorySession("bridged", found)


@pytest.mark.parametrize("contract", ["deepseek", "generic"])
def test_each_place_is_judged_by_who_got_it(contract):
    rows = Inspector(recorded(Translation("anthropic-messages", "openai-chat", contract).branch)).run().rows
    assert [row.provider.partition(":")[0] for row in rows] == ["generic", contract] * 2
    assert not [finding for row in rows for finding in row.findings if finding.severity.name != "INFO"]


def test_without_a_bridge_a_place_is_judged_by_what_it_shows():
    rows = Inspector(recorded("")).run().rows[::2]
    assert {row.provider for row in rows} == {"generic:anthropic"}  # the host is nobody's
    assert all("with the reasoning facts of anthropic" in row.provider_from for row in rows)
