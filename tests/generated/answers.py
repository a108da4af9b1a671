"""Faults of answers and streams: what is no answer, what breaks off, what does not join."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.generated import Dice, Fault, Scene
from tests.siblings.further_wires import ALL
from tests.siblings.wires import Json, Wire

NO_ANSWER = ("answer.", "gateway.altered-shape", "content.empty", "stream.", "recording.refused")
PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><form action='/login'></form></body></html>"


def envelopes(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Answers in an envelope, of another wire, or none at all."""
    for _ in range(12):
        scene = Scene.of(dice)
        whole = wire.answer((), dice.sentence()) if dice.random() < 0.5 else wire.answer((scene.call,))
        answer, note = _wrapped(wire, whole, dice)
        yield Fault("5 no answer", wire, scene.asked(wire, dice), NO_ANSWER, answer, note=note)


def _wrapped(wire: Wire, whole: Json, dice: Dice) -> tuple[Any, str]:
    key = dice.choice(("data", "response", "result", "body", "payload", "completion", "output_data", dice.key()))
    others = [w for w in ALL if w.name != wire.name and (w.name, wire.name) not in _ALIKE]
    events = wire.events((), dice.sentence())
    return dice.choice(
        (
            ({key: whole}, f"in {key}"),
            ({"code": 0, "msg": "ok", key: whole}, "in an envelope with a code"),
            ({"success": True, key: whole}, "in an envelope with success"),
            ([whole], "in a list"),
            ({key: json.dumps(whole)}, "as text in an envelope"),
            ({}, "empty object"),
            ({"code": 500, "msg": dice.sentence()}, "code and message"),
            ({"error": None, "status": "ok"}, "a status alone"),
            ({"detail": dice.sentence()}, "a detail"),
            (PAGE, "page"),
            (b"", "nothing"),
            (b"null", "null"),
            (json.dumps(json.dumps(whole)).encode(), "encoded twice"),
            (dice.choice(others).answer((), "It is cold."), "of another wire"),
            (
                wire.stream([{key: event} for event in events]) if wire.name != "bedrock-converse" else {},
                "wrapped events",
            ),
            (_without_core(wire, whole), "without what it is made of"),
            (_with_null(wire, whole), "null in place of what it is made of"),
        )
    )


_ALIKE = {("cohere-v2", "ollama"), ("ollama", "cohere-v2")}
_CORE = {
    "anthropic-messages": "content", "openai-chat": "choices", "openai-responses": "output", "gemini": "candidates",
    "ollama": "message", "bedrock-converse": "output", "cohere-v2": "message", "gemini-interactions": "steps",
}  # fmt: skip


def _without_core(wire: Wire, whole: Json) -> Json:
    return {key: value for key, value in whole.items() if key != _CORE[wire.name]}


def _with_null(wire: Wire, whole: Json) -> Json:
    return whole | {_CORE[wire.name]: None}


