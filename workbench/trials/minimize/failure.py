"""Failures: what two requests that fail in the same way have in common, apart from ids and pointers."""

from __future__ import annotations

from workbench import regex
from workbench.contracts import Judgement, Template, Verdict, plain
from workbench.ir import ModelResponse
from workbench.lazy_dataclass import dataclass
from workbench.rules import Trial

REFUSES, SUSPICIOUS, UNREADABLE = "refuses", "suspicious", "unreadable"

_VARYING = regex.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[^\s,;:()]*\d[^\s,;:()]*")
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
        told = [self.verdict, str(self.status or ""), self.type, self.code, self.rule or self.words]
        return " · ".join(dict.fromkeys(word for word in told if word))

    @property
    def answer(self) -> tuple[int, str, str, str]:
        """The part of it that the provider's response shows."""
        return self.status, self.type, self.code, self.words


def contract_failure(trial: Trial) -> Failure | None:
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
    told = error.message if error else ""
    template = expected.words if expected else ""
    words = template if template and Template(template).find(plain(told)) else without_values(told)
    verdict = UNREADABLE if expected and expected.verdict == UNREADABLE else REFUSES
    rule = expected.rule if expected and expected.verdict == REFUSES else ""
    return Failure(verdict, rule, status, (error and error.type) or "", str((error and error.code) or ""), words)


def without_values(text: str) -> str:
    """Remove quoted words, numbers, ids and paths from an error text.

    >>> without_values("messages.4: `tool_use` ids were found: toolu_1, toolu_2")
    '…: … ids were found: …'
    """
    return _AGAIN.sub("…", _VARYING.sub("…", text)).strip()
