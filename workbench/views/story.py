"""A session as a story: each conversation once, from top to bottom.

A request repeats its whole history; the story has only what is new in it. A tool result is below its call, with the
time that the client needed, and so is the request to a tool server that carried the call out. Failed attempts that were
repeated unchanged are one row; a conversation that a call began (its prompt is in the arguments) is below that call.
Every item knows its place: exchange, side and pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from workbench.fingerprint import ANSWERING, items, visible_text
from workbench.ir import JsonValue, Message, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import HistoryPrefix
from workbench.protocols.mcp import server_of, tool_outcome
from workbench.views.parts import part_text
from workbench.views.story_items import Story, StoryItem
from workbench.views.words import REQUEST, RESPONSE, count
from workbench.wire import dumps

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.protocols import DecodedExchange
    from workbench.protocols.mcp import ToolOutcome
    from workbench.rules import InspectedExchange
    from workbench.wire import Summary

PROMPT = 20
"""Characters of a text in the arguments of a call that begins another conversation with that text, at least."""

MOST_EARLIER = 4
"""Messages before the newest ones of a first request that are not folded."""

_FINAL = (400, 422)
"""Statuses of a refusal that another attempt does not help against."""


@dataclass(slots=True)
class _Node:
    """An item that is being made, with the nodes below it."""

    item: StoryItem
    below: list[_Node] = field(default_factory=list)

    def flat(self, depth: int = 0) -> Iterator[StoryItem]:
        yield replace(self.item, depth=depth)
        for node in self.below:
            yield from node.flat(depth + 1)


class _PendingCall(NamedTuple):
    call: ToolCallIR
    node: _Node
    answered_at: float | None

    @property
    def has_hop(self) -> bool:
        """The request to a tool server that carried it out is known."""
        return any(node.item.kind == "tool-hop" for node in self.node.below)


class _Attempt(NamedTuple):
    """The request before, if it failed, and its node."""

    node: _Node
    is_final: bool


class StoryBuilder:
    """Reads the exchanges of a session in order, and makes its story of what was read."""

    def __init__(self) -> None:
        self._threads: dict[int, _ConversationStory] = {}
        self._top: list[_Node] = []
        self._start: float | None = None
        self._hop: str | None = None
        self._read = 0

    def add(self, row: InspectedExchange, decoded: DecodedExchange | None) -> None:
        """Read the next exchange; ``decoded`` is None if it is unreadable."""
        summary = row.summary
        self._read += 1
        if self._start is None:
            self._start = summary.started_at
        if row.conversation is None or decoded is None:
            if decoded is None or not self._add_tool_hop(row, decoded):
                self._add_other(summary)
            return
        self._hop = summary.hop if self._hop is None else self._hop
        thread = self._threads.get(row.conversation)
        if thread is None:
            thread = self._begin(summary, decoded, row.conversation)
        thread.add(row, decoded, self._since(summary))

    def _since(self, summary: Summary) -> float | None:
        known = summary.started_at is not None and self._start is not None
        return summary.started_at - self._start if known else None  # type: ignore[operator]

    def _add_tool_hop(self, row: InspectedExchange, decoded: DecodedExchange) -> bool:
        """Put a request to a tool server below the model's call that it carries out; False if that is not found."""
        outcome = tool_outcome(decoded)
        if outcome is None:
            return False
        pending = (call for thread in self._threads.values() for call in thread.pending())
        found = next(
            (c for c in pending if outcome.is_of(c.call.id, c.call.name, c.call.input) and not c.has_hop), None
        )
        if found is None:
            return False
        found.node.below.append(_Node(_tool_hop_item(row.summary, outcome)))
        return True

    def _add_other(self, summary: Summary) -> None:
        """An exchange that is not part of a conversation; several in a row are one group."""
        what = f"{summary.method} {summary.url}".strip()
        status = "" if summary.status is None else str(summary.status)
        node = _Node(StoryItem("other", summary.index, text=what, label=status, seconds=summary.duration))
        last = self._top[-1] if self._top else None
        if last is None or last.item.kind != "others":
            item = StoryItem("others", summary.index, at=self._since(summary), is_first=True, is_folded=True)
            last = _Node(item)
            self._top.append(last)
        last.below.append(node)

    def _begin(self, summary: Summary, decoded: DecodedExchange, conversation: int) -> _ConversationStory:
        """A new conversation: below the call that started it, else at the top level."""
        request = decoded.request
        opening = _opening(request.messages if request else ())
        parent = next((call for t in self._threads.values() for call in t.pending() if _begins(call, opening)), None)
        is_same_hop = summary.hop == self._hop
        label = "sub-agent" if parent else "conversation" if is_same_hop else f"at hop {summary.hop}"
        node = _Node(StoryItem("conversation", summary.index, label=label, text=opening))
        (parent.node.below if parent else self._top).append(node)
        thread = self._threads[conversation] = _ConversationStory(node, is_side=parent is not None or not is_same_hop)
        return thread

    def story(self, findings: Iterable[Finding] = ()) -> Story:
        """The story of what was read so far.

        Args:
            findings: of the session, one for each cause.
        """
        by_exchange: dict[int, list[Finding]] = {}
        for finding in findings:
            if finding.severity != "info":
                by_exchange.setdefault(finding.exchange, []).append(finding)
        longest = max((len(thread.turns) for thread in self._threads.values()), default=0)
        for thread in self._threads.values():
            thread.finish(by_exchange, is_minor=thread.is_side or len(thread.turns) < min(2, longest))
        items = (item for node in self._top for item in _with_counts(node).flat())
        return Story(tuple(items), self._read)


