"""Streams: what the decoder noticed, and what only the request explains."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import regex
from workbench.contracts import Breaks, Finding, Severity
from workbench.fronts import late
from workbench.ir import MILD, UNUSUAL, Anomaly, ModelResponse, NodeRef, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE
from workbench.provenance import leaves
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, weaker
from workbench.rules.answers import evidence, known_as
from workbench.toolcalls.arguments import is_cut
from workbench.wire import Origin

in_stream, refusal_of = late("workbench.rules._shared.failure_place", "in_stream", "refusal_of")

ERROR, WARNING = Severity.ERROR, Severity.WARNING

INDEX = Rule(
    "stream.index", ERROR, "The index of a delta is missing, reused or was never opened.", breaks=Breaks.CONVERSATION
)
ID = Rule(
    "stream.id",
    ERROR,
    "The call id changes or repeats, so that clients join the deltas incorrectly.",
    breaks=Breaks.CONVERSATION,
)
NAME = Rule("stream.name", ERROR, "The function name is repeated or split across deltas.", breaks=Breaks.CONVERSATION)
FINISH = Rule(
    "stream.finish-reason",
    ERROR,
    "The finish reason contradicts the content of the stream.",
    breaks=Breaks.CONVERSATION,
)
TRUNCATED = Rule("stream.truncated", ERROR, "The stream stops inside a block.", breaks=Breaks.CONVERSATION)
NO_TERMINATOR = Rule(
    "stream.no-terminator", ERROR, "The stream ends without its terminal event.", breaks=Breaks.CONVERSATION
)
EMPTY_CHOICES = Rule(
    "stream.empty-choices", WARNING, "A chunk of the stream has no choices.", breaks=Breaks.CONVERSATION
)
ENCODING = Rule("stream.encoding", ERROR, "A character was damaged at a chunk boundary.", breaks=Breaks.CONVERSATION)
FRAMING = Rule(
    "stream.framing",
    ERROR,
    "The event framing is wrong or unusual: comments, prefixes, line endings, event names.",
    breaks=Breaks.CONVERSATION,
)
BLOCK_ORDER = Rule(
    "stream.block-order",
    ERROR,
    "Start, delta and stop events of content blocks do not match.",
    breaks=Breaks.CONVERSATION,
)
ERROR_EVENT = Rule("stream.error-event", ERROR, "The stream ends with an error event.", breaks=Breaks.CONVERSATION)
UNKNOWN_FIELD = Rule(
    "stream.unknown-field",
    Severity.INFO,
    "The stream has a field that event streams do not define.",
    breaks=Breaks.CONVERSATION,
)

RULES = (
    INDEX, ID, NAME, FINISH, TRUNCATED, NO_TERMINATOR, EMPTY_CHOICES, ENCODING, FRAMING, BLOCK_ORDER, ERROR_EVENT,
    UNKNOWN_FIELD,
)  # fmt: skip

_BY_SLUG = {rule.slug: rule for rule in RULES}


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the answer as a stream, and on its final reason."""
    answer = case.response
    if answer is None:
        return
    if case.request and case.request.stream and not answer.is_stream and not answer.error and not _is_synthesised(case):
        message = (
            "the request turned streaming on, but the response is one body: clients that read only streams raise "
            "an error"
        )
        yield case.finding(weaker(FRAMING), RESPONSE, "", message)
    if not any(anomaly.slug in _BY_SLUG for anomaly in answer.anomalies):  # else those say why it is not whole
        yield from _check_completeness(case, answer)
    yield from _check_names(case, answer)
    for anomaly in answer.anomalies:
        rule = _BY_SLUG.get(anomaly.slug.removesuffix(UNUSUAL).removesuffix(MILD))
        if rule and not _is_explained(case, anomaly):
            final_rule = weaker(rule) if _is_mild(case, anomaly) else rule
            if anomaly.slug.endswith(UNUSUAL):
                final_rule = weaker(rule, Severity.INFO)
            if anomaly.slug == EMPTY_CHOICES.slug and case.request is None:
                final_rule = weaker(rule, Severity.INFO)  # it may have been asked for
            message, seen, kind = anomaly.message, "", ""
            if rule is ERROR_EVENT and answer.error:
                refusal = refusal_of(answer.error, case.decoded)
                message = in_stream(message, refusal, known_as(answer.error, case.contract.name))
                seen, kind = evidence(answer.error), refusal.kind.name if refusal else ""
            found = case.finding(final_rule, RESPONSE, anomaly.pointer, message, events=anomaly.events, evidence=seen)
            yield replace(found, kind=kind)


