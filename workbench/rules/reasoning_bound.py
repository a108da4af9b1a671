"""Signatures that cover everything before them: an edit there unbinds them, although they are unchanged.

What keeps them bound (Anthropic docs, preserved thinking, 2026-10): messages behind them, cache markers, thinking left
out from the front, tools that are deferred and not used yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.chain import Entry
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import JsonValue, Message, ModelRequest, NodeRef, Opaque, Part, Reasoning, Text, ToolDef, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import fact
from workbench.rules._shared.body_values import values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import as_warning, quote, with_related

UNBOUND = Rule(
    "reasoning.unbound",
    Severity.WARNING,
    "An edit to an earlier turn invalidates a signature that covers everything before it.",
    breaks=Breaks.REQUEST,
)

RULES = (UNBOUND,)

_MARK = "cache_control"
_BEFORE_ALL = (-1, 0)


class _Edit(NamedTuple):
    """The first thing that is not as it was.

    Attributes:
        at: (message, part) of this request behind which signatures are unbound.
        pointer: its place in this request.
        words: what was done.
    """

    at: tuple[int, int]
    pointer: str
    words: str


class _HistoryPart(NamedTuple):
    """One part of a history, without what may change."""

    role: str
    part: Part
    at: tuple[int, int]


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on signed blocks that are behind something which was edited since they came in."""
    if case.request is None or case.contract.check_for(UNBOUND.slug) is None:
        return
    signed = {ref: e for ref, e in case.ledger.genuine.items() if e.signature}
    for entry in _latest_and_earliest(signed.values()):
        edit = _first_edit(case, case.request, entry)
        if edit is not None:
            blocks = sorted(ref for ref, e in signed.items() if ref[1:] > edit.at and _is_older(e, entry))
            yield from _unbound(case, blocks, entry, edit)
            return


