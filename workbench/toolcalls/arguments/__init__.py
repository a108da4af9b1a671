"""Arguments of tool calls: the ladder from what a model wrote to what a tool may be given."""

from workbench.toolcalls.arguments.ladder import Ladder, Refusal, Rung, Step, climb, judge, steps

__all__ = ["Ladder", "Refusal", "Rung", "Step", "climb", "judge", "steps"]
