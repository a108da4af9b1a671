"""Orders the entries of a pi session as they were sent.

Version 1 is a plain sequence; from version 2 every entry names its parent: the file is a tree, and its live branch ends
in the newest entry.

Reads messages of pi into the IR, as pi sends them.
Facts: pi's session format and its request preparation: summaries and commands that a person ran become texts, aborted
or failed answers are left out, calls without result get one (``packages/ai`` and ``packages/coding-agent`` of the
project).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench import protocols
from workbench.errors import WireError
from workbench.formats.importers._files import ImportDamage, Line
from workbench.formats.importers._transcript import SharedHistory, extend_history, protocol_of_api, reasoning
from workbench.formats.importers._values import content_parts, mapping, mappings, rest, text, token_count
from workbench.ir import Carrier, JsonValue, Message, Part, Reasoning, Text, ToolCallIR, ToolResultIR, Usage
from workbench.lazy_dataclass import dataclass
from workbench.wire import loads

MAX_KEPT = 2_000_000
"""Limit of entries that all compactions of a file keep together: a hostile file keeps everything repeatedly."""


KINDS = frozenset(
    {"session", "message", "compaction", "branch_summary", "custom", "custom_message", "label", "session_info"}
    | {"model_change", "thinking_level_change", "active_tools_change", "leaf"}
)
"""Known entry types: messages, summaries, and the client's own notes."""

