"""History that was cut on its way into a request: by compaction, by trimming, by an edit."""

from __future__ import annotations

from workbench.protocols import REQUEST, DecodedExchange, id_places
from workbench.rules._shared.context import RuleContext


def dropped_call(case: RuleContext, call_id: str | None) -> str:
    """Fate of the call of an orphaned result, in words; empty if the session does not show it."""
    receipt = case.earlier.received.latest_with(call_id) if call_id else None
    if receipt is None:
        return ""
    words = f"the call was received in exchange {receipt.exchange + 1}, but this request no longer contains it"
    return f"{words}{_shortening_words(case, before(case))}"


def dropped_result(case: RuleContext, call_id: str | None) -> str:
    """Fate of the result of a call, in words; empty if the request before did not have it."""
    last = before(case) if call_id else None
    messages = last.messages(REQUEST) if last else ()
    if last is None or not call_id or not id_places(messages).with_result(call_id, len(messages)):
        return ""
    return f"exchange {last.index + 1} still had the result, but this request does not{_shortening_words(case, last)}"


def dropped_reasoning(case: RuleContext, call_ids: tuple[str, ...]) -> str:
    """Statement that the request before still had the reasoning of a turn with these calls; empty if not."""
    last = before(case) if call_ids else None
    if last is None:
        return ""
    messages = last.messages(REQUEST)
    known = id_places(messages)
    turns = (n for call_id in call_ids for n in known.with_call(call_id, len(messages)))
    if any(any(True for _ in messages[n].reasoning()) for n in turns):
        return f"exchange {last.index + 1} still sent this reasoning{_shortening_words(case, last)}"
    return ""


def before(case: RuleContext) -> DecodedExchange | None:
    """The request before this one in its conversation."""
    return case.peek(case.earlier.exchanges[-1]) if case.earlier.exchanges else None


def _shortening_words(case: RuleContext, last: DecodedExchange | None) -> str:
    """The words ": the history was shortened …"; empty if the history has not become shorter."""
    was, now = len(last.messages(REQUEST)) if last else 0, len(case.messages)
    return f": the history was shortened from {was} to {now} messages" if now < was else ""
