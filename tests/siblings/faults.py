"""The fault of each rule, written on every wire that can have it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.siblings.wires import CALL, RESULT, SCHEMA, TOOL, Call, Json, Result, Tool, Wire

OTHER = Call("call_bbbbbbb2", "weather", {"city": "Rome"})
FOREIGN_TEXT = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


class Said(NamedTuple):
    """An answer: its calls, text and finish reason."""

    calls: tuple[Call, ...] = (CALL,)
    text: str = ""
    stop: str = ""


def edited(value: Any, pointer: str, new: Any) -> Any:
    """A copy with another value at a pointer; without it where the new one is ``...``."""
    made = copy.deepcopy(value)
    *steps, last = pointer[1:].split("/")
    node = made
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node[step]
    key: Any = int(last) if isinstance(node, list) else last
    if new is ...:
        del node[key]
    elif isinstance(node, list) and key == len(node):
        node.append(new)
    else:
        node[key] = new
    return made


def messages(wire: Wire, *groups: list[Json], tools: tuple[Tool, ...] = (TOOL,), **more: Any) -> Json:
    return wire.request([wire.user(), *(each for group in groups for each in group)], tools, **more)


def with_schema(schema: Any) -> Callable[[Wire], Json]:
    return lambda wire: messages(wire, wire.turn(), wire.results(), tools=(Tool("weather", schema),))


def with_property(schema: Any) -> Callable[[Wire], Json]:
    return with_schema({"type": "object", "properties": {"city": schema}})


def _with_ids(write: Callable[[Wire], Json]) -> Callable[[Wire], Json | None]:
    return lambda wire: write(wire) if wire.has_ids else None


def _by_wire(**pointers: tuple[str, Any]) -> Callable[[Wire], Json | None]:
    """A healthy request with one value changed, at another pointer on each wire."""

    def write(wire: Wire) -> Json | None:
        place = pointers.get(
            wire.name.partition("-")[2] if wire.name.startswith("openai") else wire.name.partition("-")[0]
        )
        return edited(wire.whole(), *place) if place else None

    return write


THINKING: Mapping[str, Json] = {
    "anthropic-messages": {"type": "thinking", "thinking": "I look.", "signature": "EqQB" + "A" * 200},
    "bedrock-converse": {"reasoningContent": {"reasoningText": {"text": "I look.", "signature": "EqQB" + "A" * 200}}},
}


def _last_of(wire: Wire, body: Json, number: int = 1) -> Json:
    found: Json = body[wire.list_key][number]
    return found


def _user_between(wire: Wire) -> Json:
    return messages(wire, wire.turn(), [wire.user("Wait.")], wire.results())


def _text_before_result(wire: Wire) -> Json | None:
    body = wire.whole()
    parts = {"anthropic-messages": "content", "gemini": "parts", "bedrock-converse": "content"}.get(wire.name)
    if parts is None:
        return None
    text = {"anthropic-messages": {"type": "text", "text": "so"}}.get(wire.name, {"text": "so"})
    body[wire.list_key][2][parts].insert(0, text)
    return body


def _foreign_role(wire: Wire) -> Json:
    body = wire.whole()
    if wire.name == "openai-responses":
        body["input"][2] = {"role": "tool", "tool_call_id": CALL.id, "content": "cold"}
    elif wire.name == "gemini-interactions":
        body["input"][2] = {"role": "user", "content": [{"type": "text", "text": "cold"}]}
    elif wire.name in ("openai-chat", "ollama", "cohere-v2"):
        body["messages"][2] = {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": CALL.id, "content": "x"}],
        }
    elif wire.name == "gemini":
        body["contents"][2]["role"] = "tool"
        body["contents"][2] = {"role": "model", "parts": body["contents"][2]["parts"]}
    else:
        body["messages"][2]["role"] = "assistant"
    return body


def _empty_turn(wire: Wire) -> Json:
    body = messages(wire, wire.turn((), "I see."), [wire.user("And?")])
    place = {
        "anthropic-messages": ("/messages/1/content", [{"type": "text", "text": ""}]),
        "bedrock-converse": ("/messages/1/content", [{"text": ""}]),
        "gemini": ("/contents/1/parts", []),
        "openai-responses": ("/input/1/content", None),
        "cohere-v2": ("/messages/1/content", []),
        "gemini-interactions": ("/input/1/content", []),
    }.get(wire.name, ("/messages/1/content", None))
    return edited(body, *place)


def _loop(wire: Wire) -> Json:
    turns = [m for n in range(5) for m in (*wire.turn((_numbered(n),)), *wire.results((_failed(n),)))]
    return wire.request([wire.user(), *turns])


def _numbered(number: int) -> Call:
    return Call(f"call_aaaaaaa{number}", "weather", {"city": "Oslo"})


def _failed(number: int) -> Result:
    return Result(f"call_aaaaaaa{number}", "weather", "Error: no such city")


def _pay(number: int) -> Call:
    return Call(f"call_aaaaaaa{number}", "send_payment", {"city": "Oslo"})


def _twice(wire: Wire) -> Json:
    results = [Result(f"call_aaaaaaa{n}", "send_payment", "Error: timed out") for n in (1, 2)]
    turns = [*wire.turn((_pay(1),)), *wire.results((results[0],)), *wire.turn((_pay(2),)), *wire.results((results[1],))]
    return wire.request([wire.user(), *turns], (Tool("send_payment"),))


def _named_choice(wire: Wire) -> Json | None:
    body = wire.whole()
    choice: Any = {
        "anthropic-messages": ("tool_choice", {"type": "required"}),
        "openai-chat": ("tool_choice", {"type": "any"}),
        "openai-responses": ("tool_choice", {"type": "any"}),
        "gemini": ("toolConfig", {"functionCallingConfig": {"mode": "REQUIRED"}}),
        "cohere-v2": ("tool_choice", "any"),
        "gemini-interactions": ("generation_config", {"tool_choice": "required"}),
        "bedrock-converse": ("toolConfig", {**body.get("toolConfig", {}), "toolChoice": {"none": {}}}),
    }.get(wire.name)
    return {**body, choice[0]: choice[1]} if choice else None


def _choice_alone(wire: Wire) -> Json | None:
    body = wire.request([wire.user()], ())
    choice: Any = {
        "anthropic-messages": ("tool_choice", {"type": "any"}),
        "openai-chat": ("tool_choice", "required"),
        "openai-responses": ("tool_choice", "required"),
        "gemini": ("toolConfig", {"functionCallingConfig": {"mode": "ANY"}}),
        "cohere-v2": ("tool_choice", "REQUIRED"),
        "gemini-interactions": ("generation_config", {"tool_choice": "any"}),
    }.get(wire.name)
    return {**body, choice[0]: choice[1]} if choice else None


def _unknown_key(wire: Wire) -> Json:
    place = {
        "anthropic-messages": "/messages/1/content/0/index",
        "openai-chat": "/messages/1/tool_calls/0/index",
        "openai-responses": "/input/1/index",
        "gemini": "/contents/1/parts/0/functionCall/index",
        "ollama": "/optons",
        "cohere-v2": "/messages/1/tool_calls/0/index",
        "gemini-interactions": "/input/1/index",
        "bedrock-converse": "/messages/1/content/0/toolUse/index",
    }[wire.name]
    return edited(wire.whole(), place, 0)


def _wrong_value(wire: Wire) -> Json | None:
    place = {
        "anthropic-messages": "/temperature",
        "openai-chat": "/temperature",
        "openai-responses": "/temperature",
        "gemini": "/generationConfig",
        "cohere-v2": "/temperature",
        "gemini-interactions": "/generation_config",
        "bedrock-converse": "/inferenceConfig",
        "ollama": "/options",
    }[wire.name]
    return edited(wire.whole(), place, "warm")


def _lost_reasoning(wire: Wire) -> Json | None:
    body = wire.whole()
    if wire.name == "anthropic-messages":
        return {**body, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    if wire.name == "bedrock-converse":
        return {**body, "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2000}}}
    return None


def _reasoning_last(wire: Wire) -> Json | None:
    block, body = THINKING.get(wire.name), _lost_reasoning(wire)
    if block is None or body is None:
        return None
    body["messages"][1]["content"].append(block)
    return body


def _reasoning_as_call(wire: Wire) -> Json | None:
    """Reasoning in an object that has no place for it."""
    place = {
        "anthropic-messages": ("/messages/1/reasoning_content", "I look."),
        "openai-chat": ("/messages/0/reasoning_content", "I look."),
        "openai-responses": ("/input/1/reasoning_content", "I look."),
        "gemini": ("/contents/1/reasoning_content", "I look."),
        "cohere-v2": ("/messages/0/reasoning_content", "I look."),
        "gemini-interactions": ("/input/1/reasoning_content", "I look."),
        "ollama": ("/messages/0/thinking", "I look."),
        "bedrock-converse": ("/messages/1/reasoning_content", "I look."),
    }[wire.name]
    return edited(wire.whole(), *place)


def _shape(wire: Wire) -> Json:
    place = {
        "anthropic-messages": ("/messages/0/content", {"text": "hi"}),
        "openai-chat": ("/messages/0/content", {"text": "hi"}),
        "openai-responses": ("/input/0/content", {"text": "hi"}),
        "gemini": ("/contents/0/parts", "hi"),
        "cohere-v2": ("/messages/0/content", {"text": "hi"}),
        "gemini-interactions": ("/input/0/content", 5),
        "ollama": ("/messages/0/content", {"text": "hi"}),
        "bedrock-converse": ("/messages/0/content", "hi"),
    }[wire.name]
    return edited(wire.whole(), *place)


def _foreign_part(wire: Wire) -> Json:
    place = {
        "anthropic-messages": ("/messages/0/content", [{"type": "input_text", "text": "hi"}]),
        "openai-chat": ("/messages/0/content", [{"type": "input_text", "text": "hi"}]),
        "openai-responses": ("/input/0/content", [{"type": "text", "text": "hi"}]),
        "gemini": ("/contents/0/parts", [{"type": "text", "text": "hi"}]),
        "cohere-v2": ("/messages/0/content", [{"type": "input_text", "text": "hi"}]),
        "gemini-interactions": ("/input/0/content", [{"type": "input_text", "text": "hi"}]),
        "ollama": ("/messages/0/content", [{"type": "input_text", "text": "hi"}]),
        "bedrock-converse": ("/messages/0/content", [{"type": "text", "text": "hi"}]),
    }[wire.name]
    return edited(wire.whole(), *place)


def _nameless(wire: Wire) -> Json:
    place = {
        "anthropic-messages": "/tools/0/name",
        "openai-chat": "/tools/0/function/name",
        "openai-responses": "/tools/0/name",
        "gemini": "/tools/0/functionDeclarations/0/name",
        "cohere-v2": "/tools/0/function/name",
        "gemini-interactions": "/tools/0/name",
        "ollama": "/tools/0/function/name",
        "bedrock-converse": "/toolConfig/tools/0/toolSpec/name",
    }[wire.name]
    return edited(wire.whole(), place, ...)


def _foreign_tool(wire: Wire) -> Json:
    flat = {"name": "weather", "description": "Weather.", "parameters": SCHEMA}
    nested = {"type": "function", "function": flat}
    anthropic = {"name": "weather", "input_schema": SCHEMA}
    place = {
        "anthropic-messages": ("/tools/0", nested),
        "openai-chat": ("/tools/0", anthropic),
        "openai-responses": ("/tools/0", nested),
        "gemini": ("/tools/0", nested),
        "cohere-v2": ("/tools/0", anthropic),
        "gemini-interactions": ("/tools/0", nested),
        "ollama": ("/tools/0", anthropic),
        "bedrock-converse": ("/toolConfig/tools/0", nested),
    }[wire.name]
    return edited(wire.whole(), *place)


def _not_object(wire: Wire) -> Json:
    new = {"city": "Oslo"} if wire.container == "string" else '{"city": "Oslo"}'
    place = {
        "anthropic-messages": "/messages/1/content/0/input",
        "openai-chat": "/messages/1/tool_calls/0/function/arguments",
        "openai-responses": "/input/1/arguments",
        "gemini": "/contents/1/parts/0/functionCall/args",
        "cohere-v2": "/messages/1/tool_calls/0/function/arguments",
        "gemini-interactions": "/input/1/arguments",
        "ollama": "/messages/1/tool_calls/0/function/arguments",
        "bedrock-converse": "/messages/1/content/0/toolUse/input",
    }[wire.name]
    return edited(wire.whole(), place, new)


def _secret(wire: Wire) -> Json:
    return messages(
        wire, wire.turn(), wire.results((Result(text="key AKIAIOSFODNN7EXAMPLE sk-ant-api03-" + "b7Q" * 31 + "AA"),))
    )


Request = Callable[[Wire], "Json | None"]

REQUESTS: Mapping[str, Request] = {
    "closure.missing-result": lambda w: messages(w, w.turn(), [w.user("And?")]),
    "closure.orphan-result": lambda w: messages(w, w.turn((), "I see."), w.results()),
    "closure.duplicate-id": _with_ids(lambda w: messages(w, w.turn((CALL, OTHER._replace(id=CALL.id))), w.results())),
    "closure.duplicate-result": lambda w: messages(w, w.turn(), w.results((RESULT, RESULT))),
    "closure.id-mismatch": lambda w: messages(w, w.turn(), w.results((Result("call_zzzzzzz9", "climate"),))),
    "closure.id-format": _with_ids(lambda w: messages(w, w.turn((CALL._replace(id=""),)), w.results((Result(""),)))),
    "closure.not-adjacent": _user_between,
    "closure.result-not-first": _text_before_result,
    "closure.wrong-role": _foreign_role,
    "args.not-object": _not_object,
    "args.encoding": lambda w: messages(w, w.turn(), w.results((Result(text="cold \ud83d"),))),
    "choice.unsupported": _named_choice,
    "choice.without-tools": _choice_alone,
    "content.empty": _empty_turn,
    "content.shape": _shape,
    "content.shape (part of another wire)": _foreign_part,
    "gateway.unknown-field": _unknown_key,
    "params.unsupported": _wrong_value,
    "reasoning.missing": _lost_reasoning,
    "reasoning.order": _reasoning_last,
    "reasoning.misplaced": _reasoning_as_call,
    "retry.loop": _loop,
    "retry.duplicate-side-effect": _twice,
    "schema.malformed": with_property("a text"),
    "schema.malformed (list of properties)": with_schema({"type": "object", "properties": [{"name": "city"}]}),
    "schema.malformed (required is a text)": with_schema({**SCHEMA, "required": "city"}),
    "schema.malformed (root)": with_schema({"type": "array", "items": {"type": "string"}}),
    "schema.malformed (type)": with_property({"type": "text"}),
    "schema.malformed (enum)": with_property({"type": "string", "enum": "Oslo"}),
    "schema.malformed (no name)": _nameless,
    "schema.malformed (other wire)": _foreign_tool,
    "schema.duplicate-name": lambda w: messages(w, w.turn(), w.results(), tools=(TOOL, TOOL)),
    "schema.name": lambda w: messages(w, [], tools=(Tool("the weather now"),)),
    "schema.items-missing": with_property({"type": "array"}),
    "schema.ref": with_property({"$ref": "#/$defs/Nowhere"}),
    "schema.too-many-tools": lambda w: messages(w, [], tools=tuple(Tool(f"t{n}") for n in range(1200))),
    "schema.tools-missing": lambda w: messages(w, w.turn(), w.results(), tools=()),
    "secret.in-body": _secret,
}
"""Rule (and which of its faults) → a request with it; None for a wire that cannot have it."""


def _with_text(arguments: str, stop: str = "") -> Callable[[Wire], Said | None]:
    """A call whose arguments are a text, on the wires that have such texts at least in streams."""
    said = Said((CALL._replace(arguments=arguments),), stop=stop)
    return lambda wire: (said if not stop else said._replace(stop=wire.cut)) if wire.streams_text else None


ANSWERS: Mapping[str, Callable[[Wire], Said | None]] = {
    "args.double-encoded": _with_text(json.dumps(json.dumps({"city": "Oslo"}))),
    "args.invalid-json": _with_text('{"city": Oslo}'),
    "args.truncated": _with_text('{"city": "Os', "length"),
    "args.empty": _with_text(""),
    "args.schema": lambda w: Said((CALL._replace(arguments={"city": 5}),)),
    "call.unknown-tool": lambda w: Said((CALL._replace(name="climate"),)),
    "text.unparsed-call": lambda w: Said((), FOREIGN_TEXT),
    "text.malformed-call": lambda w: Said((), FOREIGN_TEXT.replace('{"city": "Oslo"}}', '{"city": "Os')),
    "text.special-token": lambda w: Said((), "It is cold.<|im_end|>"),
    "text.unclosed-tag": lambda w: Said((), "<think>I have to look this up. It is cold."),
    "text.phantom-call": lambda w: Said((CALL,), "Write it like this:\n```xml\n"),
    "content.empty": lambda w: Said((), ""),
    "content.made-up-result": lambda w: Said((), "<tool_response>\ncold\n</tool_response>\nIt is cold."),
}
"""Rule → an answer with it, whole and as a stream."""
