"""A sample of an Inspect log: what its events refer to instead of holding it, and its messages as shared histories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from workbench.errors import UnreadableInput
from workbench.formats.importers._inspect_messages import message_of
from workbench.formats.importers._lines import Damage
from workbench.formats.importers._transcript import Heard, hear
from workbench.formats.importers._values import listed, mapping, text
from workbench.ir import JsonValue, Message, Part
from workbench.wire.jsontext import dumps

PREFIX = "attachment://"
MAX_POOLED = 64 * 1024 * 1024
"""Bytes of messages that one event may take from the pool."""

MAX_REPEATED = 512 * 1024 * 1024
"""Bytes that the histories of a sample may have together, as far as they differ: a pool can be repeated for ever."""

MAX_ATTACHED = 64 * 1024 * 1024
"""Characters of attachments put into one body: a request of 32 MB is the largest a provider takes."""

_DEEPEST = 200
_STEP = 64


class Sample:
    """One sample.

    Attributes:
        attachments: what stands for large strings.
        damage: what of it is in no exchange.
    """

    def __init__(self, value: dict[str, JsonValue], damage: Damage) -> None:
        self.value = value
        self.attachments = {k: v for k, v in mapping(value.get("attachments")).items() if isinstance(v, str)}
        data = mapping(value.get("events_data"))
        self._messages = listed(value.get("message_pool")) or listed(data.get("messages"))
        self._calls = listed(value.get("call_pool")) or listed(data.get("calls"))
        self.damage = damage
        self._nodes: dict[tuple[int, bytes], Heard] = {}
        self._keys: dict[int, tuple[bytes, int]] = {}
        self._left = MAX_REPEATED

    def events(self) -> Iterator[dict[str, JsonValue]]:
        """Model events; older logs call them the transcript."""
        held = self.value.get("events")
        older = self.value.get("transcript")
        found = held if isinstance(held, list) else mapping(older).get("events") or older
        return (e for e in self.damage.objects(listed(found), "an event") if e.get("event") == "model")

    def whole(self, value: JsonValue) -> JsonValue:
        """A value with its attachments in place. One that would grow beyond bounds keeps the rest as references."""
        return _resolved(value, self.attachments, [MAX_ATTACHED], 0)

    def call(self, event: dict[str, JsonValue], side: str) -> bytes:
        """A body of the provider's, messages from the pool put back."""
        call = mapping(event.get("call"))
        body = call.get(side)
        refs, key = call.get("call_refs"), text(call.get("call_key")) or "messages"
        if side == "request" and isinstance(body, dict) and isinstance(refs, list):
            body = {**body, key: [*self._pooled(refs, self._calls), *listed(body.get(key))]}
        return dumps(self.whole(body))

    def input_of(self, event: dict[str, JsonValue]) -> list[JsonValue]:
        """The messages of an event."""
        refs = event.get("input_refs")
        held = list(self._pooled(refs, self._messages)) if isinstance(refs, list) else []
        return [*held, *listed(event.get("input"))]

    def heard(self, values: Iterable[JsonValue], protocol: str) -> tuple[tuple[Part, ...], Heard | None]:
        """(system, history) of messages. Histories that begin alike share what they share."""
        system: tuple[Part, ...] = ()
        heard: Heard | None = None
        for value in values:
            system, heard = self.extended(system, heard, value, protocol)
        return system, heard

    def extended(
        self, system: tuple[Part, ...], heard: Heard | None, value: JsonValue, protocol: str
    ) -> tuple[tuple[Part, ...], Heard | None]:
        """(system, history) with one more message. Raises UnreadableInput: there are too many."""
        if not isinstance(value, dict):
            self.damage.leave_out("a message that is no object")
            return system, heard
        if heard is None and value.get("role") == "system":
            message = self._message(value, protocol)
            return (*system, *(message.parts if message else ())), None
        key, size = self._key(value)
        place = (id(heard), key + protocol.encode())
        self._left -= _STEP if place in self._nodes else size
        if self._left < 0:
            raise UnreadableInput(f"a sample whose events repeat more than {MAX_REPEATED:,} bytes of messages")
        if place not in self._nodes:
            made = hear(heard, self._message(value, protocol))
            if made is None or made is heard:
                return system, heard
            self._nodes[place] = made
        return system, self._nodes[place]

    def _message(self, value: dict[str, JsonValue], protocol: str) -> Message | None:
        message = message_of(self.whole(value), protocol)
        if message is None:
            self.damage.unknown("a message", value.get("role"))
        return message

    def _key(self, value: JsonValue) -> tuple[bytes, int]:
        """What tells a message from others, and its size; it is looked at once, and lives as long as the sample."""
        if id(value) not in self._keys:
            written = dumps(value)
            self._keys[id(value)] = sha256(written).digest(), len(written)
        return self._keys[id(value)]

    def _pooled(self, refs: JsonValue, pool: list[JsonValue]) -> Iterator[JsonValue]:
        left = MAX_POOLED
        for ref in listed(refs):
            if not (isinstance(ref, list) and len(ref) == 2 and all(type(n) is int for n in ref)):
                continue
            for number in range(max(ref[0], 0), min(ref[1], len(pool))):
                left -= self._key(pool[number])[1]
                if left < 0:
                    self.damage.leave_out(f"messages of the pool beyond {MAX_POOLED:,} bytes of one event")
                    return
                yield pool[number]


def _resolved(value: JsonValue, attachments: dict[str, str], left: list[int], depth: int) -> JsonValue:
    if isinstance(value, str):
        if not value.startswith(PREFIX) or len(value) > 200:
            return value
        found = attachments.get(value[len(PREFIX) :])
        if found is None or len(found) > left[0]:
            return value
        left[0] -= len(found)
        return found
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        whole: dict[str, JsonValue] = {}
        for key, inner in value.items():
            whole[key] = _resolved(inner, attachments, left, depth + 1)
        return whole
    made: list[JsonValue] = []
    for inner in value:
        made.append(_resolved(inner, attachments, left, depth + 1))
    return made
