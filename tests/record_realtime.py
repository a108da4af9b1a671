"""Writes fixtures of Realtime turns, from connections written by hand after the published shapes of its events.

python -m tests.record_realtime
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.protocols import realtime_said as said
from workbench.wire.exchange import Exchange

FOLDER = Path(__file__).resolve().parent / "data" / "openai_realtime"


def save(name: str, turn: Exchange) -> None:
    """The bodies of a turn."""
    assert turn.request and turn.response
    (FOLDER / f"{name}.request.json").write_bytes(turn.request.body.raw)
    end = "json" if turn.response.status >= 400 else "sse"
    (FOLDER / f"{name}.response.{end}").write_bytes(turn.response.body.raw)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    first, second = said.turns(said.loop())
    save("loop-stream-1", first)
    save("loop-stream-2", second)
    save("spoken-stream-1", *said.turns(said.spoken()))
    unknown = said.refusal("invalid_tool_call_id", "Tool call ID 'call_9' not found in conversation.")
    orphan = ("sent", {"type": "conversation.item.create", "item": {**said.RESULT, "call_id": "call_9"}})
    save("refused-whole-1", *said.turns([*said.session(), *said.put(said.USER, "item_u1"), orphan, unknown]))
    for name, item in (("loop-whole-1", said.CALL), ("loop-whole-2", said.TEXT)):
        whole = said.response("resp_1", "completed", item)
        (FOLDER / f"{name}.response.json").write_bytes(json.dumps(whole).encode())


if __name__ == "__main__":
    main()
