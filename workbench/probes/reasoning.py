"""Reasoning: requests that replay it unchanged, drop it, empty it, alter it, or replay it in later turns.

Facts, besides ``requires_reasoning_replay``:

* ``reasoning_carrier``: its carrier, or "none".
* ``reasoning_replay``: way → ``refused``, ``needed`` (it is accepted, but the response gets worse: the result of the
  call is not used), ``ignored`` (accepted, and the response is as good), ``not tried``; of ``verbatim`` ``taken`` or
  ``refused``. Ways: ``verbatim``, ``missing``, ``empty``, ``altered`` inside the turn; after new words of the user
  ``stale`` (that of the turn before comes back) and ``forgotten`` (it does not).
* ``reasoning_replay_scope``: ``never`` (refused as received), ``optional``, ``turn`` (until the next user message),
  ``conversation``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from workbench.ir import JsonValue
from workbench.probes._drive import DriveSteps, PlayedConversation, follow, without_call
from workbench.probes._script import Ask, Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import Toolbox, digits
from workbench.probes._variants import VARIANTS, replay_variants, thinking
from workbench.send.loop import ConversationLoop, EndReason, Limits, LoopEnd, Say
from workbench.wire import Exchange, HttpRequest

VERBATIM, STALE, FORGOTTEN = "verbatim", "stale", "forgotten"
REFUSED, NEEDED, IGNORED, TAKEN, UNTRIED = "refused", "needed", "ignored", "taken", "not tried"
_OUTCOMES = {
    REFUSED: "the request is refused if the reasoning is",
    NEEDED: "the result of the call is not used if the reasoning is",
}
_WAYS = {
    **{name: name for name in ("missing", "empty", "altered")},
    STALE: "replayed after the next user message",
    FORGOTTEN: "missing after the next user message",
}
"""Way of the replay → words for what the reasoning then is."""


def script(subject: Subject) -> Script:
    """A call made while thinking; its result is sent with the reasoning unchanged, and in every other way."""
    words = f"Think first. Then add 21 and {20 + len(subject.nonce)} with probe_add, and tell me sum and receipt."
    first = yield from thinking(subject, words)
    if not first.calls:
        return (yield from without_call(subject, first))
    carriers = [part.carrier.value for part in first.reasoning(0)]
    if not carriers:
        return unclear(
            "no reasoning was received with a tool call", reasoning_carrier="none", requires_reasoning_replay=False
        )
    box = Toolbox(subject.nonce)
    whole = yield from _send_results(first, VERBATIM, box)
    fates = {VERBATIM: REFUSED if whole.is_refused else TAKEN}
    uses = _uses(whole, box)
    variants = replay_variants(_next_request(first.before_results(), box), first.loop.protocol)
    for name in VARIANTS:
        fates[name] = yield from _try_variant(first, name, box, variants[name], uses=uses)
    for name in (STALE, FORGOTTEN):
        fates[name] = yield from _later(whole, name, box)
    return evaluate(carriers[0], fates)


def _send_results(
    first: PlayedConversation, name: str, box: Toolbox, http_request: HttpRequest | None = None
) -> DriveSteps:
    """Send the results of the calls, with one kind of replay."""
    change = (lambda _, request: http_request or request) if http_request else None
    return (yield from follow(first.before_results(), f"reasoning sent back: {name}", box.run, change=change))


def _try_variant(
    first: PlayedConversation, name: str, box: Toolbox, request: HttpRequest | None, *, uses: bool
) -> Generator[Ask, Exchange, str]:
    if request is None:
        return UNTRIED
    played = yield from _send_results(first, name, box, request)
    if played.is_refused:
        return REFUSED
    return NEEDED if uses and not _uses(played, box) else IGNORED


def _later(whole: PlayedConversation, name: str, box: Toolbox) -> Generator[Ask, Exchange, str]:
    """A new user message after the turn, with its reasoning or without."""
    if whole.ended.reason not in (EndReason.DONE, EndReason.TEXT_CALL):
        return UNTRIED
    loop = whole.loop.with_limits(Limits(whole.loop.turns + 1)).after(Say("Thank you. Now only say hello."))
    variant = replay_variants(_next_request(loop, box), loop.protocol)["missing"] if name == FORGOTTEN else None
    if isinstance(loop.step, LoopEnd) or (name == FORGOTTEN and variant is None):
        return UNTRIED
    change = (lambda _, request: variant or request) if variant else None
    played = yield from follow(loop, f"reasoning of the previous turn: {name}", box.run, change=change)
    return REFUSED if played.is_refused else IGNORED


def _next_request(loop: ConversationLoop, box: Toolbox) -> HttpRequest:
    """The next request of a loop, once its calls are answered."""
    going = follow(loop, "", box.run)
    try:
        request = next(going).request
    except StopIteration:
        assert loop.exchange.request
        return loop.exchange.request
    going.close()
    return request


def _uses(conversation: PlayedConversation, box: Toolbox) -> bool:
    """The answer contains a receipt of the sample."""
    response_digits = digits(conversation.text())
    return any(
        receipt in response_digits for receipt in box.receipts(call.step.arguments for call in conversation.calls)
    )


def evaluate(carrier: str, fates: Mapping[str, str]) -> Sample:
    """Verdict: the endpoint's requirements, and whether they can be met."""
    is_missed = fates["missing"] in (REFUSED, NEEDED)
    facts: dict[str, JsonValue] = {
        "reasoning_carrier": carrier,
        "requires_reasoning_replay": is_missed,
        "reasoning_replay": dict(fates),
        "reasoning_replay_scope": _scope(fates, is_missed=is_missed),
    }
    if fates[VERBATIM] == REFUSED:
        if fates["missing"] in (IGNORED, NEEDED):
            return partly(f"unchanged {carrier} is refused and must be removed", **facts)
        return failed("the provider refuses the request with reasoning, and also without it", **facts)
    outcomes = [
        f"{words} {', '.join(ways)}"
        for fate, words in _OUTCOMES.items()
        if (ways := [_WAYS[name] for name, its_fate in fates.items() if its_fate == fate])
    ]
    return passed(
        f"unchanged {carrier} is accepted; " + ("; ".join(outcomes) or "no other form of the reasoning is refused"),
        **facts,
    )


def _scope(fates: Mapping[str, str], *, is_missed: bool) -> str:
    if fates[VERBATIM] == REFUSED:
        return "never"
    if fates[FORGOTTEN] == REFUSED:
        return "conversation"
    return "turn" if is_missed else "optional"


probe = Probe("reasoning", "in which form must reasoning be sent back?", 10, script, is_core=True, tokens=9000)
