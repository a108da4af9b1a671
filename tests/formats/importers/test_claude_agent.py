"""What an agent and Claude Code say to each other is read, one message a line or recorded as a list."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from workbench.errors import UnreadableInput
from workbench.formats.importers import candidates, claude_agent, inside
from workbench.rules.inspection import Inspector

START = {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Bash"], "model": "claude-x"}
ASKED = {
    "type": "user",
    "message": {"role": "user", "content": "list"},
    "parent_tool_use_id": None,
    "session_id": "default",
}


def said(*blocks: dict[str, Any], message: str = "msg_1", caller: str | None = None) -> dict[str, Any]:
    held = {"id": message, "type": "message", "role": "assistant", "model": "claude-x", "content": list(blocks)}
    return {"type": "assistant", "message": held, "parent_tool_use_id": caller, "session_id": "s1"}


def result(call: str, caller: str | None = None) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": call, "content": "a"}]
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": caller,
            "session_id": "s1"}  # fmt: skip


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


HOOK = {"type": "control_request", "request_id": "r", "request": {"subtype": "hook_callback", "callback_id": "h"}}
DONE = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s1", "result": "done"}
TALK = [
    ASKED,
    START,
    said({"type": "thinking", "thinking": "Let me.", "signature": "c2ln"}),
    said(call("toolu_1")),
    HOOK,
    result("toolu_1"),
    said({"type": "text", "text": "done"}, message="msg_2"),
    DONE,
]
DIRECTED = {"metadata": {"cli_version": "1.0.100"}, "messages": [{"direction": "recv", "message": m} for m in TALK]}
FORMS = {
    "lines": "\n".join(map(json.dumps, TALK)),
    "a list": json.dumps(TALK, indent=1),
    "a list with directions": json.dumps(DIRECTED),
    "YAML": yaml.safe_dump(DIRECTED),
    "YAML, keys as written": yaml.safe_dump({"messages": TALK}, sort_keys=False),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_talk_is_a_conversation_in_every_form(form: str) -> None:
    data = FORMS[form].encode()
    assert candidates(data)[0][1] == "claude_agent"
    read = Inspector(inside(data, "talk")).run()
    assert (read.damage, read.findings) == ((), ())
    assert [(row.calls, row.conversation) for row in read.rows] == [(("Bash",), 0), ((), 0)]
    assert read.rows[0].has_reasoning


def test_a_sub_agent_is_a_conversation_of_its_own() -> None:
    inner = [said(call("toolu_2"), message="msg_s", caller="toolu_1"), result("toolu_2", caller="toolu_1")]
    talk = [*TALK[:4], *inner, *TALK[4:]]
    read = Inspector(inside("\n".join(map(json.dumps, talk)).encode(), "talk")).run()
    assert len({row.conversation for row in read.rows}) == 2
    assert not [f for f in read.findings if f.severity == "error"]


def test_what_is_no_message_is_said() -> None:
    assert inside("\n".join(map(json.dumps, [*TALK, {"odd": 1}])).encode(), "talk").damage
    with pytest.raises(UnreadableInput, match="the file contains no conversation message"):
        claude_agent.read(json.dumps(START).encode(), "x")
