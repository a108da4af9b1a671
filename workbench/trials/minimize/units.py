"""Removable units of a request: each is a set of changes that belong together.

A call is removed with its result and its reasoning, a schema property with its entry in ``required``, so that no new
break hides the old one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.ir import JsonValue, Reasoning, ToolCallIR
from workbench.provenance import escape
from workbench.trials.minimize.failure import JudgedBody
from workbench.wire import Change, Remove, Replace, dumps

Unit: TypeAlias = tuple[Change, ...]
Lister: TypeAlias = Callable[[JudgedBody], list[Unit]]

KEPT_WHOLE = ("type", "role", "id", "name", "model", "object", "format", "media_type")
"""Members that hold names: shortening them would change their meaning."""


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
"""Members without which a message, part or tool is malformed: they stay as long as it does."""

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
"""Members with free content: arguments, results, schemas."""


def user_turns(body: JudgedBody) -> list[Unit]:
    """A user message with everything up to the next one."""
    return _removals(body, _turns(body))


def rounds(body: JudgedBody) -> list[Unit]:
    """Messages, each with the results of its calls and the reasoning before it."""
    return _removals(body, groups(body))


def _removals(body: JudgedBody, members: list[list[int]]) -> list[Unit]:
    messages = body.decoded_exchange.messages("request")
    units = (tuple(dict.fromkeys(Remove(messages[n].pointer) for n in group)) for group in members)
    return [unit for unit in units if all(c.pointer for c in unit)]


def _turns(body: JudgedBody) -> list[list[int]]:
    turn_groups: list[list[int]] = []
    messages = body.decoded_exchange.messages("request")
    for group in groups(body):
        first = messages[group[0]]
        is_asked = first.role == "user" and not any(first.tool_results())
        if is_asked or not turn_groups:
            turn_groups.append([])
        turn_groups[-1] += group
    return turn_groups


def groups(body: JudgedBody) -> list[list[int]]:
    """Indices of messages that belong together by their calls, in order of the first of each."""
    messages = body.decoded_exchange.messages("request")
    parent = list(range(len(messages)))

    def root(n: int) -> int:
        while parent[n] != n:
            n = parent[n]
        return n

    for line in body.closure.lines:
        refs = [ref for ref in (line.call, line.stands_for, *line.results) if ref and ref.side == "request"]
        for ref in refs[1:]:
            low, high = sorted((root(refs[0].message), root(ref.message)))
            parent[high] = low
    for n, message in enumerate(messages[:-1]):
        only_reasoning = message.parts and all(isinstance(p, Reasoning) for p in message.parts)
        if only_reasoning and body.decoded_exchange.request and body.decoded_exchange.request.itemized:
            low, high = sorted((root(n), root(n + 1)))
            parent[high] = low
    found: defaultdict[int, list[int]] = defaultdict(list)
    for n in range(len(messages)):
        found[root(n)].append(n)
    return [found[n] for n in sorted(found)]


def pairs(body: JudgedBody) -> list[Unit]:
    """Calls with their results, if their messages contain more."""
    messages, units = body.decoded_exchange.messages("request"), list[Unit]()
    for line in body.closure.lines:
        refs = [ref for ref in (line.call, *line.results) if ref and ref.side == "request"]
        pointers = []
        for ref in refs:
            message = messages[ref.message]
            part = message.parts[ref.part]
            pointers.append(message.pointer if len(message.parts) == 1 else message.absolute(part))
        if refs:
            units.append(tuple(Remove(pointer) for pointer in dict.fromkeys(pointers)))
    return units


def tools(body: JudgedBody) -> list[Unit]:
    """Declared tools."""
    request = body.decoded_exchange.request
    return [(Remove(tool.pointer),) for tool in request.tools if tool.pointer] if request else []


def properties(body: JudgedBody) -> list[Unit]:
    """Schema properties, with their entries in ``required``."""
    units = list[Unit]()
    for pointer, value in _walk("", body.value):
        if not isinstance(value, dict) or not isinstance(value.get("properties"), dict):
            continue
        required = value.get("required")
        names = required if isinstance(required, list) else []
        for name in value["properties"]:
            mentioned = [Remove(f"{pointer}/required/{n}") for n, other in enumerate(names) if other == name]
            units.append((Remove(f"{pointer}/properties/{escape(name)}"), *mentioned))
    return units


def nodes(depth: int) -> Lister:
    """Members and elements at a depth: parameters at 1, messages and tools at 2, parts at 4, and so on."""

    def list_units(body: JudgedBody) -> list[Unit]:
        found = (p for p, _ in _walk("", body.value) if p.count("/") == depth and not _is_frame(p))
        return [(Remove(pointer),) for pointer in found]

    return list_units


def _is_frame(pointer: str) -> bool:
    """The member belongs to the form of its container and has no content."""
    _, _, *inner = pointer.split("/")
    return bool(inner) and inner[-1] in FRAME and not FREE & set(inner[:-1])


def depth_of(body: JudgedBody) -> int:
    """Number of levels of the body."""
    return max((pointer.count("/") for pointer, _ in _walk("", body.value)), default=0)


def arguments(body: JudgedBody) -> list[Unit]:
    """Argument texts of calls, reduced: empty, or without one argument."""
    units = list[Unit]()
    for message in body.decoded_exchange.messages("request"):
        for part in message.parts:
            if isinstance(part, ToolCallIR) and part.raw and isinstance(part.input, dict) and part.input:
                pointer, members = message.absolute(part, "input"), part.input
                units.append((Replace(pointer, "{}"),))
                rest = ({k: v for k, v in members.items() if k != key} for key in members if len(members) > 1)
                units += ((Replace(pointer, dumps(less).decode()),) for less in rest)
    return units


def empty_texts(body: JudgedBody) -> list[Unit]:
    """Texts, emptied."""
    return [(Replace(pointer, ""),) for pointer, text in texts(body) if text]


def first_characters(body: JudgedBody) -> list[Unit]:
    """Texts, cut to the first character."""
    return [(Replace(pointer, text[:1]),) for pointer, text in texts(body) if len(text) > 1]


def texts(body: JudgedBody) -> Iterator[tuple[str, str]]:
    """(pointer, text) of all content; names and ids are no texts."""
    for pointer, value in _walk("", body.value):
        key = pointer.rpartition("/")[2]
        if isinstance(value, str) and key not in KEPT_WHOLE and not key.lower().endswith(("_id", "uuid", "callid")):
            yield pointer, value


def _walk(at: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Every value with its pointer, the outer ones first."""
    waiting = [(at, value)]
    while waiting:
        pointer, node = waiting.pop()
        if pointer:
            yield pointer, node
        if isinstance(node, dict):
            waiting += [(f"{pointer}/{escape(key)}", inner) for key, inner in reversed(node.items())]
        elif isinstance(node, list):
            waiting += [(f"{pointer}/{n}", node[n]) for n in range(len(node) - 1, -1, -1)]