@dataclass(slots=True)
class _ConversationStory:
    """One conversation that is being read."""

    node: _Node
    is_side: bool
    turns: dict[int, list[_Node]] = field(default_factory=dict)
    _messages: Sequence[Message] = ()
    _calls: list[_PendingCall] = field(default_factory=list)
    _has_answer: bool = False
    _attempt: _Attempt | None = None
    _model: str = ""
    _first: float | None = None
    _last: float | None = None
    _call_count: int = 0

    def pending(self) -> Iterator[_PendingCall]:
        """Calls without a result yet."""
        return iter(self._calls)

    def add(self, row: InspectedExchange, decoded: DecodedExchange, at: float | None) -> None:
        """Read the next exchange of the conversation."""
        index, request, summary = row.index, decoded.request, row.summary
        self._model = row.model or self._model
        self._first = at if self._first is None else self._first
        self._last = None if at is None else at + (summary.duration or 0)
        messages = request.messages if request else ()
        is_repeated = bool(self._messages) and _is_same_list(self._messages, messages)
        nodes: list[_Node] = []
        if is_repeated and self._attempt and not self._attempt.is_final:
            self._fold_attempt(index)
        elif is_repeated and self._messages:
            nodes.append(_Node(StoryItem("history", index, REQUEST, label="the same request again")))
        else:
            nodes += self._news(index, messages, at, is_held=bool(request and request.previous_id))
        answer = self._answer(summary, decoded)
        nodes += answer
        self._stamp(nodes, at)
        self.turns[index] = nodes
        self.node.below += nodes
        self._messages = messages
        error = next((node for node in answer if node.item.kind == "error"), None)
        self._attempt = _Attempt(error, summary.status in _FINAL) if error else None

    def _stamp(self, nodes: list[_Node], at: float | None) -> None:
        """Note the time at the first item of an exchange."""
        if nodes:
            nodes[0].item = replace(nodes[0].item, at=at, is_first=True)

    def _fold_attempt(self, index: int) -> None:
        """Put the failed answer to the same request into one row with the ones before it."""
        assert self._attempt
        failed, below = self._attempt.node, self.node.below
        below.remove(failed)
        group = below[-1] if below and below[-1].item.kind == "attempts" else None
        if group is None:
            item = replace(failed.item, kind="attempts", text="", side="", label="", seconds=None, is_folded=True)
            group = _Node(item)
            below.append(group)
        group.below.append(failed)

    # What is new in a request.

    def _news(self, index: int, messages: Sequence[Message], at: float | None, *, is_held: bool) -> Iterator[_Node]:
        if is_held or not self._messages:
            yield from self._first_messages(index, messages, at, is_held=is_held)
            return
        equal = _common(self._messages, messages)
        new = messages[equal:]
        if equal < len(self._messages):
            start = max(equal, min(len(self._messages), len(messages) - len(_newest(messages))))
            yield self._change_node(index, equal, messages[equal:start], len(self._messages))
            new = messages[start:]
        if self._has_answer:
            behind = list(_behind_answer(new))
            self._take_ids(new[: len(new) - len(behind)])
            new = behind
        yield from self._tell(index, new, at)

    def _take_ids(self, answer: Sequence[Message]) -> None:
        """Know the pending calls by the ids that the client gave them when it repeated the answer."""
        repeated = (part for message in answer for part in message.parts if isinstance(part, ToolCallIR))
        for n, (pending, call) in enumerate(zip(self._calls, [c for c in repeated if not c.is_server], strict=False)):
            if call.name == pending.call.name:
                self._calls[n] = pending._replace(call=call)

    def _first_messages(
        self, index: int, messages: Sequence[Message], at: float | None, *, is_held: bool
    ) -> Iterator[_Node]:
        """Messages of the first request; messages from before the recording are folded."""
        newest = _newest(messages)
        earlier = messages[: len(messages) - len(newest)]
        if is_held or not any(message.role in ANSWERING for message in earlier) or len(earlier) <= MOST_EARLIER:
            yield from self._tell(index, messages, at)
            return
        text = count(len(earlier), "message")
        pointer = earlier[0].pointer
        group = _Node(StoryItem("earlier", index, REQUEST, pointer, text=text, is_folded=True))
        group.below += self._tell(index, earlier, None)
        yield group
        yield from self._tell(index, newest, at)

    def _change_node(self, index: int, equal: int, changed: Sequence[Message], before: int) -> _Node:
        """The client has changed its history: from which message on, and what is there now."""
        pointer = changed[0].pointer if changed else ""
        words = f"message {equal + 1} of {before} has changed" if changed else f"{before - equal} removed"
        node = _Node(StoryItem("history", index, REQUEST, pointer, label="history changed", note=words, is_folded=True))
        node.below += self._tell(index, changed, None)
        return node

    def _tell(self, index: int, messages: Sequence[Message], at: float | None) -> Iterator[_Node]:
        for message in messages:
            for part in message.parts:
                node = self._part(index, REQUEST, message, part, at)
                if node:
                    yield node

    def _part(self, index: int, side: str, message: Message, part: Part, at: float | None) -> _Node | None:
        """The node of a part; None for a tool result, which goes below its call."""
        place = StoryItem("part", index, side, message.absolute(part), text=part_text(part))
        match part:
            case ToolCallIR():
                return self._call(place, part)
            case ToolResultIR():
                return self._result(place, part, at)
            case Reasoning(text=text, data=data):
                note = "not readable (encrypted)" if text is None and data is not None else ""
                length = count(len(place.text), "character")
                return _Node(replace(place, kind="reasoning", note=note or length, text="" if note else place.text))
            case Text(text=text) if not text.strip() and message.role in ANSWERING:
                return None
            case Text():
                kind = "text" if message.role in ANSWERING else "message"
                return _Node(replace(place, kind=kind, label=message.role))
        return _Node(replace(place, label=getattr(part, "kind", "") or getattr(part, "type", "")))

    def _call(self, place: StoryItem, part: ToolCallIR) -> _Node:
        node = _Node(replace(place, kind="call", label=part.name or "(no name)"))
        self._call_count += 1
        if not part.is_server:
            self._calls.append(_PendingCall(part, node, self._last))
        return node

    def _result(self, place: StoryItem, part: ToolResultIR, at: float | None) -> _Node | None:
        item = replace(place, kind="result", is_failed=bool(part.is_error))
        found = next((call for call in self._calls if _is_result_of(part, call.call)), None)
        if found is None:
            note = "" if part.is_server else f"no pending call {part.tool_call_id or '(no id)'}"
            return _Node(replace(item, note=note))
        self._calls.remove(found)
        waited = at - found.answered_at if at is not None and found.answered_at is not None else None
        found.node.below.append(_Node(replace(item, seconds=waited if waited is None or waited >= 0 else None)))
        return None

    # The answer.

    def _answer(self, summary: Summary, decoded: DecodedExchange) -> list[_Node]:
        index, response = summary.index, decoded.answer
        nodes: list[_Node] = []
        self._calls = [] if response and response.messages else self._calls
        for message in response.messages if response else ():
            parts = (self._part(index, RESPONSE, message, part, None) for part in message.parts)
            nodes += [node for node in parts if node]
        self._has_answer = bool(nodes)
        if nodes:
            nodes[0].item = replace(nodes[0].item, seconds=summary.duration)
        if why := _failure(summary, decoded):
            status = "" if summary.status is None or summary.status < 400 else str(summary.status)
            nodes.append(_Node(StoryItem("error", index, RESPONSE, label=status, text=why, seconds=summary.duration)))
        return nodes

    def finish(self, findings: dict[int, list[Finding]], *, is_minor: bool) -> None:
        """Add findings, and the facts of the whole conversation."""
        worst = ""
        self.node.below = [node for node in self.node.below if node.item.kind != "finding"]
        below: list[_Node] = []
        index_of = {id(node): index for index, nodes in self.turns.items() for node in nodes}
        last_of = {index_of[id(node)]: n for n, node in enumerate(self.node.below) if id(node) in index_of}
        places = {n: index for index, n in last_of.items()}
        for n, node in enumerate(self.node.below):
            below.append(node)
            for finding in findings.get(places.get(n, -1), ()):
                worst = "error" if "error" in (worst, finding.severity) else "warning"
                below.append(_Node(_finding_item(finding)))
        self.node.below = below
        seconds = self._last - self._first if self._last is not None and self._first is not None else None
        turns, calls = count(len(self.turns), "exchange"), count(self._call_count, "call")
        note = " · ".join(filter(None, (self._model, turns, calls if self._call_count else "")))
        is_folded = is_minor and not worst
        self.node.item = replace(self.node.item, note=note, seconds=seconds, severity=worst, is_folded=is_folded)


