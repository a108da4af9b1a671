"""A conversation in normal form, cut down to what a target can carry: what is left, what is lost, and the map of ids.

Decisions of this module, each told in the loss it leaves:

* A system message between other messages moves to the end of the system text, where the target has only that.
* Media that a result cannot hold move into a user's message behind the results, which names the call.
* A failed result begins with ``[tool error]`` where the target has no flag.
* Arguments that are no object are wrapped under ``arguments``, free text of a custom tool under ``input``.
* Readable reasoning moves to the target's plain carrier; without one, or where it takes a proof, it is lost.
* A budget of thinking that the target refuses becomes the nearest one that it takes.
* A result of a server tool goes with its call, and a mark for the cache with the part that it marks.
* What only the server remembers (``previous_id``) is lost, whoever the target is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.convert import _parts, _request, _response
from workbench.convert._caching import is_mark, marked
from workbench.convert.declared import NONE, Declared
from workbench.convert.losses import Ledger, Loss
from workbench.convert.names import AnswerIds, Ids
from workbench.convert.normal import NormalRequest, NormalResponse, append, rebased
from workbench.convert.places import Places
from workbench.convert.reasoning import fit_reasoning, joined
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
from workbench.protocols import Capabilities


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """What a target can carry.

    Attributes:
        meant: what is written.
        losses: by pointer.
        ids: id in ``meant`` → id before (None where there was none), for those that differ.
    """

    meant: Any
    losses: tuple[Loss, ...]
    ids: Mapping[str, str | None]


def fit_request(normal: NormalRequest, capabilities: Capabilities, body: bytes = b"") -> FittedRequest:
    """Cut a request. ``body`` is what it was read from: losses of single keys are looked up there."""
    normal = marked(normal) if capabilities.cache_markers else normal
    request, ledger, places = normal.request, Ledger(), Places(body)
    for loss in normal.losses:
        ledger.lose(*loss)
    names = _request.tool_names(request, capabilities)
    ids = Ids(request.messages, capabilities)
    cut = Fitter(capabilities, ledger, ids, names)
    system, messages = cut.conversation(request)
    tools = _request.fit_tools(request, capabilities, ledger, places)
    params = _request.fit_params(normal.params, capabilities, ledger)
    thinking = _request.fit_thinking(request, params, capabilities, ledger, places)
    choice, parallel = _request.fit_choice(request, tools, names, capabilities, ledger, places)
    for tool in tools:
        if tool.name is not None and tool.name in names:
            ledger.lose(tool.pointer, f"the tool name {tool.name!r:.80}", f"written as {names[tool.name]!r}")
    if request.previous_id is not None:
        what = "the history that only the server holds"
        ledger.lose(places.of("previous_id"), what, "left out: the conversation begins with what the body holds")
    meant = replace(
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
    return FittedRequest(meant, ledger.losses(), cut.changed())


def fit_response(
    normal: NormalResponse,
    capabilities: Capabilities,
    body: bytes = b"",
    given: AnswerIds | None = None,
    declared: Declared = NONE,
) -> FittedRequest:
    """Cut an answer.

    Args:
        body: as above.
        given: ids that its calls have already.
        declared: the tools of whom it is for.
    """
    response, ledger, places = normal.response, Ledger(), Places(body)
    for loss in normal.losses:
        ledger.lose(*loss)
    messages = _choices(response, capabilities, ledger)
    if given:
        given.settle(messages)
    cut = Fitter(capabilities, ledger, given or Ids(messages, capabilities), NOTHING, declared, is_answer=True)
    fitted = tuple(Message("assistant", cut.answer(n, message)) for n, message in enumerate(messages))
    is_complete = response.is_complete and not (response.error and response.is_stream)
    if not is_complete and not response.is_stream and not response.error:
        ledger.lose(places.of("finish_reason"), "that the answer is not complete yet", "written as a whole answer")
        is_complete = True
    usage = _response.fit_usage(response, capabilities, ledger, places)
    stop = _response.fit_stop(response, fitted, capabilities, ledger, places)
    stop, usage = _response.fit_end(response, stop, usage, capabilities, ledger, places)
    own = _response.fit_names(response, capabilities, ledger, places)
    _response.lose_params(response, ledger)
    meant = replace(
        response,
        messages=fitted,
        id=own["id"],
        model=own["model"],
        stop=stop,
        is_complete=is_complete,
        usage=usage,
        error=response.error and _response.fit_error(response, capabilities, ledger, places),
        params=NOTHING,
        itemized=False,
    )
    return FittedRequest(meant, ledger.losses(), cut.changed())


def _choices(response: ModelResponse, capabilities: Capabilities, ledger: Ledger) -> tuple[Message, ...]:
    """The choices that the target takes: one, or all; none beside the error of a whole answer."""
    messages = response.messages
    if len(messages) > 1 and "count" not in capabilities.params:
        for message in messages[1:]:
            place, _, key = message.pointer.rpartition("/")
            at = place if key in ("message", "content") else message.pointer
            ledger.lose(at, "another choice: the target gives one answer")
        messages = messages[:1]
    if response.error and messages and not response.is_stream:
        for message in messages:
            ledger.lose(message.pointer, "an answer beside an error")
        messages = ()
    return messages


class Fitter:
    """Cuts the messages of one conversation."""

    def __init__(
        self,
        capabilities: Capabilities,
        ledger: Ledger,
        ids: Ids | AnswerIds,
        names: Mapping[str, str],
        declared: Declared = NONE,
        *,
        is_answer: bool = False,
    ) -> None:
        self._capabilities = capabilities
        self._ledger = ledger
        self._ids = ids
        self._names = names
        self._declared = declared
        self._is_answer = is_answer
        self._of_server = frozenset[str | None]()

    def changed(self) -> Mapping[str, str | None]:
        """New id → old one, for those that differ."""
        return dict(self._ids.origin) if self._capabilities.call_ids else NOTHING

    def conversation(self, request: ModelRequest) -> tuple[tuple[Part, ...], tuple[Message, ...]]:
        """(system, messages)."""
        first = Message("system", request.system)
        system, messages = self._texts(first, "system"), list[Message]()
        self._of_server = _server_calls(request)
        for n, message in enumerate(request.messages):
            if message.role == "system":
                self._system(message, system, messages)
                continue
            for made in self._message(n, message):
                if made.parts:
                    self._append(messages, made)
                elif not message.parts:
                    self._ledger.lose(message.pointer, "a message without content")
        if "system" in self._capabilities.one_text:
            system = _parts.one_text(first, system, self._ledger)
        return tuple(system), tuple(messages)

    def _system(self, message: Message, system: list[Part], messages: list[Message]) -> None:
        texts = self._texts(message, "system")
        if messages and self._capabilities.mid_system:
            if texts:
                one = "system" in self._capabilities.one_text
                kept = _parts.one_text(message, texts, self._ledger) if one else texts
                messages.append(Message("system", tuple(kept), pointer=message.pointer))
            return
        if messages:
            where = "moved to the end of the system text"
            self._ledger.lose(message.pointer, "the place of a system message between others", where)
        system += rebased(Message("system", tuple(texts), pointer=message.pointer))

    def _message(self, number: int, message: Message) -> list[Message]:
        if message.role == "assistant":
            return [Message("assistant", self.answer(number, message), pointer=message.pointer)]
        if message.role == "tool":
            return self._results(number, message)
        return [Message("user", tuple(self._texts(message, "user")), pointer=message.pointer)]

    def _texts(self, message: Message, role: str) -> list[Part]:
        """Texts, and for a user media too."""
        kept = list[Part]()
        for part in message.parts:
            made: Part | None = None
            pointer = message.absolute(part)
            if isinstance(part, Text):
                made = _parts.fit_text(part, pointer, self._capabilities, self._ledger)
            elif isinstance(part, Media):
                kinds = self._capabilities.media if role == "user" else frozenset[str]()
                made = _parts.fit_media(part, pointer, kinds, self._capabilities, self._ledger)
            else:
                self._drop(part, pointer)
            kept += [made] if made else []
        if role == "user" and role in self._capabilities.one_text:
            return _parts.text_first(message, _parts.one_text(message, kept, self._ledger), self._ledger)
        return kept

    def _drop(self, part: Part, pointer: str) -> None:
        if isinstance(part, Opaque):
            what = "a cache marker" if is_mark(part.value) else f"a part of type {part.type!r:.80}"
        elif isinstance(part, ToolCallIR):
            what = f"a call of the server tool {part.name!r:.80}" if part.is_server else "a call in this place"
        elif isinstance(part, ToolResultIR):
            what = "the result of a server tool" if part.is_server else "a result in this place"
        else:
            what = "reasoning in this place" if isinstance(part, Reasoning) else "media in this place"
        self._ledger.lose(pointer, what)

    def answer(self, number: int, message: Message) -> tuple[Part, ...]:
        """The parts of an answer, in an order the target can say."""
        kept, pointers = list[Part](), list[str]()
        for n, part in enumerate(message.parts):
            pointer = message.absolute(part)
            if self._is_repeated(part, message.parts[:n]):
                self._ledger.lose(pointer, "reasoning that is said a second time")
                continue
            made = self.part((number, n), part, pointer)
            if made:
                kept.append(made)
                pointers.append(pointer)
            elif kept and pointers[-1] == pointer:  # a signature stands on the part that follows it
                kept.pop()
                self._ledger.lose(pointers.pop(), "a signature of what is left out")
        return self._shaped(message, kept, pointers)

    def _is_repeated(self, part: Part, before: Sequence[Part]) -> bool:
        """Some servers say what they think in one string, and once more with its kind: only one of the two is left."""
        if not isinstance(part, Reasoning) or part.carrier is not Carrier.REASONING_DETAILS:
            return False
        said = [p.text for p in before if isinstance(p, Reasoning) and p.carrier is not part.carrier]
        return part.carrier not in self._capabilities.reasoning and part.text in said

    def part(self, place: tuple[int, int], part: Part, pointer: str) -> Part | None:
        """One part of an answer; None where the target cannot hold it."""
        if isinstance(part, Text):
            if "think>" in part.text and Carrier.THINK_TEXT in self._capabilities.reasoning:
                self._ledger.lose(pointer, "a text with tags that readers take for reasoning", "written as it is")
            return _parts.fit_text(part, pointer, self._capabilities, self._ledger)
        if isinstance(part, Reasoning):
            return fit_reasoning(part, pointer, self._capabilities, self._ledger)
        if isinstance(part, ToolCallIR) and not part.is_server:
            return self._call(place, part, pointer)
        if isinstance(part, Opaque) and (refusal := _refusal(part)):
            self._ledger.lose(pointer, "a refusal, apart from other text", "written as text")
            return _parts.fit_text(Text(refusal, source=part.source), pointer, self._capabilities, self._ledger)
        self._drop(part, pointer)
        return None

    def _append(self, messages: list[Message], made: Message) -> None:
        """Add a message; an answer that now follows another, since what stood between is gone, is one with it."""
        is_second = made.role == "assistant" and bool(messages) and messages[-1].role == "assistant"
        append(messages, made)
        if is_second:
            self._ledger.lose(
                made.pointer, "the border between two answers, since nothing is left between them", "one answer"
            )
            whole = messages[-1]
            pointers = [whole.absolute(part) for part in whole.parts]
            messages[-1] = Message("assistant", self._shaped(whole, [*whole.parts], pointers))

    def _shaped(self, message: Message, kept: list[Part], pointers: list[str]) -> tuple[Part, ...]:
        """The parts of an answer as far as the target can keep them apart and in order."""
        capabilities = self._capabilities
        kept = joined(kept, pointers, self._ledger)
        if ("answer" if self._is_answer else "assistant") in capabilities.one_text:
            kept = _parts.one_text(message, kept, self._ledger, is_answer=True)
        if not capabilities.interleaved:
            ordered = sorted(kept, key=_rank)
            if [id(p) for p in ordered] != [id(p) for p in kept]:
                what = "the order of reasoning, texts and calls"
                self._ledger.lose(message.absolute(kept[0]), what, "reasoning first, then texts, then calls")
            kept = ordered
        return tuple(kept)

    def _call(self, place: tuple[int, int], call: ToolCallIR, pointer: str) -> ToolCallIR:
        call = self._declared.given(call)
        made = self._declared.placed(_parts.fit_call(call, pointer, self._capabilities, self._ledger))
        name = self._names.get(call.name or "", call.name)
        if name != call.name:
            at = pointer + call.source.fields.get("name", "")
            self._ledger.lose(at, f"the tool name {call.name!r:.80}", f"written as {name!r}")
        new = self._id(place, call.id, pointer + call.source.fields.get("id", ""))
        return made if (name, new) == (call.name, call.id) else replace(made, id=new, name=name)

    def _id(self, place: tuple[int, int], old: str | None, pointer: str) -> str | None:
        if not self._capabilities.call_ids:
            if old:
                self._ledger.lose(pointer, f"the id {old!r:.80}", "left out: calls and results go by name and order")
            return None
        new = self._ids.made.get(place) or self._ids.new.get(old or "")
        if new != old and old:
            self._ledger.lose(pointer, f"the id {old!r:.80}", f"written as {new!r}")
        return new

    def _results(self, number: int, message: Message) -> list[Message]:
        """The message of results, and one of the user's with what they cannot hold."""
        results, outside = list[Part](), list[Part]()
        for n, part in enumerate(message.parts):
            if not isinstance(part, ToolResultIR):
                self._drop(part, message.absolute(part))
                continue
            if part.tool_call_id in self._of_server:
                self._ledger.lose(message.absolute(part), "the result of a server tool")
                continue
            made, moved = _parts.fit_result(message, part, self._capabilities, self._ledger)
            pointer = message.absolute(part)
            new = self._id((number, n), part.tool_call_id, pointer + part.source.fields.get("tool_call_id", ""))
            name = self._result_name((number, n), part, pointer)
            is_same = (new, name) == (made.tool_call_id, made.name)
            results.append(made if is_same else replace(made, tool_call_id=new, name=name))
            for media in moved:
                of = f"the call {new or name}" if new or name else "a call"
                outside += [Text(f"[{media.kind} from the result of {of}]"), media]
        if "user" in self._capabilities.one_text:
            outside = _parts.one_text(message, outside, self._ledger)
        made_messages = [Message("tool", tuple(results), pointer=message.pointer)]
        return made_messages + ([Message("user", tuple(outside), pointer=message.pointer)] if outside else [])

    def _result_name(self, place: tuple[int, int], part: ToolResultIR, pointer: str) -> str | None:
        called = self._ids.name_of(place, part)
        name = part.name if part.name is not None else called
        if self._capabilities.result_names or not self._capabilities.call_ids:
            return self._names.get(name or "", name)
        if part.name is not None and part.name != called:
            self._ledger.lose(
                pointer + part.source.fields.get("name", ""), f"the tool name {part.name!r:.80} of a result"
            )
        return None


def _server_calls(request: ModelRequest) -> frozenset[str | None]:
    """Ids of calls of server tools, which some services want answered like those of the client."""
    calls = [part for message in request.messages for part in message.parts if isinstance(part, ToolCallIR)]
    ids = {call.id for call in calls if call.is_server and call.id}
    return frozenset(ids - {call.id for call in calls if not call.is_server})


def _refusal(part: Opaque) -> str | None:
    """The words of a refusal: a key of the message, or a part of its content."""
    words = part.value.get("refusal") if isinstance(part.value, dict) else part.value
    return words if part.type == "refusal" and isinstance(words, str) else None


def _rank(part: Part) -> int:
    return 0 if isinstance(part, Reasoning) else 2 if isinstance(part, ToolCallIR) else 1
