"""Restores reasoning in a request that stays in its own protocol: every other byte stays."""

from __future__ import annotations

from dataclasses import field

from workbench.contracts import Contract
from workbench.edits.repairs import restore_reasoning
from workbench.errors import LocalProtocolError
from workbench.ir import Part, Reasoning
from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange
from workbench.recorder.translation.changes import NOTE, REASONING, TranslationChange
from workbench.recorder.translation.history import HistoryResponse, Wanted, replayed_words, responses_in
from workbench.recorder.translation.memory import RememberedResponse, ResponseMemory
from workbench.wire import patch


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
    decoded: DecodedExchange, memory: ResponseMemory, contract: Contract, wanted: Wanted
) -> SplicedBody:
    """The body with the remembered reasoning of its responses.

    Args:
        wanted: whether a piece of it goes back.
    """
    request = decoded.request
    assert request is not None
    turns, context = responses_in(request.messages, memory)
    made = SplicedBody(decoded.request_text, context=context)
    back = {turn.at: (turn.kept, turn) for turn in turns if turn.kept and _lacks(turn, turn.kept, wanted)}
    came = {at: _parts_to_replay(kept, wanted) for at, (kept, _) in back.items()}
    try:
        changes = restore_reasoning(decoded, contract, came)
        made.text = patch.apply(made.text, changes) if changes else made.text
    except LocalProtocolError as error:
        made.changes.append(TranslationChange(NOTE, f"reasoning cannot be restored: {error}"))
        return made
    if changes:
        made.changes += [
            TranslationChange(REASONING, replayed_words(kept, _reasoning(came[at]))) for at, (kept, _) in back.items()
        ]
    return made


def _lacks(turn: HistoryResponse, kept: RememberedResponse, wanted: Wanted) -> bool:
    """The client sends a response back without its reasoning, or with other reasoning."""
    own = [part for part in kept.reasoning if wanted(part)]
    return bool(own) and [_fingerprint(part) for part in turn.reasoning] != [_fingerprint(part) for part in own]


def _fingerprint(part: Reasoning) -> tuple[object, ...]:
    return part.text or "", part.signature, part.data


def _parts_to_replay(kept: RememberedResponse, wanted: Wanted) -> list[Part]:
    return [part for part in kept.parts if not isinstance(part, Reasoning) or wanted(part)]


def _reasoning(parts: list[Part]) -> list[Reasoning]:
    return [part for part in parts if isinstance(part, Reasoning)]
