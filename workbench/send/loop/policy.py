"""How a loop goes along with what a model cannot do: a value, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.ir import NOTHING, JsonValue, ToolCallIR, ToolDef
from workbench.toolcalls.arguments import ladder
from workbench.toolcalls.arguments.ladder import Ladder
from workbench.toolcalls.arguments.refusal import Code, Refusal
from workbench.toolcalls.schemas.levels import original

VERBATIM, LEFT_OUT = "verbatim", "left-out"
"""What becomes of the reasoning of an answer in the next request."""

EVERY_TOOL = "*"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a loop does otherwise than the protocol alone would have it.

    Attributes:
        is_serial: of the calls of an answer the first alone is run. The others are left out of what goes back; where
            that cannot be (calls in text, answers that the server keeps), they are told to come one at a time.
        reasoning: ``VERBATIM`` or ``LEFT_OUT``, whatever the contract says; "" as it says.
        level: schema level (``schemas.levels``) that the tools in ``schemas`` were brought down to, "" for none.
        schemas: name of a tool → its schema before that: arguments are read back and have to fit it.
        closed: name of a tool, or ``EVERY_TOOL`` → why it is not run.
    """

    is_serial: bool = False
    reasoning: str = ""
    level: str = ""
    schemas: Mapping[str, JsonValue] = NOTHING
    closed: Mapping[str, str] = NOTHING

    def unwanted(self, carriers: Sequence[str], refused: Sequence[str]) -> Sequence[str]:
        """Of the carriers of an answer those that do not go back. ``refused``: by the contract."""
        if self.reasoning:
            return carriers if self.reasoning == LEFT_OUT else ()
        return refused

    def read(self, call: ToolCallIR, tools: Sequence[ToolDef]) -> Ladder:
        """The arguments of a call, read for the tools as they were declared before their schemas were changed."""
        if call.name not in self.schemas or not self.level:
            return ladder.judge(call, tools)
        schema = self.schemas[call.name or ""]
        first = ladder.judge(call, [replace(tool, schema=None) for tool in tools])
        if first.refusal:
            return first
        then = ladder.climb(None, original(first.value, schema, self.level), schema)
        return replace(then, rungs=(*first.rungs, *then.rungs[1:]), steps=(*first.steps, *then.steps[1:]))

    def held_back(self, call: ToolCallIR, number: int) -> Refusal | None:
        """Why a call is not run, however good its arguments are. ``number``: of it in its answer, from zero."""
        why = self.closed.get(call.name or "") or self.closed.get(EVERY_TOOL)
        if why:
            return Refusal(Code.TOOL_NOT_ENABLED, f"{call.name!r:.80} is not enabled: {why}", retryable=False)
        if self.is_serial and number:
            told = "one call at a time: only the first call was run; make this one again in your next answer"
            return Refusal(Code.ONE_CALL_AT_A_TIME, told)
        return None


AS_IT_COMES = Policy()
"""Nothing is done otherwise."""
