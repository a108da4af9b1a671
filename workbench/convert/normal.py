"""Any protocol's request or answer in normal form (``Adapter.write_request`` tells what that is).

Nothing is judged here: what the protocol said is only brought into order. Parts keep their sources, so that
``message.absolute(part)`` is still the place in the body they were read from.

* Neighbours of an answering role (``assistant``, ``model``) are one message, and so are items of one answer.
* Results of every role are messages of role "tool": those of neighbouring messages are one. What a user says beside
  results is a message of its own behind them.
* ``system`` and ``developer`` are "system"; those before every other message are ``ModelRequest.system``.
* Base64 ``data:`` URLs are data with a media type, and empty texts are gone: they say nothing.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.convert.losses import Ledger, Loss
from workbench.ir import (
    NOTHING,
    Carrier,
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
    ToolResultIR,
)
from workbench.protocols import Adapter, Param

ANSWERING = ("assistant", "model")
INSTRUCTING = ("system", "developer")
_ASKING = ("user", "tool", "function", "items")
_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_DETAILS = ("reasoning.text", "reasoning.summary", "reasoning.encrypted")


@dataclass(frozen=True, slots=True)
class NormalRequest:
    """A request in normal form.

    Attributes:
        request: ``params`` holds the parameters that have a common name, by that name.
        params: every parameter with the place it stands in.
        losses: what normal form has no place for, whatever the target.
    """

    request: ModelRequest
    params: tuple[Param, ...] = ()
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class NormalResponse:
    """An answer in normal form; ``losses`` as above."""

    response: ModelResponse
    losses: tuple[Loss, ...] = ()


def normal_request(request: ModelRequest, adapter: Adapter) -> NormalRequest:
    """A request of the adapter's protocol in normal form."""
    ledger = Ledger()
    messages = list[Message]()
    system = [*normal_parts(request.system)]
    for message in request.messages:
        ledger.lose_keys(message.pointer, message.extra)
        if message.role in INSTRUCTING:
            if message.role == "developer":
                ledger.lose(f"{message.pointer}/role", "the role 'developer'", "the role 'system'")
            if not messages:
                system += rebased(_plain(message, "system"))
            else:
                messages.append(_plain(message, "system"))
        elif message.role in ANSWERING:
            append(messages, _plain(message, "assistant"))
        else:
            _ask(messages, message, ledger)
    choice = request.tool_choice
    is_off = request.thinking == "off"  # and need not be said as an effort of none, too
    params = tuple(p for p in adapter.params(request) if not (is_off and (p.name, p.value) == ("effort", "none")))
    normal = replace(
        request,
        messages=tuple(messages),
        system=tuple(system),
        tool_choice=choice and ToolChoice(choice.mode, choice.name, choice.value),
        params=_named(params, ledger),
        anomalies=(),
    )
    return NormalRequest(normal, params, ledger.losses())


def normal_response(response: ModelResponse) -> NormalResponse:
    """An answer of any protocol in normal form: one message of role "assistant" for each choice."""
    ledger = Ledger()
    messages = list[Message]()
    for choice in response.choices:
        for message in choice:
            ledger.lose_keys(message.pointer, message.extra)
        if len(choice) == 1:
            messages.append(_plain(choice[0], "assistant"))
        else:
            parts = tuple(part for message in choice for part in rebased(_plain(message, "assistant")))
            messages.append(Message("assistant", parts))
    if not messages and response.error is None:
        messages.append(Message("assistant", ()))
    return NormalResponse(replace(response, messages=tuple(messages), anomalies=()), ledger.losses())


def append(messages: list[Message], message: Message) -> None:
    """Add a message; one of an answer, or of results, to the one before it if that is of the same role."""
    if messages and message.role in ("assistant", "tool") and messages[-1].role == message.role:
        messages[-1] = Message(message.role, (*rebased(messages[-1]), *rebased(message)))
    else:
        messages.append(message)


def rebased(message: Message) -> tuple[Part, ...]:
    """The parts of a message with absolute pointers."""
    if not message.pointer:
        return message.parts
    return tuple(_rebased(part, message.pointer) for part in message.parts)


