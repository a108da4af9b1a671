"""Importer for Codex CLI rollouts (``~/.codex/sessions/…/rollout-*.jsonl``): exchanges of the Responses API.

Items are sent back to the API unchanged; the file has neither tools nor response ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.formats.importers._codex_items import CodexStep, as_sent, steps
from workbench.formats.importers._lines import ImportDamage, first_objects, objects
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    extend_history,
    reconstructed_exchange,
)
from workbench.formats.importers._values import count, mapping, rest, text
from workbench.ir import JsonValue
from workbench.wire import Exchange, State, dumps

NAME = "codex"
TITLE = "Codex CLI rollout"
LACKS = ("tools", "parameters", "headers", "streaming")
_PROTOCOL = "openai-responses"
_TYPES = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")


def sniff(head: bytes) -> float:
    """Lines of type and payload; older versions start with instructions and bare items."""
    first = first_objects(head)
    enveloped = [v for v in first if v.get("type") in _TYPES and isinstance(v.get("payload"), dict)]
    if first and 2 * len(enveloped) > len(first):
        return 0.95
    is_old = len(first) > 1 and {"id", "timestamp", "instructions"} <= first[0].keys() and "model" not in first[0]
    return 0.92 if is_old and any("record_type" in v or "type" in v for v in first[1:]) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per response, and one for the next request. Raises UnreadableInput if there is no item."""
    damage = ImportDamage()
    turns = list(_turns(steps(objects(data, damage))))
    if not turns:
        raise damage.refuse("no item of a conversation")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _turns(found: Iterable[CodexStep]) -> Iterator[TranscriptTurn]:
    heard: SharedHistory | None = None
    pending: TranscriptTurn | None = None
    is_open = False
    last: CodexStep | None = None
    beside: dict[str, JsonValue] = {}
    for step in found:
        beside |= step.kept
        if step.kind == "aborted" and pending:
            pending = _aborted_turn(pending)
        if step.kind == "said":
            if pending:
                yield pending
            step.kept, beside = beside, {}
            pending = _answered_turn(step, heard)
        if step.kind == "compacted":
            heard = None
        for item in step.items:
            heard = extend_history(heard, dumps(as_sent(item)))
        is_open = step.kind != "said" if step.items else is_open
        last = step if step.items else last
    if pending:
        yield pending
    if heard and is_open and last:
        last.kept = beside
        like = _like(last, f"after line {last.number}", "the rollout ends here: the next request, not sent")
        yield _turn(last, heard, replace(like, state=State.INCOMPLETE))


def _answered_turn(step: CodexStep, heard: SharedHistory | None) -> TranscriptTurn:
    items = [rest(item, "internal_chat_message_metadata_passthrough") for item in step.items]
    body: dict[str, JsonValue] = {"object": "response", "status": "completed", "output": items}
    model = text(step.context.get("model"))
    body |= {"model": model} if model else {}
    body |= {"usage": _usage(step.usage)} if step.usage else {}
    turn = _turn(
        step, heard, _like(step, f"line {step.number}", "the items between two client items form one response")
    )
    return TranscriptTurn(turn.like, _PROTOCOL, heard, turn.model, members=turn.members, response=dumps(body))


def _turn(step: CodexStep, heard: SharedHistory | None, like: Exchange) -> TranscriptTurn:
    """Settings of a turn that are known to be sent: instructions and reasoning."""
    meta = mapping(step.context.get("session_meta"))
    base = meta.get("base_instructions")
    instructions = text(mapping(base).get("text")) or text(base) or text(meta.get("instructions"))
    members: dict[str, JsonValue] = {"instructions": instructions} if instructions else {}
    asked = {k: v for k, v in (("effort", step.context.get("effort")), ("summary", step.context.get("summary"))) if v}
    reasoning = {k: v for k, v in asked.items() if isinstance(v, str)}
    members |= {"reasoning": reasoning} if reasoning else {}
    return TranscriptTurn(like, _PROTOCOL, heard, text(step.context.get("model")) or None, members=members)


def _like(step: CodexStep, id: str, note: str) -> Exchange:
    meta = mapping(step.context.get("session_meta"))
    version = text(meta.get("cli_version"))
    kept = {"context": rest(step.context, "session_meta")} | ({"beside": step.kept} if step.kept else {})
    client = f"codex {version}" if version else "codex"
    return reconstructed_exchange(id, lacks=LACKS, note=note, started_at=step.time, client=client, meta=kept)


def _aborted_turn(turn: TranscriptTurn) -> TranscriptTurn:
    note = f"{turn.like.note}; the turn was aborted"
    return replace(turn, like=replace(turn.like, state=State.ABORTED, note=note))


def _usage(held: dict[str, JsonValue]) -> JsonValue:
    """Token counts under the API's names; the client's are flat."""
    flat = {key: count(value) for key, value in held.items()}
    made: dict[str, JsonValue] = {
        key: flat[key] for key in ("input_tokens", "output_tokens", "total_tokens") if flat.get(key) is not None
    }
    for name, inner, key in (
        ("input_tokens_details", "cached_tokens", "cached_input_tokens"),
        ("output_tokens_details", "reasoning_tokens", "reasoning_output_tokens"),
    ):
        if flat.get(key) is not None:
            made[name] = {inner: flat[key]}
    return made