def _check_names(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """Calls of which no event has the name: no client knows which tool to run."""
    is_noticed = any(anomaly.slug in _BY_SLUG for anomaly in answer.anomalies)  # then the name went elsewhere
    if not answer.is_stream or answer.error or not answer.is_complete or is_noticed:
        return
    for n, message in enumerate(answer.messages):
        for k, call in message.tool_calls():
            if not call.name and (call.id or call.raw or call.input):
                events = call.source.events
                yield replace(
                    case.at(NAME, NodeRef(RESPONSE, n, k), "no event of the stream has the name of this call"),
                    events=events,
                )


def _check_completeness(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """A finish reason that says of an answer which was cut that it is whole."""
    if answer.error or not answer.is_complete or answer.stop not in ("stop", "tool_calls"):
        return
    for n, message in enumerate(answer.messages):
        last = next(((k, p) for k, p in reversed(list(enumerate(message.parts))) if isinstance(p, ToolCallIR)), None)
        if last and last[1].error and not last[1].is_server and is_cut(last[1].raw or ""):
            sentence = (
                f"the finish reason is {quote(answer.finish_reason, 40)}, but the arguments of the call are truncated"
            )
            yield case.at(weaker(FINISH), NodeRef(RESPONSE, n, last[0]), sentence, name="input")
            return


def _has_calls(answer: ModelResponse | None) -> bool:
    return answer is not None and any(True for message in answer.messages for _ in message.tool_calls())


def _is_explained(case: RuleContext, anomaly: Anomaly) -> bool:
    """Asked for by the client, or made by whoever wrote the recording."""
    if anomaly.slug.removesuffix(UNUSUAL) == EMPTY_CHOICES.slug and case.request:
        options = case.request.params.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True
    if anomaly.slug == FINISH.slug and case.request and case.request.tool_choice and _has_calls(case.response):
        return case.request.tool_choice.mode in ("tool", "any")  # some then say "stop", although the call is there
    is_of_framing = anomaly.slug.removesuffix(MILD) == FRAMING.slug and not anomaly.lacks  # else an event is missing
    return _is_synthesised(case) and (is_of_framing or _is_unterminated_answer(case, anomaly))


def _is_synthesised(case: RuleContext) -> bool:
    """The framing is the importer's: what it lacks is no fault of the provider."""
    exchange = case.decoded.exchange
    return exchange.origin is Origin.RECONSTRUCTED or exchange.meta.get("framing") == "synthesised"


def _is_unterminated_answer(case: RuleContext, anomaly: Anomaly) -> bool:
    """The terminal event alone is missing: the answer is complete."""
    return anomaly.slug == NO_TERMINATOR.slug and case.response is not None and case.response.finish_reason is not None


def _is_mild(case: RuleContext, anomaly: Anomaly) -> bool:
    """The fault is there and does no harm: the answer is whole, or repeats what it was sent."""
    if anomaly.slug.endswith(MILD):
        return True
    if anomaly.slug == ENCODING.slug:
        return _was_sent(case) or not _is_cut(case, anomaly)
    if anomaly.slug == ID.slug:
        is_joined = anomaly.pointer != "/id" and not _ITEM.fullmatch(anomaly.pointer)
        return not is_joined or _is_said_of_the_call(case, anomaly)
    return _is_unterminated_answer(case, anomaly)


_ITEM = regex.compile(r"/output/\d+/id")
"""The id of an item: clients join its pieces by its index, and results by the id of its call."""

_CUT = regex.compile("\ufffd\ufffd|[\ud800-\udfff]")
"""Halves of a character, decoded alone: two replacement characters or more. A single one a model may have written."""


def _is_cut(case: RuleContext, anomaly: Anomaly) -> bool:
    texts = (
        leaf.value
        for message in case.decoded.messages(RESPONSE)
        for leaf in leaves(message)
        if leaf.pointer.startswith(anomaly.pointer)
    )
    return any(isinstance(text, str) and _CUT.search(text) for text in texts)


def _is_said_of_the_call(case: RuleContext, anomaly: Anomaly) -> bool:
    """The closure finds the same: two calls with one id."""
    flawed = case.closure.flawed_lines_from(len(case.messages))
    twins = (line.call for line in flawed if line.call and line.call.side == RESPONSE and line.twin)
    return any(case.pointer(call, "id") == anomaly.pointer for call in twins)


def _was_sent(case: RuleContext) -> bool:
    """The request holds a replacement character itself: the answer may repeat it."""
    text = case.decoded.request_text
    return b"\xef\xbf\xbd" in text or rb"\ufffd" in text.lower()
