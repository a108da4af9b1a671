"""Sending: targets, credentials, retries, the tool loop, and the verdicts of all contracts on one request.

In: a request and a target (``sim:CONTRACT``, a URL, a configured name). Out: a preview of the request, the response as
it arrives, and the finished exchange. Keys are read when a request is sent and never stored.
It may import the core and the rooms up to ``views``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.send import credentials, local, matrix, own_targets, target
    from workbench.send.credentials import authenticate, is_set
    from workbench.send.endpoint import HttpEndpoint
    from workbench.send.headers import forwarded_headers, key_header, with_headers
    from workbench.send.local import PORTS, LocalServer
    from workbench.send.matrix import MatrixHistory, MatrixRow, labels
    from workbench.send.outgoing import Outgoing, is_known, prepare, with_stream
    from workbench.send.preflight import Preflight, UnboundReasoning, find_unbound, judge_exchange, run_preflight
    from workbench.send.send_note import NoteKind, SendNote
    from workbench.send.sending import BodyReceived, Event, HeadReceived, RetryWait, Sender, SendInterrupted, bound_body
    from workbench.send.target import Origin, Target, join_url, origin, server_url, with_query_of
    from workbench.send.target_names import providers, resolve
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "PORTS",
    "BodyReceived",
    "Event",
    "HeadReceived",
    "HttpEndpoint",
    "LocalServer",
    "MatrixHistory",
    "MatrixRow",
    "NoteKind",
    "Origin",
    "Outgoing",
    "Preflight",
    "RetryWait",
    "SendInterrupted",
    "SendNote",
    "Sender",
    "Target",
    "UnboundReasoning",
    "authenticate",
    "bound_body",
    "credentials",
    "find_unbound",
    "forwarded_headers",
    "is_known",
    "is_set",
    "join_url",
    "judge_exchange",
    "key_header",
    "labels",
    "local",
    "matrix",
    "origin",
    "own_targets",
    "prepare",
    "providers",
    "resolve",
    "run_preflight",
    "server_url",
    "target",
    "with_headers",
    "with_query_of",
    "with_stream",
]
