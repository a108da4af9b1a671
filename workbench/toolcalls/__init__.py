"""Tool calls as models write them: formats in text, arguments, and the JSON Schemas of tools.

In: text of a model, argument text, and schemas. Out: calls with their places, parsed and validated arguments, and
schema faults by a provider's dialect. It knows no protocol and no provider. It may import the core and the rooms up to
``wire``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.toolcalls import formats
    from workbench.toolcalls.call_problems import NO_JSON, READABLE_PROBLEMS
    from workbench.toolcalls.json_text import JsonTracker, input_type
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "NO_JSON",
    "READABLE_PROBLEMS",
    "JsonTracker",
    "formats",
    "input_type",
]
