"""Files that a client might have left, invented."""

from __future__ import annotations

import json
import os
from pathlib import Path


def entries(cwd: str = "/home/ann/demo", text: str = "Which files are here?") -> bytes:
    """A Claude Code session of one turn."""
    common = {"isSidechain": False, "sessionId": "s1", "version": "2.1.12", "cwd": cwd, "userType": "external"}
    user = {"type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-03-01T10:00:00.000Z", **common}
    answer = {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "timestamp": "2026-03-01T10:00:02.000Z", **common}
    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    message |= {"content": [{"type": "text", "text": "None."}], "stop_reason": "end_turn", "usage": {}}
    lines = [user | {"message": {"role": "user", "content": text}}, answer | {"message": message, "requestId": "req_1"}]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def put(path: Path, data: bytes = b"{}\n", *, at: float | None = None) -> Path:
    """Write a file, modified at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if at is not None:
        os.utime(path, (at, at))
    return path
