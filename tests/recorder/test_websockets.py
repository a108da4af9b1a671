"""A real WebSocket client and server with a recorder between them: what the file holds, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from tests.protocols.test_socket_turns import CALL, RESULT, TEXT, USER, answer, create
from workbench.recorder.capture.keeper import Keeper, redactor_for
from workbench.recorder.capture.queue import Capture
from workbench.recorder.relay.server import Relay
from workbench.rules.inspection import Inspector
from workbench.wire.digests import read_digests
from workbench.wire.exchange import Exchange, ExchangeKind, State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session
from workbench.wire.session.writer import SessionWriter

KEY = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
ASKED = (
    create(USER, store=False, user=KEY),
    create(RESULT, previous_response_id="resp_1", store=False),
    create(USER, previous_response_id="resp_2", store=False),
)
ANSWERED = (answer("resp_1", CALL), answer("resp_2", TEXT), answer("resp_3")[:1])
"""What the server sends for each; the last response never ends."""


async def _serve(socket: ServerConnection) -> None:
    """Respond to each request, each event in two fragments."""
    for events in ANSWERED:
        await socket.recv()
        for _, event in events:
            text = json.dumps(event)
            await socket.send([text[:9], text[9:]])


async def talk(path: Path, compression: str | None) -> None:
    """Have a client and a server talk through a recorder."""
    capture = Capture(Keeper(SessionWriter(path), redactor_for({}, b"salt"), run="run"))
    async with serve(_serve, "127.0.0.1", 0, compression=compression) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        relay = Relay({"main": f"http://127.0.0.1:{port}"}, capture)
        await relay.start()
        url = relay.url("main").replace("http", "ws") + "/v1/responses"
        headers = {"Authorization": f"Bearer {KEY}", "User-Agent": "codex_cli_rs/0.169.0"}
        async with connect(url, compression=compression, additional_headers=headers) as socket:
            for (_, asked), events in zip(ASKED, ANSWERED, strict=True):
                await socket.send(json.dumps(asked))
                assert [json.loads(await socket.recv()) for _ in events] == [event for _, event in events]
        await relay.close()
    capture.close()


async def recorded(path: Path, compression: str | None = "deflate") -> list[Exchange]:
    await talk(path, compression)
    return list(exchanges_of(open_session(path)))


async def test_the_turns_of_a_connection_are_exchanges(tmp_path: Path) -> None:
    socket, *turns = await recorded(tmp_path / "s.wb")
    assert (socket.kind, socket.meta["turns"], socket.state) == (ExchangeKind.WEBSOCKET, 3, State.COMPLETE)
    assert "closed the connection with 1000" in socket.note
    assert (
        "1 message sent contained secrets, which were replaced; the raw bytes in this direction were not kept"
        in socket.note
    )
    assert socket.request and socket.response and socket.response.status == 101
    assert [turn.id for turn in turns] == [f"{socket.id}.{n}" for n in (1, 2, 3)]
    assert [turn.state for turn in turns] == [State.COMPLETE, State.COMPLETE, State.ABORTED]
    assert turns[1].request and json.loads(turns[1].request.body.raw)["previous_response_id"] == "resp_1"

    inspector = Inspector(open_session(tmp_path / "s.wb"))
    inspector.detail(3)
    rules = [{f.rule for f in row.findings} - {"stream.client-raises"} for row in inspector.rows[:3]]
    assert rules == [set(), {"secret.in-body"}, set()]


async def test_compressed_or_not_the_messages_are_the_same(tmp_path: Path) -> None:
    plain, packed = [(await recorded(tmp_path / f"{c}.wb", c))[0] for c in (None, "deflate")]
    assert len(plain.frames) == sum(map(len, (ASKED, *ANSWERED))) + 2  # each side closes it
    assert [(f.direction, f.opcode, f.data) for f in plain.frames] == [
        (f.direction, f.opcode, f.data) for f in packed.frames
    ]


async def test_no_secret_of_a_handshake_or_a_message_reaches_the_file(tmp_path: Path) -> None:
    exchanges = await recorded(tmp_path / "s.wb")
    assert KEY.encode() not in (tmp_path / "s.wb").read_bytes() and KEY not in repr(exchanges)


SECRETS = {name: f"{prefix}{'aB3dE6gH9jK2mN5pQ8sT' * 2}{name}" for name, prefix in (
    ("subprotocol", "sk-proj-"), ("query", "AIzaSy"), ("token", "ya29."), ("bearer", "sk-"),
)}  # fmt: skip
"""Where a secret is, and one."""


async def _serve_error(socket: ServerConnection) -> None:
    """Refuse the first message with an error that repeats headers, as the Responses API does."""
    await socket.recv()
    headers = {"authorization": f"Bearer {SECRETS['bearer']}", "x-request-id": "req_1"}
    await socket.send(json.dumps({"type": "error", "status": 429, "error": {"code": "x"}, "headers": headers}))


async def test_secrets_in_unusual_places_never_reach_the_file(tmp_path: Path) -> None:
    """A subprotocol that holds the key, the query of the URL, and headers inside messages."""
    path = tmp_path / "s.wb"
    capture = Capture(Keeper(SessionWriter(path), redactor_for({}, b"salt"), run="run"))
    protocols = [Subprotocol("realtime"), Subprotocol(f"openai-insecure-api-key.{SECRETS['subprotocol']}")]
    async with serve(_serve_error, "127.0.0.1", 0, subprotocols=[Subprotocol("realtime")]) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        relay = Relay({"main": f"http://127.0.0.1:{port}"}, capture)
        await relay.start()
        query = f"key={SECRETS['query']}&access_token={SECRETS['token']}"
        url = relay.url("main").replace("http", "ws") + f"/v1/realtime?model=gpt-realtime&{query}"
        async with connect(url, subprotocols=protocols) as socket:
            assert socket.subprotocol == "realtime"
            await socket.send(json.dumps({"type": "response.create"}))
            assert SECRETS["bearer"] in str(await socket.recv())
        await relay.close()
    capture.close()
    stored = path.read_bytes() + repr(list(exchanges_of(open_session(path)))).encode()
    assert [name for name, secret in SECRETS.items() if secret.encode() in stored] == []
    assert b"realtime" in stored and b"req_1" in stored


async def test_each_direction_has_its_digest_and_each_message_its_time(tmp_path: Path) -> None:
    socket, *_ = await recorded(tmp_path / "s.wb")
    passed = read_digests(socket)
    assert set(passed) == {"request", "response"} and all(each.is_equal for each in passed.values())
    assert all(0 < each.bytes_in < sum(len(f.data) for f in socket.frames) for each in passed.values())
    times = [frame.at for frame in socket.frames]
    assert None not in times and times == sorted(times)  # type: ignore[type-var]
    assert fsck(tmp_path / "s.wb").problems == ()
