"""Importer for OpenCode exports (``opencode export``), also as messages with parts: one exchange per response.

A model response is between ``step-start`` and ``step-finish``; a tool part is a call and its result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench import protocols, regex
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    protocol_of,
    reasoning,
    reconstructed_exchange,
)
from workbench.formats.importers._values import mapping, mappings, rest, text, token_count
from workbench.ir import JsonValue, Media, Message, Part, Text, ToolCallIR, ToolResultIR, Usage
from workbench.lazy_dataclass import dataclass, field
from workbench.wire import State, loads

NAME = "opencode"
TITLE = "OpenCode export"
LACKS = ("system", "tools", "parameters", "headers", "streaming")

_START = regex.compile(rb'\s*\{\s*"info"\s*:\s*\{(?:[^{}"]|"(?:[^"\\]|\\.)*"){0,400}?"id"\s*:\s*"ses_')
_STOPS = {"stop": "stop", "tool-calls": "tool_calls", "length": "length", "content-filter": "filter"}
_DATA_URL = regex.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_CLEARED = "[Old tool result content cleared]"
_UNANSWERED = "[Tool execution was interrupted]"

_PARTS = frozenset(
    {"text", "file", "reasoning", "tool", "step-start", "step-finish", "snapshot", "patch", "agent", "subtask"}
    | {"retry", "compaction"}
)
"""Part types that are sent, mark a step, or are the client's own."""


def sniff(head: bytes) -> float:
    """A session and its messages."""
    return 0.95 if _START.match(head) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per step, and one for the next request. Raises UnreadableInput if there is no message."""
    value = mapping(loads(data))
    damage = ImportDamage()
    turns = list(_turns(value, damage))
    if not turns:
        raise damage.refuse("the export has no messages")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


@dataclass(slots=True)
class _OpenCodeStep:
    """Parts of one response."""

    parts: list[dict[str, JsonValue]] = field(default_factory=list)
    finish: dict[str, JsonValue] = field(default_factory=dict)


def _turns(value: dict[str, JsonValue], damage: ImportDamage) -> Iterator[TranscriptTurn]:
    session = mapping(value.get("info"))
    unsent: dict[str, JsonValue] = {"session": session} if session else {}
    history: SharedHistory | None = None
    model, protocol, is_asking = "", protocols.MOST_COMMON, False
    for number, message in enumerate(damage.objects(value.get("messages"), "a message"), 1):
        info = mapping(message.get("info"))
        parts = list(damage.objects(message.get("parts"), "a part"))
        _note_unknown(info, parts, damage)
        if info.get("role") != "assistant":
            content = tuple(_user_parts(parts))
            history, is_asking = extend_history(history, Message("user", content)), is_asking or bool(content)
            unsent |= {f"message {number}": rest(info, "role")} if rest(info, "role") else {}
            continue
        if info.get("summary") is True:  # the answer to a request for a summary starts the history anew
            history = None
        model, protocol = text(info.get("modelID")), _protocol(info)
        for n, step in enumerate(_steps(parts), 1):
            yield _answered_turn(
                info, step, f"{text(info.get('id')) or f'message {number}'} step {n}", history, session, unsent
            )
            unsent = {}
            history = extend_history(history, Message("assistant", tuple(_model_parts(step, protocol))))
            results = list(_results(step))
            for result in results:
                history = extend_history(history, Message("tool", (result,)))
            is_asking = bool(results)
    if is_asking:
        note = "the session ends here; this next request was not sent"
        like = reconstructed_exchange(
            "end", lacks=LACKS, note=note, client=_client(session), state=State.INCOMPLETE, meta=unsent
        )
        yield TranscriptTurn(like, protocol, history, model or None)


def _note_unknown(info: dict[str, JsonValue], parts: list[dict[str, JsonValue]], damage: ImportDamage) -> None:
    if info.get("role") not in ("user", "assistant"):
        damage.leave_out("a message with a role other than user or assistant")
    for part in parts:
        if text(part.get("type")) not in _PARTS:
            damage.unknown("a part", part.get("type"))


def _client(session: dict[str, JsonValue]) -> str:
    return f"opencode {text(session.get('version'))}".strip()


def _protocol(info: dict[str, JsonValue]) -> str:
    return protocol_of(text(info.get("providerID")), text(info.get("modelID")))


def _steps(parts: list[dict[str, JsonValue]]) -> Iterator[_OpenCodeStep]:
    """Responses of a message; one if it has no step marks."""
    step = _OpenCodeStep()
    for part in parts:
        if part.get("type") == "step-start" and step.parts:
            yield step
            step = _OpenCodeStep()
        elif part.get("type") == "step-finish":
            step.finish = part
            yield step
            step = _OpenCodeStep()
        elif part.get("type") in ("text", "reasoning", "tool"):
            step.parts.append(part)
    if step.parts:
        yield step


def _user_parts(parts: list[dict[str, JsonValue]]) -> Iterator[Part]:
    """Content of a user message, files included."""
    for part in parts:
        if part.get("type") == "text" and text(part.get("text")) and part.get("ignored") is not True:
            yield Text(text(part["text"]))
        elif part.get("type") == "file":
            media = _file(part)
            if media:
                yield media


def _file(part: dict[str, JsonValue]) -> Media | None:
    """A file part; None for text files, which are in a text part already, and for files without an address."""
    kind, url = text(part.get("mime")), text(part.get("url"))
    if not url or kind in ("text/plain", "application/x-directory"):
        return None
    family = kind.partition("/")[0]
    name = family if family in ("image", "audio", "video") else "document"
    found = _DATA_URL.match(url)
    return Media(name, found[1] or kind, data=found[2]) if found else Media(name, kind or None, url=url)


def _model_parts(step: _OpenCodeStep, protocol: str) -> Iterator[Part]:
    for part in step.parts:
        if part.get("type") == "text":
            yield from (Text(text(part["text"])),) if text(part.get("text")) else ()
        elif part.get("type") == "reasoning":
            yield reasoning(protocol, text(part.get("text")), _signature(mapping(part.get("metadata"))))
        else:
            state = mapping(part.get("state"))
            name = text(part.get("tool")) or None
            yield ToolCallIR(text(part.get("callID")) or None, name, state.get("input", {}), "function")


def _signature(metadata: dict[str, JsonValue]) -> str:
    """Proof of reasoning, stored under the provider's name."""
    names = ("signature", "thoughtSignature", "reasoningEncryptedContent", "redactedData")
    proofs = (text(mapping(provider).get(n)) for provider in metadata.values() for n in names)
    return next((proof for proof in proofs if proof), "")


