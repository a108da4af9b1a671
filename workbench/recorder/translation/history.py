"""Restores a client's history to what the upstream returned: reasoning and ids, without the recorder's handles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from workbench.contracts import Contract
from workbench.convert import ANSWERING, rebase_parts, restore_ids
from workbench.edits.repairs import restore_reasoning
from workbench.errors import LocalProtocolError
from workbench.ir import Message, ModelRequest, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import DecodedExchange
from workbench.recorder.translation.changes import HANDLE, ID, NOTE, REASONING, TranslationChange
from workbench.recorder.translation.memory import RememberedResponse, ResponseMemory, content_of, context_of
from workbench.recorder.translation.reasoning_proofs import name_of
from workbench.wire import patch

Wanted = Callable[[Reasoning], bool]
"""Decisions on sending stored reasoning back to the upstream."""


@dataclass(slots=True)
class RestoredHistory:
    """A request as a client of the upstream's own protocol would have sent it.

    Attributes:
        changes: what was put back, taken out and renamed.
        context: fingerprint of what the next answer follows.
    """

    request: ModelRequest
    changes: list[TranslationChange] = field(default_factory=list)
    context: str = ""


@dataclass(frozen=True, slots=True)
class _HistoryTurn:
    """Neighbouring messages of the model, with the remembered response; or messages of others."""

    messages: tuple[Message, ...]
    is_answer: bool
    remembered: RememberedResponse | None = None


def restore_history(request: ModelRequest, memory: ResponseMemory, is_wanted: Wanted) -> RestoredHistory:
    """The request with everything that clients do not send back, as far as ``memory`` has its responses."""
    turns = list(_turns(request.messages, memory))
    restored, ids = RestoredHistory(request), dict[str, str | None]()
    for turn in turns:
        ids |= turn.remembered.ids if turn.remembered else {}
    messages, calls = list[Message](), list[ToolCallIR]()
    for turn in turns:
        with_ids = restore_ids(replace(request, messages=turn.messages), ids).messages
        if turn.is_answer:
            answer = _answer(turn, with_ids, is_wanted, restored.changes)
            calls = [call for message in answer for _, call in message.tool_calls() if not call.is_server]
            messages += answer
        else:
            messages += _with_result_ids(with_ids, calls)
    restored.changes += (
        TranslationChange(ID, f"{client} is sent as {'none' if own is None else own}")
        for client, own in ids.items()
        if client != own
    )
    restored.request = replace(request, messages=tuple(messages))
    restored.context = _context(turns)
    return restored


@dataclass(frozen=True, slots=True)
class HistoryResponse:
    """A response in a client's history.

    Attributes:
        at: number of its first message.
        reasoning: reasoning that the client sent with it.
        remembered: the remembered response.
    """

    at: int
    reasoning: tuple[Reasoning, ...]
    remembered: RememberedResponse | None


def responses_in(messages: Sequence[Message], memory: ResponseMemory) -> tuple[list[HistoryResponse], str]:
    """Responses in a history, and the fingerprint of what the next one follows."""
    found, at = list[HistoryResponse](), 0
    turns = list(_turns(messages, memory))
    for turn in turns:
        if turn.is_answer:
            reasoning = tuple(part for message in turn.messages for _, part in message.reasoning())
            found.append(HistoryResponse(at, reasoning, turn.remembered))
        at += len(turn.messages)
    return found, _context(turns)


def _context(turns: Sequence[_HistoryTurn]) -> str:
    return context_of(turns[-1].messages if turns and not turns[-1].is_answer else ())


def _turns(messages: Sequence[Message], memory: ResponseMemory) -> Iterator[_HistoryTurn]:
    context = context_of(())
    for is_answer, group in groupby(messages, lambda message: message.role in ANSWERING):
        messages_of_turn = tuple(group)
        if not is_answer:
            context = context_of(messages_of_turn)
            yield _HistoryTurn(messages_of_turn, is_answer)
            continue
        parts = [part for message in messages_of_turn for part in message.parts]
        handles = [name for part in parts if isinstance(part, Reasoning) and (name := name_of(part))]
        ids = [part.id for part in parts if isinstance(part, ToolCallIR) and part.id and not part.is_server]
        yield _HistoryTurn(messages_of_turn, is_answer, memory.find(handles, ids, content_of(parts), context))


def _answer(
    turn: _HistoryTurn, messages: Sequence[Message], is_wanted: Wanted, changes: list[TranslationChange]
) -> list[Message]:
    """Messages of one response; unchanged if nothing has to be restored."""
    remembered = turn.remembered
    reasoning = [part for message in messages for _, part in message.reasoning()]
    if remembered is None or (not remembered.reasoning and content_of(remembered.parts) == remembered.content):
        has_handles = any(name_of(part) is not None for part in reasoning)
        return (
            [replace(m, parts=tuple(_without_unknown_handles(m.parts, changes))) for m in messages]
            if has_handles
            else [*messages]
        )
    back = [part for part in remembered.reasoning if is_wanted(part)]
    changes += _reasoning_changes(remembered, reasoning, back)
    own_parts = tuple(part for message in messages for part in rebase_parts(message) if not isinstance(part, Reasoning))
    if content_of(own_parts) == remembered.content:
        parts = tuple(part for part in remembered.parts if not isinstance(part, Reasoning) or is_wanted(part))
    else:
        parts = _with_reasoning_in_place(own_parts, remembered.parts, is_wanted)
    return [Message(messages[0].role, parts)]


def _with_result_ids(messages: Sequence[Message], calls: Sequence[ToolCallIR]) -> list[Message]:
    """Give tool results without an id that of the call they follow: the first unanswered call of that name.

    Clients of Gemini may leave ids out, and the calls go back with the ids that the upstream gave them.
    """
    results = [result for message in messages for _, result in message.tool_results()]
    if all(result.tool_call_id for result in results):
        return [*messages]
    answered_ids = {result.tool_call_id for result in results}
    open_calls = [call for call in calls if call.id and call.id not in answered_ids]

    def add_id(part: Part) -> Part:
        if not isinstance(part, ToolResultIR) or part.tool_call_id or part.is_server:
            return part
        call = next((call for call in open_calls if part.name in (call.name, None)), None)
        if call is None:
            return part
        open_calls.remove(call)
        return replace(part, tool_call_id=call.id)

    return [replace(message, parts=tuple(map(add_id, message.parts))) for message in messages]


def _without_unknown_handles(parts: Sequence[Part], changes: list[TranslationChange]) -> Iterator[Part]:
    """Parts without handles that are not ours any more; the text of such reasoning stays."""
    for part in parts:
        if not isinstance(part, Reasoning) or name_of(part) is None:
            yield part
            continue
        bare = replace(part, signature=None, data=None)
        changes.append(
            TranslationChange(HANDLE, "a reasoning handle was removed: this recorder does not keep its reasoning")
        )
        if bare.text:
            yield bare


def _reasoning_changes(
    remembered: RememberedResponse, sent: Sequence[Reasoning], back: Sequence[Reasoning]
) -> Iterator[TranslationChange]:
    handles = sum(name_of(part) is not None for part in sent)
    if handles:
        yield TranslationChange(
            HANDLE,
            f"{handles} {'handle' if handles == 1 else 'handles'} of stored reasoning removed from the earlier "
            f"response {_response_words(remembered)}: handles are never sent upstream",
        )
    if back and list(back) != list(sent):
        yield TranslationChange(REASONING, replayed_words(remembered, back))
    elif not back:
        yield TranslationChange(
            REASONING,
            f"the reasoning of the response {_response_words(remembered)} was not sent back, because the upstream "
            "refuses reasoning",
        )


def replayed_words(remembered: RememberedResponse, back: Sequence[Reasoning]) -> str:
    """The change line for reasoning that was restored."""
    size = sum(len(part.text or "") for part in back)
    carriers = ", ".join(dict.fromkeys(part.carrier.value for part in back))
    return f"restored unchanged in the response {_response_words(remembered)}: {carriers}, {size:,} characters"


def _response_words(remembered: RememberedResponse) -> str:
    calls = [part.id or part.name or "" for part in remembered.parts if isinstance(part, ToolCallIR)]
    return f"with {', '.join(calls[:3])}" if calls else f"{remembered.name[:6]} without tool calls"


def _with_reasoning_in_place(parts: Sequence[Part], own: Sequence[Part], is_wanted: Wanted) -> tuple[Part, ...]:
    """A response that the client edited, with the reasoning before the parts that it preceded."""
    reasoning, anchors, waiting = list[Part](), list[Part](), list[list[Part]]()
    for part in own:
        if isinstance(part, Reasoning):
            reasoning += [part] if is_wanted(part) else []
        else:
            anchors.append(part)
            waiting.append(reasoning)
            reasoning = []
    waiting.append(reasoning)
    placed_parts, texts = list[Part](), 0
    for part in parts:
        texts += isinstance(part, Text)
        at = next((n for n, anchor in enumerate(anchors) if _is_same(anchor, part, texts, anchors)), -1)
        placed_parts += [piece for group in waiting[: at + 1] for piece in group]
        waiting[: at + 1] = [[] for _ in waiting[: at + 1]]
        placed_parts.append(part)
    rest = [piece for group in waiting for piece in group]
    return (
        (*placed_parts, *rest) if any(isinstance(part, Reasoning) for part in placed_parts) else (*rest, *placed_parts)
    )


def _is_same(anchor: Part, part: Part, texts: int, own: Sequence[Part]) -> bool:
    """A part of the client corresponds to one of the upstream: a call by its id, a text by its number."""
    if isinstance(anchor, ToolCallIR) and isinstance(part, ToolCallIR):
        return anchor.id == part.id if anchor.id else anchor.name == part.name
    if isinstance(anchor, Text) and isinstance(part, Text):
        return next((p for n, p in enumerate(_texts(own), 1) if n == texts), None) is anchor
    return False


def _texts(parts: Sequence[Part]) -> Iterator[Text]:
    return (part for part in parts if isinstance(part, Text))


@dataclass(slots=True)
class SplicedBody:
    """A request body with its changes.

    Attributes:
        text: content-decoded; the client's own where nothing was to be done.
        context: fingerprint of what the next answer follows.
    """

    text: bytes
    changes: list[TranslationChange] = field(default_factory=list)
    context: str = ""


def put_reasoning_back(
    decoded: DecodedExchange, memory: ResponseMemory, contract: Contract, is_wanted: Wanted
) -> SplicedBody:
    """The body with the remembered reasoning of its responses.

    Args:
        is_wanted: whether a piece of it goes back.
    """
    request = decoded.request
    assert request is not None
    turns, context = responses_in(request.messages, memory)
    spliced = SplicedBody(decoded.request_text, context=context)
    back = {
        turn.at: (turn.remembered, turn)
        for turn in turns
        if turn.remembered and _lacks(turn, turn.remembered, is_wanted)
    }
    came = {at: _parts_to_replay(remembered, is_wanted) for at, (remembered, _) in back.items()}
    try:
        changes = restore_reasoning(decoded, contract, came)
        spliced.text = patch.apply(spliced.text, changes) if changes else spliced.text
    except LocalProtocolError as error:
        spliced.changes.append(TranslationChange(NOTE, f"reasoning cannot be restored: {error}"))
        return spliced
    if changes:
        spliced.changes += [
            TranslationChange(REASONING, replayed_words(remembered, _reasoning(came[at])))
            for at, (remembered, _) in back.items()
        ]
    return spliced


def _lacks(turn: HistoryResponse, remembered: RememberedResponse, is_wanted: Wanted) -> bool:
    """The client sends a response back without its reasoning, or with other reasoning."""
    own = [part for part in remembered.reasoning if is_wanted(part)]
    return bool(own) and [_fingerprint(part) for part in turn.reasoning] != [_fingerprint(part) for part in own]


def _fingerprint(part: Reasoning) -> tuple[object, ...]:
    return part.text or "", part.signature, part.data


def _parts_to_replay(remembered: RememberedResponse, is_wanted: Wanted) -> list[Part]:
    return [part for part in remembered.parts if not isinstance(part, Reasoning) or is_wanted(part)]


def _reasoning(parts: list[Part]) -> list[Reasoning]:
    return [part for part in parts if isinstance(part, Reasoning)]
