"""HTTP/1.1 messages as bytes, without I/O.

In: bytes of a connection. Out: heads, parsed strictly (RFC 9112) and kept line by line, the end of each body, and
whether the relay may accept a request. Bodies are followed and never re-framed. It may import what ``wire`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.wire.http1.body import BodyReader, ChunkedBody, FeedResult, LengthBody, request_body, response_body
    from workbench.wire.http1.head import (
        Admission,
        BadMessage,
        HeadBuffer,
        HeaderField,
        Request,
        Response,
        asks_websocket,
        end_to_end,
        header_field,
        is_persistent,
        other_upgrade,
        quote,
        read_headers,
        read_request,
        read_response,
        render,
    )
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "Admission",
    "BadMessage",
    "BodyReader",
    "ChunkedBody",
    "FeedResult",
    "HeadBuffer",
    "HeaderField",
    "LengthBody",
    "Request",
    "Response",
    "asks_websocket",
    "end_to_end",
    "header_field",
    "is_persistent",
    "other_upgrade",
    "quote",
    "read_headers",
    "read_request",
    "read_response",
    "render",
    "request_body",
    "response_body",
]