ROLES = frozenset(
    {"user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "hookMessage"}
)


class ResultIds(NamedTuple):
    """Ids of calls that have a result, as a linked list, newest first."""

    id: str | None
    before: ResultIds | None


class RequestState(NamedTuple):
    """Content of the next request so far.

    Attributes:
        heard: its messages.
        answer: the last assistant message, which may have calls without result.
        results: the results after it.
    """

    history: SharedHistory | None = None
    answer: PiAnswer | None = None
    results: ResultIds | None = None


EMPTY_REQUEST = RequestState()


@dataclass(eq=False, slots=True)
class PiEntry:
    """One line.

    Attributes:
        branch: name of an abandoned branch; empty if it leads to the newest entry.
        before: the messages that a response was given to.
        state: content of a request after this entry.
        is_sent: it is a client message that is sent.
    """

    number: int
    value: dict[str, JsonValue]
    parent: PiEntry | None = None
    children: int = 0
    branch: str = ""
    before: SharedHistory | None = None
    state: RequestState = EMPTY_REQUEST
    answer: PiAnswer | None = None
    is_sent: bool = False

    @property
    def is_unknown(self) -> bool:
        """True for an unknown entry type, which may have been sent."""
        kind = text(self.value.get("type"))
        role = text(mapping(self.value.get("message")).get("role"))
        return kind not in KINDS or (kind == "message" and role not in ROLES)

    @property
    def after(self) -> SharedHistory | None:
        """Messages of a request after this entry."""
        return self.state.history


def link_entries(lines: Iterable[Line], damage: ImportDamage) -> list[PiEntry]:
    """All entries with their histories; the first is the session line."""
    entries = [PiEntry(line.number, line.value) for line in lines]
    _link(entries)
    _name_branches(entries)
    by_id = {text(e.value.get("id")): e for e in entries if e.value.get("type") != "session"}
    budget = [MAX_KEPT]
    for entry in entries:
        _set_state(entry, entries, by_id, budget)
    if budget[0] <= 0:
        damage.add(f"the compactions contain more than {MAX_KEPT:,} entries in total; the rest is left out")
    return entries


def _link(entries: Sequence[PiEntry]) -> None:
    """Link parents; a parent must be earlier in the file, so there are no cycles."""
    seen: dict[str, PiEntry] = {}
    last: PiEntry | None = None
    for entry in entries:
        if entry.value.get("type") == "session":
            continue
        parent = entry.value.get("parentId")
        entry.parent = seen.get(text(parent)) if "parentId" in entry.value else last
        if entry.parent is None and isinstance(parent, str):
            entry.parent = last  # the line that was named is not there any more
        if entry.parent:
            entry.parent.children += 1
        seen.setdefault(text(entry.value.get("id")), entry)
        last = entry


def _name_branches(entries: Sequence[PiEntry]) -> None:
    live: set[int] = set()
    entry: PiEntry | None = entries[-1] if entries else None
    while entry:
        live.add(entry.number)
        entry = entry.parent
    count = 0
    for entry in entries:
        if entry.number in live or entry.value.get("type") == "session":
            continue
        entry.branch = entry.parent.branch if entry.parent else ""
        if not entry.branch:
            count += 1
            entry.branch = f"abandoned {count}"


def _set_state(entry: PiEntry, entries: Sequence[PiEntry], by_id: dict[str, PiEntry], budget: list[int]) -> None:
    """Add the entry to the history of its parent."""
    before = entry.parent.state if entry.parent else EMPTY_REQUEST
    entry.before, entry.state = before.history, before
    message = mapping(entry.value.get("message"))
    if entry.value.get("type") == "compaction":
        entry.state = _after_compaction(entry, entries, by_id, budget)
    elif entry.value.get("type") == "message" and message.get("role") == "assistant":
        entry.answer = assistant_message(message)
        entry.before = _with_all_results(before)
        entry.state = _after(before, entry)
    else:
        entry.is_sent = client_message(entry.value) is not None
        entry.state = _after(before, entry)


def _after(before: RequestState, entry: PiEntry) -> RequestState:
    """Content of a request with one more entry."""
    if entry.answer:
        past = _with_all_results(before)
        answer = Message("assistant", entry.answer.parts)
        return (
            RequestState(past) if entry.answer.is_broken else RequestState(extend_history(past, answer), entry.answer)
        )
    message = client_message(entry.value) if entry.is_sent else None
    if message is None:
        return before
    if message.role == "tool":
        results = ResultIds(result_id(entry.value), before.results)
        return before._replace(history=extend_history(before.history, message), results=results)
    return RequestState(extend_history(_with_all_results(before), message))


def _with_all_results(state: RequestState) -> SharedHistory | None:
    """The history with a result for every call: the client leaves no call open."""
    if not state.answer:
        return state.history
    answered, node = set[str | None](), state.results
    while node:
        answered.add(node.id)
        node = node.before
    history = state.history
    for call in state.answer.parts:
        if isinstance(call, ToolCallIR) and call.id not in answered:
            history = extend_history(history, no_result(call))
    return history


def _after_compaction(
    entry: PiEntry, entries: Sequence[PiEntry], by_id: dict[str, PiEntry], budget: list[int]
) -> RequestState:
    """The summary, and the entries kept from the named one on, as the client rebuilds the history.

    Args:
        budget: number of entries that may still be repeated.
    """
    first = by_id.get(text(entry.value.get("firstKeptEntryId")))
    index = entry.value.get("firstKeptEntryIndex")
    if isinstance(index, int) and 0 <= index < len(entries):
        first = entries[index]
    path: list[PiEntry] = []
    node = entry.parent
    while node and first and node.number >= first.number and budget[0] > 0:
        budget[0] -= 1
        path.append(node)
        node = node.parent
    state = RequestState(extend_history(None, summary(entry.value)))
    for one in reversed(path if first else []):
        state = _after(state, one)
    return state


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


def assistant_message(message: dict[str, JsonValue]) -> PiAnswer:
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
    summary_text = text(entry.get("summary"))
    if not summary_text:
        return None
    return Message(
        "user",
        (Text(f"{_CAME_BACK}{summary_text}</summary>" if is_branch else f"{_COMPACTED}{summary_text}\n</summary>"),),
    )


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
    thinking, proof = text(block.get("thinking")), text(block.get("thinkingSignature"))
    carrier = protocols.get(protocol).import_hints.carrier
    if carrier is Carrier.REASONING_CONTENT:
        return Reasoning(_PLAIN.get(proof, carrier), thinking)
    if carrier is Carrier.ENCRYPTED_ITEM:
        return Reasoning(carrier, thinking, data=_encrypted_state(proof))
    if carrier is Carrier.THINKING and block.get("redacted") is True:
        return reasoning(protocol, proof, is_redacted=True)
    return reasoning(protocol, thinking, proof)


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
    report = f"Ran `{text(message.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    if message.get("cancelled") is True:
        return f"{report}\n\n(command cancelled)"
    return f"{report}\n\nCommand exited with code {code}" if isinstance(code, int) and code else report


def _usage(value: dict[str, JsonValue]) -> Usage | None:
    input_tokens, output_tokens, cache_reads, cache_writes = (
        token_count(value.get(key)) for key in ("input", "output", "cacheRead", "cacheWrite")
    )
    return Usage(input_tokens, output_tokens, cache_reads, cache_writes, raw=value) if value else None
