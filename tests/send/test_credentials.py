"""Keys: from the environment, for the place they are bound to."""

from __future__ import annotations

import pytest

from tests.send.hostile import answer, hostile
from tests.send.test_sending import leaving, send, target
from workbench.errors import LocalProtocolError, UsageError
from workbench.send.outgoing import Outgoing
from workbench.send.target import Target
from workbench.wire.exchange import HttpRequest


def test_variables_in_headers_are_filled_in_and_hidden():
    where = target("", headers=(("x-team", "t ${TEAM}"), ("x-plain", "yes")))
    with hostile(answer(b"hello team-4711-secret")) as server:
        there = Target(where.name, where.protocol, server.url, key_variable="SOME_KEY", headers=where.headers)
        exchange, _, _ = send(leaving(there))
    assert (server.heads[0]["x-team"], server.heads[0]["x-plain"]) == ("t team-4711-secret", "yes")
    assert "team-4711-secret" not in repr(exchange)


def test_a_key_goes_to_its_own_place_alone():
    with hostile(answer()) as server, hostile(answer()) as other:
        made = leaving(target(server.url))
        moved = Outgoing(made.target, HttpRequest("POST", other.url + "/v1/x", made.request.headers), "openai-chat")
        with pytest.raises(LocalProtocolError, match="does not go to the host of target there"):
            send(moved)
        assert not other.asked and not server.asked


def test_without_its_key_nothing_is_sent():
    with hostile(answer()) as server:
        with pytest.raises(UsageError, match="SOME_KEY is not set"):
            send(leaving(target(server.url)), environ={})
        with pytest.raises(UsageError, match="SOME_KEY contains characters that are not allowed in a header"):
            send(leaving(target(server.url)), environ={"SOME_KEY": "a\nb"})
        assert not server.asked
