"""The simulator: a contract, a memory and a scripted model behind HTTP messages, without a socket."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from threading import RLock

from workbench import contracts
from workbench import protocols as adapters
from workbench.contracts import Contract, Judgement, Refusal, Verdict
from workbench.errors import WireError
from workbench.ir import JsonValue, ModelRequest
from workbench.lazy_dataclass import replace
from workbench.protocols import DecodedExchange, KnownMessages, Serving
from workbench.rules import judge
from workbench.simulator import _encoded_reply, _features
from workbench.simulator._encoded_reply import (
    JSON,
    EncodedReply,
    ReplyPiece,
    ServedRequest,
    SimulatedReply,
    encode_reply,
)
from workbench.simulator._endpoints import COUNT, MODEL, STORED, Route, route, socket_route
from workbench.simulator._ids import Ids, answers_of, call_ids, downgrade_unprovable, proofs_of
from workbench.simulator._memory import Offer, SimulatorMemory
from workbench.simulator._model import ScriptedAnswer, ScriptedModel, ScriptTurn, answer
from workbench.simulator._request_text import input_tokens
from workbench.wire import (
    CONNECTION,
    Body,
    Chunk,
    Exchange,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    State,
    dumps,
    loads,
)
from workbench.wire.session import Session, exchanges_of

MOST_SERVED = 4096
"""Most log entries that are kept; bodies are in the memory, as far as it reaches."""


_SILENT = ScriptTurn(answer=ScriptedAnswer(text="", calls=()))
"""A turn in which the model says nothing."""


class Simulator:
    """A simulated provider. Thread-safe.

    Args:
        label: contract, ``"deepseek"`` or ``"deepseek:v3.2"``.
        permissive: answer even what the contract refuses, and note that in ``ServedRequest``.
        model: the scripted model.
        known: earlier exchanges, whose responses may be replayed.
        ended: called with each finished exchange.
        clock: seconds since the epoch.

    Raises:
        UsageError: no such contract.
        ProfileError: its file is malformed.
    """

    def __init__(
        self,
        label: str,
        *,
        permissive: bool = False,
        model: ScriptedModel | None = None,
        known: Session | None = None,
        ended: Callable[[Exchange], None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.contract = contracts.get(label)
        self.is_permissive = permissive
        self.model = model or ScriptedModel()
        self.served: deque[ServedRequest] = deque(maxlen=MOST_SERVED)
        self._label = label
        self._file = contracts.read(self.contract.name)
        before = tuple(exchanges_of(known)) if known else ()
        self._memory = SimulatorMemory(label, before)
        answers = tuple(answers_of(before))
        self._proofs = frozenset(proofs_of(answers))
        self._messages = KnownMessages()
        self._ids = Ids(reserved=call_ids(answers))
        self._names: dict[str, None] = {}
        self._ended = ended or (lambda _: None)
        self._clock = clock
        self._lock = RLock()

    @property
    def label(self) -> str:
        """Label of the contract, as given."""
        return self._label

    @property
    def protocols(self) -> tuple[str, ...]:
        """Supported protocols, the contract's own first; empty if it supports all."""
        return tuple(name for name in self._file.protocols if name in adapters.protocols())

    def send(
        self, method: str, target: str, headers: Iterable[tuple[str, str]] = (), body: bytes = b""
    ) -> SimulatedReply:
        """Answer one request.

        Args:
            method: in capitals.
            target: path and query.
            headers: in their order; values as on the wire.
            body: as received, still content-encoded.
        """
        fields = Headers(tuple(headers))
        known = {name.lower(): value for name, value in fields}
        with self._lock:
            way = route(method, target, known, self.protocols)
            pending = _PendingRequest(self, way, method, target, fields, body)
            reply = pending.reply()
            self.served.append(reply.served)
            return reply

    def socket_route(self, target: str) -> Route | None:
        """Where a WebSocket handshake leads; None if the contract has no protocol over WebSocket there."""
        return socket_route(target, self.protocols)

    def respond(
        self, way: Route, headers: Headers, body: bytes, connection: str, *, is_silent: bool = False
    ) -> SimulatedReply:
        """Answer a request that was put together from the messages of a WebSocket.

        Args:
            connection: id of the connection, whose memory holds what is not stored.
            is_silent: the model says nothing.
        """
        with self._lock:
            pending = _PendingRequest(self, way, "POST", way.target, headers, body, connection)
            reply = pending.answer_model_request(_SILENT if is_silent else None)
            self.served.append(reply.served)
            return reply

    def refusal_of_draft(self, way: Route, headers: Headers, body: bytes, connection: str) -> Refusal | None:
        """The refusal of a request that is not made yet; None if nothing refuses it."""
        with self._lock:
            return _PendingRequest(self, way, "POST", way.target, headers, body, connection).refusal_of_draft()

    def clock(self) -> float:
        """Seconds since the epoch."""
        return self._clock()

    def make_id(self, shape: str) -> str:
        """An id of a shape (``"item_{21}"``), none twice."""
        return self._ids.make(shape)

    @property
    def error_event(self) -> dict[str, JsonValue] | None:
        """The message of an error over a WebSocket, where it is not that of the protocol."""
        event = self.contract.term("errors.event")
        return event if isinstance(event, dict) else None

    @property
    def socket_headers(self) -> tuple[tuple[str, str], ...]:
        """Headers of the handshake of a WebSocket: as over HTTP, one says whose simulator it is."""
        return (_encoded_reply.server_header(self.contract.name),)

    def is_stored(self, name: str) -> bool:
        """True for the id of a response that a later connection can continue."""
        with self._lock:
            return any(
                _answer_in(exchange.response.body.raw, name) and not _has_store_off(exchange)
                for exchange in self._memory.newest_first()
                if exchange.response
            )

    def keep(self, exchanges: Iterable[Exchange]) -> None:
        """Report finished exchanges: a connection and its turns."""
        with self._lock:
            for exchange in exchanges:
                self._ended(exchange)

    def names(self) -> tuple[str, ...]:
        """Listed models: some of the provider's, and those that were requested."""
        return tuple(dict.fromkeys((*self.contract.listed_models, *self._names))) or ("simulated",)

    def best_repair(self, served: ServedRequest, offer: Offer) -> str:
        """Title of the repair that makes a refused request legal; empty if there is none, or it is forgotten.

        Args:
            offer: proposes repairs.
        """
        with self._lock:
            if served.number is None or served.finding is None:
                return ""
            return self._memory.best_repair(served.number, served.finding, offer)

    # Used by requests

    def url(self, target: str) -> str:
        """The provider's own URL of a path, which identifies endpoints."""
        hosts = [host for host in self._file.hosts if "*" not in host]
        return f"https://{hosts[0]}{target}" if hosts else f"http://localhost{target}"

    def contract_for(self, protocol: str | None, request: ModelRequest | None, label: str) -> Contract:
        """The contract for one request; ``label``: the variant that was chosen for it."""
        return contracts.get(label, protocol=protocol, clues=contracts.Clues(model=request.model if request else None))


