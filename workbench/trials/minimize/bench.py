"""One request in the place of an exchange, judged by its contract in as many forms as one likes: nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

from workbench.chain.closure import Closure
from workbench.contracts import Finding
from workbench.edits import text_of, with_body
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols.decode import DecodedExchange
from workbench.rules.inspection import Inspector, Trial
from workbench.trials.minimize.failure import Failure, predicted
from workbench.wire.exchange import HttpRequest, State
from workbench.wire.jsontext import loads


@dataclass(frozen=True)
class Judged:
    """A body as its contract judges it.

    Attributes:
        text: content-decoded body.
        failure: None where it is accepted.
    """

    text: bytes
    failure: Failure | None
    trial: Trial

    @property
    def decoded(self) -> DecodedExchange:
        """The request as it reads."""
        return self.trial.decoded

    @property
    def finding(self) -> Finding | None:
        """What the verdict rests on."""
        return self.trial.judgement.finding

    @property
    def closure(self) -> Closure:
        """Its calls and their results."""
        return self.trial.case.closure

    @cached_property
    def value(self) -> JsonValue:
        """The body, parsed; None for what is no JSON."""
        try:
            return loads(self.text)
        except WireError:
            return None


class MinimizeRun:
    """Judges bodies in the place of a request. ``contract``: label of the one that judges; ``checks``: how often.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        index: whose place they take.
        request: whose URL, headers and body are the beginning; None for the recorded one.
        provider: label of the contract that judges, "" for that of the inspection.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
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

    def made(self, text: bytes) -> HttpRequest:
        """The request with this body."""
        return with_body(self.request, text, self.text)

    def judge(self, text: bytes, at: int | None = None) -> Judged:
        """A body by the rules. ``at``: in the place of another exchange, None for that of the request."""
        self.checks += 1
        exchange = replace(self._exchange, request=self.made(text))
        index = self.index if at is None else at
        decoded = DecodedExchange(index, exchange, self.protocol, known=self.inspector.known)
        trial = self.inspector.judged(decoded, self.contract)
        judged = Judged(text, predicted(trial), trial)
        if index == self.index:
            self._known[digest(text)] = judged.failure
        return judged

    def failure(self, text: bytes) -> Failure | None:
        """How a body fails; judged once."""
        key = digest(text)
        return self._known[key] if key in self._known else self.judge(text).failure


def digest(text: bytes) -> bytes:
    """What a body is known by."""
    return blake2b(text, digest_size=16).digest()
