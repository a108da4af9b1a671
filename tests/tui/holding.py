"""A recorder's control socket for tests of the app: what it holds is set by the test, what it is asked is kept."""

from __future__ import annotations

import base64
import os
import socket
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from workbench.recorder.runtime_files import socket_path
from workbench.wire.jsontext import dumps, loads


class Holder:
    """Speaks the protocol of ``breakpoints.remote``.

    Attributes:
        asked: every request but ``list``, ``watch`` and ``body``, in order.
    """

    def __init__(self, session: Path) -> None:
        self.path = socket_path(session, os.getpid())
        self.armed: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self._held: dict[int, tuple[dict[str, Any], bytes]] = {}
        self._watching: list[socket.socket] = []
        self._open: list[socket.socket] = []
        self._lock = Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        Thread(target=self._accept, daemon=True).start()

    def hold(self, number: int, body: bytes, **told: Any) -> None:
        """Something is held from now on."""
        pause = {
            "id": number,
            "side": "request",
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages",
            "client": "tests/1",
            "since": 0.0,
            "timeout": None,
            "timeout_from": "",
            "times_out_at": None,
            "bytes": len(body),
            "sent": 0,
            "deeds": ["continue", "edit", "answer", "drop"],
            **told,
        }
        self._held[number] = (pause, body)
        self.tell({"event": "paused", "pause": pause})

    def release(self, number: int, how: str) -> None:
        """It is held no more."""
        del self._held[number]
        self.tell({"event": "ended", "pause": number, "how": how})

    def tell(self, event: dict[str, Any]) -> None:
        """Say it to everybody who watches."""
        with self._lock:
            for connection in self._watching:
                connection.sendall(dumps(event) + b"\n")

    def close(self) -> None:
        """The recorder ends."""
        self._listener.close()
        self.path.unlink(missing_ok=True)
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection.makefile("rb") as lines:
            for text in lines:
                asked = loads(text)
                answer = self._answer(asked, connection)
                with self._lock:
                    connection.sendall(dumps({"ask": asked["ask"], **answer}) + b"\n")
                if asked["do"] in ("continue", "edit", "answer", "drop"):
                    self.release(asked["pause"], asked["do"])

    def _answer(self, asked: dict[str, Any], connection: socket.socket) -> dict[str, Any]:
        if asked["do"] == "watch":
            with self._lock:
                self._watching.append(connection)
        elif asked["do"] not in ("list", "body"):
            self.asked.append({name: value for name, value in asked.items() if name != "ask"})
        match asked["do"]:
            case "body":
                return {"body": base64.b64encode(self._held[asked["pause"]][1]).decode(), "sent": 0}
            case "arm":
                self.armed.append(asked["kind"])
            case "disarm":
                self.armed.remove(asked["kind"])
        if asked["do"] in ("arm", "disarm"):
            self.tell({"event": "armed", "armed": self.armed})
        return {"armed": self.armed, "pauses": [pause for pause, _ in self._held.values()], "trouble": ""}
