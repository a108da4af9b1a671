"""What the specification demands of the messages of a connection, a line each: the rule that finds it, and where."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.contracts.pages import Example
from workbench.protocols.mcp import message_relations
from workbench.rules.inspection import Inspector
from workbench.rules.tool_hop.rules import RULES

Line = dict[str, Any]
OBJECT: dict[str, Any] = {"type": "object"}
NEW = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
FRESH = {"ttlMs": 1, "cacheScope": "public", "resultType": "complete"}
TASKS = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
TASK = {"taskId": "t", "createdAt": "2025-11-25T10:30:00Z", "lastUpdatedAt": "2025-11-25T10:30:00Z", "ttl": 5}
TEXT = {"type": "text", "text": "a"}
SAID = {"role": "assistant", "content": TEXT, "model": "m"}
FORM = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def c(**message: Any) -> Line:
    """A message of the client."""
    return {"sent": {"jsonrpc": "2.0", **message}}


def s(**message: Any) -> Line:
    """A message of the server."""
    return {"received": {"jsonrpc": "2.0", **message}}


def shake(client: Any = None, server: Any = None) -> list[Line]:
    about = {"protocolVersion": "2025-11-25", "capabilities": client or {}, "clientInfo": {"name": "c", "version": "1"}}
    told = {"protocolVersion": "2025-11-25", "capabilities": server or {"tools": {}}}
    return [
        c(id=0, method="initialize", params=about),
        s(id=0, result={**told, "serverInfo": {"name": "s", "version": "1"}}),
        c(method="notifications/initialized"),
    ]


def listed(*tools: Any, id: int = 1) -> list[Line]:
    return [
        c(id=id, method="tools/list"),
        s(id=id, result={"tools": list(tools) or [{"name": "a", "inputSchema": OBJECT}]}),
    ]


def tool(**more: Any) -> dict[str, Any]:
    return {"name": "a", "inputSchema": OBJECT, **more}


def ask(method: str, result: Any, id: int = 3, **params: Any) -> list[Line]:
    """A request of the client with its result, or its error."""
    more = result if "error" in result else {"result": result}
    return [c(id=id, method=method, params=params), s(id=id, **more)]


def asked(method: str, result: Any, **params: Any) -> list[Line]:
    """A request of the server with the client's result."""
    return [s(id=5, method=method, params=params), c(id=5, result=result)]


def call(result: Any = None, **params: Any) -> list[Line]:
    return ask("tools/call", result or {"content": [TEXT]}, id=2, name="a", arguments={}, **params)


def new_call(*results: Any, **more: Any) -> list[Line]:
    """Calls of the stateless revision; those after the first have more parameters."""
    lines = []
    for number, result in enumerate(results):
        params = {"name": "a", "arguments": {}, **(more if number else {}), "_meta": NEW}
        lines += [c(id=number + 2, method="tools/call", params=params), s(id=number + 2, result=result)]
    return lines


WITH = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}}
NO_SECRETS = {
    **OBJECT,
    "properties": {
        **{name: {"type": "string"} for name in ("secretary", "passwordless_login", "secret_santa_budget")},
        "rotate_api_key": {"type": "boolean"},
    },
}
STATE = {"resultType": "input_required", "requestState": "s"}
PROMPT = {"prompts": [{"name": "p", "arguments": [{"name": "x", "required": True}]}]}
RESOURCE = {"resources": [{"uri": "a:b", "name": "a"}]}
REFUSED = {"error": {"code": -32602, "message": "Rate limited params"}}
GONE = {"error": {"code": -32002, "message": "no"}}
HIGHER = [
    *ask("logging/setLevel", REFUSED, level="error"),
    c(id=4, method="logging/setLevel", params={"level": "error"}),
]
DEBUG = s(method="notifications/message", params={"level": "debug", "data": "x"})
WITH_TOKEN = {"name": "a", "_meta": {"progressToken": "p"}}
ELICIT = {"message": "m", "requestedSchema": FORM}
SAMPLE = {"messages": [{"role": "user", "content": TEXT}], "maxTokens": 5}
URL = {"mode": "url", "message": "m", "url": "https://x.example/", "elicitationId": "e"}
DONE = {"resultType": "complete", "content": []}

