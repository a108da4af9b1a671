"""Ways to fail: what two requests have in common that fail in the same way, whatever ids and places they name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.contracts import Judgement, Verdict
from workbench.contracts.template import Template, plain
from workbench.ir import ModelResponse
from workbench.rules.inspection import Trial

REFUSES, SUSPICIOUS, UNREADABLE = "refuses", "suspicious", "unreadable"

_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[^\s,;:()]*\d[^\s,;:()]*")
_AGAIN = re.compile(r"…(?:(?:[,;:\s]|and)+…)+")


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail.

    Attributes:
        verdict: ``"refuses"``, ``"suspicious"`` (it goes through, and the chain is broken) or ``"unreadable"``.
        rule: slug of what is broken; "" where no rule tells.
        status: HTTP status of the refusal, 0 for none.
        type, code: of the error.
        words: its text, without what varies: the template of the contract where the text fits it.
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
        """What of it a provider says."""
        return self.status, self.type, self.code, self.words


def predicted(trial: Trial) -> Failure | None:
    """How a request fails by its contract; None where it does not."""
    if trial.decoded.request is None:
        return Failure(UNREADABLE)
    return of_judgement(trial.judgement)


def of_judgement(judgement: Judgement) -> Failure | None:
    """How a request fails by a verdict; None where it does not."""
    finding = judgement.finding
    if finding is None:
        return None
    if judgement.verdict is Verdict.REFUSES and (check := finding.check):
        return Failure(REFUSES, finding.rule, check.status, check.type, check.code, check.template)
    return Failure(SUSPICIOUS, finding.rule)


def answered(status: int, response: ModelResponse | None, expected: Failure | None) -> Failure | None:
    """How a request failed at a target; None where it was accepted.

    Args:
        response: the answer, None where it cannot be read.
        expected: how the contract says that it fails.
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
    """An error text without quoted words, numbers, ids and paths.

    >>> without_values("messages.4: `tool_use` ids were found: toolu_1, toolu_2")
    '…: … ids were found: …'
    """
    return _AGAIN.sub("…", _VARYING.sub("…", text)).strip()
