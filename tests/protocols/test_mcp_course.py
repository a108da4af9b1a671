"""Messages of tool servers against the official schemas, and their course: what is healthy, and each lapse."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.protocols.mcp import Course, message_faults
from workbench.undo_log import Journal

SHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
SHAKEN = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
TASK = {"taskId": "t", "status": "working", "createdAt": "d", "lastUpdatedAt": "d", "ttl": 1}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
}

FORMS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "a result": ("tools/call", "2025-11-25", {"result": {"content": [{"type": "text", "text": "a"}]}}, ""),
    "members that nobody knows": ("tools/list", "", {"result": {"tools": [], "x": 1, "_meta": {"y": 1}}}, ""),
    "a revision that is unknown": ("tools/call", "", {"result": {"content": [], "structuredContent": {"a": 1}}}, ""),
    "a request of the newest": ("tools/list", "2026-07-28", {"method": "tools/list", "params": {"_meta": MODERN}}, ""),
    "a method that nobody knows": ("x/y", "", {"method": "x/y", "params": 3}, ""),
    "a cursor of null": (
        "tools/list",
        "2025-06-18",
        {"result": {"tools": [], "nextCursor": None}},
        "/result/nextCursor",
    ),
    "a list as a capability": (
        "initialize",
        "",
        {"result": {**SHAKEN, "capabilities": {"tools": []}}},
        "/result/capabilities/tools",
    ),
    "another spelling": ("tools/call", "", {"result": {"content": [], "is_error": True}}, "/result/is_error"),
    "a part of a later revision": (
        "tools/call",
        "2024-11-05",
        {"result": {"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]}},
        "/result/content/0/type",
    ),
    "a root without a scheme": ("roots/list", "", {"result": {"roots": [{"uri": "/a"}]}}, "/result/roots/0/uri"),
    "an error without a text": ("tools/call", "", {"id": 1, "error": {"code": 1}}, "/error"),
    "the result of a task": ("tasks/result", "", {"result": {"value": 1}}, "/result"),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_message_has_the_form_of_its_revision(name: str) -> None:
    method, version, message, pointer = FORMS[name]
    found = message_faults(method, message, version)
    assert (found.faults[0].pointer if found else "") == pointer


def test_another_revision_that_has_the_form_is_named() -> None:
    found = message_faults(
        "tools/call", {"result": {"content": [], "structuredContent": [1], "resultType": "complete"}}, "2025-06-18"
    )
    assert found and found.accepted_by == "2026-07-28" and "structuredContent" in found.words()


def ask(id_: int, method: str, **params: Any) -> tuple[str, dict[str, Any]]:
    return "client", {"id": id_, "method": method, "params": params}


def tell(sender: str, method: str, **params: Any) -> tuple[str, dict[str, Any]]:
    return sender, {"method": f"notifications/{method}", "params": params}


def answer(id_: int, sender: str = "server", **result: Any) -> tuple[str, dict[str, Any]]:
    return sender, {"id": id_, "result": result}


SHAKING = (ask(0, "initialize", **SHAKE), answer(0, **SHAKEN))
READY = (*SHAKING, tell("client", "initialized"))
CALL = ask(1, "tools/call", name="a", arguments={}, _meta={"progressToken": "p"})


def progress(value: int, token: str = "p") -> tuple[str, dict[str, Any]]:
    return tell("server", "progress", progressToken=token, progress=value)


COURSES: dict[str, tuple[tuple[tuple[str, dict[str, Any]], ...], list[str]]] = {
    "a handshake and a call": ((*READY, CALL, progress(1), progress(2), answer(1, content=[])), []),
    "a list that changes before it is ready": (
        (*SHAKING, tell("server", "message", level="info", data=1)),
        ["capability"],
    ),
    "a ping before the end of the handshake": ((*SHAKING, ("server", {"id": 1, "method": "ping"})), ["left"]),
    "a fragment": ((CALL, answer(1, content=[])), []),
    "never initialized": ((*SHAKING, CALL), ["lifecycle"]),
    "too early": ((SHAKING[0], CALL), ["lifecycle"]),
    "before initialize": ((CALL, *SHAKING), ["lifecycle"]),
    "twice": ((*READY, SHAKING[0]), ["lifecycle"]),
    "a request of the server before it is ready": (
        (*SHAKING, ("server", {"id": 1, "method": "roots/list"})),
        ["lifecycle", "left"],
    ),
    "progress of nobody": ((*READY, CALL, progress(1, "q")), ["progress"]),
    "progress that falls": ((*READY, CALL, progress(2), progress(1)), ["progress"]),
    "progress after the end": ((*READY, CALL, answer(1, content=[]), progress(1)), ["progress"]),
    "a call by the server": ((*READY, ("server", {"id": 1, "method": "tools/list"})), ["message", "unlisted", "left"]),
    "a notification with an id": (
        (*READY, ("client", {"id": 7, "method": "notifications/initialized"})),
        ["message", "unlisted"],
    ),
    "a request without an id": ((*READY, ("client", {"method": "tools/list"})), ["message"]),
    "a method of another revision": (
        (*READY, ask(1, "subscriptions/listen", notifications={})),
        ["version", "unlisted"],
    ),
    "a cancellation of nothing": ((*READY, tell("client", "cancelled", requestId=5)), ["cancelled", "unlisted"]),
    "a request without an answer": ((*READY, ("server", {"id": 1, "method": "ping"}), CALL), ["no-answer"]),
    "a task that is fetched": (
        (*READY, CALL, answer(1, task={**TASK, "status": "completed"}), ask(2, "tasks/result", taskId="t")),
        [],
    ),
    "a task that is not": ((*READY, CALL, answer(1, task={**TASK, "status": "failed"})), ["unfetched"]),
    "a task of nobody": (
        (*READY, ask(2, "tasks/get", taskId="u"), ("server", {"id": 2, "error": {"code": -32602, "message": "?"}})),
        ["lifecycle", "unlisted"],
    ),
    "a task after its end": (
        (*READY, CALL, answer(1, task={**TASK, "status": "cancelled"}), tell("server", "tasks/status", **TASK)),
        ["lifecycle"],
    ),
}


@pytest.mark.parametrize("name", COURSES)
def test_what_may_come_when(name: str) -> None:
    messages, kinds = COURSES[name]
    course = Course()
    found = [lapse.kind for n, (sender, message) in enumerate(messages) for lapse in course.take(sender, message, n)]
    assert [*found, *(lapse.kind for lapse in course.end())] == kinds


def test_what_was_taken_can_be_taken_back() -> None:
    journal = Journal()
    journal.is_on = True
    course = Course(journal)
    for number, (sender, message) in enumerate(READY):
        assert not list(course.take(sender, message, number))
    for _ in range(2):
        mark = journal.mark()
        assert not list(course.take(*CALL, 9))
        assert not list(course.take(*progress(1), 9))
        assert not list(course.take(*answer(1), 9))
        journal.rewind(mark)
        assert [lapse.kind for lapse in course.take(*progress(1), 9)] == ["progress"]
        journal.rewind(mark)