def _latest_and_earliest(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The latest turn, which covers the most, and the earliest, which may be older than the edit."""
    known = sorted(entries, key=lambda e: e.received_in or 0)
    yield from known[-1:]
    yield from known[:-1][:1]


def _is_older(entry: Entry, other: Entry) -> bool:
    return (entry.received_in or 0) <= (other.received_in or 0)


def _signature_words(later: int) -> str:
    """Which signatures are no longer valid: of one block, and of the ``later`` ones."""
    if not later:
        return "the signature of this block covers this content and is no longer valid"
    blocks = "a later block" if later == 1 else f"{later} later blocks"
    return f"the signatures of this block and of {blocks} cover this content and are no longer valid"


def _unbound(case: RuleContext, blocks: Sequence[NodeRef], entry: Entry, edit: _Edit) -> Iterator[Finding]:
    if not blocks:
        return
    text = f"{edit.words}: {_signature_words(len(blocks) - 1)}"
    evidence = (
        f"compared with the request of exchange {(entry.received_in or 0) + 1}, whose response contained this block"
    )
    finding = case.at(UNBOUND, blocks[0], text, name="signature", evidence=evidence)
    others = [edit.pointer, *(case.pointer(ref, "signature") for ref in blocks[1:])]
    finding = with_related(finding, [p for p in others if p])
    if _is_lenient(case):
        finding = as_warning(finding)
    yield finding


def _is_lenient(case: RuleContext) -> bool:
    """The provider let it pass, or is asked to leave such blocks out: not every account is checked."""
    term = case.contract.term("reasoning.unbound-dropped")
    placed_values = values_at(case.decoded, str(term["at"])) if isinstance(term, Mapping) else ()
    is_dropped = any(value == term["is"] for _, value in placed_values)
    return is_dropped or 200 <= case.status < 300


def _first_edit(case: RuleContext, now: ModelRequest, entry: Entry) -> _Edit | None:
    """Difference from the request whose response the entry received."""
    before = case.peek(entry.received_in) if entry.received_in is not None else None
    then = before.request if before else None
    if then is None:
        return None
    if texts(then.system) != texts(now.system):
        return _Edit(_BEFORE_ALL, "/system", "the system prompt was changed")
    start = _start(now, entry)
    return tools_edit(then.tools, now.tools) or _messages(then, now, start) or _thinking(then, now, start)


def _start(now: ModelRequest, entry: Entry) -> int:
    """Index of the first message of the turn that an entry is about."""
    start = entry.sent_part.message if entry.sent_part else len(now.messages)
    while start and start < len(now.messages) and now.messages[start - 1].role == now.messages[start].role:
        start -= 1
    return start


def texts(system: Iterable[Part]) -> str | list[Part]:
    """A system prompt; a string and a block that holds it are the same."""
    parts = [_plain(part) for part in system]
    return "".join(p.text for p in parts if isinstance(p, Text)) if all(isinstance(p, Text) for p in parts) else parts


def tools_edit(then: Iterable[ToolDef], now: Iterable[ToolDef]) -> _Edit | None:
    """The first tool that was added, changed or removed; one that is deferred may be added."""
    old, new = _by_name(then), _by_name(now)
    for name, tool in new.items():
        if name not in old and not tool.extra.get("defer_loading"):
            return _Edit(_BEFORE_ALL, tool.pointer, f"the tool {quote(name, 60)} was added")
        if name in old and tool != old[name]:
            return _Edit(_BEFORE_ALL, tool.pointer, f"the tool {quote(name, 60)} was changed")
    removed = next((name for name in old if name not in new), None)
    return _Edit(_BEFORE_ALL, "/tools", f"the tool {quote(removed, 60)} was removed") if removed is not None else None


def _by_name(tools: Iterable[ToolDef]) -> dict[str, ToolDef]:
    return {t.name or "": replace(t, extra=_without_marks(t.extra)) for t in tools}


def _messages(then: ModelRequest, now: ModelRequest, start: int) -> _Edit | None:
    """The first part of the older history that is not where it was, in front of the turn that begins at ``start``."""
    old, new = list(history(then)), [entry for entry in history(now) if entry.at[0] < start]
    for n, entry in enumerate(old):
        if n >= len(new) or (entry.role, entry.part) != (new[n].role, new[n].part):
            return _change(now, entry, new[n:], start)
    if len(new) == len(old):
        return None
    at = new[len(old)].at
    return _Edit(at, now.messages[at[0]].pointer, "content was appended to the original history")


def _change(now: ModelRequest, was: _HistoryPart, rest: Sequence[_HistoryPart], start: int) -> _Edit:
    """An edit, or something that was taken out or put in: what is there now tells."""
    at = rest[0].at if rest else (start, -1)
    is_moved = any((s.role, s.part) == (was.role, was.part) for s in rest)
    message = f"message {was.at[0] + 1} of the original history"
    words = f"content was inserted before {message}" if is_moved else f"{message} was changed or removed"
    return _Edit(at, now.messages[at[0]].pointer, words)


def _thinking(then: ModelRequest, now: ModelRequest, start: int) -> _Edit | None:
    """Thinking may be left out from the front, and not from the middle."""
    old = [p for m in then.messages for _, p in m.reasoning()]
    new = [((n, k), p) for n, m in enumerate(now.messages[:start]) for k, p in m.reasoning()]
    if not new or [p for _, p in new] == old[-len(new) :]:
        return None
    remaining = iter(old[old.index(new[0][1]) :] if new[0][1] in old else [])
    at = _BEFORE_ALL
    for place, part in new:
        if next(remaining, None) != part:
            break
        at = place
    text = "a thinking block in the middle of the history was removed or changed"
    return _Edit(at, now.messages[max(at[0], 0)].pointer, text)


def history(request: ModelRequest) -> Iterator[_HistoryPart]:
    """Content in order: neighbours of one role are one turn, and thinking is compared apart."""
    for n, message in enumerate(request.messages):
        for k, part in fact(message, _compared_parts):
            yield _HistoryPart(message.role, part, (n, k))


def _compared_parts(message: Message) -> tuple[tuple[int, Part], ...]:
    return tuple((k, _plain(p)) for k, p in enumerate(message.parts) if not isinstance(p, Reasoning))


def _plain(part: Part) -> Part:
    """A part without cache markers."""
    if isinstance(part, ToolResultIR):
        content = tuple(_plain(p) for p in part.content)
        return replace(part, content=content, extra=_without_marks(part.extra), is_error=bool(part.is_error))
    return part if isinstance(part, Opaque) else replace(part, extra=_without_marks(part.extra))


def _without_marks(extra: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return {k: v for k, v in extra.items() if k != _MARK} if _MARK in extra else extra
