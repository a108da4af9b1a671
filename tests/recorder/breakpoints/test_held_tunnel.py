"""Messages of a WebSocket at breakpoints: what waits, what leaves, and what the recording has of it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.protocols.test_socket_turns import CALL, RESULT, TEXT, USER, answer, create
from tests.real.websocket import frame
from tests.recorder.holding import REASON, Held, Verdict, held
from tests.recorder.relaying import Peer, turns
from workbench.errors import UsageError
from workbench.recorder.breakpoints.gate import CONTINUE, DROP, EDIT
from workbench.recorder.breakpoints.held_tunnel import DECLINED, UNKNOWN
from workbench.recorder.breakpoints.kinds import parse
from workbench.wire.exchange import State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import open_session

MASK = b"abcd"
PACKED = "permessage-deflate"
ASK = (
    "GET /v1/responses HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)
AGREE = (
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n{extensions}\r\n"
)
PING = frame(9, b"beat", is_last=True, packed=False, mask=MASK)


def message(value: object, mask: bytes = MASK) -> bytes:
    return frame(1, json.dumps(value).encode(), is_last=True, packed=False, mask=mask)


def never(verb: str, words: Mapping[str, object]) -> Mapping[str, object]:
    return {"reasons": []}


class Talk:
    """Both ends of a WebSocket through a recorder that may hold its messages."""

    def __init__(self, stage: Held, client: Peer, server: Peer, head: bytes) -> None:
        self.stage, self.client, self.server, self.head = stage, client, server, head

    async def end(self) -> str:
        """Both sides end; returns the note of the connection."""
        for peer in (self.client, self.server):
            await peer.close()
        return (await self.stage.tap.end(1))[1]

    async def paused(self, *actions: str) -> int:
        pause = await self.stage.paused()
        assert tuple(pause["deeds"]) == (actions or (CONTINUE, EDIT, DROP))
        number = pause["id"]
        assert isinstance(number, int)
        return number


@asynccontextmanager
async def talk(
    *kinds: str, verdict: Verdict = never, agreed: str = "", declines: bool = False, file: Path | None = None
) -> AsyncIterator[Talk]:
    async with held(*kinds, verdict=verdict, file=file) as stage:
        stage.gate.declines_compression = declines
        client = await stage.client()
        client.send(ASK.format(host=stage.host.decode()).encode())
        server = await stage.upstream.accept()
        head = await server.until(b"\r\n\r\n")
        answer = AGREE.format(extensions=f"Sec-WebSocket-Extensions: {agreed}\r\n" if agreed else "").encode()
        server.send(answer)
        await client.expects(answer)
        yield Talk(stage, client, server, head)


ASKED = message(create(USER)[1])
OTHER = message({"type": "session.update", "session": {}})


async def test_what_is_held_leaves_byte_for_byte_and_pings_behind_it_wait() -> None:
    async with talk("frame:sent/response.create") as made:
        made.client.send(OTHER + ASKED + PING + OTHER)
        await made.server.expects(OTHER)
        number = await made.paused()
        made.server.send(message({"type": "x"}, b"") + ASKED)  # the other direction is not held
        await made.client.expects(message({"type": "x"}, b"") + ASKED)
        made.stage.gate.decide(number, CONTINUE)
        await made.server.expects(ASKED + PING + OTHER)
        made.client.writer.write_eof()
        assert await made.server.rest() == b""
        made.server.writer.write_eof()
        state, note = await made.stage.tap.end(1)
        assert state is State.COMPLETE
        assert "paused at a breakpoint (frame:sent/response.create)" in note
        assert "continued; 2 later messages waited for it, 1 of them pings" in note
        assert made.stage.tap.body(1, "asks") == OTHER + ASKED + PING + OTHER
        assert list(made.stage.tap.calls) == [1]


async def test_an_edited_message_is_sent_in_its_place_and_a_second_connection_is_recorded() -> None:
    async with talk("frame:response.create") as made:
        made.client.send(OTHER + ASKED)
        number = await made.paused()
        body, sent = made.stage.gate.find_pause(number).exchange.held_body()
        assert (json.loads(body), sent) == (create(USER)[1], 0)
        with pytest.raises(UsageError, match="UTF-8"):
            made.stage.gate.decide(number, EDIT, b"\xff")
        made.stage.gate.decide(number, EDIT, b'{"type":"response.create","model":"other"}')
        await made.server.expects(OTHER)
        edited = await made.server.reader.readexactly(2 + 4 + 42)
        assert edited[:2] == b"\x81\xaa" and edited[2:6] != b"\0\0\0\0"
        await made.end()
        assert made.stage.tap.body(1, "asks") == OTHER + ASKED
        assert made.stage.tap.body(2, "asks") == OTHER + edited
        began = made.stage.tap.calls[2][0][1]
        assert isinstance(began, tuple)
        head = began[1]
        assert (head.hop, head.parent, head.branch) == ("after the breakpoint", 1, "edited at a breakpoint")
        assert made.stage.tap.passed[1] == {}


async def test_a_message_of_the_server_can_be_dropped() -> None:
    async with talk("frame:received/response.cr*") as made:
        begun, over = message({"type": "response.created"}, b""), message({"type": "response.completed"}, b"")
        made.server.send(begun + over)
        made.stage.gate.decide(await made.paused(), DROP)
        await made.client.expects(over)
        await made.end()
        assert made.stage.tap.body(1, "says") == over
        assert made.stage.tap.body(2, "says") == begun + over


async def test_a_direction_that_keeps_its_window_can_only_be_continued() -> None:
    async with talk("frame:sent/*", agreed=f"{PACKED}; server_no_context_takeover") as made:
        made.client.send(OTHER)
        number = await made.paused(CONTINUE)
        with pytest.raises(UsageError, match="compressed together with earlier"):
            made.stage.gate.decide(number, DROP)
        made.stage.gate.decide(number, CONTINUE)
        await made.server.expects(OTHER)


@pytest.mark.parametrize("is_offered", [True, False])
async def test_compression_is_declined_only_where_the_recorder_was_started_with_breakpoints(is_offered: bool) -> None:
    async with talk("frame:response.create", declines=not is_offered) as made:
        assert (b"sec-websocket-extensions" in made.head.lower()) is is_offered
        note = await made.end()
        assert (DECLINED in note) is not is_offered


def _verdict_on(side: str) -> Verdict:
    return lambda verb, words: {"reasons": [REASON] if verb == side else []}


async def test_the_request_of_a_turn_is_judged_as_a_request() -> None:
    async with talk("closure", verdict=_verdict_on("request")) as made:
        made.client.send(OTHER + ASKED)
        await made.server.expects(OTHER)
        pause = await made.stage.paused()
        assert pause["exchange"] == "run-1.1" and pause["reasons"] == [REASON]
        assert [words["exchange"] for _, words in made.stage.judge.asked] == ["run-1.1"]
        made.stage.gate.decide(pause["id"], CONTINUE)
        await made.server.expects(ASKED)


async def test_a_response_is_held_from_its_first_call_to_its_end() -> None:
    async with talk("arguments", verdict=_verdict_on("response")) as made:
        made.client.send(ASKED)
        await made.server.expects(ASKED)
        text, *rest = [message(event, b"") for _, event in answer("resp_1", CALL)]
        made.server.send(text)
        await made.client.expects(text)
        made.server.send(b"".join(rest))
        number = await made.paused()
        (_, words), *more = made.stage.judge.asked
        assert not more and b"response.completed" in base64.b64decode(str(words["body"]))
        lines = made.stage.gate.find_pause(number).exchange.held_body()[0].splitlines()
        assert [json.loads(line)["type"] for line in lines][-1] == "response.completed" and len(lines) == len(rest)
        made.stage.gate.decide(number, EDIT, b"\n".join(lines[1:]))
        await made.client.expects(b"".join(rest[1:]))
        again = message(create(RESULT, previous_response_id="resp_1")[1])
        told = [message(event, b"") for _, event in answer("resp_2", TEXT)]
        made.client.send(again)
        await made.server.expects(again)
        made.server.send(b"".join(told))  # without a call nothing is held
        await made.client.expects(b"".join(told))


@pytest.mark.parametrize("who", ["client", "server"])
async def test_an_end_waits_behind_what_is_held(who: str) -> None:
    async with talk("frame:*") as made:
        one, other = (made.client, made.server) if who == "client" else (made.server, made.client)
        said = OTHER if who == "client" else message({"type": "x"}, b"")
        one.send(said + PING[:3])
        number = await made.paused()
        one.writer.write_eof()
        await turns()
        made.stage.gate.decide(number, CONTINUE)
        assert await other.rest() == said + PING[:3]


async def test_a_client_that_leaves_ends_the_pause() -> None:
    async with talk("frame:*") as made:
        made.server.send(message({"type": "x"}, b""))
        number = await made.paused()
        made.client.reset()
        assert (await made.stage.event("ended"))["pause"] == number
        await made.stage.tap.end(1)
        assert made.stage.tap.body(1, "says") == message({"type": "x"}, b"")


class Packer:
    """Compresses the messages of one direction, each with the window of those before."""

    def __init__(self, mask: bytes) -> None:
        self.deflate, self.mask = zlib.compressobj(wbits=-15), mask

    def message(self, value: object) -> bytes:
        packed = self.deflate.compress(json.dumps(value).encode()) + self.deflate.flush(zlib.Z_SYNC_FLUSH)
        return frame(1, packed[:-4], is_last=True, packed=True, mask=self.mask)


async def arm(made: Talk, kind: str) -> None:
    """As a person does who watches the connection."""
    made.stage.gate.arm(kind)
    await made.stage.gate.hold_open_sockets()


@pytest.mark.parametrize("cut", [0, 3, 20])
async def test_a_breakpoint_holds_messages_of_a_connection_that_is_open(tmp_path: Path, cut: int) -> None:
    """Armed between two messages, inside the header of one, and inside its payload: that one passes as it came."""
    async with talk(file=tmp_path / "s.wb") as made:
        first, turn = ASKED + PING, [message(event, b"") for _, event in answer("resp_1", TEXT)]
        made.client.send(first + OTHER[:cut])
        await made.server.expects(first + OTHER[:cut])
        made.server.send(b"".join(turn))
        await made.client.expects(b"".join(turn))
        await arm(made, "frame:sent/response.create")
        again = message(create(USER, previous_response_id="resp_1")[1])
        made.client.send(OTHER[cut:] + again + PING)
        await made.server.expects(OTHER[cut:])
        pause = await made.stage.paused()
        assert (pause["exchange"], tuple(pause["deeds"])) == ("run-1.2", (CONTINUE, EDIT, DROP))
        made.stage.gate.decide(pause["id"], EDIT, b'{"type":"response.create","input":[]}')
        edited = await made.server.reader.readexactly(2 + 4 + 37)
        await made.server.expects(PING)
        note = await made.end()
        assert f"a breakpoint was armed after {2 + len(turn)} messages had already been forwarded" in note
        assert "edited; 1 later message waited for it, 1 of them pings" in note
        assert made.stage.tap.body(2, "asks") == (b"" if cut else OTHER) + edited + PING
    recorded, *_ = exchanges_of(open_session(tmp_path / "s.wb"))
    sent = [f.data for f in recorded.frames if f.direction == "sent"]
    assert len(sent) == 5 and b"previous_response_id" in sent[3]


@pytest.mark.parametrize("cut", [0, 1, 5])
async def test_a_compressed_connection_is_read_on_and_its_messages_can_only_be_continued(
    tmp_path: Path, cut: int
) -> None:
    async with talk(agreed=PACKED, file=tmp_path / "s.wb") as made:
        packer = Packer(b"")
        big = [packer.message({"type": "x", "text": "a word and a word " * 3000, "n": n}) for n in range(3)]
        late = packer.message({"type": "x", "text": "a word and a word " * 3000})
        last = packer.message({"type": "late", "text": "a word and a word " * 3000})
        made.server.send(b"".join(big) + late[:cut])
        await made.client.expects(b"".join(big) + late[:cut])
        await arm(made, "frame:received/late")
        made.server.send(late[cut:] + last)
        await made.client.expects(late[cut:])
        number = await made.paused(CONTINUE)
        assert b'"late"' in made.stage.gate.find_pause(number).exchange.held_body()[0]
        made.stage.gate.decide(number, CONTINUE)
        await made.client.expects(last)


async def test_a_response_that_is_under_way_is_held_once_armed(tmp_path: Path) -> None:
    async with talk(verdict=_verdict_on("response"), file=tmp_path / "s.wb") as made:
        made.client.send(ASKED)
        await made.server.expects(ASKED)
        text, *rest = [message(event, b"") for _, event in answer("resp_1", CALL)]
        made.server.send(text)
        await made.client.expects(text)
        await arm(made, "arguments")
        made.server.send(b"".join(rest))
        pause = await made.stage.paused()
        assert pause["exchange"] == "run-1.1"
        made.stage.gate.decide(pause["id"], CONTINUE)
        await made.client.expects(b"".join(rest))


async def test_an_open_connection_that_is_not_recorded_passes_and_that_is_said() -> None:
    async with talk() as made:
        await arm(made, "frame:*")
        assert (await made.stage.event("unjudged"))["why"] == UNKNOWN
        made.client.send(OTHER)
        await made.server.expects(OTHER)


async def test_a_breakpoint_for_http_leaves_an_open_connection_alone(tmp_path: Path) -> None:
    async with talk(file=tmp_path / "s.wb") as made:
        await arm(made, "mcp:files")
        made.client.send(OTHER)
        await made.server.expects(OTHER)
        assert "armed" not in await made.end()


@pytest.mark.parametrize("name", ["frame:", "frame:up/x", "frame:a b"])
def test_a_breakpoint_on_messages_names_a_type(name: str) -> None:
    with pytest.raises(UsageError, match="does not name WebSocket messages"):
        parse(name)