class _PendingRequest:
    """One request until it is answered."""

    def __init__(
        self,
        simulator: Simulator,
        way: Route,
        method: str,
        target: str,
        headers: Headers,
        body: bytes,
        connection: str = "",
    ) -> None:
        self.simulator = simulator
        self.way = way
        self.method = method
        self.target = target
        self.body = body
        self.request_id = simulator._ids.make("req_01{22}")
        url = simulator.url(way.target)
        encoding = headers.get("content-encoding") or ""
        request = HttpRequest(method, url, headers, Body(body, encoding), "HTTP/1.1")
        self.exchange = Exchange(
            self.request_id,
            request,
            origin=Origin.RECORDED,
            started_at=simulator._clock(),
            client="simulator",
            meta={CONNECTION: connection} if connection else {},
        )

    def reply(self) -> SimulatedReply:
        match self.way.kind:
            case "":
                return self.error_reply(404, self.not_found(), note=self.foreign_protocol_note())
            case "method":
                allow = ("allow", ", ".join(self.way.methods))
                return self.error_reply(405, f"Method {self.method[:40]} is not allowed here", more=(allow,))
            case "options":
                return self.plain(204, b"", more=(("allow", "GET, HEAD, POST, OPTIONS"),))
            case _ if self.way.kind == STORED:
                return self.stored_response()
            case _ if self.way.kind in (MODEL, COUNT):
                return self.answer_model_request()
        assert self.way.body is not None
        body = self.way.body(self.simulator.names(), self.way.name)
        return self.plain(200, b"" if self.method == "HEAD" else dumps(body))

    def not_found(self) -> str:
        """Error text in the provider's words."""
        return _encoded_reply.not_found(self.way.protocol, self.method, self.target.partition("?")[0])

    def foreign_protocol_note(self) -> str:
        """Note that another protocol has the path; empty if none has."""
        foreign = self.way.foreign
        return f"contract {self.simulator.contract.name!r} does not support {foreign}" if foreign else ""

    @property
    def serving(self) -> Serving:
        """Facts that a server of the protocol needs."""
        return adapters.get(self.way.protocol).serving

    # Requests to a model

    def answer_model_request(self, scripted: ScriptTurn | None = None) -> SimulatedReply:
        decoded = self.decode()
        if decoded.request is None:
            return self.error_reply(400, _encoded_reply.unreadable(decoded.request_text, self.way.protocol))
        request, simulator = decoded.request, self.simulator
        if request.model:
            simulator._names[request.model] = None
            while len(simulator._names) > 64:
                del simulator._names[next(iter(simulator._names))]
        elif not self.serving.model_in_url and not simulator.is_permissive:
            return self.error_reply(400, _encoded_reply.without_model(self.way.protocol))
        if self.way.kind == COUNT:
            return self.count_tokens(decoded)
        request = simulator._memory.with_history(request)
        turn, fault = (scripted, None) if scripted else simulator.model.turn(request)
        if fault:
            text = _encoded_reply.TEXTS.get(fault.status, "Internal server error" if fault.status >= 500 else "Refused")
            wait = () if fault.retry_after is None else (("retry-after", f"{fault.retry_after:g}"),)
            return self.error_reply(fault.status, text, more=wait, note="injected")
        unwanted = _features.refusal(request, turn.dials)
        if unwanted:
            return self.error_reply(400, unwanted, note="refused by a simulator dial")
        number, row = simulator._memory.begin(self.exchange)
        contract = simulator.contract_for(decoded.protocol, request, row.provider or simulator.label)
        judgement = judge(downgrade_unprovable(row.findings, decoded, simulator._proofs), contract)
        refused = self.refusal(judgement, contract) if turn.dials.enforces else None
        if refused:
            return self.refuse(number, refused, judgement)
        return self.answer(number, _features.visible_request(request, turn.dials), contract, turn, judgement)

    def refusal_of_draft(self) -> Refusal | None:
        decoded, simulator = self.decode(), self.simulator
        if decoded.request is None:
            contract = contracts.get(simulator.label, protocol=self.way.protocol)
            text = _encoded_reply.unreadable(decoded.request_text, self.way.protocol)
            return _encoded_reply.error(contract, self.way.protocol, 400, text, request_id=self.request_id)
        row = simulator._memory.inspect_apart(decoded.exchange)
        contract = simulator.contract_for(decoded.protocol, decoded.request, row.provider or simulator.label)
        return self.refusal(judge(row.findings, contract), contract)

    def decode(self) -> DecodedExchange:
        """The request, decoded in the endpoint's protocol; a token-count request as the request that it counts."""
        exchange = self.exchange if self.way.kind == MODEL else replace(self.exchange, request=self.as_question())
        return DecodedExchange(
            0, replace(exchange, state=State.OPEN), self.way.protocol, known=self.simulator._messages
        )

    def as_question(self) -> HttpRequest:
        """Turn a token-count request into the request that it counts."""
        request = self.exchange.request
        assert request is not None
        path = adapters.get(self.way.protocol).path(ModelRequest(self.way.protocol, self.way.name or None, ()))
        body = self.body
        try:
            value = loads(body) if not request.body.encoding else None
        except WireError:
            value = None
        if isinstance(value, dict):
            inner = value.get(self.serving.count_envelope, value)
            if isinstance(inner, dict) and self.serving.count_defaults:
                inner = {**self.serving.count_defaults, **inner}
            body = dumps(inner)
        return replace(request, url=self.simulator.url(path), body=replace(request.body, raw=body))

    def refusal(self, judgement: Judgement, contract: Contract) -> Refusal | None:
        if self.simulator.is_permissive or judgement.verdict is not Verdict.REFUSES or judgement.finding is None:
            return None
        return _encoded_reply.refuse(judgement.finding, contract, self.way.protocol, self.request_id)

    def refuse(self, number: int, refused: Refusal, judgement: Judgement) -> SimulatedReply:
        data = dumps(refused.body)
        response = self.response(refused.status, JSON, data)
        self.end(number, response)
        return self.make_reply(response, (ReplyPiece(0.0, data),), judgement=judgement, number=number)

    def answer(
        self, number: int, request: ModelRequest, contract: Contract, turn: ScriptTurn, judgement: Judgement
    ) -> SimulatedReply:
        adapter = adapters.get(self.way.protocol)
        reply = answer(request, contract, adapter, turn, self.simulator._ids)
        body = encode_reply(reply, adapter, turn.dials, is_array=adapter.serving.is_array(self.target))
        response = self.response(200, body.content_type, b"")
        note = "would refuse" if judgement.verdict is Verdict.REFUSES else ""
        if len(body.pieces) == 1 and not turn.dials.latency and not body.is_cut:
            self.end(number, replace(response, body=Body(body.pieces[0])))
            return self.make_reply(response, (ReplyPiece(0.0, body.pieces[0]),), judgement=judgement, note=note)
        pieces = self.stream_pieces(number, response, body, turn.dials.latency)
        return self.make_reply(response, pieces, judgement=judgement, note=note, is_cut=body.is_cut)

    def stream_pieces(
        self, number: int, response: HttpResponse, body_parts: EncodedReply, latency: float
    ) -> Iterator[ReplyPiece]:
        """Yield the pieces. The exchange ends before the last one: a client that has read it may send at once."""
        sent, chunks, is_over = bytearray(), list[Chunk](), False
        last = len(body_parts.pieces) - 1
        try:
            for count, piece in enumerate(body_parts.pieces):
                sent += piece
                chunks.append(Chunk(len(sent), latency * (count + 1)))
                if count == last:
                    is_over = True
                    state = State.ABORTED if body_parts.is_cut else State.COMPLETE
                    self.end(number, replace(response, body=Body(bytes(sent), chunks=tuple(chunks))), state)
                yield ReplyPiece(latency, piece)
        finally:
            if not is_over:
                body = Body(bytes(sent), chunks=tuple(chunks))
                self.end(number, replace(response, body=body), State.ABORTED)

    def count_tokens(self, decoded: DecodedExchange) -> SimulatedReply:
        simulator, request = self.simulator, decoded.request
        assert request is not None
        row = simulator._memory.inspect_apart(decoded.exchange)
        contract = simulator.contract_for(decoded.protocol, request, row.provider or simulator.label)
        judgement = judge(downgrade_unprovable(row.findings, decoded, simulator._proofs), contract)
        refused = self.refusal(judgement, contract)
        if refused:
            data = dumps(refused.body)
            return self.make_reply(
                self.response(refused.status, JSON, data), (ReplyPiece(0.0, data),), judgement=judgement
            )
        return self.plain(200, dumps(self.serving.counted(input_tokens(request)) if self.serving.counted else None))

    # Other responses

    def stored_response(self) -> SimulatedReply:
        """A stored response, by its id."""
        for exchange in self.simulator._memory.newest_first():
            body = exchange.response.body.raw if exchange.response else b""
            found = _answer_in(body, self.way.name)
            if found is not None and not _has_store_off(exchange):
                return self.plain(200, dumps(found))
        text = f"Response with id '{self.way.name[:200]}' not found."
        return self.error_reply(404, text)

    def error_reply(
        self, status: int, text: str, *, more: tuple[tuple[str, str], ...] = (), note: str = ""
    ) -> SimulatedReply:
        """A refusal that no rule predicts."""
        contract = contracts.get(self.simulator.label, protocol=self.way.protocol)
        refused = _encoded_reply.error(contract, self.way.protocol, status, text, request_id=self.request_id)
        return self.plain(status, dumps(refused.body), more=more, note=note or text)

    def plain(
        self, status: int, data: bytes, *, more: tuple[tuple[str, str], ...] = (), note: str = ""
    ) -> SimulatedReply:
        """A response in one piece, remembered only if a model was requested."""
        response = self.response(status, JSON, data, more)
        if self.way.kind == MODEL:
            number, _ = self.simulator._memory.begin(self.exchange)
            self.end(number, response)
        return self.make_reply(response, (ReplyPiece(0.0, data),) if data else (), note=note)

    def response(self, status: int, kind: str, data: bytes, more: tuple[tuple[str, str], ...] = ()) -> HttpResponse:
        simulator = self.simulator
        own = _encoded_reply.headers(self.way.protocol, self.request_id, simulator.contract.name)
        typed = () if status == 204 else (("content-type", kind),)
        return HttpResponse(status, Headers((*typed, *own, *more)), Body(data), http_version="HTTP/1.1")

    def end(self, number: int, response: HttpResponse, state: State = State.COMPLETE) -> None:
        simulator = self.simulator
        with simulator._lock:
            duration = max(0.0, simulator._clock() - (self.exchange.started_at or 0.0))
            exchange = replace(self.exchange, response=response, state=state, duration=duration)
            simulator._memory.end(number, exchange)
            if CONNECTION not in exchange.meta:  # else the connection is kept, and its turns
                simulator._ended(exchange)

    def make_reply(
        self,
        response: HttpResponse,
        pieces: Iterable[ReplyPiece],
        *,
        judgement: Judgement | None = None,
        note: str = "",
        is_cut: bool = False,
        number: int | None = None,
    ) -> SimulatedReply:
        verdict, finding = (judgement.verdict, judgement.finding) if judgement else (None, None)
        served = ServedRequest(self.method, self.target, response.status, verdict, finding, note, self.body, number)
        return SimulatedReply(response.status, response.headers.items, iter(pieces), served, is_cut)


def _answer_in(body: bytes, name: str) -> JsonValue:
    """The response with this id, from a body or the last event of a stream; None if absent."""
    if name.encode("utf-8", "surrogatepass") not in body:
        return None
    text = body if body.startswith(b"{") else body.rsplit(b"data: ", 1)[-1]
    try:
        value = loads(text)
    except WireError:
        return None
    response = value.get("response", value) if isinstance(value, dict) else None
    return response if isinstance(response, dict) and response.get("id") == name else None


def _has_store_off(exchange: Exchange) -> bool:
    try:
        value = loads(exchange.request.body.raw) if exchange.request else None
    except WireError:
        return False
    return isinstance(value, dict) and value.get("store") is False
