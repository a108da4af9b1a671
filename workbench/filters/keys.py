"""The keys of the filter language in one table: parser, completion, help and matching are all made from it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ValueKind(StrEnum):
    """Kind of the values of a key."""

    TEXT = "text"
    NUMBER = "number"
    STATUS = "status"  # a number, or a class of them: 4xx
    SIZE = "size"  # bytes: 812, 100k, 5M
    SECONDS = "seconds"  # 2s, 300ms, 1.5m
    FLAG = "flag"  # present or absent: the key has no value


class FilterKey(NamedTuple):
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
    kind: ValueKind
    example: str
    says: str
    choices: tuple[str, ...] = ()
    is_deep: bool = False


KEYS: tuple[FilterKey, ...] = (
    FilterKey("tool", ValueKind.TEXT, "tool:read_file", "a tool that the response calls"),
    FilterKey("status", ValueKind.STATUS, "status:4xx", "the HTTP status"),
    FilterKey("rule", ValueKind.TEXT, "rule:closure", "the rule of a finding, or its family"),
    FilterKey("severity", ValueKind.TEXT, "severity:error", "severity of a finding", ("error", "warning", "info")),
    FilterKey("turn", ValueKind.NUMBER, "turn:>40", "number of the exchange in its conversation, from 1"),
    FilterKey("exchange", ValueKind.NUMBER, "exchange:40..60", "number of the exchange in the session, from 1"),
    FilterKey("conversation", ValueKind.NUMBER, "conversation:2", "number of the conversation, from 1"),
    FilterKey("model", ValueKind.TEXT, "model:claude", "the model"),
    FilterKey("provider", ValueKind.TEXT, "provider:deepseek", "the contract used for the check"),
    FilterKey("protocol", ValueKind.TEXT, "protocol:openai-chat", "the wire format"),
    FilterKey(
        "text", ValueKind.TEXT, 'text~"no such file"', "both bodies, streams also as the joined text", is_deep=True
    ),
    FilterKey("bytes", ValueKind.SIZE, "bytes:>100k", "the size of both bodies together"),
    FilterKey("request", ValueKind.SIZE, "request:>1M", "the size of the request's body"),
    FilterKey("response", ValueKind.SIZE, "response:<200", "the size of the response's body"),
    FilterKey("time", ValueKind.SECONDS, "time:>2s", "duration"),
    FilterKey(
        "state",
        ValueKind.TEXT,
        "state:aborted",
        "completeness of the recording",
        ("complete", "open", "aborted", "incomplete"),
    ),
    FilterKey("finish", ValueKind.TEXT, "finish:length", "finish reason, as the provider writes it"),
    FilterKey("reasoning", ValueKind.FLAG, "reasoning:", "the response contains reasoning"),
    FilterKey("method", ValueKind.TEXT, "method:GET", "the HTTP method"),
    FilterKey("host", ValueKind.TEXT, "host~anthropic", "the host it was sent to"),
    FilterKey("path", ValueKind.TEXT, "path:/v1/messages", "the path of its URL"),
    FilterKey("hop", ValueKind.TEXT, "hop:gateway", "the hop where it was recorded"),
    FilterKey("client", ValueKind.TEXT, "client:claude", "the client, or its User-Agent", is_deep=True),
    FilterKey(
        "header", ValueKind.TEXT, "header:anthropic-beta", "a header of either side: its name and value", is_deep=True
    ),
    FilterKey("id", ValueKind.TEXT, "id:toolu_01*", "an id of a tool call, a tool result or a response", is_deep=True),
    FilterKey("mark", ValueKind.FLAG, "mark:", "you marked it, or something in it"),
    FilterKey("note", ValueKind.TEXT, "note~retry", "your notes"),
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
