"""Bytes of HTTP exchanges: event streams, byte spans in JSON, content encodings, URLs, redaction, session files.

In: bytes as they were received. Out: exchanges, stream events, JSON values with the byte range of each, edited JSON
text, and session files. Any bytes are accepted; unreadable ones are reported, never dropped.
It may import the core alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.wire import digests, headers, jsontext, patch, plain_form, urls
    from workbench.wire.aws_texts import PRELUDE, AwsTexts, is_messages
    from workbench.wire.body_text import BodyText, PiecedText, WholeText
    from workbench.wire.digests import DIGESTS, BodyDigest, to_meta
    from workbench.wire.encoding import decode_body, decode_partial, detect_encoding, is_plain_text
    from workbench.wire.event_reader import EventReader
    from workbench.wire.exchange import (
        CLIENT_LEFT,
        CONNECTION,
        RELAY_HEADER,
        Body,
        Chunk,
        Exchange,
        ExchangeKind,
        Frame,
        Headers,
        HttpRequest,
        HttpResponse,
        Origin,
        Redaction,
        State,
        Summary,
        summarize,
    )
    from workbench.wire.fidelity import Fidelity, fidelity_of
    from workbench.wire.frames import FRAMES, GRPC, TOOL_HOP, TURNS, UPSTREAM, seen_frames
    from workbench.wire.headers import Topic, meaning
    from workbench.wire.json_index import JsonPlace, TextLayer, nth, split_pointer, value_at
    from workbench.wire.json_scan import CUT, decode, encode
    from workbench.wire.jsontext import (
        JsonIndex,
        ListOutline,
        Members,
        ObjectList,
        ParsedMembers,
        cut,
        dumps,
        dumps_parsed,
        loads,
        outline,
        quote,
        replace,
        runs,
        schema_type,
        string_slice_span,
        type_name,
        type_words,
        writer_like,
    )
    from workbench.wire.patch import Change, Insert, Move, Remove, Replace, parent_of
    from workbench.wire.redaction import Redactor, in_url, is_open
    from workbench.wire.sse import SseEvent, SseReader, without_repeated_prefix
    from workbench.wire.stream import (
        Framing,
        aws_message,
        framing_of,
        is_sealed,
        read_stream,
        read_untyped,
        rewrite,
        sealed_payload,
    )
    from workbench.wire.translation import Translation, translation_of
    from workbench.wire.urls import split_url
    from workbench.wire.websocket import (
        OPCODES,
        Deflate,
        MessageDeflater,
        MessageReader,
        ReaderState,
        SocketMessage,
        accept_deflate,
        accept_key,
        close_of,
        close_payload,
        deflate_of,
        frame_of,
    )
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "CLIENT_LEFT",
    "CONNECTION",
    "CUT",
    "DIGESTS",
    "FRAMES",
    "GRPC",
    "OPCODES",
    "PRELUDE",
    "RELAY_HEADER",
    "TOOL_HOP",
    "TURNS",
    "UPSTREAM",
    "AwsTexts",
    "Body",
    "BodyDigest",
    "BodyText",
    "Change",
    "Chunk",
    "Deflate",
    "EventReader",
    "Exchange",
    "ExchangeKind",
    "Fidelity",
    "Frame",
    "Framing",
    "Headers",
    "HttpRequest",
    "HttpResponse",
    "Insert",
    "JsonIndex",
    "JsonPlace",
    "ListOutline",
    "Members",
    "MessageDeflater",
    "MessageReader",
    "Move",
    "ObjectList",
    "Origin",
    "ParsedMembers",
    "PiecedText",
    "ReaderState",
    "Redaction",
    "Redactor",
    "Remove",
    "Replace",
    "SocketMessage",
    "SseEvent",
    "SseReader",
    "State",
    "Summary",
    "TextLayer",
    "Topic",
    "Translation",
    "WholeText",
    "accept_deflate",
    "accept_key",
    "aws_message",
    "close_of",
    "close_payload",
    "cut",
    "decode",
    "decode_body",
    "decode_partial",
    "deflate_of",
    "detect_encoding",
    "digests",
    "dumps",
    "dumps_parsed",
    "encode",
    "fidelity_of",
    "frame_of",
    "framing_of",
    "headers",
    "in_url",
    "is_messages",
    "is_open",
    "is_plain_text",
    "is_sealed",
    "jsontext",
    "loads",
    "meaning",
    "nth",
    "outline",
    "parent_of",
    "patch",
    "plain_form",
    "quote",
    "read_stream",
    "read_untyped",
    "replace",
    "rewrite",
    "runs",
    "schema_type",
    "sealed_payload",
    "seen_frames",
    "split_pointer",
    "split_url",
    "string_slice_span",
    "summarize",
    "to_meta",
    "translation_of",
    "type_name",
    "type_words",
    "urls",
    "value_at",
    "without_repeated_prefix",
    "writer_like",
]
