"""Remembers responses of upstreams for the later requests that have to send them back."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from workbench.ir import Media, Message, Opaque, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.limits import MAX_REASONING_KEPT
from workbench.send.loop import call_key

_ENTRY = 2_000
"""Bytes that a remembered response takes in addition to its text."""


@dataclass(frozen=True, slots=True)
class RememberedResponse:
    """One response.

    Attributes:
        name: in handles.
        parts: as the upstream returned them, in normal form, with its own ids.
        ids: call id of the client → id of the upstream; None if it gave none.
        content: fingerprint of the response as the client has it.
        context: fingerprint of the messages before it.
    """

    name: str
    parts: tuple[Part, ...]
    ids: Mapping[str, str | None]
    content: str
    context: str

    @property
    def reasoning(self) -> tuple[Reasoning, ...]:
        """The reasoning of the response, which a client may not send back."""
        return tuple(part for part in self.parts if isinstance(part, Reasoning))


class ResponseMemory:
    """The responses that were used last. ``most``: bytes of them."""

    def __init__(self, most: int = MAX_REASONING_KEPT) -> None:
        self._most, self._size = most, 0
        self._by_name: OrderedDict[str, RememberedResponse] = OrderedDict()
        self._names_by_clue: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._by_name)

    def keep(self, remembered: RememberedResponse) -> None:
        """Remember a response; those not used for longest are forgotten."""
        self._by_name[remembered.name] = remembered
        self._size += _size(remembered)
        for clue in _clues(remembered):
            self._names_by_clue[clue][remembered.name] = None
        while self._size > self._most and len(self._by_name) > 1:
            self._forget(next(iter(self._by_name)))

    def find(
        self, handles: Iterable[str], ids: Collection[str], content: str, context: str
    ) -> RememberedResponse | None:
        """The response that a client repeats: by a handle, by the ids of its tool calls, else by its content.

        Ids that an upstream uses twice, and responses with the same text ("Done."), are distinguished by their content
        and by the messages before them.
        """
        found = next((self._by_name[name] for name in handles if name in self._by_name), None)
        if found is None:
            names = {name: None for call in ids for name in self._names_by_clue.get(f"id {call}", ())}
            found = self._best([self._by_name[n] for n in names], content, context)
        if found is None and not ids:
            same = [self._by_name[n] for n in self._names_by_clue.get(f"content {content}", ())]
            right = [remembered for remembered in same if remembered.context == context]
            found = right[-1] if right else same[0] if len(same) == 1 else None
        if found:
            self._by_name.move_to_end(found.name)
        return found

    def _best(self, found: Sequence[RememberedResponse], content: str, context: str) -> RememberedResponse | None:
        return max(
            enumerate(found),
            key=lambda each: (each[1].content == content, each[1].context == context, each[0]),
            default=(0, None),
        )[1]

    def _forget(self, name: str) -> None:
        remembered = self._by_name.pop(name)
        self._size -= _size(remembered)
        for clue in _clues(remembered):
            self._names_by_clue[clue].pop(name, None)
            if not self._names_by_clue[clue]:
                del self._names_by_clue[clue]


def _clues(remembered: RememberedResponse) -> list[str]:
    return [*(f"id {call}" for call in remembered.ids), f"content {remembered.content}"]


def _size(remembered: RememberedResponse) -> int:
    return _ENTRY + sum(_weight(part) for part in remembered.parts)


def _weight(part: Part) -> int:
    match part:
        case Text():
            return len(part.text)
        case Reasoning():
            return len(part.text or "") + len(part.signature or "") + len(repr(part.data))
        case ToolCallIR():
            return len(part.raw) if part.raw is not None else len(repr(part.input))
        case _:
            return len(repr(part))


def content_of(parts: Iterable[Part]) -> str:
    """Fingerprint of a response without reasoning, ids and whitespace: clients cut and join texts."""
    words, calls = list[str](), list[str]()
    for part in parts:
        if isinstance(part, Text):
            words.append(part.text)
        elif isinstance(part, ToolCallIR) and not part.is_server:
            calls.append(call_key(part))
    return _digest(["".join("".join(words).split()), *calls])


def context_of(messages: Iterable[Message]) -> str:
    """Fingerprint of the messages before a response: what the user said and tools returned."""
    return _digest(["".join(words.split()) for m in messages if m.role not in _UNHEARD for words in _words(m.parts)])


_UNHEARD = ("system", "developer")


def _words(parts: Iterable[Part]) -> Iterable[str]:
    for part in parts:
        match part:
            case Text():
                yield part.text
            case ToolResultIR():
                yield from _words(part.content)
            case Media():
                yield part.data or part.url or part.file_id or ""
            case Opaque():
                yield part.type
            case _:
                pass


def _digest(words: Iterable[str]) -> str:
    return sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]
