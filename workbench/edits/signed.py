"""Signed and encrypted reasoning that an edit unbinds, and the request without it.

A signature may cover everything before its block: system prompt, tools, history. No contract is asked here whether its
provider checks that: what is named may hold no longer. Cache markers change nothing, nor does thinking that is left out
from the front, as for the rule ``reasoning.unbound``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from workbench.chain.closure import NodeRef
from workbench.contracts import Severity
from workbench.edits.fault import Fault
from workbench.edits.places import drop, element
from workbench.edits.repairs import _thinking
from workbench.edits.request import edited
from workbench.errors import WorkbenchError
from workbench.ir import Message, ModelRequest, Part, Reasoning
from workbench.protocols.decode import REQUEST, DecodedExchange
from workbench.rules.inspection import Inspector, Trial
from workbench.rules.reasoning_bound import UNBOUND, history, texts, tools_edit
from workbench.wire.exchange import HttpRequest
from workbench.wire.patch import Change


class _Block(NamedTuple):
    """Reasoning of a request. ``behind``: how much that is no reasoning stands before it."""

    at: tuple[int, int]
    part: Reasoning
    behind: int


def is_signed(part: Part) -> bool:
    """Reasoning with a proof, or with state that nobody but its provider reads."""
    return isinstance(part, Reasoning) and bool(part.signature or part.data)


def pointer_of(message: Message, part: Part) -> str:
    """Pointer of a block, as ``elements`` has it: the field, where it stands on a part that is no reasoning."""
    at = element(part)
    if any(element(other) == at and not isinstance(other, Reasoning) for other in message.parts):
        return message.pointer + part.source.pointer + next((s for s in part.source.fields.values() if s), "")
    return message.pointer + at


def unbound(before: DecodedExchange, after: DecodedExchange) -> tuple[str, ...]:
    """Pointers, in ``after``, of signed blocks of ``before`` that may hold no longer, in order.

    Those are blocks that stand behind the first place where the requests differ in meaning, and blocks that were
    altered themselves. () where one of the requests could not be decoded.
    """
    old, new = before.request, after.request
    if old is None or new is None:
        return ()
    was, now = list(_blocks(old)), list(_blocks(new))
    is_all = texts(old.system) != texts(new.system) or tools_edit(old.tools, new.tools) is not None
    same = 0 if is_all else _alike(old, new)
    whole = _unbroken([b.part for b in was], [b.part for b in now])
    found, left = list[str](), list(was)
    for number, block in enumerate(now):
        origin = next((b for b in left if b.part == block.part), None)
        if origin:
            left = left[left.index(origin) + 1 :]
        is_loose = origin and (is_all or origin.behind != block.behind or block.behind > same or number >= whole)
        is_altered = origin is None and any(_is_of(b.part, block.part) for b in was)
        if is_signed(block.part) and (is_loose or is_altered):
            message = new.messages[block.at[0]]
            found.append(pointer_of(message, block.part))
    return tuple(dict.fromkeys(found))


def without(inspector: Inspector, trial: Trial, pointers: Collection[str], provider: str = "") -> HttpRequest | None:
    """The request without these blocks, as its contract takes it: with thinking off where it could not go on else.

    Args:
        trial: of the request.
        pointers: as ``unbound`` names them.
        provider: the contract, as for ``Inspector.trial``.

    Returns:
        None where every way breaks something that was not broken.
    """
    asked, decoded = trial.decoded.exchange.request, trial.decoded
    broken = _broken(trial)
    for changes in ways(trial, pointers):
        try:
            made = edited(asked or HttpRequest(), decoded.request_text, changes)
            after = inspector.trial(decoded.index, made, provider=provider, protocol=decoded.protocol)
        except WorkbenchError:
            continue
        if _broken(after) <= broken:
            return made
    return None


def ways(trial: Trial, pointers: Collection[str]) -> Iterator[tuple[Change, ...]]:
    """The ways to leave blocks out, the gentlest first: they alone, then with thinking off."""
    messages = trial.decoded.messages(REQUEST)
    refs = [
        NodeRef(REQUEST, n, k)
        for n, message in enumerate(messages)
        for k, part in message.reasoning()
        if pointer_of(message, part) in pointers
    ]
    if not refs:
        return
    fault = Fault(trial.case.at(UNBOUND, refs[0], "left out"), trial.case)
    gone = drop(fault, refs)
    yield gone
    everything = [ref for ref, _ in fault.parts(Reasoning)]
    for off in _thinking.off(fault):
        yield (*gone, *off)
        yield (*drop(fault, everything), *off)


def _blocks(request: ModelRequest) -> Iterator[_Block]:
    behind = 0
    for n, message in enumerate(request.messages):
        for k, part in enumerate(message.parts):
            if isinstance(part, Reasoning):
                yield _Block((n, k), part, behind)
            else:
                behind += 1


def _alike(old: ModelRequest, new: ModelRequest) -> int:
    """How much both requests say before they differ, reasoning aside."""
    pairs = zip(history(old), history(new), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if (a.role, a.part) != (b.role, b.part)), _count(old, new))


def _count(*requests: ModelRequest) -> int:
    return min(sum(not isinstance(p, Reasoning) for m in r.messages for p in m.parts) for r in requests)


def _unbroken(old: Sequence[Reasoning], new: Sequence[Reasoning]) -> int:
    """How many blocks of the new request follow one another as before: some may be left out from the front."""
    if not new or new[0] not in old:
        return 0 if old else len(new)
    start = old.index(new[0])
    pairs = enumerate(zip(old[start:], new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), len(new))


def _is_of(old: Reasoning, new: Reasoning) -> bool:
    """The same block with something about it altered."""
    return (
        bool(old.signature and old.signature == new.signature)
        or bool(old.data and old.data == new.data)
        or (is_signed(old) and bool(old.text) and old.text == new.text)
    )


def _broken(trial: Trial) -> set[str]:
    """Rules that find fault with the request."""
    return {f.rule for f in trial.findings if f.side == REQUEST and f.severity is not Severity.INFO}
