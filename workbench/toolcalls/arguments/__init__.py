"""Arguments of tool calls: the ladder strict parse, repair, coercion, validation, refusal.

In: the argument text that a model wrote, and the tool's schema. Out: the value for the tool and each rung that was
used, or an error that a model can read. Repair and hostile schemas run in a child process with a deadline. It may
import what ``toolcalls`` may.
"""

from workbench.toolcalls.arguments.ladder import Ladder, Rung, Step, climb, judge, steps
from workbench.toolcalls.arguments.refusal import Refusal

__all__ = ["Ladder", "Refusal", "Rung", "Step", "climb", "judge", "steps"]
