"""Puts a request or response of any protocol into normal form (``Adapter.write_request`` defines it).

Nothing is judged here; the content is only put in order. Parts keep their sources, so that ``message.absolute(part)``
is still the pointer into the body they were read from.

* Adjacent messages of an answering role (``assistant``, ``model``) are one message, and so are items of one answer.
* Tool results of every role are messages of role "tool"; adjacent ones are one message. Other content of a user message
    with results is a message of its own after them.
* ``system`` and ``developer`` are "system"; those before every other message are ``ModelRequest.system``.
* Base64 ``data:`` URLs become data with a media type, and empty texts are dropped: they have no content.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from operator import is_

from workbench import regex
from workbench.convert.losses import Loss, LossReport
from workbench.ir import (
    NOTHING,
    Carrier,
    JsonValue,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import Adapter, Param

ANSWERING = ("assistant", "model")
INSTRUCTING = ("system", "developer")
_ASKING = ("user", "tool", "function", "items")
_DATA_URL = regex.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_DETAILS = ("reasoning.text", "reasoning.summary", "reasoning.encrypted")


@dataclass(frozen=True, slots=True)
class NormalRequest:
    """A request in normal form.

    Attributes:
        request: its ``params`` are keyed by common name.
        params: every parameter with its pointer.
        losses: content that normal form has no place for, for any target.
    """

    request: ModelRequest
    params: tuple[Param, ...] = ()
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class NormalResponse:
    """A response in normal form; ``losses`` as in ``NormalRequest``."""

    response: ModelResponse
    losses: tuple[Loss, ...] = ()


def normal_request(request: ModelRequest, adapter: Adapter) -> NormalRequest:
    """Put a request of the adapter's protocol into normal form."""
    report = LossReport()
    messages = list[Message]()
    system = [*normal_parts(request.system)]
    for message in request.messages:
        report.lose_keys(message.pointer, message.extra)
        if message.role in INSTRUCTING:
            if message.role == "developer":
                report.lose(f"{message.pointer}/role", "the role 'developer'", "written as 'system'")
            if not messages:
                system += rebase_parts(_normal_message(message, "system"))
            else:
                messages.append(_normal_message(message, "system"))
        elif message.role in ANSWERING:
            append(messages, _normal_message(message, "assistant"))
        else:
            _append_user_message(messages, message, report)
    choice = request.tool_choice
    is_off = request.thinking == "off"  # an effort of none would repeat it
    params = tuple(p for p in adapter.params(request) if not (is_off and (p.name, p.value) == ("effort", "none")))
    normal = replace(
        request,
        messages=tuple(messages),
        system=tuple(system),
        tool_choice=choice and ToolChoice(choice.mode, choice.name, choice.value),
        params=_by_common_name(params, report),
        anomalies=(),
    )
    return NormalRequest(normal, params, report.losses())


def normal_response(response: ModelResponse) -> NormalResponse:
    """Put a response of any protocol into normal form: one assistant message for each choice."""
    report = LossReport()
    messages = list[Message]()
    for choice in response.choices:
        for message in choice:
            report.lose_keys(message.pointer, message.extra)
        if len(choice) == 1:
            messages.append(_normal_message(choice[0], "assistant"))
        else:
            parts = tuple(part for message in choice for part in rebase_parts(_normal_message(message, "assistant")))
            messages.append(Message("assistant", parts))
    if not messages and response.error is None:
        messages.append(Message("assistant", ()))
    return NormalResponse(replace(response, messages=tuple(messages), anomalies=()), report.losses())


def append(messages: list[Message], message: Message) -> None:
    """Add a message; join an assistant or tool message to the previous one of the same role."""
    if messages and message.role in ("assistant", "tool") and messages[-1].role == message.role:
        messages[-1] = Message(message.role, (*rebase_parts(messages[-1]), *rebase_parts(message)))
    else:
        messages.append(message)


def rebase_parts(message: Message) -> tuple[Part, ...]:
    """Parts of a message with pointers made absolute."""
    if not message.pointer:
        return message.parts
    return tuple(_rebase_part(part, message.pointer) for part in message.parts)


def _rebase_part(part: Part, base: str) -> Part:
    source = replace(part.source, pointer=base + part.source.pointer)
    if isinstance(part, ToolResultIR):
        return replace(part, content=tuple(_rebase_part(inner, base) for inner in part.content), source=source)
    return replace(part, source=source)


def _append_user_message(messages: list[Message], message: Message, report: LossReport) -> None:
    """Add a user message; its tool results become a message of their own."""
    if message.role not in _ASKING:
        _lose_role(message, report)
    results = [n for n, _ in message.tool_results()]
    if not results:
        messages.append(_normal_message(message, "user"))
        return
    tool_parts, beside = list[Part](), list[Part]()
    for n, part in enumerate(message.parts):
        is_held = n in results or (n - 1 in results and _is_cache_mark(part))
        if not _is_empty(part):
            (tool_parts if is_held else beside).append(_normal_part(part))
        if n < results[-1] and not is_held:
            report.lose(message.absolute(part), "content before the tool results", "moved after them")
    append(messages, Message("tool", tuple(tool_parts), pointer=message.pointer))
    if beside:
        messages.append(Message("user", tuple(beside), pointer=message.pointer))


def _lose_role(message: Message, report: LossReport) -> None:
    """Report an unknown role. A message that holds only an opaque part reports that part alone."""
    if message.role:
        report.lose(f"{message.pointer}/role", f"the role {message.role!r:.80}", "written as 'user'")
    elif not all(isinstance(part, Opaque) for part in message.parts):
        report.lose(message.pointer, "a message without a role", "written as 'user'")


