"""The request that is varied, and the variants that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from workbench import protocols
from workbench.contracts import Finding, Severity
from workbench.edits.fault import Fault
from workbench.edits.message_parts import remove_parts
from workbench.edits.proposal import changes_between
from workbench.edits.request import apply_changes, with_body
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, Message, ModelRequest, Part, Reasoning, ToolChoice, ToolDef
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import Adapter
from workbench.provenance import escape
from workbench.rules import Inspector, schema_as_sent, schema_at
from workbench.toolcalls.schemas import SIMPLE, STRICT, TEXTS, lower_to_level
from workbench.wire import Change, Exchange, HttpRequest, Insert, Remove, Replace, dumps, value_at
from workbench.wire.session import MemorySession


@dataclass(frozen=True, slots=True)
class RequestVariant:
    """A request with one difference.

    Attributes:
        name: as typed by the user: ``"reasoning=dropped"``.
        title: the same in words.
        request: to send; None if there is nothing to try.
        protocol: to write it in; empty for the target's own.
        stream: request a stream or not; None as in the request.
        why_not: reason why there is nothing to try; empty if there is.
    """

    name: str
    title: str
    request: HttpRequest | None = None
    protocol: str = ""
    stream: bool | None = None
    why_not: str = ""


@dataclass(frozen=True)
class VariedRequest:
    """A request to vary, in the place of an exchange. ``fault`` gives access to its parts."""

    inspector: Inspector
    index: int
    http: HttpRequest
    adapter: Adapter
    fault: Fault

    @staticmethod
    def of(inspector: Inspector, index: int, request: HttpRequest | None = None) -> VariedRequest:
        """A request in the place of an exchange.

        Raises:
            IndexError: the session has no such exchange.
            SessionFormatError: the session cannot be read.
            LocalProtocolError: the exchange has no request to a model.
        """
        detail = inspector.detail(index)
        http = request or detail.decoded.exchange.request
        if http is None:
            raise LocalProtocolError("no request was recorded", where=f"exchange {index + 1}")
        trial = inspector.trial(index, http, provider=detail.contract.label)
        decoded = trial.decoded
        if decoded.request is None or decoded.protocol not in protocols.protocols():
            raise LocalProtocolError("not a request to a model", where=f"exchange {index + 1}")
        whole = Finding("", Severity.INFO, index, "request", "", "")
        return VariedRequest(inspector, index, http, protocols.get(decoded.protocol or ""), Fault(whole, trial.case))

    @staticmethod
    def alone(http: HttpRequest, protocol: str) -> VariedRequest:
        """A single request. Raises LocalProtocolError if it is no request to a model."""
        session = MemorySession("alone", (Exchange("alone", http),))
        return VariedRequest.of(Inspector(session, protocol=protocol or None), 0)

    @property
    def request(self) -> ModelRequest:
        """The decoded request."""
        return self.fault.request

    @property
    def text(self) -> bytes:
        """The content-decoded body."""
        return self.fault.text

    def variant_by_changes(self, name: str, title: str, changes: Sequence[Change], why_not: str) -> RequestVariant:
        """A variant made by structural changes; without changes, ``why_not`` gives the reason."""
        if not changes:
            return RequestVariant(name, title, why_not=why_not)
        try:
            request = apply_changes(self.http, self.text, changes)
        except (LocalProtocolError, WireError) as error:
            return RequestVariant(name, title, why_not=str(error))
        return self._unless_same(name, title, request, why_not)

    def variant_by_parts(self, name: str, title: str, change: Callable[[Part], Part], why_not: str) -> RequestVariant:
        """A variant made by changing parts of its messages; all other bytes stay."""
        messages = tuple(_with_parts(m, (change(p) for p in m.parts)) for m in self.request.messages)
        if messages == self.request.messages:
            return RequestVariant(name, title, why_not=why_not)
        try:
            body = self.adapter.encode_request(replace(self.request, messages=messages), self.text)
        except (LocalProtocolError, WireError) as error:
            return RequestVariant(name, title, why_not=str(error))
        return self._unless_same(name, title, with_body(self.http, body, self.text), why_not)

    def _unless_same(self, name: str, title: str, request: HttpRequest, why_not: str) -> RequestVariant:
        return (
            RequestVariant(name, title, why_not=why_not)
            if request == self.http
            else RequestVariant(name, title, request)
        )


def _with_parts(message: Message, parts: Iterable[Part]) -> Message:
    new_parts = tuple(parts)
    return message if new_parts == message.parts else replace(message, parts=new_parts)


NO_REASONING = "the request contains no reasoning"


def drop_reasoning(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Without any reasoning."""
    refs = [ref for ref, _ in subject.fault.parts(Reasoning)]
    yield subject.variant_by_changes(
        "reasoning=dropped", "without reasoning", remove_parts(subject.fault, refs), NO_REASONING
    )


NO_TOOLS = "the request declares no tools"

_TITLES = {
    STRICT: "strict schemas: closed objects, all properties required",
    SIMPLE: "simple schemas: no references, alternatives or limits",
    TEXTS: "all arguments as strings",
}