def _results(step: _OpenCodeStep) -> Iterator[ToolResultIR]:
    for part in step.parts:
        if part.get("type") != "tool":
            continue
        state = mapping(part.get("state"))
        status = state.get("status")
        if status == "completed":
            is_cleared = mapping(state.get("time")).get("compacted") is not None
            output = _CLEARED if is_cleared else text(state.get("output"))
        else:
            output = text(state.get("error")) if status == "error" else _UNANSWERED
        content: list[Part] = [Text(output)] if output else []
        content += [m for f in mappings(state.get("attachments")) if (m := _file(f))]
        name = text(part.get("tool")) or None
        is_error = None if status == "completed" else True
        yield ToolResultIR(text(part.get("callID")) or None, tuple(content), is_error=is_error, name=name)


def _answered_turn(
    info: dict[str, JsonValue],
    step: _OpenCodeStep,
    id: str,
    history: SharedHistory | None,
    session: dict[str, JsonValue],
    unsent: dict[str, JsonValue],
) -> TranscriptTurn:
    protocol, model = _protocol(info), text(info.get("modelID")) or None
    parts = tuple(_model_parts(step, protocol))
    stop = text(step.finish.get("reason")) or text(info.get("finish"))
    error = mapping(info.get("error"))
    beside = [r for part in step.parts if (r := rest(part, "type", "text", "callID", "tool"))]
    note = f"failed: {text(error.get('name')) or 'error'}" if error else ""
    like = reconstructed_exchange(
        id,
        lacks=LACKS,
        note=note,
        started_at=_created_at(info),
        client=_client(session),
        state=State.ABORTED if error else State.COMPLETE,
        meta={**unsent, "message": info, "parts": beside},
    )
    usage = _usage(mapping(step.finish.get("tokens")) or mapping(info.get("tokens")))
    answer = answer_of(protocol, parts, model=model, stop=_STOPS.get(stop), usage=usage)
    return TranscriptTurn(like, protocol, history, model, answer=answer)


def _created_at(info: dict[str, JsonValue]) -> float | None:
    """Creation time in seconds; the file has milliseconds since the epoch."""
    time = token_count(mapping(info.get("time")).get("created"))
    return None if time is None else epoch(time / 1000)


def _usage(tokens: dict[str, JsonValue]) -> Usage | None:
    if not tokens:
        return None
    cache = mapping(tokens.get("cache"))
    reasoning, output_tokens = token_count(tokens.get("reasoning")), token_count(tokens.get("output"))
    whole = None if output_tokens is None else output_tokens + (reasoning or 0)
    return Usage(
        token_count(tokens.get("input")),
        whole,
        token_count(cache.get("read")),
        token_count(cache.get("write")),
        reasoning,
    )
