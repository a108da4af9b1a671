"""A keeper in a separate process: its work takes no time from the relay, and if it dies, traffic continues.

    python -m workbench.recorder.capture.keeper_process

is the other side. Its task: {"out": FILE, "hop": NAME, "client": NAME, "run": NAME, "epoch": SECONDS}. Batches of
events follow it, pickled in slices, with a None behind the last. It answers {} once the file is open,
{"released", "is_failing"} after each batch, {"trouble": TEXT} in between, {"socket", "state"} for each ``SocketAsked``,
and {"exchanges", "aborted", "incomplete", "lost", "is_cut"} in the end.
"""

from __future__ import annotations

import gc
import hmac
import os
import pickle
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.config import resources
from workbench.ir import JsonValue
from workbench.recorder.capture.keeper import Keeper, RecordingTally, new_run, open_private, redactor_for
from workbench.recorder.capture.queued_events import QueuedEvent, pack, unpack
from workbench.recorder.capture.socket_state import SocketState, from_text, to_text
from workbench.recorder.child import END_SECONDS, ChildProcess, send_line, serve
from workbench.wire import loads

SIZE = 32
"""Bytes of the random number."""


def salt_of(identity: str) -> bytes:
    """The salt of a session; a random one for this process if the state directory cannot be used."""
    return hmac.digest(_user_secret(), identity.encode(), "sha256")


def _user_secret() -> bytes:
    path = resources.state_folder("stand-ins.salt")
    with suppress(OSError):
        if not path.exists():
            _make(path)
        number = path.read_bytes()
        if len(number) == SIZE:
            return number
    return secrets.token_bytes(SIZE)


def _make(path: Path) -> None:
    """Create the file in one step, unless another process just did."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # its owner's alone
    try:
        os.write(handle, secrets.token_bytes(SIZE))
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.close(handle)
        os.unlink(name)


NICE = 5
"""Less urgent than what is recorded: with few cores the relay goes first."""

SLICE = 64
"""Packed events pickled at once: the relay waits as long (a fifth of a millisecond)."""


class KeeperProcess:
    """Has the interface of a ``Keeper`` and hands everything to one in another process.

    Args:
        patience: seconds it may take to write what it holds, in the end.

    Attributes:
        run: what the ids of its exchanges begin with.
        on_socket: as that of a ``Keeper``, called in a thread of its own.

    Raises:
        UsageError: the file exists and is no session.
        OSError: it cannot be made or written.
    """

    def __init__(
        self,
        path: Path,
        *,
        hop: str = "",
        client: str = "",
        trouble: Callable[[str], None] = lambda line: None,
        patience: float = END_SECONDS,
    ) -> None:
        self.on_socket: Callable[[int, SocketState | None], None] = lambda number, state: None
        self.released_bytes = 0
        self.is_failing = False
        self._tally: RecordingTally | None = None
        self._trouble = trouble
        self._is_gone = False
        self.run = new_run()
        epoch = time.time() - time.monotonic()
        task = {"out": str(path), "hop": hop, "client": client, "run": self.run, "epoch": epoch}
        self._child = ChildProcess("workbench.recorder.capture.keeper_process", task, patience=patience)
        self._listener = threading.Thread(target=self._listen, name="replies of the recording process", daemon=True)
        self._listener.start()

    def take(self, events: list[QueuedEvent]) -> None:
        """Hand a batch over; waits while the other process is too busy."""
        if self._is_gone:
            return
        try:
            packed = pack(events)
            for at in range(0, len(packed), SLICE):
                pickle.dump(packed[at : at + SLICE], self._child.input, pickle.HIGHEST_PROTOCOL)
            pickle.dump(None, self._child.input)
            self._child.input.flush()
        except OSError:
            self._is_gone = True
            self._trouble("the recording ended early: the process that writes it has died; traffic continues")

    def _listen(self) -> None:
        for line in self._child.output:
            message = loads(line)
            if "trouble" in message:
                self._trouble(message["trouble"])
            elif "socket" in message:
                self.on_socket(message["socket"], from_text(message["state"]) if message["state"] else None)
            elif "released" in message:
                self.released_bytes, self.is_failing = message["released"], message["is_failing"]
            else:
                self._tally = RecordingTally(**message)

    def close(self) -> RecordingTally:
        """Have everything written and return the tally."""
        self._child.end()
        self._listener.join()
        self._child.output.close()
        return self._tally or RecordingTally(is_cut=True)


def collect_rarely() -> None:
    """Collect garbage less often: a recorder makes few cycles. What was imported is never searched."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def main(task: Mapping[str, JsonValue]) -> int:
    """Write the events that are handed over until the input ends."""
    writer = open_private(Path(task["out"]))
    keeper = Keeper(
        writer,
        redactor_for(os.environ, salt_of(writer.identity())),
        epoch=task["epoch"],
        hop=task["hop"],
        client=task["client"],
        run=task["run"],
        trouble=lambda line: send_line({"trouble": line}),
    )
    keeper.on_socket = _tell_socket
    os.nice(NICE)
    collect_rarely()
    send_line({})
    for batch in _batches():
        keeper.take(unpack(batch))
        send_line({"released": keeper.released_bytes, "is_failing": keeper.is_failing})
    send_line(asdict(keeper.close()))
    return 0


def _tell_socket(number: int, state: SocketState | None) -> None:
    send_line({"socket": number, "state": to_text(state) if state else ""})


def _batches() -> Iterator[list[tuple[Any, ...]]]:
    """Batches of packed events until the input ends, perhaps in the middle of a slice."""
    batch: list[tuple[Any, ...]] = []
    with suppress(EOFError, pickle.UnpicklingError):
        while True:
            if part := pickle.load(sys.stdin.buffer):  # noqa: S301 (from our own parent alone)
                batch += part
                continue
            yield batch
            batch = []
    yield batch


if __name__ == "__main__":
    raise SystemExit(serve(main))
