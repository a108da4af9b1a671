"""Messages of a client over a WebSocket, by the types of the official SDKs: members that they lack or may not have.

A protocol has its table in ``messages.yaml`` of its package. It is about the envelope of each message, and about what
no request of a turn holds: settings and items are checked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from workbench import regex
from workbench.config import resources
from workbench.globs import matches_glob
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.protocols import SocketFact
from workbench.protocols.common.socket_facts import add_count
from workbench.wire import Exchange, split_url

Value = Mapping[str, JsonValue]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "object": (dict,),
    "list": (list,),
    "integer": (int,),
    "boolean": (bool,),
}
_MOST_FRAMES = 8
"""Messages that a finding names."""

_SNAKE = regex.compile(r"_([a-z])")


class MessageFault(NamedTuple):
    """A difference from the table: the rule that it breaks, and words."""

    rule: str
    words: str


@dataclass(frozen=True, slots=True)
class ClientMessages:
    """The messages that a client may send.

    Attributes:
        messages: name → member → type; ``!`` behind a type means required. The name of a member that is an object is
            ``MESSAGE.MEMBER``, that of the elements of a list ends in ``.*``.
        refused: messages that some models refuse: ``at``, ``models``, ``why``, and conditions.
        hosts: globs of the hosts that are known to read messages so.
        is_proto: keys may be written in snake case.
    """

    messages: Mapping[str, Mapping[str, str]] = NOTHING
    refused: tuple[Mapping[str, Any], ...] = ()
    hosts: tuple[str, ...] = ()
    is_proto: bool = False

    def faults(self, name: str, value: JsonValue) -> Iterator[MessageFault]:
        """What a message, or a part of it, has or lacks; nothing of one that the table does not list."""
        members = self.messages.get(name)
        if members is None or not isinstance(value, dict):
            return
        present = {self._name(key): each for key, each in value.items() if each is not None}
        for member, kind in members.items():
            if kind.endswith("!") and member not in present:
                yield MessageFault("params.missing", f"{name} has no {member}, which the API requires")
        for member, each in present.items():
            yield from self._member_faults(name, member, each)

    def _member_faults(self, name: str, member: str, value: JsonValue) -> Iterator[MessageFault]:
        kind = self.messages[name].get(member, "").removesuffix("!")
        if not kind:
            yield MessageFault("gateway.unknown-field", f"{name} has {member!r:.60}, which the API does not define")
        elif kind in _TYPES and (
            not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool))
        ):
            yield MessageFault("content.shape", f"{name}.{member} is not of type {kind}")
        yield from self.faults(f"{name}.{member}", value)
        for element in value if isinstance(value, list) else ():
            yield from self.faults(f"{name}.{member}.*", element)

    def _name(self, key: str) -> str:
        return _SNAKE.sub(lambda found: found[1].upper(), key) if self.is_proto else key

    def refusals(self, message: Value, model: str, settings: Value, *, is_later: bool) -> Iterator[str]:
        """Why a model refuses a message.

        Args:
            settings: the first message of the connection, which sets it up.
            is_later: the model has responded on this connection.
        """
        for row in self.refused:
            is_of_model = any(matches_glob(model, glob) for glob in row["models"])
            if not is_of_model or self._at(message, row["at"]) is None or (row.get("later") and not is_later):
                continue
            is_set = bool(self._at(settings, row["setting"])) if "setting" in row else None
            if is_set is None or is_set is row["set"]:
                yield f"{row['at']} is not accepted here: {row['why']}"

    def _at(self, value: JsonValue, path: str) -> JsonValue:
        for name in path.split("."):
            named = {self._name(key): each for key, each in value.items()} if isinstance(value, dict) else {}
            value = named.get(name)
        return value

    def is_read_by(self, handshake: Exchange) -> bool:
        """The server of a connection is one of those that the table is about."""
        host = split_url(handshake.request.url).hostname or "" if handshake.request else ""
        return any(matches_glob(host, glob) for glob in self.hosts)


@cache
def client_messages(protocol: str, name: str = "messages.yaml") -> ClientMessages:
    """The table of a protocol; an empty one if its package has none."""
    text = resources.protocol_file(protocol, name)
    if text is None:
        return ClientMessages()
    from workbench.config import safeyaml  # with its parser: most protocols have no table

    data: Any = safeyaml.load(text, name=name)
    rows = tuple(data.get("refused", ()))
    return ClientMessages(data["messages"], rows, tuple(data["hosts"]), data.get("names") == "proto")


class ClientFaults:
    """Faults in the messages of one connection: each kind with the first messages that have it."""

    def __init__(self, table: ClientMessages) -> None:
        self.table = table
        self._found: dict[MessageFault, list[int]] = {}

    def read(self, number: int, name: str, value: JsonValue) -> None:
        """Note the faults of a message."""
        if name not in self.table.messages:
            self.add(number, MessageFault("socket.unknown-message", f"the API defines no message {name!r:.80}"))
        for fault in self.table.faults(name, value):
            self.add(number, fault)

    def add(self, number: int, fault: MessageFault) -> None:
        """Note a fault of a message."""
        self._found.setdefault(fault, []).append(number)

    def facts(self, handshake: Exchange, refused: Iterable[SocketFact] = ()) -> Iterator[SocketFact]:
        """A fact for each kind of fault, if the server is known to read messages so.

        Args:
            refused: what the server itself said of messages.
        """
        numbers_refused = {number for fact in refused for number in fact.frames}
        for fault, numbers in self._found.items() if self.table.is_read_by(handshake) else ():
            if not numbers_refused.intersection(numbers):
                text = add_count(f"message {numbers[0] + 1}: {fault.words}", len(numbers), numbers[-1])
                yield SocketFact(fault.rule, text, tuple(numbers[:_MOST_FRAMES]), is_harmless=True)
