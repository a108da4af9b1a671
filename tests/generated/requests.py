"""Faults of what is sent: tools and their schemas, keys, calls and results."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from tests.generated import Dice, Fault, Scene
from tests.generated.places import ARGUMENTS, CALL, FUNCTION, RESULT, SCHEMA, TOOL, TURN, USER, put
from tests.siblings.wires import Json, Tool, Wire

SCHEMA_RULES = ("schema.malformed", "schema.missing-parameters", "schema.ref")
UNKNOWN = ("gateway.unknown-field",)


def schemas(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Schemas that are none, at the root and below."""
    for _ in range(14):
        scene = Scene.of(dice)
        at, new, note = _broken_schema(scene.tool, dice)
        body = put(scene.whole(wire, dice), SCHEMA[wire.name] + at, new)
        yield Fault("1 schema", wire, body, SCHEMA_RULES, place=SCHEMA[wire.name] + at, note=note)


def _broken_schema(tool: Tool, dice: Dice) -> tuple[str, Any, str]:
    properties = tool.schema["properties"]
    name = next(iter(properties))
    inner = {"type": "object", "properties": {dice.key(): {"type": "string"}}}
    return dice.choice(
        (
            ("/properties", [{"name": key, **each} for key, each in properties.items()], "properties is a list"),
            ("/properties", dice.sentence(), "properties is a text"),
            ("/required", name, "required is a text"),
            ("/required", {name: True}, "required is an object"),
            ("/required", [1, 2], "required holds numbers"),
            (f"/properties/{name}", dice.sentence(), "a property is a text"),
            (f"/properties/{name}", ["string", "null"], "a property is a list"),
            (
                f"/properties/{name}/type",
                dice.choice(("str", "text", "int", "float", "list", "date", "any", "dict")),
                "type",
            ),
            (f"/properties/{name}/type", 5, "type is a number"),
            (f"/properties/{name}/enum", dice.word(), "enum is a text"),
            (f"/properties/{name}/enum", {"a": 1}, "enum is an object"),
            (f"/properties/{name}", {**inner, "properties": [dice.key()]}, "inner properties is a list"),
            (f"/properties/{name}", {**inner, "required": "yes"}, "inner required is a text"),
            (f"/properties/{name}", {"type": "array", "items": dice.word()}, "items is a text"),
            (f"/properties/{name}/description", {"en": dice.sentence()}, "a description is an object"),
            ("/type", "array", "the root is an array"),
            ("/type", "Object", "an unknown root"),
        )
    )