def switch_off_parallel(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Switch parallel calls off with the request's own switch."""
    name, title = "parallel=off", "parallel tool calls switched off"
    if not subject.request.tools:
        yield RequestVariant(name, title, why_not=NO_TOOLS)
    elif not subject.adapter.capabilities.tools.parallel_switch:
        yield RequestVariant(name, title, why_not=f"{subject.adapter.name} has no parameter for parallel tool calls")
    else:
        yield subject.variant_by_changes(
            name, title, _parallel_off_changes(subject), "parallel tool calls are already switched off"
        )


def at_level(subject: VariedRequest, level: str) -> RequestVariant:
    """Tool schemas reduced to a level (``schemas.levels``)."""
    tools = [t for t in subject.request.tools if t.kind == "client" and isinstance(t.schema, dict)]
    changes = [change for tool in tools for change in _at_level(subject, tool, level)]
    if level == STRICT:
        changes += [change for tool in tools for change in _strict(subject, tool)]
    why_not = "the schemas are already at this level" if tools else NO_TOOLS
    return subject.variant_by_changes(f"schema={level}", _TITLES[level], changes, why_not)


def forbid_tools(subject: VariedRequest) -> RequestVariant:
    """Forbid tool calls: by the tool choice, or by removing the tools if there is no such choice."""
    name, title = "tools=off", "no tool calls allowed"
    request = subject.request
    if not request.tools:
        return RequestVariant(name, title, why_not=NO_TOOLS)
    choice = request.tool_choice
    if choice and choice.mode == "none":
        return RequestVariant(name, title, why_not="tool calls are already forbidden")
    if "none" in subject.adapter.capabilities.tools.choices and not ignores(subject, "tool_choice"):
        return subject.variant_by_changes(name, title, _choice(subject, "none"), "")
    lists = dict.fromkeys("/" + tool.pointer.split("/")[1] for tool in request.tools)
    return subject.variant_by_changes(name, title, [Remove(pointer) for pointer in lists], "")


def ignores(subject: VariedRequest, name: str) -> bool:
    """The contract accepts a parameter but ignores it."""
    ignored = subject.fault.contract.term("params.ignored")
    return isinstance(ignored, list) and name in ignored


def remove_tools(subject: VariedRequest, names: Collection[str]) -> RequestVariant:
    """Remove some of the declared tools."""
    name, title = "tools=fewer", f"{', '.join(sorted(names))} not declared"
    surplus = [tool for tool in subject.request.tools if tool.name in names]
    if not surplus:
        return RequestVariant(name, title, why_not="none of these tools are declared")
    if len(surplus) == len(subject.request.tools):
        return forbid_tools(subject)
    choice = subject.request.tool_choice
    changes: list[Change] = [Remove(tool.pointer) for tool in surplus]
    if choice and choice.mode == "tool" and choice.name in names:
        changes += _choice(subject, "auto")
    return subject.variant_by_changes(name, title, changes, "")


def _parallel_off_changes(subject: VariedRequest) -> list[Change]:
    """The members that the adapter adds to switch parallel calls off."""
    if subject.request.parallel is False:
        return []
    choice = subject.request.tool_choice
    mode = choice if choice and choice.mode in ("auto", "any", "tool") else ToolChoice("auto")
    sample = ModelRequest(subject.adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    without = subject.adapter.write_request(replace(sample, tool_choice=mode))
    with_it = subject.adapter.write_request(replace(sample, tool_choice=mode, parallel=False))
    return [
        change for key in with_it for change in _additions(subject, f"/{escape(key)}", without.get(key), with_it[key])
    ]


def _choice(subject: VariedRequest, mode: str) -> list[Change]:
    """Replace the tool choice."""
    sample = ModelRequest(subject.adapter.name, None, (), tools=(ToolDef("f", None, {"type": "object"}),))
    without = subject.adapter.write_request(sample)
    with_it = subject.adapter.write_request(replace(sample, tool_choice=ToolChoice(mode)))
    body = subject.fault.body
    return [
        Replace(f"/{escape(key)}", value) if key in body else Insert(f"/{escape(key)}", value)
        for key, value in with_it.items()
        if without.get(key) != value
    ]


def _additions(subject: VariedRequest, at: str, before: JsonValue, after: JsonValue) -> Iterable[Change]:
    """Changes that add to a body what one value has more than another."""
    old = value_at(subject.fault.body, at)
    if before == after:
        return
    if old is None:
        yield Insert(at, after)
    elif isinstance(after, dict) and isinstance(old, dict):
        for key, value in after.items():
            yield from _additions(
                subject, f"{at}/{escape(key)}", before.get(key) if isinstance(before, dict) else None, value
            )
    else:
        yield Replace(at, after)


def _strict(subject: VariedRequest, tool: ToolDef) -> Iterable[Change]:
    """Set a tool's switch for strict decoding, if the protocol has one."""
    if tool.strict or not subject.adapter.capabilities.tools.strict or not tool.pointer:
        return
    declarations = [_encoded_declaration(subject, strict) for strict in (None, True)]
    yield from _additions(subject, tool.pointer, *declarations)


def _encoded_declaration(subject: VariedRequest, strict: bool | None) -> JsonValue:
    """One declaration as the adapter writes it."""
    tool = ToolDef("f", None, {"type": "object"}, strict=strict)
    body = subject.adapter.write_request(ModelRequest(subject.adapter.name, None, (), tools=(tool,)))
    declared = subject.adapter.decode_request(dumps(body)).tools[0]
    return value_at(body, declared.pointer)


def _at_level(subject: VariedRequest, tool: ToolDef, level: str) -> Iterable[Change]:
    pointer = schema_at(subject.fault.case.decoded, tool)
    if pointer is None:
        return
    schema = schema_as_sent(subject.fault.case.decoded, tool)
    yield from changes_between(schema, lower_to_level(schema, level).schema, pointer)
