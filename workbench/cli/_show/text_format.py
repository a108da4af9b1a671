"""The views of ``show`` as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator

from workbench.cli._output import cut, number
from workbench.cli._show import as_arguments, as_textcalls
from workbench.cli._show.json_format import start_line
from workbench.ir import (
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.protocols import REQUEST, RESPONSE
from workbench.rules import Detail
from workbench.views import chain as closure_lines
from workbench.views import chain as reasoning_lines
from workbench.views import column_text
from workbench.wire import HttpRequest, HttpResponse, State, digests, seen_frames

_SHOWN_BYTES = 64

WIDTH = 120
"""Columns at which longer notes are wrapped."""


def view(name: str, detail: Detail, parser: str | None = None) -> Iterator[str]:
    """One view of one exchange. ``parser``: the format that the view ``textcalls`` reads texts as."""
    row = detail.row
    words = [f"exchange {row.index + 1}", row.protocol or row.protocol_from]
    words += [w for w in (row.model, row.provider and f"contract {row.provider} ({row.provider_from})") if w]
    if row.conversation is not None:
        words.append(f"conversation {row.conversation + 1}")
    yield "── " + " · ".join(words)
    for problem in row.problems:
        yield f"  ! {problem}"
    if (
        name in ("ir", "arguments", "closure", "reasoning", "textcalls")
        and not detail.decoded.request
        and not detail.decoded.response
    ):
        there = [*frames(detail), *(_event_lines(detail) if detail.row.protocol else ())]
        yield from there or ["  not decoded: --as wire shows the bytes"]
        return
    if name == "textcalls":
        yield from as_textcalls.as_text(detail, parser)
        return
    yield from {
        "wire": wire,
        "ir": ir,
        "arguments": as_arguments.as_text,
        "closure": closure,
        "reasoning": reasoning,
        "events": events,
    }[name](detail)


def wire(detail: Detail) -> Iterator[str]:
    """Both sides as sent, bodies content-decoded."""
    exchange = detail.decoded.exchange
    if exchange.state is not State.COMPLETE:
        yield f"  {exchange.state}: incomplete recording"
    if exchange.note:
        yield f"  note: {exchange.note}"
    for side, passed in digests.read_digests(exchange).items():
        yield (
            f"  {side} received and forwarded: {passed.words}; SHA-256 {passed.digest_in} of "
            f"{number(passed.bytes_in, 'byte')}"
        )
        if not passed.is_equal:
            yield f"  {side} forwarded: SHA-256 {passed.digest_out} of {number(passed.bytes_out, 'byte')}"
    sides = (
        (exchange.request, detail.decoded.request_text, ">"),
        (exchange.response, detail.decoded.response_text, "<"),
    )
    for http, body, arrow in sides:
        if http is not None:
            yield from _http(http, body, arrow)
    for frame in exchange.frames:
        text = frame.data.decode("utf-8", "backslashreplace") if frame.opcode == "text" else _hex(frame.data)
        yield f"{'>' if frame.direction == 'sent' else '<'} {frame.opcode} {text}"


def frames(detail: Detail) -> Iterator[str]:
    """The messages of a connection or a gRPC call, one a line."""
    for frame in seen_frames(detail.decoded.exchange):
        arrow = ">" if frame.direction == "sent" else "<"
        yield f"  {frame.number:>4} {arrow} {frame.type}  [{number(frame.size, 'byte')}]  {cut(frame.text)}"


def _http(http: HttpRequest | HttpResponse, body: bytes, arrow: str) -> Iterator[str]:
    yield f"{arrow} {start_line(http)}"
    for name, value in http.headers:
        yield f"{arrow} {name}: {value}"
    size = f"{len(body):,} bytes"
    if http.body.encoding:
        size += f" decoded from {len(http.body.raw):,} bytes of {http.body.encoding}"
    if http.redactions:
        size += f"; {number(len(http.redactions), 'secret')} replaced"
    yield f"{arrow} [{size}{'; ' + http.body.note if http.body.note else ''}]"
    try:
        yield from body.decode().replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError:
        if _is_text(body):
            yield from body.decode("utf-8", "backslashreplace").replace("\r\n", "\n").split("\n")
        else:
            yield f"{_hex(body)}  (binary: see --as events, or --format json for all bytes)"


def _is_text(body: bytes) -> bool:
    """True if the beginning has no control character: text with a broken byte somewhere."""
    return not any(byte < 9 or 13 < byte < 32 for byte in body[:512])


def _hex(data: bytes) -> str:
    return data[:_SHOWN_BYTES].hex(" ") + (" …" if len(data) > _SHOWN_BYTES else "")


def ir(detail: Detail) -> Iterator[str]:
    """Messages and parts of both sides."""
    for side, model in ((REQUEST, detail.decoded.request), (RESPONSE, detail.decoded.response)):
        if model is not None:
            yield f"{side}"
            yield from _request(model) if isinstance(model, ModelRequest) else _response(model)


def _request(model: ModelRequest) -> Iterator[str]:
    if model.tools:
        yield f"  tools: {', '.join(t.name or '(no name)' for t in model.tools)}"
    if model.thinking:
        yield f"  thinking: {model.thinking}"
    for part in model.system:
        yield f"  system  {part.source.pointer}  {part_line(part)}"
    for message in model.messages:
        yield from _message(message)


def _response(model: ModelResponse) -> Iterator[str]:
    if model.error:
        yield f"  error: {model.error.message}"
    for message in model.messages:
        yield from _message(message)
    if model.is_reasoning_only:
        yield "  the response contains only reasoning: no text, no tool call"
    if model.finish_reason or model.messages:
        yield f"  finish reason: {model.finish_reason or '(none)'}{'' if model.is_complete else ' · incomplete'}"


def _message(message: Message) -> Iterator[str]:
    yield f"  {message.role}  {message.pointer}"
    for part in message.parts:
        yield f"    {message.absolute(part)}  {part_line(part)}"
        if isinstance(part, ToolResultIR):
            yield from (f"      {message.absolute(inner)}  {part_line(inner)}" for inner in part.content)


def part_line(part: Part) -> str:
    """One line about a part."""
    match part:
        case Text():
            return f"text  {_quote(part.text)}"
        case Reasoning():
            proof = " · signed" if part.signature else ""
            return f"reasoning ({part.carrier}{proof})  " + ("(opaque)" if part.text is None else _quote(part.text))
        case ToolCallIR():
            arguments = part.raw if part.raw is not None else json.dumps(part.input, ensure_ascii=False)
            broken = f" · does not parse: {part.error}" if part.error else ""
            return f"{'server ' * part.is_server}tool call  {part.id!r} {part.name}  {cut(arguments)}{broken}"
        case ToolResultIR():
            return f"{'server ' * part.is_server}tool result  {part.tool_call_id!r}{' · error' * bool(part.is_error)}"
        case Media():
            where = part.url or part.file_id or (f"{len(part.data):,} characters of base64" if part.data else "")
            return f"{part.kind}  {part.media_type or ''} {cut(where, 80)}"
        case Opaque():
            return f"{part.type} (kept verbatim)  {cut(json.dumps(part.value, ensure_ascii=False))}"


def _quote(text: str) -> str:
    return cut(json.dumps(text, ensure_ascii=False))


def closure(detail: Detail) -> Iterator[str]:
    """Each tool call and its result."""
    for call in detail.closure.lines:
        yield f"  {column_text(closure_lines.call_line(call))}"
        yield from (f"  {column_text(each)}" for each in closure_lines.call_body(call, WIDTH))
    yield f"  {closure_lines.closure_summary(detail.closure) or 'no tool calls'}"


def reasoning(detail: Detail) -> Iterator[str]:
    """The reasoning ledger of the request, and reasoning in the response."""
    for entry in detail.ledger.entries:
        yield f"  {column_text(reasoning_lines.entry_line(entry))}"
        yield from (f"  {column_text(each)}" for each in reasoning_lines.entry_body(entry, WIDTH))
    for ref in detail.ledger.came_in:
        message = detail.decoded.messages(ref.side)[ref.message]
        yield f"  in this response  {message.absolute(message.parts[ref.part])}  {part_line(message.parts[ref.part])}"
    if not detail.ledger.entries and not detail.ledger.came_in:
        yield "  no reasoning was received, and none is required"


def events(detail: Detail) -> Iterator[str]:
    """Events of the stream, one per line, with what each adds; then what the usual SDKs build from them."""
    from workbench.protocols.clients import where_they_differ

    yield from frames(detail)
    yield from _event_lines(detail)
    for group in where_they_differ(detail.decoded):
        where = "" if group.event is None else f" from event {group.event}"
        verdict = "build this message" if group.agrees else f"differ{where}: {group.words}"
        yield f"  {'✓' if group.agrees else '≠'} {', '.join(group.policies)}  {verdict}"
    if not detail.decoded.events and next(seen_frames(detail.decoded.exchange), None) is None:
        yield "  the response is not a stream"


def _event_lines(detail: Detail) -> Iterator[str]:
    from workbench.protocols.clients import Effects

    effects = Effects(detail.decoded.response, detail.decoded.events)
    for event in detail.decoded.events:
        data = "" if event.data is None else event.data.decode("utf-8", "replace")
        comments = b"".join(event.comments).decode("utf-8", "replace")
        cut_off = "" if event.terminated else "  (unterminated)"
        at = detail.decoded.arrival(event)
        place = f"{event.number:>4}  {event.start:>7}–{event.end:<7}" + ("" if at is None else f" {at:8.3f} s ")
        deeds = "; ".join(deed.words for deed in effects.of(event.number))
        did = f"[{cut(deeds, 60)}]  " if detail.decoded.response else ""
        yield f"  {place} {event.name or ''}  {did}{cut(data or ': ' + comments)}{cut_off}"