def _with_counts(node: _Node) -> _Node:
    """A group with the number of its items in words."""
    below = [_with_counts(each) for each in node.below]
    item = node.item
    if item.kind == "others":
        text = count(len(below), "other request")
        item = replace(item, text=text, note="not a model exchange")
    elif item.kind == "attempts":
        statuses = ", ".join(each.item.label or each.item.text[:40] for each in below)
        item = replace(item, text=f"{count(len(below), 'attempt')} failed", note=statuses)
    return _Node(item, below)


def _finding_item(finding: Finding) -> StoryItem:
    return StoryItem(
        "finding",
        finding.exchange,
        finding.side,
        finding.pointer,
        label=finding.rule,
        text=finding.message,
        severity=str(finding.severity),
    )


def _tool_hop_item(summary: Summary, outcome: ToolOutcome) -> StoryItem:
    """The row of a request to a tool server: the server and the tool, and what the server returned."""
    server = server_of(summary.url)
    side, pointer = (RESPONSE, "/result") if outcome.result else (REQUEST, "/params")
    return StoryItem(
        "tool-hop",
        summary.index,
        side,
        pointer,
        label=f"{server} · {outcome.tool}",
        text=dumps(outcome.result).decode("utf-8", "replace") if outcome.result else "no result",
        note="" if outcome.call_id else "matched by name and arguments",
        seconds=summary.duration,
        is_failed=not outcome.result or outcome.result.get("isError") is True,
    )