def _normal_message(message: Message, role: str) -> Message:
    return Message(role, normal_parts(message.parts), pointer=message.pointer)


def normal_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts in normal form."""
    return tuple(_normal_part(part) for part in parts if not _is_empty(part))


def _is_cache_mark(part: Part) -> bool:
    return isinstance(part, Opaque) and part.type == "cachePoint"


def _is_empty(part: Part) -> bool:
    return isinstance(part, Text) and not part.text and not part.extra


def _normal_part(part: Part) -> Part:
    if isinstance(part, Text):
        return part
    if isinstance(part, ToolCallIR):
        kind = "custom" if part.format.endswith("custom") else "function"
        own = (part.raw, part.is_server, part.error, part.extra, part.source)
        return ToolCallIR(part.id, part.name, part.input, kind, *own)
    if isinstance(part, ToolResultIR):
        inner = normal_parts(part.content)
        is_same = len(inner) == len(part.content) and all(map(is_, inner, part.content))
        return part if is_same else replace(part, content=inner)
    if isinstance(part, Media):
        return _normal_media(part)
    if isinstance(part, Opaque):
        return _normal_opaque(part)
    if isinstance(part, Reasoning) and part.carrier is Carrier.REASONING_DETAILS:
        extra = {k: v for k, v in part.extra.items() if not (k == "type" and v in _DETAILS)}
        return replace(part, extra=extra or NOTHING)
    return part


def _normal_opaque(part: Opaque) -> Part:
    """Turn a JSON document, which some tool results hold, into a JSON part."""
    inside = part.value.get("document") if part.type == "document" and isinstance(part.value, dict) else None
    if not isinstance(inside, dict):
        return part
    return Opaque("json", inside, replace(part.source, pointer=f"{part.source.pointer}/document"))


def _normal_media(part: Media) -> Media:
    found = _DATA_URL.fullmatch(part.url) if part.url is not None and part.data is None else None
    if found:
        return replace(part, media_type=found[1] or None, data=found[2], url=None)
    if part.media_type is not None and part.extra.keys() == {"input_audio"}:  # its format equals the media type
        rest = {k: v for k, v in part.extra["input_audio"].items() if k != "format"}
        return replace(part, extra={"input_audio": rest} if rest else NOTHING)
    if part.data is not None and part.extra.get("source") == {"type": "text"}:  # a document of bare text
        data = b64encode(part.data.encode("utf-8", "surrogatepass")).decode()
        extra = {k: v for k, v in part.extra.items() if k != "source"}
        return replace(part, data=data, media_type=part.media_type or "text/plain", extra=extra or NOTHING)
    return part


def _by_common_name(params: Iterable[Param], report: LossReport) -> dict[str, object]:
    named: dict[str, object] = {}
    for param in params:
        if param.name and param.value is not None and named.setdefault(param.name, param.value) != param.value:
            report.lose(param.pointer, f"a second value for {param.name}")
    return named


KEY = "cache_control"
BLOCK = "cachePoint"


def apply_cache_points(normal: NormalRequest) -> NormalRequest:
    """Turn each cache-point block into a ``cache_control`` key on the preceding part."""
    request = normal.request
    messages = tuple(
        message if (parts := _apply_to_parts(message.parts)) is message.parts else replace(message, parts=parts)
        for message in request.messages
    )
    tools, params = _apply_to_tools(request.tools, normal.params)
    changed = replace(request, messages=messages, system=_apply_to_parts(request.system), tools=tools)
    return replace(normal, request=changed, params=params)


def is_cache_point(value: JsonValue) -> bool:
    """True for an object that holds a cache point and nothing else."""
    return isinstance(value, dict) and value.keys() == {BLOCK}


def _apply_to_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    if not any(isinstance(part, Opaque) and part.type == BLOCK for part in parts):
        return parts
    result = list[Part]()
    for part in parts:
        key = _key_of(part.value) if isinstance(part, Opaque) else None
        before = result[-1] if result else None
        if key and isinstance(before, Text | Media | ToolCallIR | ToolResultIR) and KEY not in before.extra:
            result[-1] = replace(before, extra={**before.extra, KEY: key})
        else:
            result.append(part)
    return tuple(result)


def _key_of(value: JsonValue) -> JsonValue:
    """The ``cache_control`` value for a block; None if the block has fields that it cannot express."""
    inside = value[BLOCK] if is_cache_point(value) else None
    if not isinstance(inside, dict) or inside.get("type") != "default" or not inside.keys() <= {"type", "ttl"}:
        return None
    return {**inside, "type": "ephemeral"}


def _apply_to_tools(
    tools: tuple[ToolDef, ...], params: Iterable[Param]
) -> tuple[tuple[ToolDef, ...], tuple[Param, ...]]:
    """Tools with their cache keys, and the parameters without the cache points between tools."""
    new_tools, rest = list(tools), list[Param]()
    for param in params:
        place, _, number = param.pointer.rpartition("/")
        key = _key_of(param.value) if number.isdecimal() and len(number) < 9 else None
        before = [n for n, tool in enumerate(new_tools) if key and tool.pointer == f"{place}/{int(number) - 1}"]
        if before and KEY not in new_tools[before[0]].extra:
            tool = new_tools[before[0]]
            new_tools[before[0]] = replace(tool, extra={**tool.extra, KEY: key})
        else:
            rest.append(param)
    return tuple(new_tools), tuple(rest)
