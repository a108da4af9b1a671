"""The messages of a WebSocket are in the file while it is open, and stay there if the recorder is killed."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.protocols.test_socket_turns import CALL, RESULT, TEXT, USER, Said, answer, create
from tests.recorder.capture.test_keeper import keeping, look
from tests.recorder.hearing import answered, asked
from workbench.recorder.capture.keeper import Keeper
from workbench.recorder.capture.keeper_process import KeeperProcess
from workbench.recorder.capture.queued_events import QueuedEvent, SocketAsked
from workbench.recorder.events import (
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestStarted,
    ResponseBytes,
    ResponseStarted,
)
from workbench.wire import Exchange, Frame, State
from workbench.wire.session.writer import SessionWriter
from workbench.wire.websocket import frame_of

LINE = {**TEXT, "content": [{"type": "output_text", "text": "a and b\n", "annotations": []}]}
"""A message that ends between two words: one that does not waits for what follows it, or the end of its turn."""
TALK: Sequence[Said] = (
    create(USER), *answer("resp_1", CALL), create(RESULT, previous_response_id="resp_1"), *answer("resp_2", LINE)[:-1],
)  # fmt: skip
KEY = "opaque/credential+without=prefix"


def begun(key: int = 1) -> list[QueuedEvent]:
    return [
        RequestStarted(key, 0.0, "default", asked()),
        RequestEnded(key, 0.0),
        ResponseStarted(key, 0.0, answered(status=101)),
    ]


def passing(said: Sequence[Said], key: int = 1) -> list[QueuedEvent]:
    """The bytes of messages, each in two pieces."""
    made: list[QueuedEvent] = []
    for who, what in said:
        kind, mask = (RequestBytes, b"abcd") if who == "sent" else (ResponseBytes, b"")
        frame = frame_of("text", json.dumps(what).encode(), mask)
        made += (kind(key, 0.5, frame[:7]), kind(key, 1.0, frame[7:]))
    return made


def said(exchange: Exchange) -> list[Said]:
    return [(frame.direction, json.loads(frame.data)) for frame in exchange.frames]


def test_a_reader_sees_the_messages_while_the_connection_is_open() -> None:
    with keeping() as (keeper, path):
        keeper.take(begun())
        for number, message in enumerate(TALK):
            keeper.take(passing([message]))
            socket, *turns = look(path)
            assert socket.state is State.OPEN
            assert said(socket) == [*TALK[: number + 1]]
            assert len(turns) == socket.meta["turns"] == 1 + (number >= TALK.index(TALK[-4]))
        keeper.take([ExchangeEnded(1, 2.0, State.COMPLETE, "")])
        assert said(look(path)[0]) == [*TALK]


def test_messages_that_are_written_take_no_memory() -> None:
    with keeping() as (keeper, _):
        events = [*begun(), *passing(TALK[:4])]
        keeper.take(events)
        released = keeper.released_bytes
        keeper.take(passing([*answer("resp_1", CALL)[3:], *answer("resp_1", CALL)] * 99))
        assert keeper.released_bytes - released > 100_000


def test_a_recorder_that_is_killed_leaves_what_had_come(tmp_path: Path) -> None:
    path = tmp_path / "x.wb"
    keeper = KeeperProcess(path)
    keeper.take([*begun(), *passing(TALK)])
    written = threading.Event()
    keeper.on_socket = lambda number, state: written.set()
    keeper.take([SocketAsked(1, 1)])  # is answered after what came before it
    assert written.wait(30)
    os.kill(keeper._child.process.pid, signal.SIGKILL)
    assert keeper.close().is_cut
    socket, first, second = look(path)
    assert said(socket) == [*TALK]
    assert [each.state for each in (socket, first, second)] == [State.INCOMPLETE, State.COMPLETE, State.INCOMPLETE]
    with SessionWriter(path):
        assert said(look(path)[0]) == [*TALK]


@pytest.mark.parametrize("is_learned_late", [True, False])
def test_no_secret_is_in_the_end_of_what_is_kept(is_learned_late: bool) -> None:
    """Also of one that became known when a message that has it was written."""
    learned: list[QueuedEvent] = [
        RequestStarted(2, 0.0, "default", asked(("Authorization", f"Bearer {KEY}"))),
        RequestEnded(2, 0.0),
    ]
    talk = (("sent", {"type": "x", "text": "what is this: " + KEY}), ("received", {"type": "y", "delta": "a"}))
    with keeping() as (keeper, path):
        keeper.take([*([] if is_learned_late else learned), *begun()])
        keeper.take(passing([*talk, *TALK]))
        assert (KEY in repr(look(path))) is is_learned_late
        keeper.take(learned if is_learned_late else [])
        keeper.take([ExchangeEnded(1, 2.0, State.COMPLETE, "")])
        socket = next(each for each in look(path) if each.frames)
        assert KEY not in repr(socket) and said(socket)[1:] == [*talk[1:], *TALK]
        assert len(socket.frames[0].data) == len(json.dumps(talk[0][1]))


def test_what_could_not_be_written_is_written_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with keeping() as (keeper, path):
        keeper.take([*begun(), *passing(TALK[:2])])
        with monkeypatch.context() as broken:
            broken.setattr(Keeper, "_write_turns", _fail)
            keeper.take(passing(TALK[2:4]))
        assert keeper.is_failing and said(look(path)[0]) == [*TALK[:2]]
        keeper.take(passing(TALK[4:]))
        assert said(look(path)[0]) == [*TALK]


def _fail(*_: object, **__: object) -> None:
    raise OSError("full")


def test_bytes_that_have_no_secret_are_those_that_passed() -> None:
    frames = [
        Frame("received", kind, data) for kind, data in (("binary", bytes(range(256))), ("ping", b""), ("text", b"[]"))
    ]
    with keeping() as (keeper, path):
        keeper.take([*begun(), *(ResponseBytes(1, 1.0, frame_of(f.opcode, f.data)) for f in frames)])
        assert [(f.opcode, f.data) for f in look(path)[0].frames] == [(f.opcode, f.data) for f in frames]
