"""Rows of the tables, from an inspected session: an allow-list of typed fields, and no text of the traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from workbench import regex
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST
from workbench.protocols.clients import client_of
from workbench.rules import InspectedExchange, Inspection, by_cause, find_rule
from workbench.survey.keys import hash_keyed
from workbench.survey.schema import EXCHANGES, FACTS, FINDINGS
from workbench.wire import Exchange, Fidelity, fidelity_of
from workbench.wire.session import Session

Row = dict[str, JsonValue]
"""A row: values by column, and the name of its table under ``t``."""

_QUOTED = regex.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\d+")
_NAME = regex.compile(r"[\w.:/@+-]{1,80}", 0)
ACCEPTED, REFUSED = "accepted", "refused"


class ExchangePlace(NamedTuple):
    """Where an exchange of a session is stored: the key of its object, and its number there."""

    object: str
    exchange: int


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes rows of one unit of work.

    Attributes:
        key: for hashes.
        places: of the exchanges of the session, in order.
        keeps_pointers: findings have their whole pointer, with the names of arguments.
    """

    key: bytes
    places: Sequence[ExchangePlace]
    keeps_pointers: bool = False

    def rows(self, inspection: Inspection, session: Session) -> Iterator[Row]:
        """The rows of exchanges, findings and facts."""
        about: dict[int, Row] = {}
        for row in inspection.rows:
            values = self._exchange(row, session.exchange(row.index))
            about[row.index] = values
            yield values
        for finding in by_cause(inspection.findings):
            yield self._finding(finding, about[finding.exchange])
            yield from self._facts(finding, about[finding.exchange])

    def _exchange(self, row: InspectedExchange, exchange: Exchange) -> Row:
        place, started = self.places[row.index], exchange.started_at
        agent = (exchange.request and exchange.request.headers.get("user-agent")) or ""
        return {
            "t": EXCHANGES,
            "object": place.object,
            "exchange": place.exchange,
            "conversation": self._conversation(row, exchange, place),
            "protocol": row.protocol,
            "provider": row.provider,
            "model": plain_name(row.model),
            "client": plain_name(client_of(agent)),
            "hop": plain_name(exchange.hop),
            "fidelity": fidelity_of(exchange).value,
            "http_status": row.summary.status,
            "started_us": None if started is None else int(started * 1e6),
            "duration_us": None if exchange.duration is None else int(exchange.duration * 1e6),
            "week": week_of(started),
            "calls": len(row.calls),
            "request_bytes": row.summary.request_bytes,
            "response_bytes": row.summary.response_bytes,
            "verdict": verdict_of(row),
            "refused": row.is_refused,
        }

    def _conversation(self, row: InspectedExchange, exchange: Exchange, place: ExchangePlace) -> str:
        """The name that the store gives it, or else its number in what was judged together."""
        conversation = exchange.meta.get("conversation")
        if isinstance(conversation, str) and conversation:
            return hash_keyed(self.key, "conversation", conversation)
        return hash_keyed(self.key, "conversation", self.places[0].object, str(row.conversation))

    def _finding(self, finding: Finding, about: Row) -> Row:
        last = self.places[finding.last if finding.last is not None else finding.exchange]
        span = finding.span or (None, None)
        return {
            "t": FINDINGS,
            "object": about["object"],
            "exchange": about["exchange"],
            "last": last.exchange if last.object == about["object"] else None,
            "rule": finding.rule,
            "severity": finding.severity.value,
            "basis": finding.basis.value,
            "side": finding.side,
            "path": path_of(finding.pointer),
            "pointer": finding.pointer if self.keeps_pointers else None,
            "start": span[0],
            "end": span[1],
            "shape": hash_keyed(self.key, finding.rule, _QUOTED.sub("", finding.message), size=8),
            **{name: about[name] for name in _SHARED},
        }

    def _facts(self, finding: Finding, about: Row) -> Iterator[Row]:
        """What the recorded answer says of the fact behind a finding: its fault was accepted, or refused.

        A request that a store has rebuilt is no proof: it is not what the provider saw.
        """
        if finding.contradicts:
            against = finding.contradicts
            basis = Basis.CONTRACT if against.source else Basis.COMMON
            yield self._fact(about, basis, against.contract, against.rule, against.fact, ACCEPTED)
        elif about["fidelity"] in PROOF and finding.side == REQUEST and (outcome := _outcome(finding, about)):
            fact = finding.fact or finding.rule
            yield self._fact(about, finding.basis, about["provider"], finding.rule, fact, outcome)

    def _fact(self, about: Row, basis: Basis, contract: JsonValue, rule: str, fact: str, outcome: str) -> Row:
        place = {"object": about["object"], "exchange": about["exchange"], "basis": basis.value}
        return {"t": FACTS, **place, "contract": contract, "rule": rule, "fact": plain_name(fact.replace(" ", "-")),
                "outcome": outcome, "http_status": about["http_status"]}  # fmt: skip