def _rebased(part: Part, base: str) -> Part:
    source = replace(part.source, pointer=base + part.source.pointer)
    if isinstance(part, ToolResultIR):
        return replace(part, content=tuple(_rebased(inner, base) for inner in part.content), source=source)
    return replace(part, source=source)


def _ask(messages: list[Message], message: Message, ledger: Ledger) -> None:
    """A message that asks: its results are a message of their own."""
    if message.role not in _ASKING:
        _lose_role(message, ledger)
    results = [n for n, _ in message.tool_results()]
    if not results:
        messages.append(_plain(message, "user"))
        return
    held, beside = list[Part](), list[Part]()
    for n, part in enumerate(message.parts):
        is_held = n in results or (n - 1 in results and _is_cache_mark(part))
        if not _is_empty(part):
            (held if is_held else beside).append(_normal_part(part))
        if n < results[-1] and not is_held:
            ledger.lose(message.absolute(part), "what stands before the results", "moved behind them")
    append(messages, Message("tool", tuple(held), pointer=message.pointer))
    if beside:
        messages.append(Message("user", tuple(beside), pointer=message.pointer))


def _lose_role(message: Message, ledger: Ledger) -> None:
    """Of what holds nothing but a part that nobody knows, and has no role, the part alone is told."""
    if message.role:
        ledger.lose(f"{message.pointer}/role", f"the role {message.role!r:.80}", "the role 'user'")
    elif not all(isinstance(part, Opaque) for part in message.parts):
        ledger.lose(message.pointer, "a message without a role", "the role 'user'")


def _plain(message: Message, role: str) -> Message:
    return Message(role, normal_parts(message.parts), pointer=message.pointer)


def normal_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts in normal form."""
    return tuple(_normal_part(part) for part in parts if not _is_empty(part))


def _is_cache_mark(part: Part) -> bool:
    return isinstance(part, Opaque) and part.type == "cachePoint"


def _is_empty(part: Part) -> bool:
    return isinstance(part, Text) and not part.text and not part.extra


def _normal_part(part: Part) -> Part:
    if isinstance(part, ToolCallIR):
        kind = "custom" if part.format.endswith("custom") else "function"
        own = (part.raw, part.is_server, part.error, part.extra, part.source)
        return ToolCallIR(part.id, part.name, part.input, kind, *own)
    if isinstance(part, ToolResultIR):
        inner = normal_parts(part.content)
        return part if inner == part.content else replace(part, content=inner)
    if isinstance(part, Media):
        return _normal_media(part)
    if isinstance(part, Opaque):
        return _normal_opaque(part)
    if isinstance(part, Reasoning) and part.carrier is Carrier.REASONING_DETAILS:
        extra = {k: v for k, v in part.extra.items() if not (k == "type" and v in _DETAILS)}
        return replace(part, extra=extra or NOTHING)
    return part


def _normal_opaque(part: Opaque) -> Part:
    """A document of JSON, as some results hold it, is JSON."""
    inside = part.value.get("document") if part.type == "document" and isinstance(part.value, dict) else None
    if not isinstance(inside, dict):
        return part
    return Opaque("json", inside, replace(part.source, pointer=f"{part.source.pointer}/document"))


def _normal_media(part: Media) -> Media:
    found = _DATA_URL.fullmatch(part.url) if part.url is not None and part.data is None else None
    if found:
        return replace(part, media_type=found[1] or None, data=found[2], url=None)
    if part.media_type is not None and part.extra.keys() == {"input_audio"}:  # its format is the type
        rest = {k: v for k, v in part.extra["input_audio"].items() if k != "format"}
        return replace(part, extra={"input_audio": rest} if rest else NOTHING)
    if part.data is not None and part.extra.get("source") == {"type": "text"}:  # a document of bare text
        data = b64encode(part.data.encode("utf-8", "surrogatepass")).decode()
        extra = {k: v for k, v in part.extra.items() if k != "source"}
        return replace(part, data=data, media_type=part.media_type or "text/plain", extra=extra or NOTHING)
    return part


def _named(params: Iterable[Param], ledger: Ledger) -> dict[str, object]:
    named: dict[str, object] = {}
    for param in params:
        if param.name and param.value is not None and named.setdefault(param.name, param.value) != param.value:
            ledger.lose(param.pointer, f"a second value for {param.name}")
    return named
