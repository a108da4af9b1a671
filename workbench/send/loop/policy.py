"""Adaptation of a loop to the limits of a model, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.ir import NOTHING, JsonValue, ToolCallIR, ToolDef
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.arguments import ArgumentRefusal, Code, Ladder, ladder
from workbench.toolcalls.schemas import original

VERBATIM, LEFT_OUT = "verbatim", "left-out"
"""Treatment of an answer's reasoning in the next request."""

EVERY_TOOL = "*"


@dataclass(frozen=True, slots=True)
class LoopPolicy:
    """Deviations of a loop from the protocol's normal behaviour.

    Attributes:
        is_serial: run only the first call of an answer and remove the others from the history; if that is impossible
            (calls in text, answers stored by the server), they get an error result that asks for one call at a time.
        reasoning: ``VERBATIM`` or ``LEFT_OUT``, overriding the contract; empty to follow the contract.
        level: schema level (``schemas.levels``) that the tools in ``schemas`` were reduced to; empty if none.
        schemas: name of a tool → its original schema: arguments are converted back and have to fit it.
        closed: name of a tool, or ``EVERY_TOOL`` → why it is not run.
    """

    is_serial: bool = False
    reasoning: str = ""
    level: str = ""
    schemas: Mapping[str, JsonValue] = NOTHING
    closed: Mapping[str, str] = NOTHING

    def unwanted_carriers(self, carriers: Sequence[str], refused: Sequence[str]) -> Sequence[str]:
        """Carriers of an answer that are not sent back. ``refused``: by the contract."""
        if self.reasoning:
            return carriers if self.reasoning == LEFT_OUT else ()
        return refused

    def read(self, call: ToolCallIR, tools: Sequence[ToolDef]) -> Ladder:
        """Arguments of a call, read for the original schemas of the tools."""
        if call.name not in self.schemas or not self.level:
            return ladder.judge(call, tools)
        schema = self.schemas[call.name or ""]
        first = ladder.judge(call, [replace(tool, schema=None) for tool in tools])
        if first.refusal:
            return first
        then = ladder.climb(None, original(first.value, schema, self.level), schema)
        return replace(then, rungs=(*first.rungs, *then.rungs[1:]), steps=(*first.steps, *then.steps[1:]))

    def refusal_of(self, call: ToolCallIR, number: int) -> ArgumentRefusal | None:
        """Why a call is not run, whatever its arguments; None if it may be. ``number``: its index, from zero."""
        why = self.closed.get(call.name or "") or self.closed.get(EVERY_TOOL)
        if why:
            return ArgumentRefusal(Code.TOOL_NOT_ENABLED, f"{call.name!r:.80} is not enabled: {why}", retryable=False)
        if self.is_serial and number:
            told = "one call at a time: only the first call was run; make this one again in your next response"
            return ArgumentRefusal(Code.ONE_CALL_AT_A_TIME, told)
        return None


AS_IT_COMES = LoopPolicy()
"""No deviations."""
