"""Two requests for each relation of a contract: a broken one, made from the line itself, and a healthy one.

A line that cannot be turned into a request by its place and test says ``broken`` (pointer → value), and ``healthy``
where the request without that value would not do.
"""

from __future__ import annotations

import copy
import json
import re
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from workbench.contracts import Contract, Relation
from workbench.wire import CONNECTION, Body, Exchange, Headers, HttpRequest

SCHEMA = {"type": "object", "properties": {"q": {"type": "string", "description": "a word"}}, "required": ["q"]}
FUNCTION = {"name": "find", "description": "Find a word"}
CHAT_CALL = {"id": "call_00_abcdefghijklmnopqrst", "type": "function",
             "function": {"name": "find", "arguments": '{"q": "x"}'}}  # fmt: skip
ITEM_CALL = {"type": "function_call", "call_id": "call_a", "name": "find", "arguments": '{"q": "x"}'}

BLOCK_CALL = {"type": "tool_use", "id": "toolu_a", "name": "find", "input": {"q": "x"}}
CONVERSE_CALL = {"toolUse": {"toolUseId": "tooluse_a", "name": "find", "input": {"q": "x"}}}
OLLAMA_CALL = {"function": {"name": "find", "arguments": {"q": "x"}}}

BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "tools": [{"type": "function", "function": {**FUNCTION, "parameters": SCHEMA}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL]},
            {"role": "tool", "tool_call_id": CHAT_CALL["id"], "content": "found"},
        ],
    },
    "anthropic-messages": {
        "max_tokens": 4096,
        "tools": [{**FUNCTION, "input_schema": SCHEMA}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, BLOCK_CALL]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_a",
                                          "content": [{"type": "text", "text": "found"}]}]},
        ],
    },
    "bedrock-invoke": {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 4096,
        "tools": [{**FUNCTION, "input_schema": SCHEMA}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}],
    },
    "openai-responses": {
        "tools": [{"type": "function", **FUNCTION, "parameters": SCHEMA}],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            ITEM_CALL,
            {"type": "function_call_output", "call_id": "call_a", "output": "found"},
        ],
    },
    "openai-realtime": {
        "type": "realtime",
        "tools": [{"type": "function", **FUNCTION, "parameters": SCHEMA}],
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            ITEM_CALL,
            {"type": "function_call_output", "call_id": "call_a", "output": "found"},
        ],
    },
    "gemini-live": {
        "tools": [{"functionDeclarations": [{**FUNCTION, "parameters": SCHEMA}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "find", "args": {"q": "x"}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "1", "name": "find", "response": {"result": "found"}}},
            ]},
        ],
    },
    "gemini": {
        "tools": [{"functionDeclarations": [{**FUNCTION, "parameters": SCHEMA}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"q": "x"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"result": "found"}}}]},
        ],
    },
    "ollama": {
        "tools": [{"type": "function", "function": {**FUNCTION, "parameters": SCHEMA}}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "", "tool_calls": [OLLAMA_CALL]},
            {"role": "tool", "tool_name": "find", "content": "found"},
        ],
    },
    "bedrock-converse": {
        "toolConfig": {"tools": [{"toolSpec": {**FUNCTION, "inputSchema": {"json": SCHEMA}}}]},
        "messages": [
            {"role": "user", "content": [{"text": "go"}]},
            {"role": "assistant", "content": [CONVERSE_CALL]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_a", "content": [{"text": "found"}]}}]},
        ],
    },
    "cohere-v2": {
        "tools": [{"type": "function", "function": {**FUNCTION, "parameters": SCHEMA}}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_plan": "I look.", "tool_calls": [CHAT_CALL]},
            {"role": "tool", "tool_call_id": CHAT_CALL["id"], "content": "found"},
        ],
    },
    "gemini-interactions": {"tools": [{"type": "function", **FUNCTION, "parameters": SCHEMA}], "input": "go"},
}  # fmt: skip
"""A whole turn of tool use in each protocol: a question, a call, its result."""