def _outcome(finding: Finding, about: Row) -> str:
    """Whether a fault of a request was accepted or refused; empty if the answer does not tell."""
    status, rule = about["http_status"], find_rule(finding.rule)
    if isinstance(status, int) and 200 <= status < 300:
        is_fact = finding.basis in _FACTUAL and rule is not None and rule.breaks is Breaks.REQUEST
        return ACCEPTED if is_fact else ""
    is_refused = status in (400, 422) and finding.severity is Severity.ERROR
    return REFUSED if is_refused and (finding.check is not None or finding.basis in _WITH_BASIS) else ""


PROOF = (Fidelity.EXACT.value, Fidelity.RESERIALISED.value)
_FACTUAL = (Basis.MEASURED, Basis.CONTRACT, Basis.COMMON)
_WITH_BASIS = (Basis.RECORDING, *_FACTUAL)
_SHARED = ("refused", "provider", "protocol", "model", "client", "week", "conversation")


def counts_of(findings: Sequence[Row]) -> Mapping[str, int]:
    """Numbers of errors and warnings among rows of findings."""
    severities = [row["severity"] for row in findings]
    return {"errors": severities.count(Severity.ERROR.value), "warnings": severities.count(Severity.WARNING.value)}


def verdict_of(row: InspectedExchange) -> str:
    """One word for an exchange."""
    worst = min((finding.severity.rank for finding in row.findings), default=None)
    if worst == Severity.ERROR.rank:
        return "broken"
    if row.is_undecided:
        return "undecided"
    if not row.is_judged:
        return "nothing"
    return "warned" if worst == Severity.WARNING.rank else "ok"


def plain_name(name: str | None) -> str | None:
    """A name of a model, a client or a hop; None for what has not the form of a name."""
    if not name:
        return None
    short = name.replace(" ", "-")
    return short if _NAME.fullmatch(short) else None


def week_of(started: float | None) -> str | None:
    """The ISO week of a time, in UTC: ``2026-W39``."""
    if started is None or not 0 < started < 1e11:
        return None
    year, week, _ = datetime.fromtimestamp(started, UTC).isocalendar()
    return f"{year}-W{week:02}"


_WORDS = (
    "additionalProperties annotations anyOf args arguments audio cache_control call_id candidates choices "
    "content contentBlock contentBlockIndex contents data delta detail document encrypted_content enum error "
    "file file_data file_id finishReason finish_reason format frequency_penalty function functionCall "
    "functionDeclarations functionResponse function_call generationConfig headers id image image_url index "
    "inlineData input inputSchema input_audio input_schema instructions is_error items json json_schema "
    "logit_bias logprobs maxOutputTokens maxTokens max_completion_tokens max_output_tokens max_tokens "
    "media_type message messages metadata model modelVersion name nullable object oneOf output "
    "parallel_tool_calls parameters parts presence_penalty previous_response_id prompt properties reasoning "
    "reasoning_content reasoning_details reasoning_effort refusal required response responseSchema "
    "response_format result role safetySettings schema seed signature source stop stopReason stopSequences "
    "stop_reason stop_sequences store stream stream_options strict summary system systemInstruction "
    "system_instruction temperature text thinking thinkingConfig thought thoughtSignature thought_signature "
    "toolChoice toolConfig toolResult toolSpec toolUse toolUseId tool_call_id tool_calls tool_choice tool_plan "
    "tool_use_id tools topK topP top_k top_logprobs top_p type url usage usageMetadata user verbosity "
)
WIRE_WORDS = frozenset(_WORDS.split())

_INSIDE = frozenset({"arguments", "args", "input", "parameters", "properties", "input_schema", "inputSchema", "json"})
"""Members whose inner names are those of the user's tools."""


def path_of(pointer: str) -> str:
    """A pointer without the user's names: numbers become ``*``, names that are none of the wire become ``?``."""
    steps = []
    is_inside = False
    for step in pointer.split("/")[1:]:
        if step.isdigit() or step == "-":
            steps.append("*")
        elif is_inside and step not in ("properties", "required", "items", "type", "enum", "format"):
            steps.append("?")
        else:
            steps.append(step if step in WIRE_WORDS else "?")
        is_inside |= step in _INSIDE and len(steps) > 2
    return "".join(f"/{step}" for step in steps)
