"""Reduces a normalised conversation to the target's capabilities; reports losses and renamed ids.

Decisions of this module, each reported as a loss:

* A system message between other messages moves to the end of the system text if the target has no other place.
* Media that a tool result cannot hold move into a user message after the results; a text there names the call.
* The text of a failed result begins with ``[tool error]`` if the target has no flag.
* Arguments that are not an object are wrapped under ``arguments``, free text of a custom tool under ``input``.
* Readable reasoning moves to the target's plain carrier; it is lost if there is none, or if it needs a proof.
* A thinking budget that the target refuses becomes the nearest one that it accepts.
* The result of a server tool is dropped with its call, and a cache breakpoint with the part that it marks.
* State that only the server stores (``previous_id``) is lost for every target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.convert import _parts, _request, _response
from workbench.convert.declared_tools import NO_TOOLS, DeclaredTools
from workbench.convert.losses import FieldPlaces, Loss, LossReport
from workbench.convert.names import AnswerIds, ConversationIds
from workbench.convert.normal import (
    NormalRequest,
    NormalResponse,
    append,
    apply_cache_points,
    is_cache_point,
    rebase_parts,
)
from workbench.convert.reasoning import fit_reasoning, join_reasoning
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
    ToolResultIR,
)
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import Capabilities


@dataclass(frozen=True, slots=True)
class Fit:
    """A request or response reduced to what the target supports, with losses and renamed ids.

    Attributes:
        normal: the normal form to be written.
        losses: in pointer order.
        ids: new id → old id, for changed ids only; None if there was no id before.
    """

    normal: Any
    losses: tuple[Loss, ...]
    ids: Mapping[str, str | None]


def fit_request(normal: NormalRequest, capabilities: Capabilities, body: bytes = b"") -> Fit:
    """Reduce a request. ``body`` is the source body, in which the pointers of losses are looked up."""
    normal = apply_cache_points(normal) if capabilities.request.cache_markers else normal
    request, report, places = normal.request, LossReport(), FieldPlaces(body)
    for loss in normal.losses:
        report.lose(*loss)
    names = _request.tool_names(request, capabilities)
    ids = ConversationIds(request.messages, capabilities)
    reducer = MessageReducer(capabilities, report, ids, names)
    system, messages = reducer.fit_conversation(request)
    tools = _request.fit_tools(request, capabilities, report, places)
    params = _request.fit_params(normal.params, capabilities, report)
    thinking = _request.fit_thinking(request, params, capabilities, report, places)
    choice, parallel = _request.fit_choice(request, tools, names, capabilities, report, places)
    for tool in tools:
        if tool.name is not None and tool.name in names:
            report.lose(tool.pointer, f"the tool name {tool.name!r:.80}", f"written as {names[tool.name]!r}")
    if request.previous_id is not None:
        what = "the history that only the provider stores"
        report.lose(places.of("previous_id"), what, "left out: the conversation starts with this body")
    result = replace(
        request,
        messages=messages,
        system=system,
        tools=tuple(replace(tool, name=names.get(tool.name or "", tool.name)) for tool in tools),
        tool_choice=choice,
        parallel=parallel,
        thinking=thinking,
        previous_id=None,
        params=params or NOTHING,
        itemized=False,
    )
    return Fit(result, report.losses(), reducer.changed_ids())


def fit_response(
    normal: NormalResponse,
    capabilities: Capabilities,
    body: bytes = b"",
    assigned_ids: AnswerIds | None = None,
    declared: DeclaredTools = NO_TOOLS,
) -> Fit:
    """Reduce a response.

    Args:
        body: the source body, for the pointers of losses.
        assigned_ids: ids that its calls already have.
        declared: the tools that the client declared.
    """
    response, report, places = normal.response, LossReport(), FieldPlaces(body)
    for loss in normal.losses:
        report.lose(*loss)
    messages = _fit_choices(response, capabilities, report)
    if assigned_ids:
        assigned_ids.assign_all(messages)
    reducer = MessageReducer(
        capabilities, report, assigned_ids or ConversationIds(messages, capabilities), NOTHING, declared, is_answer=True
    )
    fitted = tuple(Message("assistant", reducer.fit_answer(n, message)) for n, message in enumerate(messages))
    is_complete = response.is_complete and not (response.error and response.is_stream)
    if not is_complete and not response.is_stream and not response.error:
        report.lose(
            places.of("finish_reason"),
            "the status that marks the response as incomplete",
            "written as a complete response",
        )
        is_complete = True
    usage = _response.fit_usage(response, capabilities, report, places)
    stop = _response.fit_stop(response, fitted, capabilities, report, places)
    stop, usage = _response.fit_end(response, stop, usage, capabilities, report, places)
    own = _response.fit_names(response, capabilities, report, places)
    _response.lose_params(response, report)
    result = replace(
        response,
        messages=fitted,
        id=own["id"],
        model=own["model"],
        stop=stop,
        is_complete=is_complete,
        usage=usage,
        error=response.error and _response.fit_error(response, capabilities, report, places),
        params=NOTHING,
        itemized=False,
    )
    return Fit(result, report.losses(), reducer.changed_ids())


def _fit_choices(response: ModelResponse, capabilities: Capabilities, report: LossReport) -> tuple[Message, ...]:
    """The choices that the target accepts: one or all; none next to the error of a non-streaming response."""
    messages = response.messages
    if len(messages) > 1 and "count" not in capabilities.request.params:
        for message in messages[1:]:
            place, _, key = message.pointer.rpartition("/")
            at = place if key in ("message", "content") else message.pointer
            report.lose(at, "a second choice; the target returns only one")
        messages = messages[:1]
    if response.error and messages and not response.is_stream:
        for message in messages:
            report.lose(message.pointer, "content next to an error")
        messages = ()
    return messages


class MessageReducer:
    """Reduces the messages of one conversation."""

    def __init__(
        self,
        capabilities: Capabilities,
        report: LossReport,
        ids: ConversationIds | AnswerIds,
        names: Mapping[str, str],
        declared: DeclaredTools = NO_TOOLS,
        *,
        is_answer: bool = False,
    ) -> None:
        self._capabilities = capabilities
        self._report = report
        self._ids = ids
        self._names = names
        self._declared = declared
        self._is_answer = is_answer
        self._of_server = frozenset[str | None]()

    def changed_ids(self) -> Mapping[str, str | None]:
        """New id → old id, for changed ids only."""
        return dict(self._ids.origin) if self._capabilities.tools.call_ids else NOTHING

    def fit_conversation(self, request: ModelRequest) -> tuple[tuple[Part, ...], tuple[Message, ...]]:
        """Reduce a request's messages to (system, messages)."""
        first = Message("system", request.system)
        system, messages = self._texts(first, "system"), list[Message]()
        self._of_server = _server_calls(request)
        for n, message in enumerate(request.messages):
            if message.role == "system":
                self._system(message, system, messages)
                continue
            for new in self._message(n, message):
                if new.parts:
                    self._append(messages, new)
                elif not message.parts:
                    self._report.lose(message.pointer, "a message without content")
        if "system" in self._capabilities.request.one_text:
            system = _parts.join_texts(first, system, self._report)
        return tuple(system), tuple(messages)

    def _system(self, message: Message, system: list[Part], messages: list[Message]) -> None:
        texts = self._texts(message, "system")
        if messages and self._capabilities.request.mid_system:
            if texts:
                one = "system" in self._capabilities.request.one_text
                parts = _parts.join_texts(message, texts, self._report) if one else texts
                messages.append(Message("system", tuple(parts), pointer=message.pointer))
            return
        if messages:
            where = "moved to the end of the system text"
            self._report.lose(message.pointer, "the position of a system message between other messages", where)
        system += rebase_parts(Message("system", tuple(texts), pointer=message.pointer))

    def _message(self, number: int, message: Message) -> list[Message]:
        if message.role == "assistant":
            return [Message("assistant", self.fit_answer(number, message), pointer=message.pointer)]
        if message.role == "tool":
            return self._results(number, message)
        return [Message("user", tuple(self._texts(message, "user")), pointer=message.pointer)]

    def _texts(self, message: Message, role: str) -> list[Part]:
        """Text parts; for a user message media, too."""
        parts = list[Part]()
        for part in message.parts:
            new: Part | None = None
            pointer = message.absolute(part)
            if isinstance(part, Text):
                new = _parts.fit_text(part, pointer, self._capabilities, self._report)
            elif isinstance(part, Media):
                kinds = self._capabilities.media.kinds if role == "user" else frozenset[str]()
                new = _parts.fit_media(part, pointer, kinds, self._capabilities, self._report)
            else:
                self._drop(part, pointer)
            parts += [new] if new else []
        if role == "user" and role in self._capabilities.request.one_text:
            return _parts.put_text_first(message, _parts.join_texts(message, parts, self._report), self._report)
        return parts

    def _drop(self, part: Part, pointer: str) -> None:
        if isinstance(part, Opaque):
            what = "a cache breakpoint" if is_cache_point(part.value) else f"a part of type {part.type!r:.80}"
        elif isinstance(part, ToolCallIR):
            what = f"a call to the server tool {part.name!r:.80}" if part.is_server else "a tool call at this position"
        elif isinstance(part, ToolResultIR):
            what = "the result of a server tool" if part.is_server else "a tool result at this position"
        else:
            what = "reasoning at this position" if isinstance(part, Reasoning) else "media at this position"
        self._report.lose(pointer, what)

    def fit_answer(self, number: int, message: Message) -> tuple[Part, ...]:
        """Parts of an assistant message, in an order that the target can express."""
        parts, pointers = list[Part](), list[str]()
        for n, part in enumerate(message.parts):
            pointer = message.absolute(part)
            if self._is_repeated(part, message.parts[:n]):
                self._report.lose(pointer, "repeated reasoning")
                continue
            new = self.fit_part((number, n), part, pointer)
            if new:
                parts.append(new)
                pointers.append(pointer)
            elif parts and pointers[-1] == pointer:  # a signature belongs to the part that follows it
                parts.pop()
                self._report.lose(pointers.pop(), "the signature of a part that is left out")
        return self._shape_answer(message, parts, pointers)

    def _is_repeated(self, part: Part, before: Sequence[Part]) -> bool:
        """Detect reasoning sent twice: some servers send it as one string and again as typed details; one is kept."""
        if not isinstance(part, Reasoning) or part.carrier is not Carrier.REASONING_DETAILS:
            return False
        reasoning_texts = [p.text for p in before if isinstance(p, Reasoning) and p.carrier is not part.carrier]
        return part.carrier not in self._capabilities.reasoning.carriers and part.text in reasoning_texts

    def fit_part(self, place: tuple[int, int], part: Part, pointer: str) -> Part | None:
        """Reduce one part of an assistant message; None if the target cannot hold it."""
        if isinstance(part, Text):
            if "think>" in part.text and Carrier.THINK_TEXT in self._capabilities.reasoning.carriers:
                self._report.lose(
                    pointer, ("text with think tags, which clients interpret as reasoning"), "written unchanged"
                )
            return _parts.fit_text(part, pointer, self._capabilities, self._report)
        if isinstance(part, Reasoning):
            return fit_reasoning(part, pointer, self._capabilities, self._report)
        if isinstance(part, ToolCallIR) and not part.is_server:
            return self._call(place, part, pointer)
        if isinstance(part, Opaque) and (refusal := _refusal(part)):
            self._report.lose(pointer, "a refusal as a separate part", "written as text")
            return _parts.fit_text(Text(refusal, source=part.source), pointer, self._capabilities, self._report)
        self._drop(part, pointer)
        return None

    def _append(self, messages: list[Message], message: Message) -> None:
        """Add a message; join two assistant messages if everything between them was dropped."""
        is_second = message.role == "assistant" and bool(messages) and messages[-1].role == "assistant"
        append(messages, message)
        if is_second:
            self._report.lose(message.pointer, "the boundary between two responses", "merged into one response")
            whole = messages[-1]
            pointers = [whole.absolute(part) for part in whole.parts]
            messages[-1] = Message("assistant", self._shape_answer(whole, [*whole.parts], pointers))

    def _shape_answer(self, message: Message, parts: list[Part], pointers: list[str]) -> tuple[Part, ...]:
        """Parts of an assistant message, joined and ordered where the target cannot keep them apart."""
        capabilities = self._capabilities
        parts = join_reasoning(parts, pointers, self._report)
        if ("answer" if self._is_answer else "assistant") in capabilities.request.one_text:
            parts = _parts.join_texts(message, parts, self._report, is_answer=True)
        if not capabilities.answer.interleaved:
            ordered = sorted(parts, key=_rank)
            if [id(p) for p in ordered] != [id(p) for p in parts]:
                what = "the order of reasoning, text and tool calls"
                self._report.lose(message.absolute(parts[0]), what, "reasoning first, then text, then tool calls")
            parts = ordered
        return tuple(parts)

    def _call(self, place: tuple[int, int], call: ToolCallIR, pointer: str) -> ToolCallIR:
        call = self._declared.restore_free_text(call)
        target_call = self._declared.restore_namespace(_parts.fit_call(call, pointer, self._capabilities, self._report))
        name = self._names.get(call.name or "", call.name)
        if name != call.name:
            at = pointer + call.source.fields.get("name", "")
            self._report.lose(at, f"the tool name {call.name!r:.80}", f"written as {name!r}")
        new = self._id(place, call.id, pointer + call.source.fields.get("id", ""))
        return target_call if (name, new) == (call.name, call.id) else replace(target_call, id=new, name=name)

    def _id(self, place: tuple[int, int], old: str | None, pointer: str) -> str | None:
        if not self._capabilities.tools.call_ids:
            if old:
                self._report.lose(
                    pointer, f"the id {old!r:.80}", "left out: calls and results are matched by name and order"
                )
            return None
        new = self._ids.by_place.get(place) or self._ids.new.get(old or "")
        if new != old and old:
            self._report.lose(pointer, f"the id {old!r:.80}", f"written as {new!r}")
        return new

    def _results(self, number: int, message: Message) -> list[Message]:
        """The message of tool results, and a user message with the media that they cannot hold."""
        results, outside = list[Part](), list[Part]()
        for n, part in enumerate(message.parts):
            if not isinstance(part, ToolResultIR):
                self._drop(part, message.absolute(part))
                continue
            if part.tool_call_id in self._of_server:
                self._report.lose(message.absolute(part), "the result of a server tool")
                continue
            target_result, moved = _parts.fit_result(message, part, self._capabilities, self._report)
            pointer = message.absolute(part)
            new = self._id((number, n), part.tool_call_id, pointer + part.source.fields.get("tool_call_id", ""))
            name = self._result_name((number, n), part, pointer)
            is_same = (new, name) == (target_result.tool_call_id, target_result.name)
            results.append(target_result if is_same else replace(target_result, tool_call_id=new, name=name))
            for media in moved:
                of = f"the call {new or name}" if new or name else "a call"
                outside += [Text(f"[{media.kind} from the result of {of}]"), media]
        if "user" in self._capabilities.request.one_text:
            outside = _parts.join_texts(message, outside, self._report)
        made_messages = [Message("tool", tuple(results), pointer=message.pointer)]
        return made_messages + ([Message("user", tuple(outside), pointer=message.pointer)] if outside else [])

    def _result_name(self, place: tuple[int, int], part: ToolResultIR, pointer: str) -> str | None:
        called = self._ids.name_of(place, part)
        name = part.name if part.name is not None else called
        if self._capabilities.tools.result_names or not self._capabilities.tools.call_ids:
            return self._names.get(name or "", name)
        if part.name is not None and part.name != called:
            self._report.lose(
                pointer + part.source.fields.get("name", ""), f"the tool name {part.name!r:.80} of a result"
            )
        return None


def _server_calls(request: ModelRequest) -> frozenset[str | None]:
    """Ids of server tool calls. Some services want them answered in the same way as the client's."""
    calls = [part for message in request.messages for part in message.parts if isinstance(part, ToolCallIR)]
    ids = {call.id for call in calls if call.is_server and call.id}
    return frozenset(ids - {call.id for call in calls if not call.is_server})


def _refusal(part: Opaque) -> str | None:
    """Text of a refusal, from a key of the message or a part of its content."""
    words = part.value.get("refusal") if isinstance(part.value, dict) else part.value
    return words if part.type == "refusal" and isinstance(words, str) else None


def _rank(part: Part) -> int:
    return 0 if isinstance(part, Reasoning) else 2 if isinstance(part, ToolCallIR) else 1