USUAL: dict[str, Any] = {
    "temperature": 0.5, "top_p": 0.9, "topP": 0.9, "top_k": 40, "topK": 40, "presence_penalty": 0.5, "n": 2,
    "presencePenalty": 0.5, "frequency_penalty": 0.5, "frequencyPenalty": 0.5, "max_tokens": 64, "seed": 7,
    "max_completion_tokens": 64, "max_output_tokens": 64, "logprobs": True, "top_logprobs": 2, "stop": ["END"],
    "reasoning_effort": "low", "parallel_tool_calls": True, "logit_bias": {"50256": -100}, "store": True,
    "stream": True, "strict": True, "thinking": {"type": "enabled", "budget_tokens": 2048}, "enable_thinking": True,
    "response_format": {"type": "json_object"}, "stream_options": {"include_usage": True}, "user": "u",
}  # fmt: skip
"""Values of parameters whose line tests only that they are there."""

PICTURE = "iVBORw0KGgo="

PARTS: dict[str, Any] = {
    "image_url": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
    "input_image": {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
    "image": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
}
"""Parts of a content by type, for a line whose place names the type."""

LISTS: dict[str, Any] = {"images": [PICTURE]}
"""Lists that the usual turn does not have, for a line whose place is an element."""

TYPES: dict[str, Any] = {
    "string": "x", "integer": 3, "number": 0.5, "boolean": True, "array": ["x"], "object": {"x": 1}, "null": None,
}  # fmt: skip


class CannotBuild(Exception):
    """The line alone does not tell a request."""


def named_by(glob: str) -> str:
    """A name of a model that a glob matches."""
    name = re.sub(r"\[(.)[^\]]*\]", r"\1", glob)
    name = re.sub(r"(?<=[-./])\*", "1", name).replace("*", "")
    return name or "some-model"


def broken(relation: Relation, contract: Contract, protocol: str, model: str) -> Exchange:
    """A request that the relation is about."""
    body = copy.deepcopy(BODIES[protocol]) | _named(model, protocol)
    if relation.broken:
        _set_all(body, relation.broken)
    elif relation.test.is_absent:
        _remove(body, relation)
    elif not (_is_any(relation) and any(f.value is not None for f in relation.place.find(body))):
        _put(body, relation.place.steps, _value(relation, body), relation.when.role)
    for condition in (each for each in relation.when.places if each.place.up < 0):
        needs_absence = condition.test.is_absent or condition.test.is_none
        is_given = f"/{condition.place.first}" in relation.broken
        if needs_absence and len(condition.place.steps) == 1 and not is_given:
            body.pop(condition.place.first, None)
        elif not needs_absence and not relation.broken:
            _put(body, condition.place.steps, _value_of(condition.test, condition.place.last), ())
    if relation.when.stream is not None and "stream" not in relation.broken:
        body["stream"] = relation.when.stream
    return _exchange(relation, body, protocol, model)


def healthy(relation: Relation, contract: Contract, protocol: str, model: str) -> Exchange:
    """The whole turn without that value."""
    body = copy.deepcopy(BODIES[protocol]) | _named(model, protocol)
    if relation.healthy:
        _set_all(body, relation.healthy)
    elif relation.test.is_absent:
        if not any(found.value is not None for found in relation.place.find(body)):
            raise CannotBuild("a required value has no usual one: say healthy")
    elif _is_any(relation):
        _remove(body, relation)
    return _exchange(relation, body, protocol, model)


def _exchange(relation: Relation, body: dict[str, Any], protocol: str, model: str) -> Exchange:
    url = {
        "openai-chat": "/v1/chat/completions",
        "anthropic-messages": "/v1/messages",
        "openai-responses": "/v1/responses",
        "openai-realtime": f"/v1/realtime?model={model}",
        "gemini-live": "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
        "gemini": f"/v1beta/models/{model}:generateContent",
        "ollama": "/api/chat",
        "bedrock-converse": f"/model/{model}/converse",
        "bedrock-invoke": f"/model/{model}/invoke",
        "cohere-v2": "/v2/chat",
        "gemini-interactions": "/v1beta/interactions",
    }[protocol]
    glob = relation.when.url[0] if relation.when.url else ""
    glob = glob.replace("/*", url) if protocol == "gemini" else glob.replace("/model/*", f"/model/{model}")
    address = f"https://host.example{url}"
    if "://" in glob:
        address = glob.replace("*", "")
    elif glob and not fnmatchcase(address, glob):
        address = f"https://host.example/{glob.replace('*', '').lstrip('/')}"
    headers = (("anthropic-version", "2023-06-01"),)
    headers += (("anthropic-beta", relation.when.beta.replace("*", "x")),) if relation.when.beta else ()
    meta = {CONNECTION: "1"} if relation.when.transport == "websocket" else {}
    return Exchange("1", HttpRequest("POST", address, Headers(headers), Body(json.dumps(body).encode())), meta=meta)


def _named(model: str, protocol: str) -> dict[str, Any]:
    """The field with the name of the model, where it is in the body."""
    return {} if protocol in ("gemini", "bedrock-converse", "bedrock-invoke") else {"model": model}


def _is_any(relation: Relation) -> bool:
    """Whatever is at the place is at fault."""
    return not (relation.test.single or relation.test.compared or relation.test.together or relation.when.role)


def _set_all(body: dict[str, Any], values: Any) -> None:
    for pointer, value in values.items():
        _put(body, tuple(pointer.split("/")[1:]), value, ())


def _value(relation: Relation, body: dict[str, Any]) -> Any:
    test = relation.test
    if test.together:
        raise CannotBuild("values that are judged together: say broken")
    if test.compared:
        raise CannotBuild("a value that is compared with another one: say broken")
    return _value_of(test, relation.place.last)


def _value_of(test: Any, name: str) -> Any:
    for word, argument in test.single:
        made = {
            "is": lambda a: a,
            "in": lambda a: a[0],
            "not-in": lambda a: USUAL[name] if USUAL.get(name, a[0]) not in a else "zz-unknown",
            "type": lambda a: TYPES[a if isinstance(a, str) else a[0]],
            "not-type": lambda a: next(v for t, v in TYPES.items() if t not in a and v is not None),
            "above": lambda a: a + 1,
            "below": lambda a: a - 1,
            "longer": lambda a: "x" * (a + 1),
            "shorter": lambda a: "x" * (a - 1),
            "bytes-above": lambda a: "é" * (a // 2 + 1),
            "blank": lambda _: " ",
            "lacks": lambda _: {"type": "object"},
        }.get(word)
        if made is None:
            raise CannotBuild(f"no value is made for {word!r}: say broken")
        return made(argument)
    return copy.deepcopy(USUAL.get(name, "x"))


def _put(value: Any, steps: tuple[str, ...], wanted: Any, roles: tuple[str, ...]) -> None:
    """Set a value at a place: at the first element that fits, or at one that is made."""
    step, rest = steps[0], steps[1:]
    if step == "**":
        _put(value, ("properties", "q", *rest), wanted, roles)
        return
    if isinstance(value, list):
        fitting = _elements(value, step, roles)
        if not rest:
            value[fitting[0]] = value[fitting[0]] if step.endswith("]") else wanted
            return
        for n in fitting:
            if isinstance(value[n], dict) and _leads(value[n], rest):
                with suppress(CannotBuild):
                    _put(value[n], rest, wanted, roles)
                    return
        raise CannotBuild(f"no element leads to {'/'.join(rest)}: say broken")
    if not rest:
        value[step] = wanted
        return
    if not isinstance(value.get(step), dict | list):
        value[step] = copy.deepcopy(LISTS.get(step, {}))
    _put(value[step], rest, wanted, roles)


def _leads(value: dict[str, Any], rest: tuple[str, ...]) -> bool:
    return len(rest) == 1 or rest[0] in LISTS or isinstance(value.get(rest[0]), dict | list)


def _elements(value: list[Any], step: str, roles: tuple[str, ...]) -> list[int]:
    if step.isdecimal():
        while len(value) <= int(step):
            value.append({})
        return [int(step)]
    filtered = re.fullmatch(r"\*\[([^=\]]+)=([^\]]*)\]", step)
    found = [
        n
        for n, each in enumerate(value)
        if (not filtered or (isinstance(each, dict) and each.get(filtered[1]) == filtered[2]))
        and (not roles or not isinstance(each, dict) or "role" not in each or each["role"] in roles)
    ]
    if not found and filtered and filtered[2] in PARTS:
        value.append(copy.deepcopy(PARTS[filtered[2]]))
        return [len(value) - 1]
    if not found:
        raise CannotBuild(f"no element is {step!r}: say broken")
    return found


def _remove(body: dict[str, Any], relation: Relation) -> None:
    *parents, last = relation.place.steps
    nodes: list[Any] = [body]
    for step in parents:
        nodes = [each for node in nodes for each in (node if isinstance(node, list) else [node.get(step)]) if each]
    for node in nodes:
        if isinstance(node, dict):
            node.pop(last, None)
