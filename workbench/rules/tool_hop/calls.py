"""Rules on the way of a model's call to its tool server: other arguments, twice, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from workbench import regex
from workbench.chain import Fate, ToolLink, fates, lost_parts, newest_messages, request_tool_results, text_for_model
from workbench.contracts import Finding
from workbench.ir import JsonValue, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    ToolOutcome,
    argument_key,
    is_named,
    is_named_first,
    request_object,
    tool_key,
    tools_in,
    tools_meant,
)
from workbench.provenance import unescape
from workbench.rules._shared.outcomes import ResultOutcome, outcome_of
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import (
    ARGS_CHANGED,
    ARGUMENTS,
    CALLED_TWICE,
    ERROR_FLAG,
    INFO,
    NAME,
    NOT_CALLED,
    RESULT_ALTERED,
    RESULT_DROPPED,
    STRUCTURED_DROPPED,
    WARNING,
    WRONG_CALL,
    make,
    member,
    texts_of,
)
from workbench.toolcalls.arguments import climb
from workbench.toolcalls.schemas import resolve
from workbench.undo_log import Journal
from workbench.wire import dumps

MOST = 1 << 15
"""Calls of the model that may wait for their requests and results; the oldest is given up."""

_NEAR = 256
"""Calls that were carried out last, among which that of a gateway is; and outcomes that may be told in the place of
another."""

_DENIED = regex.compile(r"(?i)denied|declin|reject|not allowed|permission|approv|cancel|abort|interrupt|skipped")
"""Words of a result with which a client says that the call was not made, because somebody did not want it."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that a model made, and what became of it.

    Attributes:
        exchange: index of the answer with it.
        key: equal for equal arguments.
        places: keys by which the request that carries it out may be found.
        began: time of the request whose answer it is, in seconds since the epoch; None if unknown.
        carried: the request to a tool server that carried it out; None if none was seen.
    """

    exchange: int
    call: ToolCallIR
    key: bytes
    places: frozenset[bytes]
    began: float | None = None
    carried: ToolOutcome | None = None


class ModelCalls:
    """Calls of the model in the order of the session, until a request has their results.

    Args:
        journal: takes back what was learned of exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._calls: dict[int, ModelCall] = {}  # by a number that grows
        self._next = {"": 0}
        self._by_id: dict[str | None, int] = {}
        self._fresh: dict[bytes, dict[int, None]] = {}  # those that nothing carried out yet, by their places
        self._repeated: dict[bytes, dict[int, None]] = {}
        self._carriers: dict[int, ToolOutcome] = {}  # by the number of the call
        self._ended: dict[str, float] = {}  # when the last of a server's carriers ended

    @property
    def pending(self) -> tuple[ModelCall, ...]:
        """Calls whose result no request has told yet, in their order."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    @property
    def has_pending(self) -> bool:
        """There is such a call."""
        return bool(self._calls)

    def take(self, decoded: DecodedExchange) -> None:
        """Remember the calls of an answer."""
        for call in _calls_of(decoded):
            number = self._next[""]
            self._journal.put(self._next, "", number + 1)
            self._journal.put(self._calls, number, call)
            self._journal.put(self._by_id, call.call.id, number)
            self._put(self._fresh, number)
            if len(self._calls) > MOST:
                self._forget(next(iter(self._calls)))

    def take_latest(self, decoded: DecodedExchange) -> None:
        """Remember the calls of an answer, and no others: no tool server was seen before it."""
        for number in list(self._calls):
            self._forget(number)
        self.take(decoded)

    def _forget(self, number: int) -> None:
        for table in (self._fresh, self._repeated):
            self._remove(table, number)
        call = self._journal.pop(self._calls, number)
        self._journal.pop(self._carriers, number)
        if call and self._by_id.get(call.call.id) == number:
            self._journal.pop(self._by_id, call.call.id)

    def _put(self, table: dict[bytes, dict[int, None]], number: int) -> None:
        for key in self._calls[number].places:
            self._journal.put(table.setdefault(key, {}), number, None)

    def _remove(self, table: dict[bytes, dict[int, None]], number: int) -> None:
        for key in self._calls[number].places:
            numbers = table.get(key, {})
            self._journal.pop(numbers, number)
            if key in table and not numbers:
                self._journal.pop(table, key)

    def carry_out(self, outcome: ToolOutcome) -> ModelCall | None:
        """The call that a request to a tool server carries out, as it was before; None if no one fits."""
        number = self._of(outcome)
        if number is None:
            return None
        found = self._calls[number]
        self._journal.put(self._calls, number, replace(found, carried=outcome))
        self._journal.pop(self._carriers, number)
        self._journal.put(self._carriers, number, outcome)
        self._remove(self._fresh, number)
        self._put(self._repeated, number)
        if outcome.ended is not None and outcome.ended > self._ended.get(outcome.server, 0.0):
            self._journal.put(self._ended, outcome.server, outcome.ended)
        return found

    def gateway_of(self, outcome: ToolOutcome) -> ToolOutcome | None:
        """The request to a gateway that passed this one on to another server; None if none did."""
        ended = outcome.ended
        if ended is None or not any(at >= ended for name, at in self._ended.items() if name != outcome.server):
            return None
        carried = [one for one in islice(reversed(self._carriers.values()), _NEAR) if outcome.is_within(one)][::-1]
        number = self._of(outcome) if carried else None
        found = None if number is None else self._calls[number].carried
        if found and found in carried:
            return found
        return next((one for one in carried if outcome.is_passed_on_by(one)), None)

    def _of(self, outcome: ToolOutcome) -> int | None:
        """By its id; else by tool and arguments, one that nothing carried out first; else the only one of that tool."""
        if outcome.call_id:
            return self._by_id.get(outcome.call_id)
        key, tool = argument_key(outcome.arguments), tool_key(outcome.tool).encode() + _AND
        for numbers in (sorted(self._fresh.get(tool + key, ())), reversed(self._repeated.get(tool + key, {}))):
            found = next((n for n in numbers if _is_equal(self._calls[n], outcome, key)), None)
            if found is not None:
                return found
        others = iter(self._fresh.get(tool, ()))
        first, second = next(others, None), next(others, None)
        return first if second is None else None

    def drop(self, ids: frozenset[str | None]) -> tuple[ModelCall, ...]:
        """Forget the calls with these ids, and return them."""
        numbers = sorted(number for id_ in ids if (number := self._by_id.get(id_)) is not None)
        answered = tuple(self._calls[number] for number in numbers)
        for number in numbers:
            self._forget(number)
        return answered


def _is_equal(one: ModelCall, outcome: ToolOutcome, key: bytes) -> bool:
    """A call of the model asks for this tool, with the arguments that have this key."""
    asked = outcome.asked_by(one.call.name, one.call.input)
    return asked is not None and (one.key if asked[0] is one.call.input else argument_key(asked[0])) == key


_AND = b"\0"
"""Between a tool and arguments; in no key of either."""


def _keys_of(call: ToolCallIR, key: bytes) -> frozenset[bytes]:
    """Keys of the tools that a call may be for, and of each with the arguments that the call may have for it.

    They are its own, and those given to a tool that calls tools.
    """
    arguments, given = {b"", key}, call.input
    if isinstance(given, dict) and any(tools_in(given)):
        arguments.update(map(argument_key, [value for value in given.values() if isinstance(value, dict)] or ({},)))
    tools = [tool.encode() + _AND for tool in tools_meant(call.name, given)]
    return frozenset(tool + each for tool in tools for each in arguments)


def _calls_of(decoded: DecodedExchange) -> list[ModelCall]:
    calls = (call for m in decoded.messages(RESPONSE) for _, call in m.tool_calls() if not call.is_server)
    began = decoded.exchange.started_at
    keys = ((call, argument_key(call.input)) for call in calls)
    return [ModelCall(decoded.index, call, key, _keys_of(call, key), began) for call, key in keys]


def of_call(
    decoded: DecodedExchange, outcome: ToolOutcome, before: ModelCall | None, entry: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """Findings on a ``tools/call`` against the model's call.

    Args:
        before: the call, with what carried it out before this.
        entry: the tool as its server lists it.
    """
    params = request_object(decoded).get("params")
    if before is None or member(params, "inputResponses") is not None:
        return
    how = "" if outcome.call_id else "matched by tool name, which is a guess"
    asked = outcome.asked_by(before.call.name, before.call.input) or (before.call.input,)
    changes = changes_of_arguments(asked[0], outcome.arguments or {}, member(entry, "inputSchema"))
    yield from _of_changes(
        decoded, changes, f"the model wrote a different value in exchange {before.exchange + 1}", how
    )
    if before.carried:
        yield _twice(decoded, before, entry, how)


def of_arguments(
    decoded: DecodedExchange, outcome: ToolOutcome, before: ModelCall | None, entry: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """Arguments that the tool's schema does not accept, unless the model wrote them so, which ``args.schema`` says.

    Args:
        before: the call of the model; None if none is known.
        entry: the tool as its server lists it.
    """
    schema, arguments = entry.get("inputSchema"), outcome.arguments or {}
    if not isinstance(schema, dict) or (before and _is_equal(before, outcome, argument_key(arguments))):
        return
    for fault in climb(None, arguments, schema).faults[:1]:
        text = f"the inputSchema of {quote(outcome.tool)} does not accept these arguments: {fault.message}"
        severity, at = (
            WARNING if outcome.state == "refused" else INFO,
            "/params/arguments" if outcome.arguments else "/params",
        )
        yield make(decoded, ARGUMENTS, REQUEST, f"{at}{fault.pointer}" if outcome.arguments else at, text, "", severity)


def detour_of(name: str, outcome: ToolOutcome, tools: Sequence[tuple[str, str]]) -> str:
    """Why a call went to another tool, or to another server, than its name says, in words; empty if it did not.

    Args:
        name: of the model's call.
        tools: server and name of every tool that was listed.
    """
    targets = [(server, tool) for server, tool in tools if is_named(name, tool)]
    longest = max((len(tool) for _, tool in targets), default=0)
    best = [(server, tool) for server, tool in targets if len(tool) == longest]
    best_named = [(server, tool) for server, tool in best if is_named_first(name, server)] or best
    is_known = any(server == outcome.server for server, _ in tools)
    if not best_named or not is_known or (outcome.server, outcome.tool) in best_named:
        return ""
    server, tool = best_named[0]
    if not is_named(outcome.tool, tool) or not is_named(tool, outcome.tool):
        return (
            f"the model called {quote(tool)} of {quote(server)}, not {quote(outcome.tool)} of {quote(outcome.server)}"
        )
    return (
        ""
        if server == outcome.server
        else f"the model called the tool at {quote(server)}, but the call was sent to {quote(outcome.server)}"
    )


def of_route(decoded: DecodedExchange, call: ModelCall, why: str) -> Finding:
    """A call that went elsewhere."""
    text = f"{why}: its name in exchange {call.exchange + 1} is {quote(call.call.name)}"
    return make(decoded, NAME, REQUEST, "/params/name", text)


def of_passed_on(decoded: DecodedExchange, inner: ToolOutcome, outer: ToolOutcome) -> Iterator[Finding]:
    """Findings on what a gateway passed back of the result of a server behind it.

    Args:
        inner: what the server returned.
        outer: what the gateway returned.
    """
    if is_named(outer.tool, inner.tool):
        changes = changes_of_arguments(outer.arguments or {}, inner.arguments or {}, None)
        by = f"the gateway {quote(outer.server)} received a different value in exchange {outer.exchange + 1}"
        yield from _of_changes(decoded, changes, by, "")
        if names := _lost_names(outer.meta, inner.meta):
            text = f"_meta lacks {', '.join(map(quote, names))}: {by}"
            yield make(decoded, ARGS_CHANGED, REQUEST, "/params", text, severity=INFO)
    if inner.state != "answered" or outer.state != "answered":
        return
    where = f"the result of exchange {outer.exchange + 1}, which the gateway {quote(outer.server)} returned"
    passed = "\n".join((dumps(outer.result).decode("utf-8", "replace"), *texts_of(outer.result)))
    for lost in lost_parts(inner.result, passed, has_media=False):
        rule = STRUCTURED_DROPPED if lost.kind == "structured" else RESULT_ALTERED if lost.form else RESULT_DROPPED
        text = f"{lost.size:,} bytes of {lost.pointer} are missing from {where}"
        yield make(decoded, rule, RESPONSE, lost.pointer, text)
    if missing := _lost_names(inner.result.get("_meta"), outer.result.get("_meta")):
        text = f"_meta has {', '.join(map(quote, missing))} here, but not in {where}"
        yield make(decoded, RESULT_DROPPED, RESPONSE, "/result/_meta", text, severity=INFO)
    if (inner.result.get("isError") is True) != (outer.result.get("isError") is True):
        text = f"isError differs from its value in {where}"
        yield make(decoded, ERROR_FLAG, RESPONSE, "/result/isError" if "isError" in inner.result else "/result", text)


_OF_ONE_HOP = ("progressToken", "io.modelcontextprotocol/")
"""Beginnings of names in ``_meta`` that each side of a gateway writes for itself."""


def _lost_names(before: JsonValue, after: JsonValue) -> list[str]:
    """Names in one ``_meta`` that another lacks, but for those of a single hop."""
    remaining = after if isinstance(after, dict) else {}
    names = before if isinstance(before, dict) else {}
    return [name for name in names if name not in remaining and not name.startswith(_OF_ONE_HOP)]


def _twice(decoded: DecodedExchange, before: ModelCall, entry: Mapping[str, JsonValue], how: str) -> Finding:
    assert before.carried
    hints = entry.get("annotations")
    is_safe = member(hints, "idempotentHint") is True or member(hints, "readOnlyHint") is True
    first = before.carried.exchange + 1
    ended = {"answered": "got a result", "refused": "got an error"}.get(before.carried.state, "got no response in time")
    text = f"the call from exchange {before.exchange + 1} was already sent in exchange {first}, which {ended}"
    hint = "the tool is declared safe to repeat" if is_safe else "the tool is not declared safe to repeat"
    evidence = "; ".join(filter(None, (hint, how)))
    return make(decoded, CALLED_TWICE, REQUEST, "/params", text, evidence, INFO if is_safe else WARNING)


def changes_of_arguments(wrote: JsonValue, sent: JsonValue, schema: JsonValue) -> list[Fate]:
    """What became of each argument on its way, but for what a client may do.

    A client may keep arguments of its own (they are not in the tool's schema) and those that are null, and fill in
    defaults of the schema.
    """
    if wrote is None or (not wrote and not sent):
        return []
    return [each for each in fates(wrote, sent) if not _is_allowed(each, schema)]


def _is_allowed(fate: Fate, schema: JsonValue) -> bool:
    *parent, name = fate.pointer.split("/")[1:] or [""]
    holder = _schema_at(schema, parent)
    inside = member(_node(schema, holder), "properties", unescape(name))
    if fate.kind == "added":
        return fate.after is not None and member(_node(schema, inside), "default") == fate.after
    known = member(holder, "properties")
    is_of_tool = not isinstance(known, dict) or inside is not None or member(holder, "additionalProperties") is True
    return fate.kind == "dropped" and (fate.before is None or not is_of_tool)


def _schema_at(schema: JsonValue, path: Sequence[str]) -> JsonValue:
    """The schema of a value inside the arguments; None where it says nothing of it."""
    found = _node(schema, schema)
    for step in path:
        items = member(found, "items")
        inner = member(found, "properties", unescape(step)) if not (step.isdecimal() and items) else items
        found = _node(schema, inner)
    return found


def _node(root: JsonValue, schema: JsonValue) -> JsonValue:
    ref = member(schema, "$ref")
    return resolve(root, ref) if isinstance(ref, str) else schema


def _of_changes(decoded: DecodedExchange, changes: Sequence[Fate], by: str, how: str) -> Iterator[Finding]:
    """The first of several changes of arguments.

    Args:
        by: words on who had written them, and where.
    """
    for first in changes[:1]:
        more = f" ({len(changes):,} such arguments)" if len(changes) > 1 else ""
        name = quote(unescape((first.there or first.pointer).rpartition("/")[2]) or "arguments")
        values = f"{_text_of(first.after)} instead of {_text_of(first.before)}"
        change_text = {"added": _text_of(first.after), "dropped": _text_of(first.before)}.get(first.kind, values)
        pointer = first.there.rpartition("/")[0] if first.kind == "dropped" else first.there
        text = f"{name} {first.words()} ({change_text}): {by}{more}"
        yield make(decoded, ARGS_CHANGED, REQUEST, f"/params/arguments{pointer}", text, how)


def _text_of(value: JsonValue) -> str:
    return quote(dumps(value).decode("utf-8", "replace"), 60)


def of_uncalled(
    decoded: DecodedExchange,
    calls: Sequence[ModelCall],
    links: Sequence[ToolLink],
    tools: Iterable[tuple[str, str]],
    outcomes: Sequence[ToolOutcome],
) -> Iterator[Finding]:
    """Findings on results of calls that never reached their tool server.

    Args:
        calls: calls whose results the request tells.
        links: what its results come from.
        tools: server and name of every tool that was listed.
        outcomes: what the servers returned, and no earlier request has told.
    """
    linked = {link.call_id for link in links}
    uncalled = {one.call.id: one for one in calls if one.carried is None and one.call.id not in linked}
    if not uncalled:
        return
    listed, others = tuple(tools), _TellingOutcomes(outcomes[-_NEAR:], {link.exchange for link in links})
    for result in request_tool_results(newest_messages(decoded.messages(REQUEST))):
        one = uncalled.get(result.result.tool_call_id)
        if one and (other := others.in_place_of(one, result.result)):
            text = f"this is the result of {quote(other.tool)} in exchange {other.exchange + 1}"
            hint = f"{text}; the call in exchange {one.exchange + 1} is to {quote(one.call.name)}"
            yield make(decoded, WRONG_CALL, REQUEST, result.pointer, hint, severity=WARNING)
            continue
        server = next((s for s, tool in listed if is_named(one.call.name, tool)), "") if one else ""
        if one and server:
            words = text_for_model(result.result)
            severity = INFO if _DENIED.search(words[:300]) else WARNING
            text = f"the call in exchange {one.exchange + 1} was never sent to {quote(server)}"
            yield make(decoded, NOT_CALLED, REQUEST, result.pointer, text, quote(words[:200]), severity)


class _TellingOutcomes:
    """Outcomes whose result no other tool returns by chance, by the beginning of their texts.

    Args:
        outcomes: what the servers returned; a text that several of them have tells nothing.
        exchanges: indices of those whose result the model got for its own call.
    """

    def __init__(self, outcomes: Sequence[ToolOutcome], exchanges: Collection[int]) -> None:
        self._exchanges = exchanges
        self._by_head: dict[str, list[ToolOutcome]] = {}
        self._words: dict[int, list[str]] = {}
        for one in outcomes:
            if len(head := _head_of(texts_of(one.result))) == _TELLING:
                self._by_head.setdefault(head, []).append(one)

    def in_place_of(self, one: ModelCall, result: ToolResultIR) -> ToolOutcome | None:
        """The outcome that the model got as the result of a call which had not named its tool; None without one.

        A tool that runs what the model writes (a program, the name of another tool) has that name in its arguments.
        """
        text = text_for_model(result)
        alike = self._by_head.get(_head_of((text,)), ())
        words = text.split() if alike else []
        found = [other for other in alike if self._words_of(other) == words]
        is_telling = len(found) == 1 and found[0].exchange not in self._exchanges
        if not is_telling or outcome_of(result) is not ResultOutcome.NORMAL or not _is_behind(found[0], one):
            return None
        other = found[0]
        is_meant = other.tool.encode() in one.key or is_named(one.call.name, other.tool)
        return None if is_meant else other

    def _words_of(self, outcome: ToolOutcome) -> list[str]:
        if outcome.exchange not in self._words:
            self._words[outcome.exchange] = " ".join(texts_of(outcome.result)).split()
        return self._words[outcome.exchange]


def _head_of(texts: Sequence[str]) -> str:
    """The first characters of texts that are not blank."""
    return "".join("".join(text[:_SEARCHED] for text in texts[:_TELLING]).split())[:_TELLING]


def _is_behind(outcome: ToolOutcome, one: ModelCall) -> bool:
    """A call of the model was made before the server was asked; by their places, where the times are not known."""
    if outcome.began is None or one.began is None:
        return outcome.exchange > one.exchange
    return (outcome.began, outcome.exchange) > (one.began, one.exchange)


_TELLING = 12
"""Characters of a result that no other tool returns by chance."""

_SEARCHED = 512
"""Characters at the beginning of a text in which those are looked for."""
