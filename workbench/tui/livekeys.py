"""Keys of what is recorded at this moment; ``keys`` has the whole table."""

from __future__ import annotations

from workbench.tui.key import Key

BREAKS = (
    Key("breaks.continue", "c", "continue", "continue", "pass on what is held, as it came", 1),
    Key("breaks.edit", "e", "edit", "edit", "edit what is held; s in the editor passes it on, as a branch", 2),
    Key("breaks.editor", "E", "editor", "$EDITOR", "edit its bytes in your own editor, and pass them on"),
    Key("breaks.answer", "a", "answer", "answer", "have the simulator of a contract answer in the upstream's place", 3),
    Key("breaks.drop", "d", "drop", "drop", "break the client's connection off; asks once", 4),
    Key("breaks.arm", "space", "arm", "arm", "break on the kind under the cursor, or no more; enter too", 5),
    Key("breaks.filter", "&", "filter", "filter", "break on whatever passes a filter: tool:bash, text~word", 8),
    Key("breaks.show", "o", "show", "in session", "the exchange in the session: its wire, IR, reasoning, closure", 7),
    Key("breaks.page", "w", "page", "rule", "the page of the rule: what it is, and who refuses it", 9),
    Key("breaks.pane", "tab,shift+tab", "pane", "pane", "the list, why it is held, its bytes", 10),
    Key("breaks.back", "q,escape,P", "back", "back", "back; what is held stays held", 6),
)

BREAKS_HELD = frozenset(f"breaks.{name}" for name in ("continue", "edit", "editor", "answer", "drop", "show", "page"))
"""Ids of those that are for what is held."""