def _failure(summary: Summary, decoded: DecodedExchange) -> str:
    """Reason why an exchange has no whole answer; empty if it has one."""
    response = decoded.answer
    if response and response.error:
        return response.error.message
    if summary.status is not None and summary.status >= 400:
        return "the provider refused the request"
    if summary.state == "open":
        return ""
    if response is None:
        return "no response was recorded" if decoded.exchange.response is None else "response not decoded"
    return "" if response.is_complete else "the response is truncated"


def _opening(messages: Sequence[Message]) -> str:
    """The first words of the user."""
    texts = (visible_text(message) for message in messages if message.role == "user")
    return next(filter(None, texts), "")


def _begins(call: _PendingCall, opening: str) -> bool:
    """True if a text in the arguments of a call is the beginning of a conversation."""
    return any(len(text) >= PROMPT and text.strip() in opening for text in _texts(call.call.input))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for text in value.values() if isinstance(text, str))


def _is_result_of(result: ToolResultIR, call: ToolCallIR) -> bool:
    if result.tool_call_id is None:
        return call.id is None and result.name in (None, call.name)
    return result.tool_call_id == call.id


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages after the last one of the model."""
    behind = sum(1 for _ in takewhile(lambda message: message.role not in ANSWERING, reversed(messages)))
    return messages[len(messages) - behind :]


def _behind_answer(messages: Sequence[Message]) -> Iterator[Message]:
    """Messages without the first ones that repeat the answer."""
    is_behind = False
    for message in messages:
        is_behind |= message.role not in ANSWERING
        if is_behind:
            yield message


def _common(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Number of first messages that are the same, reasoning and cache marks aside."""
    if isinstance(before, HistoryPrefix) and isinstance(now, HistoryPrefix) and before.history is now.history:
        return min(len(before), len(now))
    pairs = zip(before, now, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _is_same(*pair), pairs))


def _is_same_list(before: Sequence[Message], now: Sequence[Message]) -> bool:
    return len(before) == len(now) and _common(before, now) == len(now)


def _is_same(one: Message, other: Message) -> bool:
    if one is other or one == other:
        return True
    is_answer = one.role in ANSWERING
    same = tuple(items(one, is_answer=is_answer)) == tuple(items(other, is_answer=is_answer))
    return one.role == other.role and same