def declarations(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Tools in another form than the wire has."""
    rules = (*SCHEMA_RULES, "gateway.unknown-field", "schema.tool-type", "schema.name")
    for make in dice.some((_foreign_form, _nameless, _off_level, _renamed, _not_an_object) * 4, 14):
        scene = Scene.of(dice)
        body = make(wire, dice, scene)
        if body is not None:
            at = {"bedrock-converse": "/toolConfig/tools/0", "gemini": "/tools/0"}.get(wire.name, TOOL[wire.name])
            yield Fault("2 declaration", wire, body, rules, place=at, note=make.__name__)


def _foreign_form(wire: Wire, dice: Dice, scene: Scene) -> Json | None:
    tool = scene.tool
    flat = {"name": tool.name, "description": dice.sentence()}
    forms: list[Json] = [
        {"type": "function", "function": {**flat, "parameters": tool.schema}},
        {"type": "function", **flat, "parameters": tool.schema},
        {**flat, "input_schema": tool.schema},
        {**flat, "inputSchema": tool.schema},
        {"toolSpec": {**flat, "inputSchema": {"json": tool.schema}}},
        {"functionDeclarations": [{**flat, "parameters": tool.schema}]},
    ]
    at = TOOL[wire.name] if wire.name != "bedrock-converse" else "/toolConfig/tools/0"
    own = {
        "anthropic-messages": (2,), "openai-chat": (0,), "openai-responses": (1,), "gemini": (5,), "ollama": (0,),
        "bedrock-converse": (4,), "cohere-v2": (0,), "gemini-interactions": (1,),
    }[wire.name]  # fmt: skip
    if wire.name == "gemini":
        at = "/tools/0"
    return put(scene.whole(wire, dice), at, forms[dice.choice([n for n in range(len(forms)) if n not in own])])


def _nameless(wire: Wire, dice: Dice, scene: Scene) -> Json | None:
    return put(
        scene.whole(wire, dice), f"{FUNCTION[wire.name]}/name", dice.choice((..., None, "", 7, [scene.tool.name]))
    )


def _off_level(wire: Wire, dice: Dice, scene: Scene) -> Json | None:
    """The properties stand where the schema should."""
    return put(scene.whole(wire, dice), SCHEMA[wire.name], scene.tool.schema["properties"])


def _renamed(wire: Wire, dice: Dice, scene: Scene) -> Json | None:
    body = put(scene.whole(wire, dice), SCHEMA[wire.name], ...)
    holder, _, key = SCHEMA[wire.name].rpartition("/")
    names = [n for n in ("parameters", "input_schema", "inputSchema", "schema", "params", "parameter") if n != key]
    return put(body, f"{holder}/{dice.choice(names)}", scene.tool.schema)


def _not_an_object(wire: Wire, dice: Dice, scene: Scene) -> Json | None:
    at = TOOL[wire.name] if wire.name != "bedrock-converse" else "/toolConfig/tools/0"
    return put(scene.whole(wire, dice), at, dice.choice((scene.tool.name, None, [scene.tool.name], 3)))


def unknown_keys(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A key that nobody knows, in an object below the top."""
    if wire.name in ("ollama",):
        return  # a Go server passes over keys that it does not know
    objects = {"tool": TOOL, "function": FUNCTION, "call": CALL, "result": RESULT, "turn": TURN, "user": USER}
    for _ in range(12):
        scene = Scene.of(dice)
        kind = dice.choice(sorted(objects))
        key = f"{dice.choice(('x_', '', 'my_', '_'))}{dice.key()}{dice.choice(('', '_id', '_at'))}"
        at = f"{objects[kind][wire.name]}/{key}"
        value = dice.choice((0, dice.word(), None, {"a": 1}, [1], True))
        body = put(scene.whole(wire, dice), at, value if value is not None else "x")
        yield Fault("4 unknown field", wire, body, UNKNOWN, place=at, note=kind)


_REASONING_KEYS = (
    *("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks"),
    *("thought", "reasoning_text"),
)


def misplaced(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Reasoning in an object that has no place for it."""
    rules = ("reasoning.misplaced", "gateway.unknown-field")
    for _ in range(10):
        scene = Scene.of(dice)
        kind, table = dice.choice((("call", CALL), ("result", RESULT), ("user", USER)))
        key = dice.choice(_REASONING_KEYS[:5] if wire.name == "ollama" else _REASONING_KEYS)
        place = f"{table[wire.name]}/{key}"
        value: Any = (
            [{"type": "reasoning.text", "text": dice.sentence()}] if key == "reasoning_details" else dice.sentence()
        )
        body = put(scene.whole(wire, dice), place, value)
        yield Fault("9 misplaced reasoning", wire, body, rules, place=place, note=f"{key} in {kind}")


def containers(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Arguments of a history in another container than the wire has, or wrapped."""
    rules = (
        "args.not-object",
        "args.invalid-json",
        "args.double-encoded",
        "args.empty",
        "content.shape",
        "args.schema",
    )
    for _ in range(10):
        scene = Scene.of(dice)
        value = scene.call.arguments
        text = json.dumps(value)
        if wire.container == "string":
            new = dice.choice((value, [value], [text], 5, True))
        else:
            new = dice.choice((text, [value], [text], 5, "", "null"))
        body = put(scene.whole(wire, dice), ARGUMENTS[wire.name], new)
        yield Fault("args container", wire, body, rules, place=ARGUMENTS[wire.name], note=repr(new)[:30])


def shapes(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Content of a wrong type, or a part of another wire."""
    rules = ("content.shape", "content.unsupported-part", "gateway.unknown-field", "content.empty")
    content = "parts" if wire.name == "gemini" else "content"
    for _ in range(10):
        scene = Scene.of(dice)
        text = dice.sentence()
        parts = [
            {"type": "input_text", "text": text}, {"type": "output_text", "text": text}, {"type": "text", "text": text},
            {"text": text}, {"type": "text", "content": text}, {"type": "message", "text": text},
        ]  # fmt: skip
        own = {
            "anthropic-messages": (2,), "openai-chat": (2,), "openai-responses": (0,), "gemini": (3,),
            "bedrock-converse": (3,), "cohere-v2": (2,), "gemini-interactions": (2,), "ollama": (),
        }[wire.name]  # fmt: skip
        wrong = [part for n, part in enumerate(parts) if n not in own]
        values = [[dice.choice(wrong)], [dice.choice(wrong)], 5, [[text]], True]
        if wire.name != "gemini":
            values.append({"text": text})  # JSON of protocol buffers takes one value in place of a list
        new = dice.choice(values)
        body = put(scene.whole(wire, dice), f"{USER[wire.name]}/{content}", new)
        yield Fault("content shape", wire, body, rules, place=f"{USER[wire.name]}/{content}", note=repr(new)[:40])


def closures(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Calls and results that do not fit."""
    for make in (_missing, _orphan, _second_result, _other_id, _same_ids, _one_of_two, _empty_id) * 2:
        made = make(wire, dice)
        if made is not None:
            body, rules = made
            yield Fault("closure", wire, body, rules, note=make.__name__)


def _pair(dice: Dice) -> tuple[Scene, Any]:
    scene = Scene.of(dice)
    return scene, dice.call(scene.tool)


def _missing(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]]:
    scene = Scene.of(dice)
    said = [wire.user(dice.sentence()), *wire.turn((scene.call,)), wire.user(dice.sentence())]
    return wire.request(said, (scene.tool,)), ("closure.missing-result",)


def _orphan(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]]:
    scene = Scene.of(dice)
    said = [wire.user(dice.sentence()), *wire.turn((), dice.sentence()), *wire.results((scene.result,))]
    return wire.request(said, (scene.tool,)), ("closure.orphan-result", "closure.id-mismatch")


def _second_result(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]]:
    scene = Scene.of(dice)
    results = wire.results((scene.result, scene.result._replace(text=dice.sentence())))
    said = [wire.user(dice.sentence()), *wire.turn((scene.call,)), *results]
    return wire.request(said, (scene.tool,)), ("closure.duplicate-result", "closure.orphan-result")


