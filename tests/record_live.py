"""Writes fixtures of Live turns, from connections written by hand after the published shapes of its messages.

python -m tests.record_live
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.protocols import live_said as said
from workbench.wire.exchange import Exchange

FOLDER = Path(__file__).resolve().parent / "data" / "gemini_live"


def save(name: str, turn: Exchange) -> None:
    """The bodies of a turn."""
    assert turn.request and turn.response
    (FOLDER / f"{name}.request.json").write_bytes(turn.request.body.raw)
    (FOLDER / f"{name}.response.sse").write_bytes(turn.response.body.raw)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    first, second = said.turns(said.loop())
    save("loop-stream-1", first)
    save("loop-stream-2", second)
    save("text-stream-1", *said.turns([*said.BEGIN, said.ask(), *said.written("Two files: a and b."), said.DONE]))
    content = {"modelTurn": {"parts": [{"text": "Two files."}], "role": "model"}, "turnComplete": True}
    calls = said.call("fc-1")[1]
    whole = {"loop-whole-1": {"serverContent": content, **calls}, "loop-whole-2": {"serverContent": content}}
    for name, value in whole.items():
        (FOLDER / f"{name}.response.json").write_bytes(json.dumps({**value, "usageMetadata": said.COUNTS}).encode())
    error = {"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT"}}
    (FOLDER / "refused-whole-1.response.json").write_bytes(json.dumps(error).encode())


if __name__ == "__main__":
    main()
