"""Judges bodies in the place of one request, by its contract; sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

from workbench.chain import Closure
from workbench.contracts import Finding
from workbench.edits import text_of, with_body
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols import DecodedExchange
from workbench.rules import Inspector, Trial
from workbench.trials.minimize.failure import Failure, contract_failure
from workbench.wire import HttpRequest, State, loads


@dataclass(frozen=True)
class JudgedBody:
    """A body with the verdict of its contract.

    Attributes:
        text: content-decoded body.
        failure: None if it is accepted.
    """

    text: bytes
    failure: Failure | None
    trial: Trial

    @property
    def decoded_exchange(self) -> DecodedExchange:
        """The decoded request."""
        return self.trial.decoded

    @property
    def finding(self) -> Finding | None:
        """The finding that the verdict rests on; None if there is none."""
        return self.trial.judgement.finding

    @property
    def closure(self) -> Closure:
        """Tool calls and results of the body."""
        return self.trial.case.closure

    @cached_property
    def value(self) -> JsonValue:
        """The parsed body; None if it is not JSON."""
        try:
            return loads(self.text)
        except WireError:
            return None


class BodyJudge:
    """Judges bodies in the place of a request. ``contract``: label used; ``checks``: number of judgements.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        index: of the exchange whose place they take.
        request: initial URL, headers and body; None for the recorded request.
        provider: label of the contract; empty for that of the inspection.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: the session cannot be read.
    """

    def __init__(
        self, inspector: Inspector, index: int, request: HttpRequest | None = None, provider: str = ""
    ) -> None:
        detail = inspector.detail(index)
        decoded = detail.decoded
        self.contract = provider or detail.contract.label
        self.inspector, self.index, self.protocol = inspector, index, decoded.protocol
        self._exchange = replace(decoded.exchange, response=None, state=State.COMPLETE, damage=())
        self.request = request or decoded.exchange.request or HttpRequest()
        self.text = text_of(self.request)
        self.checks = 0
        self._known: dict[bytes, Failure | None] = {}

    def with_body(self, text: bytes) -> HttpRequest:
        """The request with this body."""
        return with_body(self.request, text, self.text)

    def judge(self, text: bytes, at: int | None = None) -> JudgedBody:
        """Judge a body by the rules. ``at``: index of another exchange whose place it takes; None for the request's."""
        self.checks += 1
        exchange = replace(self._exchange, request=self.with_body(text))
        index = self.index if at is None else at
        decoded = DecodedExchange(index, exchange, self.protocol, known=self.inspector.known)
        trial = self.inspector.judge(decoded, self.contract)
        judged = JudgedBody(text, contract_failure(trial), trial)
        if index == self.index:
            self._known[body_digest(text)] = judged.failure
        return judged

    def failure(self, text: bytes) -> Failure | None:
        """Failure of a body, cached; None if it is accepted."""
        key = body_digest(text)
        return self._known[key] if key in self._known else self.judge(text).failure


def body_digest(text: bytes) -> bytes:
    """Digest that identifies a body."""
    return blake2b(text, digest_size=16).digest()
