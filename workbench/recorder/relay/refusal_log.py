"""Requests that the relay refuses itself: each is an exchange of the recording, with the refusal as its response.

A client with a forward proxy setting (``CONNECT``), one that begins with HTTP/2, a WebSocket that is not passed on or a
foreign ``Host`` never reaches the upstream. Without these exchanges the recording would be empty, and no finding could
say why.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench import regex
from workbench.limits import MAX_RECORDED_REFUSALS
from workbench.recorder.events import (
    ExchangeEnded,
    RequestEnded,
    RequestHead,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
    SafeListener,
)
from workbench.recorder.relay.client_side import Reply
from workbench.recorder.relay.routes import Routes
from workbench.wire import Headers, State
from workbench.wire.http1 import BadMessage, read_headers

_REQUEST_LINE = regex.compile(rb"([!-~]{1,32}) (\S+) (HTTP/[0-9.]{1,8})")


class RefusalLog:
    """Reports refused requests as exchanges, and each reason once in words.

    Args:
        routes: what the target of the request would have led to.
        hop: name of the hop.
        on_refusal: called with one line for each reason that is new.
    """

    def __init__(
        self, listener: SafeListener, routes: Routes, hop: str, on_refusal: Callable[[str], None] = lambda line: None
    ) -> None:
        self._listener = listener
        self._routes = routes
        self._hop = hop
        self._on_refusal = on_refusal
        self._reasons: set[str] = set()
        self._count = 0

    def tell_once(self, what: str) -> None:
        """Report in words what is not a refusal, once."""
        if what not in self._reasons and len(self._reasons) < MAX_RECORDED_REFUSALS:
            self._reasons.add(what)
            self._on_refusal(what)

    def add(self, block: bytes, bad: BadMessage, answer: Reply, now: float) -> None:
        """Take a refused request.

        Args:
            block: its head; empty if there is none that could be read as HTTP.
            answer: what the client was sent.
        """
        if bad.what not in self._reasons and len(self._reasons) < MAX_RECORDED_REFUSALS:
            self._reasons.add(bad.what)
            self._on_refusal(f"a request was refused with status {answer.status}: {bad.what}")
        matched = _REQUEST_LINE.fullmatch(block.partition(b"\r\n")[0])
        if matched and self._count < MAX_RECORDED_REFUSALS:
            self._count += 1
            self._report(self._head(block, *matched.groups()), bad, answer, now)

    def _head(self, block: bytes, method: bytes, target: bytes, version: bytes) -> RequestHead:
        texts = (part.decode("latin-1") for part in (method, target, version))
        method_text, target_text, version_text = texts
        headers = read_headers(block)
        return RequestHead(method_text, target_text, self._url(target, headers), headers, version_text, self._hop)

    def _url(self, target: bytes, headers: Headers) -> str:
        """URL of the request at its upstream; the target as sent if no upstream matches."""
        if not target.startswith(b"/"):
            return target.decode("latin-1")
        try:
            upstream, routed = self._routes.find(target)
        except BadMessage:
            return f"http://{headers.get('host') or 'localhost'}{target.decode('latin-1')}"
        return upstream.url(routed)

    def _report(self, head: RequestHead, bad: BadMessage, answer: Reply, now: float) -> None:
        key, tell = self._listener.new_key(), self._listener.on_event
        tell(RequestStarted(key, now, "", head))
        tell(RequestEnded(key, now))
        tell(ResponseStarted(key, now, ResponseHead(answer.status, answer.reason, answer.headers, "HTTP/1.1")))
        tell(ResponseBytes(key, now, answer.body))
        tell(ExchangeEnded(key, now, State.COMPLETE, f"refused by the recorder: {bad.what}"))
