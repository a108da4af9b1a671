"""What can go from a request, and what has to go with it: each unit is a set of changes that are made together.

A call goes with its result and with the reasoning that came with it, a property of a schema with its mention among the
required ones: so no new break covers the old one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.ir import JsonValue, Reasoning, ToolCallIR
from workbench.leaves import escape
from workbench.trials.minimize.bench import Judged
from workbench.wire.jsontext import dumps
from workbench.wire.patch import Change, Remove, Replace

Unit: TypeAlias = tuple[Change, ...]
Lister: TypeAlias = Callable[[Judged], list[Unit]]

KEPT_WHOLE = ("type", "role", "id", "name", "model", "object", "format", "media_type")
"""Members whose text is a name: shortening it makes another one of it."""


FRAME = frozenset(
    (
        "type",
        "role",
        "id",
        "name",
        "call_id",
        "callId",
        "tool_use_id",
        "tool_call_id",
        "toolUseId",
        "toolCallId",
        "function",
        "functionCall",
        "function_call",
        "functionResponse",
        "function_response",
        "toolUse",
        "toolResult",
        "arguments",
        "input",
        "args",
        "response",
        "output",
        "content",
        "parts",
        "text",
        "thinking",
        "signature",
        "data",
        "summary",
        "encrypted_content",
        "reasoningContent",
        "reasoningText",
        "json",
        "tool_name",
    )
)
"""Members without which a message, a part or a tool is malformed: they stay as long as that does."""

FREE = frozenset(
    (
        "input",
        "args",
        "arguments",
        "response",
        "parameters",
        "input_schema",
        "inputSchema",
        "schema",
        "parametersJsonSchema",
        "parameters_json_schema",
    )
)
"""Members that hold values of anybody's making: arguments, results, schemas."""


def turns(judged: Judged) -> list[Unit]:
    """What the user said, with everything up to the next time the user speaks."""
    return _removed(judged, _turns(judged))


def rounds(judged: Judged) -> list[Unit]:
    """Messages, each with the answers to its calls and the reasoning in front of it."""
    return _removed(judged, groups(judged))


def _removed(judged: Judged, members: list[list[int]]) -> list[Unit]:
    messages = judged.decoded.messages("request")
    units = (tuple(dict.fromkeys(Remove(messages[n].pointer) for n in group)) for group in members)
    return [unit for unit in units if all(c.pointer for c in unit)]


def _turns(judged: Judged) -> list[list[int]]:
    made: list[list[int]] = []
    messages = judged.decoded.messages("request")
    for group in groups(judged):
        first = messages[group[0]]
        is_asked = first.role == "user" and not any(first.tool_results())
        if is_asked or not made:
            made.append([])
        made[-1] += group
    return made


def groups(judged: Judged) -> list[list[int]]:
    """Indices of messages that belong together by their calls; in order of the first of each."""
    messages = judged.decoded.messages("request")
    parent = list(range(len(messages)))

    def root(n: int) -> int:
        while parent[n] != n:
            n = parent[n]
        return n

    for line in judged.closure.lines:
        refs = [ref for ref in (line.call, line.stands_for, *line.results) if ref and ref.side == "request"]
        for ref in refs[1:]:
            low, high = sorted((root(refs[0].message), root(ref.message)))
            parent[high] = low
    for n, message in enumerate(messages[:-1]):
        only_reasoning = message.parts and all(isinstance(p, Reasoning) for p in message.parts)
        if only_reasoning and judged.decoded.request and judged.decoded.request.itemized:
            low, high = sorted((root(n), root(n + 1)))
            parent[high] = low
    found: defaultdict[int, list[int]] = defaultdict(list)
    for n in range(len(messages)):
        found[root(n)].append(n)
    return [found[n] for n in sorted(found)]


