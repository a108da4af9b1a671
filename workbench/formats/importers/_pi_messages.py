"""Reads messages of pi into the IR, as pi sends them.

Facts: pi's session format and its request preparation: summaries and commands that a person ran become texts, aborted
or failed answers are left out, calls without result get one (``packages/ai`` and ``packages/coding-agent`` of the
project).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench import protocols
from workbench.errors import WireError
from workbench.formats.importers._providers import protocol_of_api, reasoning
from workbench.formats.importers._values import content_parts, count, mapping, mappings, rest, text
from workbench.ir import Carrier, JsonValue, Message, Part, Reasoning, Text, ToolCallIR, ToolResultIR, Usage
from workbench.wire import loads

STOPS = {"stop": "stop", "toolUse": "tool_calls", "length": "length"}
BROKEN = ("aborted", "error")
NO_RESULT = "No result provided"

_COMPACTED = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
_CAME_BACK = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
_PLAIN = {"reasoning_content": Carrier.REASONING_CONTENT, "reasoning": Carrier.REASONING}


class PiAnswer(NamedTuple):
    """An assistant message."""

    api: str
    model: str
    parts: tuple[Part, ...]
    stop: str
    error: str
    usage: Usage | None
    beside: dict[str, JsonValue]

    @property
    def protocol(self) -> str:
        return protocol_of_api(self.api)

    @property
    def is_broken(self) -> bool:
        """True if the client leaves it out of the next request."""
        return self.stop in BROKEN


def answer_in(message: dict[str, JsonValue]) -> PiAnswer:
    """Read a message of role "assistant"."""
    api = text(message.get("api"))
    return PiAnswer(
        api,
        text(message.get("model")),
        tuple(_model_parts(message.get("content"), protocol_of_api(api))),
        text(message.get("stopReason")),
        text(message.get("errorMessage")),
        _usage(mapping(message.get("usage"))),
        rest(message, "role", "content", "api", "model", "timestamp"),
    )


def client_message(entry: dict[str, JsonValue]) -> Message | None:
    """The message that a client entry adds to the history; None if it is not sent."""
    if entry.get("type") == "custom_message":
        return Message("user", content_parts(entry.get("content")))
    if entry.get("type") == "branch_summary":
        return summary(entry, is_branch=True)
    message = mapping(entry.get("message"))
    role = message.get("role")
    if role in ("user", "custom"):
        return Message("user", content_parts(message.get("content")))
    if role == "toolResult":
        return Message("tool", (_result(message),))
    if role == "bashExecution" and message.get("excludeFromContext") is not True:
        return Message("user", (Text(_command(message)),))
    if role in ("branchSummary", "compactionSummary"):
        return summary(message, is_branch=role == "branchSummary")
    return None


def summary(entry: dict[str, JsonValue], *, is_branch: bool = False) -> Message | None:
    """The message that replaces the dropped history."""
    said = text(entry.get("summary"))
    if not said:
        return None
    return Message("user", (Text(f"{_CAME_BACK}{said}</summary>" if is_branch else f"{_COMPACTED}{said}\n</summary>"),))


def no_result(call: ToolCallIR) -> Message:
    """The result that the client sends for a call that was never run."""
    return Message("tool", (ToolResultIR(call.id, (Text(NO_RESULT),), is_error=True, name=call.name),))


def result_id(entry: dict[str, JsonValue]) -> str | None:
    """Id of the call that an entry answers; None if it is not a result."""
    message = mapping(entry.get("message"))
    return _call_id(message.get("toolCallId")) if message.get("role") == "toolResult" else None


def _model_parts(content: JsonValue, protocol: str) -> Iterator[Part]:
    if isinstance(content, str):
        yield from content_parts(content)
    for block in mappings(content):
        kind = block.get("type")
        if kind == "thinking":
            yield _thinking(block, protocol)
        elif kind == "toolCall":
            signature = text(block.get("thoughtSignature"))
            if signature and protocols.get(protocol).import_hints.carrier is Carrier.THOUGHT_SIGNATURE:
                yield Reasoning(Carrier.THOUGHT_SIGNATURE, None, signature)
            name = text(block.get("name")) or None
            yield ToolCallIR(_call_id(block.get("id")), name, block.get("arguments"), "function")
        else:
            yield from content_parts([block])


def _thinking(block: dict[str, JsonValue], protocol: str) -> Reasoning:
    said, proof = text(block.get("thinking")), text(block.get("thinkingSignature"))
    carrier = protocols.get(protocol).import_hints.carrier
    if carrier is Carrier.REASONING_CONTENT:
        return Reasoning(_PLAIN.get(proof, carrier), said)
    if carrier is Carrier.ENCRYPTED_ITEM:
        return Reasoning(carrier, said, data=_encrypted_state(proof))
    if carrier is Carrier.THINKING and block.get("redacted") is True:
        return reasoning(protocol, proof, is_redacted=True)
    return reasoning(protocol, said, proof)


def _encrypted_state(proof: str) -> JsonValue:
    """Encrypted state of a reasoning item stored as JSON."""
    try:
        return text(mapping(loads(proof)).get("encrypted_content")) or None
    except WireError:
        return None


def _call_id(value: JsonValue) -> str | None:
    """Id of a call; for the Responses API the item's id is appended to it."""
    return text(value).partition("|")[0] or None


def _result(message: dict[str, JsonValue]) -> ToolResultIR:
    return ToolResultIR(
        _call_id(message.get("toolCallId")),
        content_parts(message.get("content")),
        is_error=True if message.get("isError") is True else None,
        name=text(message.get("toolName")) or None,
    )


def _command(message: dict[str, JsonValue]) -> str:
    output, code = text(message.get("output")), message.get("exitCode")
    said = f"Ran `{text(message.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    if message.get("cancelled") is True:
        return f"{said}\n\n(command cancelled)"
    return f"{said}\n\nCommand exited with code {code}" if isinstance(code, int) and code else said


def _usage(value: dict[str, JsonValue]) -> Usage | None:
    asked, said, read, written = (count(value.get(key)) for key in ("input", "output", "cacheRead", "cacheWrite"))
    return Usage(asked, said, read, written, raw=value) if value else None