def _other_id(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]]:
    scene = Scene.of(dice)
    name = scene.result.name if wire.has_ids else f"other_{dice.key()}"
    result = scene.result._replace(id=dice.identifier(), name=name)
    said = [wire.user(dice.sentence()), *wire.turn((scene.call,)), *wire.results((result,))]
    return wire.request(said, (scene.tool,)), ("closure.id-mismatch", "closure.orphan-result", "closure.missing-result")


def _same_ids(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]] | None:
    if not wire.has_ids:
        return None
    scene, other = _pair(dice)
    twice = (scene.call, other._replace(id=scene.call.id))
    said = [wire.user(dice.sentence()), *wire.turn(twice), *wire.results((scene.result, scene.result))]
    return wire.request(said, (scene.tool,)), ("closure.duplicate-id", "closure.duplicate-result")


def _one_of_two(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]]:
    scene, other = _pair(dice)
    said = [wire.user(dice.sentence()), *wire.turn((scene.call, other)), *wire.results((scene.result,))]
    return wire.request(said, (scene.tool,)), ("closure.missing-result",)


def _empty_id(wire: Wire, dice: Dice) -> tuple[Json, tuple[str, ...]] | None:
    if not wire.has_ids:
        return None
    scene = Scene.of(dice)
    said = [wire.user("?"), *wire.turn((scene.call._replace(id=""),)), *wire.results((scene.result._replace(id=""),))]
    return wire.request(said, (scene.tool,)), ("closure.id-format", "closure.id-mismatch")


def doubles(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """One call in a message twice, or once more in the form of another wire."""
    rules = ("closure.", "gateway.unknown-field", "content.shape", "text.unparsed-call", "content.unsupported-part")
    for _ in range(10):
        scene = Scene.of(dice)
        body = scene.whole(wire, dice)
        made = copy.deepcopy(body)
        use = {"type": "tool_use", "id": scene.call.id, "name": scene.call.name, "input": scene.call.arguments}
        chat = {"id": scene.call.id, "type": "function",
                "function": {"name": scene.call.name, "arguments": json.dumps(scene.call.arguments)}}  # fmt: skip
        gemini = {"functionCall": {"name": scene.call.name, "args": scene.call.arguments}}
        note = dice.choice(("twice", "tool_calls", "tool_use", "functionCall"))
        if wire.name in ("openai-responses", "gemini-interactions"):
            foreign = {"tool_calls": chat, "tool_use": use, "functionCall": gemini}
            extra = made["input"][1] if note == "twice" else foreign[note]
            made["input"].insert(2, copy.deepcopy(extra))
        else:
            turn = made[wire.list_key][1]
            held = turn.get("parts" if wire.name == "gemini" else "content")
            if note == "twice":
                if wire.name in ("ollama", "gemini"):
                    continue  # equal calls without ids may be two
                calls = turn.get("tool_calls") or held
                calls.append(copy.deepcopy(calls[0]))
            elif note == "tool_calls":
                if "tool_calls" in turn:
                    continue
                turn["tool_calls"] = [chat]
            else:
                part = use if note == "tool_use" else gemini
                if (note == "tool_use" and wire.name == "anthropic-messages") or (
                    note == "functionCall" and wire.name == "gemini"
                ):
                    continue
                if isinstance(held, list):
                    held.append(part)
                else:
                    turn["content"] = [part]
        yield Fault("11 call twice", wire, made, rules, note=note)


def root_keywords(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Keywords that have no place at the root of a tool's schema."""
    if wire.name not in ("anthropic-messages", "openai-chat", "openai-responses", "bedrock-converse", "gemini"):
        return  # nothing is known of the others
    rules = ("schema.unsupported-keyword", "schema.malformed", "schema.strict")
    for _ in range(3):
        scene = Scene.of(dice)
        keyword = dice.choice(("oneOf", "anyOf", "allOf"))
        names = list(scene.tool.schema["properties"])
        choices = [{"required": [name]} for name in names] or [{}]
        place = f"{SCHEMA[wire.name]}/{keyword}"
        yield Fault(
            "21 root keyword", wire, put(scene.whole(wire, dice), place, choices), rules, place=place, note=keyword
        )


MAKERS = (schemas, declarations, unknown_keys, misplaced, containers, shapes, closures, doubles, root_keywords)
