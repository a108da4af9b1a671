"""The keys of the filter language in one table: parser, completion, help and matching are all made from it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Kind of the values of a key."""

    TEXT = "text"
    NUMBER = "number"
    STATUS = "status"  # a number, or a class of them: 4xx
    SIZE = "size"  # bytes: 812, 100k, 5M
    SECONDS = "seconds"  # 2s, 300ms, 1.5m
    FLAG = "flag"  # present or absent: the key has no value


class Key(NamedTuple):
    """One key.

    Attributes:
        name: as it is typed.
        kind: of its values.
        example: an expression that uses it.
        says: its meaning, without a final period.
        choices: every possible value, if they are few.
        is_deep: the exchange itself must be read, because the list does not contain the value.
    """

    name: str
    kind: Kind
    example: str
    says: str
    choices: tuple[str, ...] = ()
    is_deep: bool = False


KEYS: tuple[Key, ...] = (
    Key("tool", Kind.TEXT, "tool:read_file", "a tool that the response calls"),
    Key("status", Kind.STATUS, "status:4xx", "the HTTP status"),
    Key("rule", Kind.TEXT, "rule:closure", "the rule of a finding, or its family"),
    Key("severity", Kind.TEXT, "severity:error", "severity of a finding", ("error", "warning", "info")),
    Key("turn", Kind.NUMBER, "turn:>40", "number of the exchange in its conversation, from 1"),
    Key("exchange", Kind.NUMBER, "exchange:40..60", "number of the exchange in the session, from 1"),
    Key("conversation", Kind.NUMBER, "conversation:2", "number of the conversation, from 1"),
    Key("model", Kind.TEXT, "model:claude", "the model"),
    Key("provider", Kind.TEXT, "provider:deepseek", "the contract used for the check"),
    Key("protocol", Kind.TEXT, "protocol:openai-chat", "the wire format"),
    Key("text", Kind.TEXT, 'text~"no such file"', "both bodies, streams also as the joined text", is_deep=True),
    Key("bytes", Kind.SIZE, "bytes:>100k", "the size of both bodies together"),
    Key("request", Kind.SIZE, "request:>1M", "the size of the request's body"),
    Key("response", Kind.SIZE, "response:<200", "the size of the response's body"),
    Key("time", Kind.SECONDS, "time:>2s", "duration"),
    Key(
        "state",
        Kind.TEXT,
        "state:aborted",
        "completeness of the recording",
        ("complete", "open", "aborted", "incomplete"),
    ),
    Key("finish", Kind.TEXT, "finish:length", "finish reason, as the provider writes it"),
    Key("reasoning", Kind.FLAG, "reasoning:", "the response contains reasoning"),
    Key("method", Kind.TEXT, "method:GET", "the HTTP method"),
    Key("host", Kind.TEXT, "host~anthropic", "the host it was sent to"),
    Key("path", Kind.TEXT, "path:/v1/messages", "the path of its URL"),
    Key("hop", Kind.TEXT, "hop:gateway", "the hop where it was recorded"),
    Key("client", Kind.TEXT, "client:claude", "the client, or its User-Agent", is_deep=True),
    Key("header", Kind.TEXT, "header:anthropic-beta", "a header of either side: its name and value", is_deep=True),
    Key("id", Kind.TEXT, "id:toolu_01*", "an id of a tool call, a tool result or a response", is_deep=True),
    Key("mark", Kind.FLAG, "mark:", "you marked it, or something in it"),
    Key("note", Kind.TEXT, "note~retry", "your notes"),
)
BY_NAME = {key.name: key for key in KEYS}

ANY = "anything the list shows: model, tool, status, method, URL, rule, finding, finish, note"
"""Fields searched for a word without a key."""

FORMS: tuple[tuple[str, str], ...] = (
    ("tool:read_file", "the value, ignoring case, or its beginning up to one of . _ - : /"),
    ("tool:read_*", "* matches any characters, ? exactly one"),
    ("tool=read_file", "exactly this value"),
    ("model~flash", "the value contains this"),
    ("tool:", "the key has a value"),
    ("turn:>40", "also >= < <= and turn:40..60, 40.. and ..60"),
    ("-tool:bash", "not; also !tool:bash and not tool:bash"),
    ("rule:closure or status:4xx", "either one; conditions without or are combined with and; ( ) group"),
    ('"no such file"', 'quotes keep spaces and signs; \\" is a literal quote'),
)
"""Forms of expressions, with their meaning."""