def pairs(judged: Judged) -> list[Unit]:
    """Calls with their results, where their messages hold more."""
    messages, made = judged.decoded.messages("request"), list[Unit]()
    for line in judged.closure.lines:
        refs = [ref for ref in (line.call, *line.results) if ref and ref.side == "request"]
        pointers = []
        for ref in refs:
            message = messages[ref.message]
            part = message.parts[ref.part]
            pointers.append(message.pointer if len(message.parts) == 1 else message.absolute(part))
        if refs:
            made.append(tuple(Remove(pointer) for pointer in dict.fromkeys(pointers)))
    return made


def tools(judged: Judged) -> list[Unit]:
    """Declared tools."""
    request = judged.decoded.request
    return [(Remove(tool.pointer),) for tool in request.tools if tool.pointer] if request else []


def properties(judged: Judged) -> list[Unit]:
    """Properties of schemas, with their mention among the required ones."""
    made = list[Unit]()
    for pointer, value in _walk("", judged.value):
        if not isinstance(value, dict) or not isinstance(value.get("properties"), dict):
            continue
        required = value.get("required")
        names = required if isinstance(required, list) else []
        for name in value["properties"]:
            mentioned = [Remove(f"{pointer}/required/{n}") for n, other in enumerate(names) if other == name]
            made.append((Remove(f"{pointer}/properties/{escape(name)}"), *mentioned))
    return made


def nodes(depth: int) -> Lister:
    """Members and elements so many levels down: parameters at 1, messages and tools at 2, parts at 4, and so on."""

    def listed(judged: Judged) -> list[Unit]:
        found = (p for p, _ in _walk("", judged.value) if p.count("/") == depth and not _is_frame(p))
        return [(Remove(pointer),) for pointer in found]

    return listed


def _is_frame(pointer: str) -> bool:
    """It belongs to the form of what it stands in, and says nothing by itself."""
    _, _, *inner = pointer.split("/")
    return bool(inner) and inner[-1] in FRAME and not FREE & set(inner[:-1])


def depth_of(judged: Judged) -> int:
    """Levels of the body."""
    return max((pointer.count("/") for pointer, _ in _walk("", judged.value)), default=0)


def arguments(judged: Judged) -> list[Unit]:
    """Argument texts of calls with less in them: with none, or without one of them."""
    made = list[Unit]()
    for message in judged.decoded.messages("request"):
        for part in message.parts:
            if isinstance(part, ToolCallIR) and part.raw and isinstance(part.input, dict) and part.input:
                pointer, held = message.absolute(part, "input"), part.input
                made.append((Replace(pointer, "{}"),))
                rest = ({k: v for k, v in held.items() if k != key} for key in held if len(held) > 1)
                made += ((Replace(pointer, dumps(less).decode()),) for less in rest)
    return made


def emptied(judged: Judged) -> list[Unit]:
    """Texts, none of whose characters stay."""
    return [(Replace(pointer, ""),) for pointer, text in texts(judged) if text]


def cut_to_one(judged: Judged) -> list[Unit]:
    """Texts, of which the first character stays."""
    return [(Replace(pointer, text[:1]),) for pointer, text in texts(judged) if len(text) > 1]


def texts(judged: Judged) -> Iterator[tuple[str, str]]:
    """(pointer, text) of everything that is said: names and ids are no texts."""
    for pointer, value in _walk("", judged.value):
        key = pointer.rpartition("/")[2]
        if isinstance(value, str) and key not in KEPT_WHOLE and not key.lower().endswith(("_id", "uuid", "callid")):
            yield pointer, value


def _walk(at: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Every value with its pointer, the outer ones first."""
    waiting = [(at, value)]
    while waiting:
        pointer, held = waiting.pop()
        if pointer:
            yield pointer, held
        if isinstance(held, dict):
            waiting += [(f"{pointer}/{escape(key)}", inner) for key, inner in reversed(held.items())]
        elif isinstance(held, list):
            waiting += [(f"{pointer}/{n}", held[n]) for n in range(len(held) - 1, -1, -1)]
