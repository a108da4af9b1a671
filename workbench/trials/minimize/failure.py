"""Failures: what two requests that fail in the same way have in common; judged by the contract, nothing is sent."""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b

from workbench import regex
from workbench.chain import Closure
from workbench.contracts import Finding, Judgement, Template, Verdict, plain_text
from workbench.edits import text_of, with_body
from workbench.errors import WireError
from workbench.ir import JsonValue, ModelResponse
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import DecodedExchange
from workbench.rules import CheckedVariant, Inspector
from workbench.wire import HttpRequest, State, loads

REFUSES, SUSPICIOUS, UNREADABLE = "refuses", "suspicious", "unreadable"

_VARYING = regex.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[^\s,;:()]*\d[^\s,;:()]*")
_VARIABLE = regex.compile(r"\{\w+\}")
_AGAIN = regex.compile(r"…(?:(?:[,;:\s]|and)+…)+")


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail.

    Attributes:
        verdict: ``"refuses"``, ``"suspicious"`` (accepted, but the chain is broken) or ``"unreadable"``.
        rule: slug of the broken rule; empty if unknown.
        status: HTTP status of the refusal; 0 if there is none.
        type, code: of the error.
        words: error text without its varying parts; the contract's template if the text fits it.
    """

    verdict: str
    rule: str = ""
    status: int = 0
    type: str = ""
    code: str = ""
    words: str = ""

    def __str__(self) -> str:
        facts = [self.verdict, str(self.status or ""), self.type, self.code, self.rule or self.readable_words]
        return " · ".join(dict.fromkeys(word for word in facts if word))

    @property
    def readable_words(self) -> str:
        """``words`` for people: an ellipsis in place of each varying part."""
        return _VARIABLE.sub("…", self.words)

    @property
    def answer(self) -> tuple[int, str, str, str]:
        """The part of it that the provider's response shows."""
        return self.status, self.type, self.code, self.words


def contract_failure(trial: CheckedVariant) -> Failure | None:
    """Failure of a request by its contract; None if it is accepted."""
    if trial.decoded.request is None:
        return Failure(UNREADABLE)
    return of_judgement(trial.judgement)


def of_judgement(judgement: Judgement) -> Failure | None:
    """Failure of a verdict; None if it accepts."""
    finding = judgement.finding
    if finding is None:
        return None
    if judgement.verdict is Verdict.REFUSES and (check := finding.check):
        return Failure(REFUSES, finding.rule, check.status, check.type, check.code, check.template)
    return Failure(SUSPICIOUS, finding.rule)


def target_failure(status: int, response: ModelResponse | None, expected: Failure | None) -> Failure | None:
    """Failure of a request at a target; None if it was accepted.

    Args:
        response: decoded; None if it cannot be read.
        expected: failure predicted by the contract.
    """
    if status < 400:
        return expected if expected and expected.verdict == SUSPICIOUS else None
    error = response.error if response else None
    message = error.message if error else ""
    template = expected.words if expected else ""
    words = template if template and Template(template).find(plain_text(message)) else without_values(message)
    verdict = UNREADABLE if expected and expected.verdict == UNREADABLE else REFUSES
    rule = expected.rule if expected and expected.verdict == REFUSES else ""
    return Failure(verdict, rule, status, (error and error.type) or "", str((error and error.code) or ""), words)


def without_values(text: str) -> str:
    """Remove quoted words, numbers, ids and paths from an error text.

    >>> without_values("messages.4: `tool_use` ids were found: toolu_1, toolu_2")
    '…: … ids were found: …'
    """
    return _AGAIN.sub("…", _VARYING.sub("…", text)).strip()


@dataclass(frozen=True)
class JudgedBody:
    """A body with the verdict of its contract.

    Attributes:
        text: content-decoded body.
        failure: None if it is accepted.
    """

    text: bytes
    failure: Failure | None
    trial: CheckedVariant

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
        body = JudgedBody(text, contract_failure(trial), trial)
        if index == self.index:
            self._known[body_digest(text)] = body.failure
        return body

    def failure(self, text: bytes) -> Failure | None:
        """Failure of a body, cached; None if it is accepted."""
        key = body_digest(text)
        return self._known[key] if key in self._known else self.judge(text).failure


def body_digest(text: bytes) -> bytes:
    """Digest that identifies a body."""
    return blake2b(text, digest_size=16).digest()
