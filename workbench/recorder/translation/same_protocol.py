"""A request that stays in its own protocol, with the reasoning that its client left out: every other byte stays."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.contracts import Contract
from workbench.edits.repairs.putting_back import put_back
from workbench.errors import LocalProtocolError
from workbench.ir import Part, Reasoning
from workbench.protocols.decode import DecodedExchange
from workbench.recorder.translation.changes import NOTE, REASONING, Change
from workbench.recorder.translation.history import Answered, Wanted, answered, told_back
from workbench.recorder.translation.memory import Kept, Memory
from workbench.wire import patch


@dataclass(slots=True)
class Spliced:
    """A body, and what was done to it.

    Attributes:
        text: content-decoded; the client's own where nothing was to be done.
        context: fingerprint of what the next answer follows.
    """

    text: bytes
    changes: list[Change] = field(default_factory=list)
    context: str = ""


def spliced(decoded: DecodedExchange, memory: Memory, contract: Contract, wanted: Wanted) -> Spliced:
    """The body with the reasoning that ``memory`` has of its answers, as it came.

    Args:
        wanted: whether a piece of it goes back.
    """
    request = decoded.request
    assert request is not None
    turns, context = answered(request.messages, memory)
    made = Spliced(decoded.request_text, context=context)
    back = {turn.at: (turn.kept, turn) for turn in turns if turn.kept and _lacks(turn, turn.kept, wanted)}
    came = {at: _came(kept, wanted) for at, (kept, _) in back.items()}
    try:
        changes = put_back(decoded, contract, came)
        made.text = patch.apply(made.text, changes) if changes else made.text
    except LocalProtocolError as error:
        made.changes.append(Change(NOTE, f"reasoning cannot be put back: {error}"))
        return made
    if changes:
        made.changes += [Change(REASONING, told_back(kept, _reasoning(came[at]))) for at, (kept, _) in back.items()]
    return made


def _lacks(turn: Answered, kept: Kept, wanted: Wanted) -> bool:
    """The client sends other reasoning of an answer than it got, or none."""
    own = [part for part in kept.reasoning if wanted(part)]
    return bool(own) and [_said(part) for part in turn.reasoning] != [_said(part) for part in own]


def _said(part: Reasoning) -> tuple[object, ...]:
    return part.text or "", part.signature, part.data


def _came(kept: Kept, wanted: Wanted) -> list[Part]:
    return [part for part in kept.parts if not isinstance(part, Reasoning) or wanted(part)]


def _reasoning(parts: list[Part]) -> list[Reasoning]:
    return [part for part in parts if isinstance(part, Reasoning)]
