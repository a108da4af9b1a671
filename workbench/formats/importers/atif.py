"""Importer for ATIF trajectories (``trajectory.json``): one exchange per agent step."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import regex
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    protocol_of,
    reasoning,
    reconstructed_exchange,
)
from workbench.formats.importers._values import content_parts, mapping, mappings, rest, text, token_count
from workbench.ir import JsonValue, Message, Part, ToolCallIR, ToolDef, ToolResultIR, Usage
from workbench.wire import Exchange, State, loads

NAME = "atif"
TITLE = "ATIF trajectory"
LACKS = ("parameters", "headers", "streaming")

_START = regex.compile(rb'\s*\{\s*"schema_version"\s*:\s*"ATIF-')
_SENT = ("source", "message", "reasoning_content", "tool_calls", "observation", "timestamp")


def sniff(head: bytes) -> float:
    """A document that starts with its schema version."""
    return 0.95 if _START.match(head) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per agent step, and one for final results. Raises UnreadableInput if there is no step."""
    value = mapping(loads(data))
    damage = ImportDamage()
    turns = list(_Trajectory(value, damage).turns())
    if not turns:
        raise damage.refuse("the trajectory has no steps")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


class _Trajectory:
    """A document and the state of its conversation."""

    def __init__(self, value: dict[str, JsonValue], damage: ImportDamage) -> None:
        self.damage = damage
        self.steps = list(damage.objects(value.get("steps"), "a step"))
        self.about = rest(value, "steps")
        agent = mapping(value.get("agent"))
        self.tools = tuple(_tool(t) for t in mappings(agent.get("tool_definitions")))
        self.client = " ".join(t for t in (text(agent.get("name")), text(agent.get("version"))) if t) or "ATIF"
        self.model = text(agent.get("model_name"))
        self.system: tuple[Part, ...] = ()
        self.history: SharedHistory | None = None
        self.is_asking = False

    def turns(self) -> Iterator[TranscriptTurn]:
        beside: dict[str, JsonValue] = {"trajectory": self.about}
        for number, step in enumerate(self.steps, 1):
            if step.get("source") == "agent":
                yield self._answered_turn(step, number, beside)
                beside = {}
                continue
            if step.get("source") not in ("system", "user"):
                self.damage.unknown("a step", step.get("source"))
                continue
            parts = content_parts(step.get("message"))
            if step.get("source") == "system" and self.history is None:
                self.system += parts
            else:
                role = "system" if step.get("source") == "system" else "user"
                self.history, self.is_asking = (
                    extend_history(self.history, Message(role, parts)),
                    bool(parts) or self.is_asking,
                )
            unsent = rest(step, *_SENT, "step_id")
            beside |= {f"step {number}": unsent} if unsent else {}
        if self.is_asking:
            note = "the trajectory ends here; this next request was not sent"
            like = reconstructed_exchange(
                "end", lacks=LACKS, note=note, client=self.client, state=State.INCOMPLETE, meta=beside
            )
            yield self._turn(like, self.model)

    def _answered_turn(self, step: dict[str, JsonValue], number: int, beside: dict[str, JsonValue]) -> TranscriptTurn:
        model = text(step.get("model_name")) or self.model
        protocol = _protocol(model)
        calls = [
            _call(c, f"call_{number}_{n}") for n, c in enumerate(self.damage.objects(step.get("tool_calls"), "a call"))
        ]
        thinking = text(step.get("reasoning_content"))
        parts = (*((reasoning(protocol, thinking),) if thinking else ()), *content_parts(step.get("message")), *calls)
        like = reconstructed_exchange(
            f"step {number}",
            lacks=LACKS,
            started_at=epoch(step.get("timestamp")),
            client=self.client,
            meta={**beside, "step": rest(step, *_SENT)},
        )
        answer = answer_of(
            protocol, parts, model=model or None, stop="tool_calls" if calls else "stop", usage=_usage(step)
        )
        turn = self._turn(like, model)
        self.history = extend_history(self.history, Message("assistant", parts))
        results = list(_results(step, calls, self.damage))
        for result in results:
            self.history = extend_history(
                self.history, Message("tool" if isinstance(result, ToolResultIR) else "user", (result,))
            )
        self.is_asking = bool(results)
        return TranscriptTurn(like, protocol, turn.history, turn.model, turn.system, turn.tools, answer=answer)

    def _turn(self, like: Exchange, model: str) -> TranscriptTurn:
        return TranscriptTurn(like, _protocol(model), self.history, model or None, system=self.system, tools=self.tools)


def _protocol(model: str) -> str:
    """Protocol by the provider in the model's name ("anthropic/claude-…"), else by the name."""
    provider, slash, name = model.partition("/")
    return protocol_of(provider if slash else "", name or provider)


def _tool(value: dict[str, JsonValue]) -> ToolDef:
    function = mapping(value.get("function")) or value
    schema = function.get("parameters", function.get("input_schema"))
    return ToolDef(text(function.get("name")) or None, text(function.get("description")) or None, schema)


def _call(value: dict[str, JsonValue], number: str) -> ToolCallIR:
    id, name = text(value.get("tool_call_id")) or number, text(value.get("function_name")) or None
    return ToolCallIR(id, name, value.get("arguments"), "function")


def _results(step: dict[str, JsonValue], calls: list[ToolCallIR], damage: ImportDamage) -> Iterator[Part]:
    """Results of a step; one without call id belongs to the only call, else it becomes a message."""
    for result in damage.objects(mapping(step.get("observation")).get("results"), "a result"):
        id = text(result.get("source_call_id")) or (calls[0].id if len(calls) == 1 else None)
        content = content_parts(result.get("content"))
        if id:
            yield ToolResultIR(id, content)
        else:
            yield from content


def _usage(step: dict[str, JsonValue]) -> Usage | None:
    """Token counts; prompt tokens include cached ones."""
    metrics = mapping(step.get("metrics"))
    prompt_tokens, output_tokens, cached = (
        token_count(metrics.get(k)) for k in ("prompt_tokens", "completion_tokens", "cached_tokens")
    )
    if prompt_tokens is None and output_tokens is None:
        return None
    return Usage(None if prompt_tokens is None else max(prompt_tokens - (cached or 0), 0), output_tokens, cached)