def required(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A required key of an answer is missing one level below the top."""
    rules = (*NO_ANSWER, "call.", "closure.", "content.", "args.")
    for _ in range(4):
        scene = Scene.of(dice)
        whole = copy.deepcopy(wire.answer((scene.call,)))
        if wire.name == "openai-chat":
            del whole["choices"][0]["message"]
        elif wire.name == "openai-responses":
            del whole["output"][0][dice.choice(("name", "call_id", "arguments"))]
        elif wire.name == "anthropic-messages":
            del whole["content"][0][dice.choice(("name", "id", "type"))]
        elif wire.name == "gemini":
            del whole["candidates"][0]["content"]["parts"][0]["functionCall"]["name"]
        elif wire.name == "bedrock-converse":
            use = whole["output"]["message"]["content"][0]["toolUse"]
            del use[dice.choice(("name", "toolUseId"))]
        elif wire.name == "ollama" or wire.name == "cohere-v2":
            del whole["message"]["tool_calls"][0]["function"]["name"]
        else:
            del whole["steps"][0][dice.choice(("name", "id"))]
        yield Fault("required key", wire, scene.asked(wire, dice), rules, whole, note="")


def arguments(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Calls whose arguments are wrong: not JSON, cut, of the wrong type, of no such tool, wrapped in a list."""
    rules = ("args.", "call.unknown-tool", "text.malformed-call", "stream.finish-reason")
    for n in range(14):
        scene = Scene.of(dice)
        value = scene.call.arguments
        text = json.dumps(value, ensure_ascii=False)
        first = next(iter(value))
        note = dice.choice(("missing", "type", "extra", "name", "list", "list of text", "null", "text"))
        texts = ("cut", "syntax", "double", "python", "trailing", "two objects", "fence", "wrapped text", "empty")
        if wire.streams_text and n % 2:
            note = dice.choice(texts)
        schema = copy.deepcopy(scene.tool.schema) | {"additionalProperties": False}
        made: Any = {
            "missing": {key: each for key, each in value.items() if key != first},
            "type": value | {first: dice.choice((5, [value[first]], {"a": 1}, None))},
            "extra": value | {f"x_{dice.key()}": 1},
            "name": value, "list": [value], "list of text": [text], "null": None, "text": first,
            "cut": text[: dice.randint(2, len(text) - 2)], "syntax": text.replace(":", "=>", 1),
            "double": json.dumps(text),
            "python": repr(value | {"a": True}), "trailing": text[:-1] + ",}", "two objects": text + text,
            "fence": f"```json\n{text}\n```", "wrapped text": f"Sure: {text}", "empty": "",
        }[note]  # fmt: skip
        call = scene.call._replace(arguments=made, name=f"no_{scene.call.name}" if note == "name" else scene.call.name)
        if wire.container == "string" and not isinstance(made, str):
            call = call._replace(arguments=json.dumps(made))
        tool = type(scene.tool)(scene.tool.name, schema)
        asked = wire.request([wire.user(dice.sentence())], (tool,))
        is_stream = (isinstance(made, str) and wire.container == "object" and note in texts) or dice.random() < 0.4
        answer = wire.stream(wire.events((call,))) if is_stream else wire.answer((call,))
        yield Fault("arguments", wire, asked, rules, answer, note=f"{note}{' streamed' if is_stream else ''}")


def finishes(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """The finish reason says calls, and the arguments are cut; or it says stop, and there are calls cut short."""
    rules = ("stream.finish-reason", "args.truncated", "args.invalid-json")
    if not wire.streams_text:
        return
    for _ in range(3):
        scene = Scene.of(dice)
        text = json.dumps(scene.call.arguments)
        call = scene.call._replace(arguments=text[: dice.randint(2, len(text) - 1)])
        events = wire.events((call,))
        answer = wire.answer((call,)) if wire.container == "string" and dice.random() < 0.5 else wire.stream(events)
        yield Fault("15 finish", wire, scene.asked(wire, dice), rules, answer, note=call.arguments[-8:])


def empties(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """An answer without a word."""
    for n in range(2):
        scene = Scene.of(dice)
        answer = wire.stream(wire.events((), "")) if n else wire.answer((), "")
        yield Fault(
            "20 empty answer",
            wire,
            scene.asked(wire, dice),
            ("content.empty", "answer.", "stream."),
            answer,
            note="streamed" if n else "whole",
        )


def broken_streams(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Streams that stop, lose or repeat events, or join wrongly."""
    rules = ("stream.", "args.", "answer.", "content.empty", "call.unknown-tool")
    for _ in range(10):
        scene = Scene.of(dice)
        events = wire.events((scene.call,))
        kind = dice.choice(("stop", "lost start", "twice", "not JSON", "error"))
        if kind == "stop":
            if len(events) < 2:
                continue
            raw = wire.stream(events[: max(1, len(events) - dice.randint(1, 3))]).replace(b"data: [DONE]\n\n", b"")
        elif kind == "lost start":
            if len(events) < 3:
                continue
            raw = wire.stream(events[1:] if wire.name != "openai-chat" else [events[0], *events[2:]])
        elif kind == "twice":
            n = dice.randrange(len(events))
            if "text" in json.dumps(events[n]):
                continue  # a text may say a thing twice
            if wire.name in ("openai-chat", "gemini", "ollama", "cohere-v2") and n in (0, len(events) - 1):
                continue
            raw = wire.stream([*events[: n + 1], *events[n:]])
        elif kind == "not JSON":
            if wire.name == "bedrock-converse":
                continue
            raw = wire.stream(events)
            at = raw.index(b"{", len(raw) // 3)
            raw = raw[:at] + raw[at + 1 :]
        else:
            error = {"error": {"message": dice.sentence(), "type": "server_error", "code": 500}}
            if wire.name == "bedrock-converse":
                continue
            raw = wire.stream([*events[:1], {"type": "error", "event_type": "error", **error}])
        yield Fault("stream", wire, scene.asked(wire, dice), rules, raw, note=kind)


def joins(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Deltas that have to be guessed: names in pieces, indices twice or strange, foreign ids."""
    rules = ("stream.", "args.", "call.unknown-tool", "closure.id-format")
    for _ in range(10):
        scene = Scene.of(dice)
        events = copy.deepcopy(wire.events((scene.call,)))
        note = _disturb(wire, events, dice, scene)
        if note:
            yield Fault("14 joins", wire, scene.asked(wire, dice), rules, wire.stream(events), note=note)


def _disturb(wire: Wire, events: list[Json], dice: Dice, scene: Scene) -> str:
    if wire.name == "openai-chat":
        deltas = [c for e in events for choice in e["choices"] for c in choice["delta"].get("tool_calls", ())]
        kind = dice.choice(("name in pieces", "no index", "no id", "other id", "two in a chunk", "index of text"))
        if kind == "name in pieces":
            name = scene.call.name
            deltas[0]["function"]["name"] = name[:4]
            deltas[1]["function"]["name"] = name[4:]
        elif kind == "no index":
            for delta in deltas:
                del delta["index"]
        elif kind == "no id":
            del deltas[0]["id"]
        elif kind == "other id":
            deltas[-1]["id"] = dice.identifier()
        elif kind == "index of text":
            for delta in deltas:
                delta["index"] = "0"
        else:
            other = copy.deepcopy(deltas[0])
            other |= {"id": dice.identifier()}
            event = next(e for e in events if e["choices"][0]["delta"].get("tool_calls"))
            event["choices"][0]["delta"]["tool_calls"].append(other)
        return kind
    if wire.name == "openai-responses":
        kind = dice.choice(("foreign item", "other output", "lost done", "other arguments"))
        deltas = [e for e in events if e["type"].endswith("arguments.delta")]
        if kind == "foreign item":
            deltas[0]["item_id"] = f"fc_{dice.key()}"
        elif kind == "other output":
            deltas[0]["output_index"] = 7
        elif kind == "lost done":
            events[:] = [e for e in events if e["type"] != "response.output_item.done"]
        else:
            next(e for e in events if e["type"].endswith("arguments.done"))["arguments"] = "{}"
        return kind
    if wire.name == "anthropic-messages":
        kind = dice.choice(("foreign index", "wrong delta", "no stop", "no start"))
        deltas = [e for e in events if e["type"] == "content_block_delta"]
        if kind == "foreign index":
            deltas[0]["index"] = 5
        elif kind == "wrong delta":
            deltas[0]["delta"] = {"type": "text_delta", "text": dice.sentence()}
        elif kind == "no stop":
            events[:] = [e for e in events if e["type"] != "content_block_stop"]
        else:
            events[:] = [e for e in events if e["type"] != "content_block_start"]
        return kind
    if wire.name == "bedrock-converse":
        kind = dice.choice(("foreign index", "no stop", "no start"))
        if kind == "foreign index":
            next(e for e in events if "contentBlockDelta" in e)["contentBlockDelta"]["contentBlockIndex"] = 5
        else:
            lost = "contentBlockStop" if kind == "no stop" else "contentBlockStart"
            events[:] = [e for e in events if lost not in e]
        return kind
    if wire.name == "gemini-interactions":
        kind = dice.choice(("foreign index", "no stop", "no start", "wrong delta"))
        deltas = [e for e in events if e["event_type"] == "step.delta"]
        if kind == "foreign index":
            deltas[0]["index"] = 5
        elif kind == "wrong delta":
            deltas[0]["delta"] = {"type": "text", "text": dice.sentence()}
        else:
            events[:] = [e for e in events if e["event_type"] != ("step.stop" if kind == "no stop" else "step.start")]
        return kind
    if wire.name == "cohere-v2":
        kind = dice.choice(("foreign index", "no start", "no end"))
        deltas = [e for e in events if e["type"] == "tool-call-delta"]
        if kind == "foreign index":
            deltas[0]["index"] = 5
        else:
            events[:] = [
                e for e in events if e["type"] != ("tool-call-start" if kind == "no start" else "tool-call-end")
            ]
        return kind
    return ""


MAKERS = (envelopes, required, arguments, finishes, empties, broken_streams, joins)
