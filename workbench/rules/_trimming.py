"""History that was cut on its way into a request: by compaction, by trimming, by an edit."""

from __future__ import annotations

from workbench.ir import Message
from workbench.protocols import REQUEST, DecodedExchange
from workbench.rules.context import RuleContext


def dropped_call(case: RuleContext, call_id: str | None) -> str:
    """Fate of the call of an orphaned result, in words; empty if the session does not show it."""
    brought = next((n for n, a in reversed(case.earlier.answers) if call_id and _brings(a.messages, call_id)), None)
    if brought is None:
        return ""
    said = f"the call was received in exchange {brought + 1}, and this request no longer contains it"
    return f"{said}{_cut(case, before(case))}"


def dropped_result(case: RuleContext, call_id: str | None) -> str:
    """Fate of the result of a call, in words; empty if the request before did not have it."""
    last = before(case)
    messages = last.messages(REQUEST) if last and call_id else ()
    if last is None or not any(r.tool_call_id == call_id for m in messages for _, r in m.tool_results()):
        return ""
    return f"exchange {last.index + 1} still had its result, and this request does not{_cut(case, last)}"


def dropped_reasoning(case: RuleContext, call_ids: tuple[str, ...]) -> str:
    """Statement that the request before still had the reasoning of a turn with these calls; empty if not."""
    last = before(case)
    for message in last.messages(REQUEST) if last and call_ids else ():
        if any(c.id in call_ids for _, c in message.tool_calls()) and any(True for _ in message.reasoning()):
            return f"exchange {last.index + 1} still sent it{_cut(case, last)}" if last else ""
    return ""


def before(case: RuleContext) -> DecodedExchange | None:
    """The request before this one in its conversation."""
    return case.peek(case.earlier.exchanges[-1]) if case.earlier.exchanges else None


def _cut(case: RuleContext, last: DecodedExchange | None) -> str:
    """True if the history has become shorter: it was trimmed or compacted, and the damage is no single slip."""
    was, now = len(last.messages(REQUEST)) if last else 0, len(case.decoded.messages(REQUEST))
    return f": the history was cut from {was} to {now} messages" if now < was else ""


def _brings(messages: tuple[Message, ...], call_id: str) -> bool:
    return any(call.id == call_id for message in messages for _, call in message.tool_calls())