STATEMENTS: dict[str, tuple[str, str, list[Line]]] = {
    "the mode url": (
        "capability",
        "/params/mode",
        [*shake({"elicitation": {"form": {}}}), *listed(), *asked("elicitation/create", {"action": "accept"}, **URL)],
    ),
    "tools in sampling": (
        "capability",
        "/params/tools",
        [*shake({"sampling": {}}), *listed(), *asked("sampling/createMessage", SAID, **SAMPLE, tools=[tool()])],
    ),
    "context in sampling": (
        "capability",
        "/params/includeContext",
        [
            *shake({"sampling": {}}),
            *listed(),
            *asked("sampling/createMessage", SAID, **SAMPLE, includeContext="allServers"),
        ],
    ),
    "a subscription": (
        "capability",
        "/params/uri",
        [*shake({}, {"tools": {}, "resources": {}}), *listed(), *ask("resources/subscribe", {}, uri="a:b")],
    ),
    "a call as a task": (
        "capability",
        "/params/task",
        [*shake(), *listed(), *call({"task": {**TASK, "status": "working"}}, task={"ttl": 5})],
    ),
    "tasks of a client that lists none": (
        "capability",
        "/method",
        [*shake({"tasks": {"cancel": {}}}), *listed(), *asked("tasks/list", {"tasks": []})],
    ),
    "a task begins": (
        "lifecycle",
        "/result/task/status",
        [
            *shake({}, TASKS),
            *listed(tool(execution={"taskSupport": "optional"})),
            *call({"task": {**TASK, "status": "input_required"}}, task={"ttl": 5}),
        ],
    ),
    "a tool that must be a task": (
        "capability",
        "",
        [*shake({}, TASKS), *listed(tool(execution={"taskSupport": "required"})), *call()],
    ),
    "a tool that is no task": (
        "capability",
        "",
        [*shake({}, TASKS), *listed(), *call({"task": {**TASK, "status": "working"}}, task={"ttl": 5})],
    ),
    "ping is empty": ("message", "/result/pong", [*shake(), *listed(), *ask("ping", {"pong": True})]),
    "a name is short": ("name", "/result/tools/0/name", [*shake(), *listed(tool(name="a" * 129))]),
    "an icon": ("message", "/result/tools/0/icons/0/src", [*shake(), *listed(tool(icons=[{"src": "javascript:x"}]))]),
    "hints": (
        "message",
        "/result/tools/0/annotations/destructiveHint",
        [*shake(), *listed(tool(annotations={"readOnlyHint": True, "destructiveHint": True}))],
    ),
    "a schema of the network": (
        "schema-rejected",
        "/result/tools/0/inputSchema/properties/x/$ref",
        [*shake(), *listed(tool(inputSchema={**OBJECT, "properties": {"x": {"$ref": "https://e.x/s"}}}))],
    ),
    "the order of tools": (
        "list-changed",
        "/result/tools",
        [*shake(), *listed(tool(), tool(name="b")), *listed(tool(name="b"), tool(), id=2)],
    ),
    "a priority": (
        "message",
        "/result/content/0/annotations/priority",
        [*shake(), *listed(), *call({"content": [{**TEXT, "annotations": {"priority": 5}}]})],
    ),
    "a failure has words": (
        "message",
        "/result/content",
        [*shake(), *listed(), *call({"content": [], "isError": True})],
    ),
    "an empty resource": (
        "message",
        "/result/contents",
        [*shake({}, WITH), *listed(), *ask("resources/read", {"contents": []}, uri="a:b")],
    ),
    "a root": (
        "message",
        "/result/roots/0/uri",
        [*shake({"roots": {}}), *listed(), *asked("roots/list", {"roots": [{"uri": "http://x"}]})],
    ),
    "a form for a secret": (
        "message",
        "/params/requestedSchema/properties/api_key",
        [
            *shake({"elicitation": {}}),
            *listed(),
            *asked(
                "elicitation/create",
                {"action": "decline"},
                message="m",
                requestedSchema={**OBJECT, "properties": {"api_key": {"type": "string"}}},
            ),
        ],
    ),
    "an answer fits its form": (
        "message",
        "/result/content/n",
        [
            *shake({"elicitation": {}}),
            *listed(),
            *asked("elicitation/create", {"action": "accept", "content": {"n": "x"}}, **ELICIT),
        ],
    ),
    "results are alone": (
        "message",
        "/params/messages/0/content/0/type",
        [
            *shake({"sampling": {"tools": {}}}),
            *listed(),
            *asked(
                "sampling/createMessage",
                SAID,
                maxTokens=5,
                messages=[
                    {"role": "user", "content": [{"type": "tool_result", "toolUseId": "x", "content": []}, TEXT]}
                ],
            ),
        ],
    ),
    "a page to open": ("message", "/error", [*shake(), *listed(), *call({"error": {"code": -32042, "message": "m"}})]),
    "a cancellation has an id": (
        "message",
        "",
        [*shake(), *listed(), c(method="notifications/cancelled", params={"reason": "r"})],
    ),
    "an answer to nothing": ("response-id", "", [*shake({"roots": {}}), *listed(), c(id=77, result={"roots": []})]),
    "an answer given twice": (
        "response-id",
        "",
        [*shake({"roots": {}}), *listed(), *asked("roots/list", {"roots": []}), c(id=5, result={"roots": []})],
    ),
    "an id used again": ("response-id", "", [*shake(), *listed(), *ask("tools/list", {"tools": [tool()]}, id=1)]),
    "a notification before the handshake": (
        "lifecycle",
        "",
        [shake()[0], s(method="notifications/tools/list_changed"), *shake()[1:], *listed()],
    ),
    "initialized once": ("lifecycle", "", [*shake(), c(method="notifications/initialized"), *listed()]),
    "a level of logs": (
        "message",
        "",
        [
            *shake({}, WITH),
            *listed(),
            *ask("logging/setLevel", {}, level="error"),
            s(method="notifications/message", params={"level": "debug", "data": "x"}),
        ],
    ),
    "an update nobody asked for": (
        "lifecycle",
        "",
        [*shake({}, WITH), *listed(), s(method="notifications/resources/updated", params={"uri": "a:b"})],
    ),
    "one token for two": (
        "progress",
        "",
        [
            *shake(),
            *listed(),
            *(c(id=n, method="tools/call", params={"name": "a", "_meta": {"progressToken": 1}}) for n in (7, 8)),
            *(s(id=n, result={"content": [TEXT]}) for n in (7, 8)),
        ],
    ),
    "an argument of a prompt": (
        "message",
        "",
        [
            *shake({}, WITH),
            *listed(),
            *ask("prompts/list", PROMPT),
            *ask("prompts/get", {"messages": []}, id=4, name="p"),
        ],
    ),
    "a prompt that is not listed": (
        "name",
        "",
        [*shake({}, WITH), *listed(), *ask("prompts/list", PROMPT), *ask("prompts/get", REFUSED, id=4, name="q")],
    ),
    "a resource that is listed": (
        "protocol-error",
        "",
        [
            *shake({}, WITH),
            *listed(),
            *ask("resources/list", RESOURCE),
            *ask("resources/read", GONE, id=4, uri=["a:b"]),
            *ask("resources/read", GONE, id=5, uri="a:b"),
        ],
    ),
    "arguments of a call": ("arguments", "/params", [*shake(), *listed(tool(inputSchema=FORM)), *call()]),
    "each request states its version": (
        "message",
        "",
        [
            *ask(
                "server/discover",
                {**FRESH, "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
                id=1,
                _meta=NEW,
            ),
            c(id=2, method="tools/list"),
            s(id=2, result={"tools": [], **FRESH}),
        ],
    ),
    "a version that is offered": (
        "version",
        "",
        [
            *ask(
                "server/discover",
                {**FRESH, "supportedVersions": ["2027-01-01"], "capabilities": {"tools": {}}},
                id=1,
                _meta=NEW,
            ),
            *new_call(DONE),
        ],
    ),
    "a server does not ask": (
        "version",
        "",
        [
            c(id=2, method="tools/call", params={"name": "a", "_meta": NEW}),
            s(id=9, method="sampling/createMessage", params=SAMPLE),
            c(id=9, result=SAID),
            s(id=2, result=DONE),
        ],
    ),
    "input that the client can give": (
        "capability",
        "/result/inputRequests/k/method",
        new_call({**STATE, "inputRequests": {"k": {"method": "elicitation/create", "params": ELICIT}}}),
    ),
    "input is asked for": ("message", "/result", new_call({"resultType": "input_required"})),
    "the state goes back": ("message", "", new_call(STATE, DONE, requestState="t")),
    "logs are asked for": (
        "lifecycle",
        "",
        [
            c(id=2, method="tools/call", params={"name": "a", "_meta": NEW}),
            s(method="notifications/message", params={"level": "info", "data": "x"}),
            s(id=2, result=DONE),
        ],
    ),
    "changes are asked for": ("lifecycle", "", [*new_call(DONE), s(method="notifications/tools/list_changed")]),
    "a retired code": (
        "message",
        "/error/code",
        ask("resources/read", {"error": {"code": -32002, "message": "no"}}, uri="a:b", _meta=NEW),
    ),
    "a header of a parameter": (
        "schema-rejected",
        "/result/tools/0/inputSchema/properties/x/x-mcp-header",
        ask(
            "tools/list",
            {
                **FRESH,
                "tools": [tool(inputSchema={**OBJECT, "properties": {"x": {"type": "string", "x-mcp-header": "a b"}}})],
            },
            _meta=NEW,
        ),
    ),
}
"""Name → rule, pointer, and a connection that breaks the statement."""

OF_BOTH = ("*", "ping", "tasks/list", "tasks/cancel", "tasks/get", "tasks/result")
"""Methods that both sides may send."""

HEALTHY: dict[str, list[Line]] = {
    "with a handshake": [
        *shake({"roots": {}, "elicitation": {}}, WITH),
        *listed(),
        *asked("roots/list", {"roots": []}),
        *call(),
    ],
    "a form": [
        *shake({"elicitation": {}}),
        *listed(),
        *asked("elicitation/create", {"action": "accept", "content": {"n": 1}}, **ELICIT),
    ],
    "a subscription": [
        *shake({}, WITH),
        *listed(),
        *ask("resources/subscribe", {}, uri="a:b"),
        s(method="notifications/resources/updated", params={"uri": "a:b/c"}),
    ],
    "a prompt": [
        *shake({}, WITH),
        *listed(),
        *ask("prompts/list", PROMPT),
        *ask("prompts/get", {"messages": []}, id=4, name="p", arguments={"x": "1"}),
    ],
    "a task": [
        *shake({}, TASKS),
        *listed(tool(execution={"taskSupport": "optional"})),
        *call({"task": {**TASK, "status": "working"}}, task={"ttl": 5}),
    ],
    "without a handshake": [*ask("tools/list", {"tools": [tool()], **FRESH}, id=1, _meta=NEW), *new_call(DONE)],
    "with input": new_call(STATE, DONE, requestState="s"),
    "with input for two calls": [
        *(c(id=n, method="tools/call", params={"name": "a", "arguments": {"n": n}, "_meta": NEW}) for n in (2, 3)),
        *(s(id=n, result={**STATE, "requestState": f"s{n}"}) for n in (2, 3)),
        *(
            c(
                id=n + 2,
                method="tools/call",
                params={"name": "a", "arguments": {"n": n}, "requestState": f"s{n}", "_meta": NEW},
            )
            for n in (2, 3)
        ),
        *(s(id=n, result=DONE) for n in (4, 5)),
    ],
    "tasks of the client": [
        *shake({"sampling": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}}}),
        *listed(),
        *asked("tasks/list", {"tasks": [{**TASK, "status": "working"}]}),
        s(id=6, method="tasks/cancel", params={"taskId": "t"}),
        c(id=6, result={**TASK, "status": "cancelled"}),
    ],
    "words that are no secrets": [
        *shake({"elicitation": {}}),
        *listed(),
        *asked("elicitation/create", {"action": "decline"}, message="m", requestedSchema=NO_SECRETS),
    ],
    "a schema of its own": [
        *shake(),
        *listed(
            tool(
                inputSchema={
                    **OBJECT,
                    "properties": {"x": {"$ref": "https://e.x/s#/a"}},
                    "$defs": {"s": {"$id": "https://e.x/s", "type": "string"}},
                }
            )
        ),
        *ask("ping", {"_meta": {"x/y": 1}, "resultType": "complete"}),
    ],
    "what is read": [
        *shake({}, WITH),
        *listed(),
        *ask("resources/list", RESOURCE),
        *ask("resources/read", REFUSED, id=4, uri="a:b"),
        *ask("resources/list", {"resources": []}, id=5),
        *ask("resources/read", GONE, id=6, uri="a:b"),
    ],
    "a list that goes on": [
        *shake({}, WITH),
        *listed(),
        *ask("prompts/list", {**PROMPT, "nextCursor": "n"}),
        *ask("prompts/get", REFUSED, id=4, name="q"),
        *ask("prompts/get", {"messages": []}, id=5, name="q"),
    ],
    "an update after a refusal": [
        *shake({}, WITH),
        *listed(),
        *ask("resources/subscribe", {}, uri="a:b"),
        *ask("resources/unsubscribe", REFUSED, id=4, uri="a:b"),
        s(method="notifications/resources/updated", params={"uri": "a:b"}),
    ],
    "a level that does not hold yet": [*shake({}, WITH), *listed(), *HIGHER, DEBUG, s(id=4, result={})],
    "a token after a cancellation": [
        *shake(),
        *listed(),
        c(id=7, method="tools/call", params=WITH_TOKEN),
        c(method="notifications/cancelled", params={"requestId": 7}),
        s(method="notifications/progress", params={"progressToken": "p", "progress": 1}),
        *ask("tools/call", {"content": [TEXT]}, id=8, **WITH_TOKEN),
    ],
    "a token after a task": [
        *shake({}, TASKS),
        *listed(tool(execution={"taskSupport": "optional"})),
        *ask("tools/call", {"task": {**TASK, "status": "working"}}, id=2, **WITH_TOKEN, arguments={}, task={"ttl": 5}),
        *ask("tasks/get", {**TASK, "status": "completed"}, id=3, taskId="t"),
        *ask(
            "tasks/result",
            {"content": [TEXT], "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "t"}}},
            id=4,
            taskId="t",
        ),
        *ask("tools/call", {"content": [TEXT]}, id=5, **WITH_TOKEN, arguments={}),
    ],
    "changes": [
        c(id=1, method="subscriptions/listen", params={"notifications": {"toolsListChanged": True}, "_meta": NEW}),
        s(
            method="notifications/subscriptions/acknowledged",
            params={
                "notifications": {"toolsListChanged": True},
                "_meta": {"io.modelcontextprotocol/subscriptionId": 1},
            },
        ),
        s(method="notifications/tools/list_changed", params={"_meta": {"io.modelcontextprotocol/subscriptionId": 1}}),
    ],
}


def found(lines: list[Line]) -> list[tuple[str, str]]:
    findings = Inspector(Example("generic", "mcp", ({"mcp": lines},)).session()).run().findings
    return [(finding.rule, finding.pointer) for finding in findings]


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_statement_is_held(name: str) -> None:
    rule, pointer, lines = STATEMENTS[name]
    assert (f"mcp.{rule}", pointer) in found(lines)


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_healthy(name: str) -> None:
    assert found(HEALTHY[name]) == []


def test_each_line_has_a_rule_and_a_source() -> None:
    slugs = {rule.slug for rule in RULES}
    relations = [relation for lines in message_relations().values() for relation in lines]
    assert relations and all(f"mcp.{one.rule}" in slugs and one.text and one.source[-1] != "/" for one in relations)
    of_both = [one for (method, _), lines in message_relations().items() for one in lines if method in OF_BOTH]
    assert of_both and all(one.by for one in of_both if one.lacks), "whose capability is meant?"
