"""The keys of the filter language in one table: parser, completion, help and matching are all made from it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What the value of a key is."""

    TEXT = "text"
    NUMBER = "number"
    STATUS = "status"  # a number, or a class of them: 4xx
    SIZE = "size"  # bytes: 812, 100k, 5M
    SECONDS = "seconds"  # 2s, 300ms, 1.5m
    FLAG = "flag"  # it is there or it is not: the key takes no value


class Key(NamedTuple):
    """One key.

    Attributes:
        name: as it is typed.
        kind: of its values.
        example: an expression that uses it.
        says: what it looks at, in a sentence without a full stop.
        choices: every value there can be, where they are few.
        is_deep: the list does not tell: the exchange itself is read.
    """

    name: str
    kind: Kind
    example: str
    says: str
    choices: tuple[str, ...] = ()
    is_deep: bool = False


KEYS: tuple[Key, ...] = (
    Key("tool", Kind.TEXT, "tool:read_file", "a tool that the answer calls"),
    Key("status", Kind.STATUS, "status:4xx", "the HTTP status"),
    Key("rule", Kind.TEXT, "rule:closure", "the rule of a finding, or its family"),
    Key("severity", Kind.TEXT, "severity:error", "how bad a finding is", ("error", "warning", "info")),
    Key("turn", Kind.NUMBER, "turn:>40", "which exchange of its conversation it is, from 1"),
    Key("exchange", Kind.NUMBER, "exchange:40..60", "its number in the session, from 1"),
    Key("conversation", Kind.NUMBER, "conversation:2", "the conversation it belongs to, from 1"),
    Key("model", Kind.TEXT, "model:claude", "the model"),
    Key("provider", Kind.TEXT, "provider:deepseek", "the contract it was checked under"),
    Key("protocol", Kind.TEXT, "protocol:openai-chat", "the wire format"),
    Key("text", Kind.TEXT, 'text~"no such file"', "the bodies of both sides, also as a stream adds up", is_deep=True),
    Key("bytes", Kind.SIZE, "bytes:>100k", "the size of both bodies together"),
    Key("request", Kind.SIZE, "request:>1M", "the size of the request's body"),
    Key("response", Kind.SIZE, "response:<200", "the size of the response's body"),
    Key("time", Kind.SECONDS, "time:>2s", "how long it took"),
    Key("state", Kind.TEXT, "state:aborted", "how much of it is there", ("complete", "open", "aborted", "incomplete")),
    Key("finish", Kind.TEXT, "finish:length", "why the answer ended, in the provider's word"),
    Key("reasoning", Kind.FLAG, "reasoning:", "the answer brought reasoning"),
    Key("method", Kind.TEXT, "method:GET", "the HTTP method"),
    Key("host", Kind.TEXT, "host~anthropic", "the host it was sent to"),
    Key("path", Kind.TEXT, "path:/v1/messages", "the path of its URL"),
    Key("hop", Kind.TEXT, "hop:gateway", "the place where it was recorded"),
    Key("client", Kind.TEXT, "client:claude", "the client, or its User-Agent", is_deep=True),
    Key("header", Kind.TEXT, "header:anthropic-beta", "a header of either side: its name and value", is_deep=True),
    Key("id", Kind.TEXT, "id:toolu_01*", "an id: of a call, a result, an answer", is_deep=True),
    Key("mark", Kind.FLAG, "mark:", "you marked it, or a place in it"),
    Key("note", Kind.TEXT, "note~retry", "your notes on it"),
)
BY_NAME = {key.name: key for key in KEYS}

ANY = "anything the list shows: model, tool, status, method, URL, rule, finding, finish, note"
"""What a word without a key looks at."""

FORMS: tuple[tuple[str, str], ...] = (
    ("tool:read_file", "the value, in any case, or a beginning of it that ends before a sign (. _ - : /)"),
    ("tool:read_*", "* stands for any characters, ? for one"),
    ("tool=read_file", "exactly this value"),
    ("model~flash", "the value holds this"),
    ("tool:", "there is one at all"),
    ("turn:>40", "also >= < <= and turn:40..60, 40.. and ..60"),
    ("-tool:bash", "not; also !tool:bash and not tool:bash"),
    ("rule:closure or status:4xx", "either; side by side, or with and, means both; ( ) group"),
    ('"no such file"', 'quotes keep spaces and signs; \\" is a quote in them'),
)
"""How an expression may look, with what it means."""
