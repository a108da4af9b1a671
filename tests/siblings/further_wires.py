"""The wires of one vendor each: Cohere's second API and Gemini's interactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.siblings.wires import CALL, RESULT, TOOL, WIRES, Call, Json, Result, Tool, Wire, as_text, halves, sse_of


class Cohere(Wire):
    name, provider, model = "cohere-v2", "cohere", "command-a-03-2025"
    url = stream_url = "/v2/chat"
    container = "string"

    def _message(self, calls: Sequence[Call], text: str) -> Json:
        """Beside calls, what is said is the plan: text content is refused there."""
        made: Json = {"role": "assistant"}
        if calls:
            made |= {"tool_plan": text} if text else {}
            made["tool_calls"] = [self._call(call) for call in calls]
            return made
        return {**made, "content": [{"type": "text", "text": text}] if text else []}

    def _call(self, call: Call) -> Json:
        function = {"name": call.name, "arguments": as_text(call.arguments)}
        return {"id": call.id, "type": "function", "function": function}

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        return [self._message(calls, text)]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        return [{"role": "tool", "tool_call_id": r.id, "content": r.text} for r in results]

    def tool(self, tool: Tool) -> Json:
        function = {"name": tool.name, "description": "Weather.", "parameters": tool.schema}
        return {"type": "function", "function": function}

    def _usage(self) -> Json:
        billed, counted = {"input_tokens": 81, "output_tokens": 9}, {"input_tokens": 90, "output_tokens": 9}
        return {"billed_units": billed, "tokens": counted}

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        reason = self._reason(calls, stop)
        return {"id": "x", "message": self._message(calls, text), "finish_reason": reason, "usage": self._usage()}

    def _reason(self, calls: Sequence[Call], stop: str) -> str:
        return {"length": "MAX_TOKENS", "": "TOOL_CALL" if calls else "COMPLETE"}.get(stop, stop)

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        empty: Json = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        found: list[Json] = [{"type": "message-start", "id": "x", "delta": {"message": empty}}]
        if calls:
            found += ({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": p}}} for p in halves(text))
        elif text:
            found += self._text_events(text)
        for n, call in enumerate(calls):
            found += self._call_events(n, call)
        end = {"finish_reason": self._reason(calls, stop), "usage": self._usage()}
        return [*found, {"type": "message-end", "delta": end}]

    def _text_events(self, text: str) -> list[Json]:
        pieces = [
            ("content-start", {"type": "text", "text": ""}),
            *(("content-delta", {"text": p}) for p in halves(text)),
        ]
        found = [{"type": kind, "index": 0, "delta": {"message": {"content": value}}} for kind, value in pieces]
        return [*found, {"type": "content-end", "index": 0}]

    def _call_events(self, n: int, call: Call) -> list[Json]:
        def event(kind: str, value: Json) -> Json:
            return {"type": kind, "index": n, "delta": {"message": {"tool_calls": value}}}

        start = event("tool-call-start", self._call(call._replace(arguments="")))
        pieces = halves(as_text(call.arguments))
        deltas = [event("tool-call-delta", {"function": {"arguments": piece}}) for piece in pieces]
        return [start, *deltas, {"type": "tool-call-end", "index": n}]

    def stream(self, events: Sequence[Json]) -> bytes:
        return sse_of(events, "type")


class Interactions(Wire):
    name, provider, model = "gemini-interactions", "gemini-interactions", "gemini-3-flash-preview"
    url = stream_url = "/v1beta/interactions"
    list_key = "input"

    def user(self, text: str = "How is it?") -> Json:
        return {"type": "user_input", "content": [{"type": "text", "text": text}]}

    def turn(self, calls: Sequence[Call] = (CALL,), text: str = "") -> list[Json]:
        said: list[Json] = [{"type": "model_output", "content": [{"type": "text", "text": text}]}] if text else []
        return said + [{"type": "function_call", "id": c.id, "name": c.name, "arguments": c.arguments} for c in calls]

    def results(self, results: Sequence[Result] = (RESULT,)) -> list[Json]:
        return [{"type": "function_result", "call_id": r.id, "name": r.name, "result": r.text} for r in results]

    def tool(self, tool: Tool) -> Json:
        return {"type": "function", "name": tool.name, "description": "Weather.", "parameters": tool.schema}

    def request(self, messages: Iterable[Json], tools: Sequence[Tool] = (TOOL,), **more: Any) -> Json:
        """The server keeps nothing, so that the request is the whole history."""
        return super().request(messages, tools, **({"store": False} | more))

    def answer(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> Json:
        return {**self._about(calls, stop), "steps": self.turn(calls, text)}

    def _about(self, calls: Sequence[Call], stop: str) -> Json:
        status = {"length": "incomplete", "": "requires_action" if calls else "completed"}.get(stop, stop)
        usage = {"total_input_tokens": 90, "total_output_tokens": 9, "total_tokens": 99}
        return {"id": "v1_x", "object": "interaction", "model": self.model, "status": status, "usage": usage}

    def events(self, calls: Sequence[Call] = (CALL,), text: str = "", stop: str = "") -> list[Json]:
        about = self._about(calls, stop)
        created = {"id": "v1_x", "object": "interaction", "model": self.model, "status": "in_progress"}
        found: list[Json] = [{"event_type": "interaction.created", "interaction": created}]
        for n, step in enumerate(self.turn(calls, text)):
            found += self._step_events(n, step)
        return [*found, {"event_type": "interaction.completed", "interaction": about}]

    def _step_events(self, n: int, step: Json) -> list[Json]:
        if step["type"] == "model_output":
            begun, kind, key, whole = {"type": "model_output"}, "text", "text", step["content"][0]["text"]
        else:
            begun, kind, key = {**step, "arguments": {}}, "arguments_delta", "arguments"
            whole = as_text(step["arguments"])
        deltas = [{"event_type": "step.delta", "index": n, "delta": {"type": kind, key: p}} for p in halves(whole)]
        start = {"event_type": "step.start", "index": n, "step": begun}
        return [start, *deltas, {"event_type": "step.stop", "index": n}]

    def stream(self, events: Sequence[Json]) -> bytes:
        return sse_of(events, "event_type") + b"event: done\ndata: [DONE]\n\n"


ALL: tuple[Wire, ...] = (*WIRES, Cohere(), Interactions())
"""Every wire."""
