"""Signs of the app with their meaning, for its help."""

from __future__ import annotations

from collections.abc import Mapping

SIGNS: Mapping[str, tuple[str, str, str]] = {
    "error": ("✗ error", "error", "the provider refuses the request, or the chain is broken"),
    "warning": ("! warning", "warning", "the provider accepts this, but it is likely to cause trouble"),
    "info": ("· info", "info", "not a problem, such as a pending tool call"),
    "carried": ("↑ carried", "error", "exchanges: repeats a break of an earlier exchange"),
    "selected": ("▌ selected", "accent", "current selection, highlighted in every pane"),
    "related": ("┆ related", "accent", "result of the selected call, or call of the selected result"),
    "cursor": ("▸ cursor", "accent", "cursor; ▹ = not selected yet, enter selects"),
    "lane": ("●│ lane", "accent", "one column per conversation; │ = the conversation continues below"),
    "provisional": ("≈ provisional", "warning", "provisional: earlier exchanges are not inspected yet"),
    "arriving": ("⇣ arriving", "accent", "exchanges: open, still being recorded"),
    "held": ("‖ paused", "warning", "paused at a breakpoint, waiting for your decision (P)"),
    "made": ("└ variant", "accent", "exchanges: a variant, sent instead of another exchange"),
    "passing": ("~ changes", "info", "exchanges: changed by a translation or correction"),
    "cut": ("⊘ cut", "warning", "exchanges: aborted, incomplete or damaged"),
    "unread": ("? unread", "warning", "partly decoded; in the IR pane: an unknown block"),
    "call": ("◆ call", "call", "tool call; ◇ = tool result"),
    "reasoning": ("∴ reasoning", "reasoning", "reasoning, in any carrier"),
    "media": ("▣ media", "", "image, audio or document"),
    "group": ("⊟ group", "accent", "the lines below this line are shown; ⊞ = they are folded"),
    "said": ("› said", "role", "story: what the client added to the conversation"),
    "line-end": ("⏎", "muted", "end of a line in a text shown on one line"),
    "closed": ("● closed", "ok", "the call has its result; ○ = it is pending"),
    "sent": ("✓ sent", "ok", "reasoning was sent back; ✗ = missing; · = not required"),
    "anomaly": ("! anomaly", "warning", "the event is wrong for every client"),
    "added": ("▌ added", "accent", "the part that the event under the cursor started or extended"),
    "agrees": ("✓ agrees", "ok", "these clients build the message shown here"),
    "differs": ("≠ differs", "warning", "these clients build a different message"),
    "lost": ("! lost", "warning", "the target protocol cannot express this"),
    "renamed": ("= renamed", "info", "an id that was renamed for the target"),
    "taken": ("✓ accepted", "ok", "accepted unchanged"),
    "changed": ("~ needs change", "warning", "refused as sent, but accepted after a change"),
    "ignored": ("! ignored", "warning", "accepted, but not enforced"),
    "edit": ("~ change", "warning", "a changed value, before and after"),
    "check": ("= check", "info", "arguments that you still have to check locally"),
    "same": ("= same", "muted", "both sides are the same"),
    "differing": ("≠ differs", "warning", "both sides differ; + only in new, - only in original"),
    "branch": ("├─└ branch", "muted", "this node was made from the node that its line leads to"),
    "mark": ("⚑ mark", "accent", "marked by you; ✎ = with a note"),
    "system": ("▓ system", "role", "metrics: tokens of the system prompt"),
    "overhead": ("░ overhead", "warning", "metrics: added by the provider for declared tools"),
    "definitions": ("▚ tools", "call", "metrics: tool definitions"),
    "history": ("▒ history", "muted", "metrics: history that is sent again"),
    "new": ("█ new", "ok", "metrics: new in this request; in other bars: the share of the total"),
    "output": ("▄ output", "accent", "metrics: written by the model"),
    "cached": ("│ cached", "strong", "metrics: everything before this line was read from a cache"),
    "passed": ("✓ pass", "ok", "every sample of the probe passed"),
    "partial": ("! partial", "warning", "some samples passed, or samples passed in part"),
    "failed": ("✗ fail", "error", "no sample passed"),
    "unclear": ("? unclear", "muted", "not measured: a fault of network, API key or rate limit"),
    "form": ("\\x1b", "form", "control or hidden character, never sent to the terminal"),
}
"""Every sign with its word: name → (sign and word, style, meaning)."""

PROVISIONAL = SIGNS["provisional"][0]
"""Sign and word for an exchange that the inspection of the session has not reached."""
