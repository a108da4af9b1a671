"""Compare reasoning as it is sent with reasoning as it was received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from workbench.fingerprint import digest
from workbench.ir import Carrier, Reasoning
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple


class ReplayOutcome(StrEnum):
    """Fate of a piece of reasoning in a request."""

    SENT = "sent"  # byte for byte as received (or: nothing is known of how it was received)
    MISSING = "missing"
    EMPTY = "empty"
    ALTERED = "altered"
    NOT_OWED = "not required"  # absent, and nobody asks for it


class Replay(NamedTuple):
    """Fate of reasoning that is in a request.

    Attributes:
        block: number of the sent block to point at.
        differs: ``"text"``, ``"signature"``, ``"data"``, ``"order"``, ``"count"`` or "".
        note: in words.
    """

    sent: ReplayOutcome
    block: int = 0
    differs: str = ""
    note: str = ""


_ONE_ALPHABET = str.maketrans("-_", "+/")
_BLOCKS = frozenset({Carrier.THINKING, Carrier.REDACTED_THINKING})


def compare(sent: Sequence[Reasoning], received: Sequence[Reasoning] | None) -> Replay:
    """Compare received reasoning with the blocks that are sent (at least one).

    Args:
        sent: as it is in the request.
        received: as it was received; None if that was not recorded.
    """
    if received is None:
        return _alone(sent)
    sent = _as_kept(sent, received)
    if not received:
        brought_none = all(_is_empty(r) for r in sent)
        return (
            Replay(ReplayOutcome.EMPTY)
            if brought_none
            else Replay(ReplayOutcome.ALTERED, differs="count", note="none received")
        )
    kinds = dict.fromkeys(_kind(r) for r in sent)
    found = [_compare_kind(sent, [r for r in received if _kind(r) == kind], received, kind) for kind in kinds]
    altered = next((f for f in found if f.sent is ReplayOutcome.ALTERED), None)
    return altered or next((f for f in found if f.sent is ReplayOutcome.SENT), found[0])


def _as_kept(sent: Sequence[Reasoning], received: Sequence[Reasoning]) -> Sequence[Reasoning]:
    """The sent reasoning, each proof spelled as in the copy that was kept: a received proof may have several copies."""
    by_plain_form = {_plain(copy): block for block in received for copy in block.copies}
    return [_with_proof_of(by_plain_form, block) for block in sent] if by_plain_form else sent


def _with_proof_of(by_plain_form: Mapping[str, Reasoning], block: Reasoning) -> Reasoning:
    proven = by_plain_form.get(_plain(block.signature or (block.data if isinstance(block.data, str) else "") or ""))
    return replace(block, signature=proven.signature, data=proven.data) if proven else block


def _entries(received: Sequence[Reasoning]) -> Sequence[Reasoning]:
    """Entries of ``reasoning_details`` that came again under their own id as one each, with the copies of its proof."""
    entries: dict[object, Reasoning] = {}
    for n, block in enumerate(received):
        entry_id = block.extra.get("id") if block.carrier is Carrier.REASONING_DETAILS and not block.text else None
        key = (block.extra.get("type"), entry_id) if isinstance(entry_id, str) else n
        before = entries.get(key)
        proof = block.signature or block.data
        entries[key] = block if before is None else replace(before, copies=(*before.copies, str(proof)))
    return list(entries.values())


def _plain(proof: str) -> str:
    """A proof without its spelling."""
    return proof.translate(_ONE_ALPHABET).rstrip("=")


def _kind(block: Reasoning) -> str:
    return Carrier.THINKING if block.carrier in _BLOCKS else block.carrier


def _is_empty(block: Reasoning) -> bool:
    return not block.text and not block.signature and not block.data


def _join(blocks: Sequence[Reasoning]) -> str:
    return "".join(b.text or "" for b in blocks)


def _alone(sent: Sequence[Reasoning]) -> Replay:
    """Reasoning that nobody saw come in can only be seen to be empty."""
    if all(_is_empty(b) for b in sent):
        return Replay(ReplayOutcome.EMPTY, differs="text")
    unsigned = next((n for n, b in enumerate(sent) if b.signature == ""), None)
    return Replay(ReplayOutcome.SENT) if unsigned is None else Replay(ReplayOutcome.EMPTY, unsigned, "signature")


def _compare_kind(
    all_sent: Sequence[Reasoning], received: Sequence[Reasoning], all_received: Sequence[Reasoning], kind: str
) -> Replay:
    """One kind of carrier; ``received`` is what came in the same kind."""
    numbers = [n for n, b in enumerate(all_sent) if _kind(b) == kind]
    if kind == Carrier.THOUGHT_SIGNATURE:  # thoughts without proof are owed by nobody
        numbers = [n for n in numbers if all_sent[n].signature] or numbers[:1]
        received = [b for b in received if b.signature]
        if not received and not all_sent[numbers[0]].signature:
            return Replay(ReplayOutcome.SENT, numbers[0])
    sent = [all_sent[n] for n in numbers]
    if all(_is_empty(b) for b in sent) and not all(_is_empty(b) for b in received or all_received):
        return Replay(ReplayOutcome.EMPTY, numbers[0], "text")
    if not received:
        return _other_carrier(sent, all_received, numbers[0])
    if [content(b) for b in sent] == [content(b) for b in received]:
        return Replay(ReplayOutcome.SENT, numbers[0])
    if kind not in _BLOCKS and _whole(sent) == _whole(received):
        return Replay(ReplayOutcome.SENT, numbers[0], note="divided into blocks differently")
    entries = _entries(received)
    if len(entries) < len(received) and _whole(_as_kept(sent, entries)) == _whole(entries):
        return Replay(ReplayOutcome.SENT, numbers[0])
    return _difference(sent, received, numbers)


def content(block: Reasoning) -> tuple[str, str, int]:
    """Content of a block that has to be the same: text, signature, and the digest of its data.

    Of a signed thought of Gemini only the signature counts: the summary beside it is nothing that anybody compares.
    """
    text, signature = block.text or "", block.signature or ""
    if block.carrier is Carrier.THOUGHT_SIGNATURE:  # bytes, which the SDK spells in the URL's alphabet (google-genai)
        text, signature = "" if signature else text, _plain(signature)
    return text, signature, digest(block.data) if block.data else 0


def _whole(blocks: Sequence[Reasoning]) -> tuple[str, list[str], list[int]]:
    """(text, signatures, digests of data) of several blocks together; a proof that is on several counts once."""
    proofs = dict.fromkeys(content(b)[1] for b in blocks if b.signature)
    return (
        "".join(content(b)[0] for b in blocks),
        list(proofs),
        list(dict.fromkeys(digest(b.data) for b in blocks if b.data)),
    )


def _other_carrier(sent: Sequence[Reasoning], received: Sequence[Reasoning], block: int) -> Replay:
    kinds = dict.fromkeys(map(_kind, received))
    came = {kind: _join([b for b in received if _kind(b) == kind]).strip() for kind in kinds}
    text = _join(sent).strip()  # tags in the text stand on lines of their own
    origin = next((kind for kind, content in came.items() if content == text), None)
    note = f"received in {origin or ', '.join(came)}, sent as {sent[0].carrier}"
    return (
        Replay(ReplayOutcome.SENT, block, note=note) if origin else Replay(ReplayOutcome.ALTERED, block, "text", note)
    )


def _difference(sent: Sequence[Reasoning], received: Sequence[Reasoning], numbers: Sequence[int]) -> Replay:
    ours, theirs = [content(b) for b in sent], [content(b) for b in received]
    first = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), len(theirs))
    block = numbers[min(first, len(numbers) - 1)]
    if len(ours) != len(theirs):
        return Replay(ReplayOutcome.ALTERED, block, "count", f"{len(theirs)} blocks received, {len(ours)} sent")
    if Counter(ours) == Counter(theirs):
        return Replay(ReplayOutcome.ALTERED, block, "order", "the blocks are in a different order")
    names = ("text", "signature", "data")
    differs = next(name for name, a, b in zip(names, ours[first], theirs[first], strict=True) if a != b)
    is_lost = differs == "signature" and not ours[first][1]
    return Replay(ReplayOutcome.EMPTY if is_lost else ReplayOutcome.ALTERED, block, differs, f"the {differs} differs")
