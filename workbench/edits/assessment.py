"""Assessment of an edit: what differs, the verdict of a contract, and the signatures it invalidates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from workbench.chain import Closure, Ledger
from workbench.contracts import Judgement, Severity
from workbench.diff import Difference, compare_indexed
from workbench.edits.fault import Fault
from workbench.edits.message_parts import element_pointer, remove_parts
from workbench.edits.repairs import _thinking
from workbench.edits.request import apply_changes, json_problem, text_of
from workbench.errors import WorkbenchError
from workbench.ir import Message, ModelRequest, NodeRef, Part, Reasoning
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules import UNBOUND, CheckedVariant, Inspector, history, texts, tools_edit
from workbench.wire import Change, HttpRequest, JsonIndex


class _ReasoningBlock(NamedTuple):
    """A reasoning block of a request. ``preceding``: number of parts before it that are no reasoning."""

    at: tuple[int, int]
    part: Reasoning
    preceding: int


def is_signed(part: Part) -> bool:
    """Reasoning with a signature, or with data that only its provider can read."""
    return isinstance(part, Reasoning) and bool(part.signature or part.data)


def pointer_of(message: Message, part: Part) -> str:
    """Pointer of a block, as in ``elements``: the field, if the reasoning is a field of a part that is no reasoning."""
    at = element_pointer(part)
    if any(element_pointer(other) == at and not isinstance(other, Reasoning) for other in message.parts):
        return message.pointer + part.source.pointer + next((s for s in part.source.fields.values() if s), "")
    return message.pointer + at


def unbound_pointers(before: DecodedExchange, after: DecodedExchange) -> tuple[str, ...]:
    """Pointers, in ``after``, of signed blocks of ``before`` that may be invalid now, in order.

    These are blocks after the first difference in meaning between the requests, and blocks that were altered
    themselves. Empty if one of the requests could not be decoded.
    """
    old, new = before.request, after.request
    if old is None or new is None:
        return ()
    was, now = list(_blocks(old)), list(_blocks(new))
    is_all = texts(old.system) != texts(new.system) or tools_edit(old.tools, new.tools) is not None
    same = 0 if is_all else _common_parts(old, new)
    whole = _intact_blocks([b.part for b in was], [b.part for b in now])
    found, candidates = list[str](), list(was)
    for number, block in enumerate(now):
        origin = next((b for b in candidates if b.part == block.part), None)
        if origin:
            candidates = candidates[candidates.index(origin) + 1 :]
        is_loose = origin and (
            is_all or origin.preceding != block.preceding or block.preceding > same or number >= whole
        )
        is_altered = origin is None and any(_is_same_block(b.part, block.part) for b in was)
        if is_signed(block.part) and (is_loose or is_altered):
            message = new.messages[block.at[0]]
            found.append(pointer_of(message, block.part))
    return tuple(dict.fromkeys(found))


def without_blocks(
    inspector: Inspector, trial: CheckedVariant, pointers: Collection[str], provider: str = ""
) -> HttpRequest | None:
    """The request without these blocks, if its contract accepts that; thinking is switched off if necessary.

    Args:
        trial: of the request.
        pointers: as ``unbound`` names them.
        provider: the contract, as for ``Inspector.trial``.

    Returns:
        None if every variant breaks something that was not broken.
    """
    original, decoded = trial.decoded.exchange.request, trial.decoded
    broken = _broken_rules(trial)
    for changes in removal_variants(trial, pointers):
        try:
            attempt = apply_changes(original or HttpRequest(), decoded.request_text, changes)
            after = inspector.trial(decoded.index, attempt, provider=provider, protocol=decoded.protocol)
        except WorkbenchError:
            continue
        if _broken_rules(after) <= broken:
            return attempt
    return None


def removal_variants(trial: CheckedVariant, pointers: Collection[str]) -> Iterator[tuple[Change, ...]]:
    """Ways to remove blocks, the gentlest first: the blocks alone, then with thinking switched off."""
    messages = trial.decoded.messages(REQUEST)
    refs = [
        NodeRef(REQUEST, n, k)
        for n, message in enumerate(messages)
        for k, part in message.reasoning()
        if pointer_of(message, part) in pointers
    ]
    if not refs:
        return
    fault = Fault(trial.case.at(UNBOUND, refs[0], "removed"), trial.case)
    removals = remove_parts(fault, refs)
    yield removals
    everything = [ref for ref, _ in fault.parts(Reasoning)]
    for off in _thinking.switch_off(fault):
        yield (*removals, *off)
        yield (*remove_parts(fault, everything), *off)


def _blocks(request: ModelRequest) -> Iterator[_ReasoningBlock]:
    behind = 0
    for n, message in enumerate(request.messages):
        for k, part in enumerate(message.parts):
            if isinstance(part, Reasoning):
                yield _ReasoningBlock((n, k), part, behind)
            else:
                behind += 1


def _common_parts(old: ModelRequest, new: ModelRequest) -> int:
    """Number of leading parts that both requests share, reasoning aside."""
    pairs = zip(history(old), history(new), strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if (a.role, a.part) != (b.role, b.part)), _smaller_count(old, new))


def _smaller_count(*requests: ModelRequest) -> int:
    return min(sum(not isinstance(p, Reasoning) for m in r.messages for p in m.parts) for r in requests)


def _intact_blocks(old: Sequence[Reasoning], new: Sequence[Reasoning]) -> int:
    """Number of blocks of the new request that follow one another as before; some may be missing at the front."""
    if not new or new[0] not in old:
        return 0 if old else len(new)
    start = old.index(new[0])
    pairs = enumerate(zip(old[start:], new, strict=False))
    return next((n for n, (a, b) in pairs if a != b), len(new))


def _is_same_block(old: Reasoning, new: Reasoning) -> bool:
    """The same block with something about it altered."""
    return (
        bool(old.signature and old.signature == new.signature)
        or bool(old.data and old.data == new.data)
        or (is_signed(old) and bool(old.text) and old.text == new.text)
    )


def _broken_rules(trial: CheckedVariant) -> set[str]:
    """Rules with errors or warnings on the request."""
    return {f.rule for f in trial.findings if f.side == REQUEST and f.severity is not Severity.INFO}


@dataclass(frozen=True, slots=True)
class EditAssessment:
    """Effect of an edit on a request.

    Attributes:
        difference: between the bodies before and after, in bytes and in meaning.
        problem: reason why it cannot be judged, in one line: not JSON, or no request of its protocol; empty if it can.
        trial: of the request after the edit; None if it cannot be judged.
        unbound: pointers of signed blocks that may be invalid now.
    """

    difference: Difference
    problem: str = ""
    trial: CheckedVariant | None = None
    unbound: tuple[str, ...] = ()

    @property
    def judgement(self) -> Judgement | None:
        """Verdict of the contract; None if there is none."""
        return self.trial.judgement if self.trial else None

    @property
    def closure(self) -> Closure | None:
        """Tool calls and results of the request; None if it cannot be judged."""
        return self.trial.case.closure if self.trial else None

    @property
    def ledger(self) -> Ledger | None:
        """Reasoning of the request; None if it cannot be judged."""
        return self.trial.case.ledger if self.trial else None


def assess(
    inspector: Inspector, index: int, request: HttpRequest, *, provider: str = "", since: HttpRequest | None = None
) -> EditAssessment:
    """Assess an edited request in the place of a recorded one.

    Args:
        index: of the recorded exchange; the edited request is read in its protocol.
        provider: contract to judge by; empty for that of the inspection.
        since: request to compare with; None for the recorded one.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
        UsageError: no such contract.
    """
    recorded = inspector.detail(index).decoded
    before = since or recorded.exchange.request or HttpRequest()
    text = text_of(request)
    old = recorded.request_index if since is None else JsonIndex(text_of(before))
    wrong = json_problem(text)
    if wrong:
        return EditAssessment(compare_indexed(old, JsonIndex(text)), wrong)
    trial = inspector.trial(index, request, provider=provider, protocol=recorded.protocol)
    difference = compare_indexed(old, trial.decoded.request_index)
    if trial.decoded.request is None:
        problem = next((p.message for p in trial.decoded.problems), "not a request of a known protocol")
        return EditAssessment(difference, problem)
    base = recorded if since is None else inspector.trial(index, since, protocol=recorded.protocol).decoded
    return EditAssessment(difference, "", trial, unbound_pointers(base, trial.decoded))
