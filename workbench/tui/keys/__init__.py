"""Every key of the app in one table: bindings, footer, help, palette and ``workbench keys`` are made from it.

In: a scope, and the user's keymap (``tui.keymap``). Out: its rows, and Textual bindings. ``work_screens`` has the rows
of screens that do something, ``view_screens`` those of screens that show a session in another way. Only ``keymap`` may
ask for the keys of a row. It may import what ``tui`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.key import Key, readable
from workbench.tui.keys.view_screens import (  # fmt: skip
    BYTE_SEARCH,
    COMPARE,
    CONVERSION,
    DIFF,
    LADDER,
    LANES,
    MATRIX,
    METRICS,
    PASSAGES,
    STORY,
    STREAM,
    SURVEY,
    TOOLS,
)
from workbench.tui.keys.work_screens import (  # fmt: skip
    ANSWER,
    BRANCHES,
    BREAKS,
    BREAKS_HELD,
    CONTINUE,
    COPY,
    CORRECTING,
    EDIT,
    EXPORT,
    GLOBAL,
    HELP,
    HOME,
    LAB,
    MINIMIZE,
    OPAQUE,
    PANE,
    REPAIRS,
    SEND,
    SESSION,
    STEP,
    WHAT_IF,
    WIRE,
)

if TYPE_CHECKING:
    from textual.binding import BindingType

__all__ = [
    "ANSWER",
    "BRANCHES",
    "BREAKS",
    "BREAKS_HELD",
    "BYTE_SEARCH",
    "COMPARE",
    "CONTINUE",
    "CONVERSION",
    "COPY",
    "CORRECTING",
    "DIFF",
    "EDIT",
    "EXPORT",
    "GLOBAL",
    "HELP",
    "HOME",
    "LAB",
    "LADDER",
    "LANES",
    "MATRIX",
    "METRICS",
    "MINIMIZE",
    "OPAQUE",
    "PANE",
    "PASSAGES",
    "REPAIRS",
    "SEND",
    "SESSION",
    "STEP",
    "STORY",
    "STREAM",
    "SURVEY",
    "TOOLS",
    "WHAT_IF",
    "WIRE",
    "Key",
    "readable",
]
"""Names of other modules that are used through this one."""


class KeyScope(NamedTuple):
    """Keys that are active in one part of the program.

    Attributes:
        title: name of that part, for the help.
        keys: rows of the key table.
        over: scopes that are active at the same time; no key may be in two of them.
    """

    title: str
    keys: tuple[Key, ...]
    over: tuple[str, ...] = ()


_WITH_PANES = (
    "home",
    "session",
    "diff",
    "repairs",
    "edit",
    "branches",
    "conversion",
    "tools",
    "passages",
    "ladder",
    "stream",
    "help",
    "send",
    "answer",
    "minimize",
    "continue",
    "correcting",
    "lab",
    "step",
    "metrics",
    "survey",
    "breaks",
    "story",
    "bytesearch",
)

SCOPES: dict[str, KeyScope] = {
    "global": KeyScope("everywhere", GLOBAL),
    "home": KeyScope("home", HOME, ("global",)),
    "session": KeyScope("session", SESSION, ("global",)),
    "stream": KeyScope("stream", STREAM, ("global",)),
    "story": KeyScope("story", STORY, ("global",)),
    "bytesearch": KeyScope("search in all exchanges", BYTE_SEARCH, ("global",)),
    "diff": KeyScope("diff", DIFF, ("global",)),
    "compare": KeyScope("comparing", COMPARE, ("global",)),
    "repairs": KeyScope("repairs", REPAIRS, ("global",)),
    "edit": KeyScope("edit", EDIT, ("global",)),
    "branches": KeyScope("branches", BRANCHES, ("global",)),
    "conversion": KeyScope("conversion", CONVERSION, ("global",)),
    "tools": KeyScope("tools", TOOLS, ("global",)),
    "passages": KeyScope("tool results", PASSAGES, ("global",)),
    "matrix": KeyScope("matrix", MATRIX, ("global",)),
    "ladder": KeyScope("arguments", LADDER, ("global",)),
    "what-if": KeyScope("what if", WHAT_IF, ("global",)),
    "export": KeyScope("exporting", EXPORT, ("global",)),
    "send": KeyScope("before sending", SEND, ("global",)),
    "minimize": KeyScope("minimising", MINIMIZE, ("global",)),
    "continue": KeyScope("continuing", CONTINUE, ("global",)),
    "correcting": KeyScope("corrections", CORRECTING, ("global",)),
    "lab": KeyScope("the probe lab", LAB, ("global",)),
    "step": KeyScope("stepping through a probe", STEP, ("global",)),
    "metrics": KeyScope("metrics", METRICS, ("global",)),
    "survey": KeyScope("survey", SURVEY, ("global",)),
    "breaks": KeyScope("breakpoints", BREAKS, ("global",)),
    "answer": KeyScope("the response", ANSWER, ("global",)),
    "help": KeyScope("help", HELP),
    "pane": KeyScope("every list", PANE, ("global", *_WITH_PANES)),
    "lanes": KeyScope("timeline", LANES, ("global", "story", "pane")),
    "wire": KeyScope("wire", WIRE, ("global", "session", "pane")),
    "bytes": KeyScope("bytes", OPAQUE, ("global", "pane", "conversion", "minimize", "send", "breaks", "step")),
    "copy": KeyScope("the copy menu", COPY, ("global", "pane")),
}
"""Every table of keys. A new screen or pane adds its own."""


def table() -> dict[str, Key]:
    """Every row by its id."""
    return {key.id: key for scope in SCOPES.values() for key in scope.keys}


def _with_hint(id: str, word: str, text: str, rank: int) -> Key:
    return table()[id]._replace(word=word, text=text, rank=rank)


PASS_ON = _with_hint("edit.send", "forward", "forward the edited bytes instead of the paused ones", 1)
EDIT_HELD = tuple(PASS_ON if key.id == PASS_ON.id else key for key in EDIT)
SEARCH = (  # what the footer shows instead while a search is active
    _with_hint("session.next-match", "next match", "next match of the search", 1),
    _with_hint("session.previous-match", "previous match", "previous match", 4),
    _with_hint("session.leave", "end search", "end the search", 2),
)
_CALM_RANKS = {
    "session.next-break": 0,
    "session.previous-break": 0,
    "session.next-warning": 0,
    "session.repairs": 0,
    "session.story": 1,
    "session.next-exchange": 5,
    "session.diff": 5,
    "session.edit": 8,
    "session.convert": 8,
}
CALM = tuple(key._replace(rank=_CALM_RANKS.get(key.id, key.rank)) for key in SESSION)
"""Keys of the session screen if there is no finding to go to."""


def with_branch(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """Keys of the session screen if the shown request has a branch."""
    return tuple(key._replace(rank=3) if key.id == "session.branch" else key for key in keys)


def with_tool_results(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """Keys of the session screen if a tool server returned what the shown request has, or was called by it."""
    return tuple(key._replace(rank=3) if key.id == "session.passages" else key for key in keys)


def without_repairs(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """Keys of the session screen if the finding under the cursor has no repair: its key is not in the footer."""
    return tuple(key._replace(rank=0) if key.id == "session.repairs" else key for key in keys)


def with_pause(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """Keys of the session screen while an exchange is paused: the decision comes first."""
    first = next(key for key in keys if key.id == "session.breaks")._replace(rank=1, word="decide")
    return (first, *(key for key in keys if key.id != first.id))


OPEN_CHANGE = _with_hint("pane.open", "show bytes", "show the bytes of the change in the session", 1)
OPEN_LOSS = _with_hint("pane.open", "show bytes", "show the bytes of the loss in the session", 1)
OPEN_DECLARATION = _with_hint("pane.open", "show bytes", "show the bytes of the declaration in the session", 1)
OPEN_FAULT = _with_hint("pane.open", "show bytes", "show the bytes of the fault in the session", 3)
OPEN_STORY = _with_hint("pane.open", "open", "open this place in the session's panes; on a group: fold it", 1)
OPEN_PASSAGE = _with_hint("pane.open", "show bytes", "show the bytes under the cursor in the session", 1)
OPEN_MATCH = _with_hint("pane.open", "open", "open the exchange at its first match", 1)
OPEN_CALL = _with_hint("pane.open", "show bytes", "show the bytes of the call in the session", 1)
OPEN_REPAIR = _with_hint("pane.open", "apply", "apply the repair as a branch and edit it", 1)
OPEN_SEND = _with_hint("pane.open", "send", "send the request", 1)
OPEN_ANSWER = _with_hint("pane.open", "open", "open the new exchange: wire, IR, reasoning, closure", 4)
OPEN_MEND = _with_hint("pane.open", "make branch", "create a branch from the line under the cursor, to edit it", 1)
OPEN_STEP = _with_hint("pane.open", "run step", "run the pending step", 1)
OPEN_NODE = _with_hint("pane.open", "continue", "make this node the current one: edit and send it", 1)
OPEN_FORM = _with_hint("pane.open", "write", "write the export in the format under the cursor", 1)
OPEN_CELL = _with_hint("pane.open", "show", "show the exchange of the outcome next to the original", 1)
OPEN_EVIDENCE = _with_hint("pane.open", "evidence", "open the exchanges behind the verdict as a session", 1)
OPEN_ASK = _with_hint("pane.open", "send", "send the pending request", 1)
OPEN_POINT = _with_hint("pane.open", "show/arm", "on a pause: show its bytes · on a breakpoint: arm it", 11)
OPEN_TURN = _with_hint("pane.open", "open", "on a turn: open its exchange · on a session: show its turns", 1)
OPEN_FAILURE = _with_hint("pane.open", "open", "on a group: show its objects · on an object: open it at the failure", 1)
OPEN_EXAMPLE = _with_hint("pane.open", "open", "open the session under the cursor", 1)

EVEN_WHILE_TYPING = frozenset({"global.suspend", "global.quit"})
"""Ids of keys that also work in an input line: none of them may be a printable character."""


def first_name(key: Key) -> str:
    """The first key of a row as Textual names it."""
    from textual.keys import _character_to_key

    name = key.keys.partition(",")[0]
    return _character_to_key(name) if len(name) == 1 else name


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """The table as Textual's bindings; their ids allow remapping."""
    from textual.binding import Binding

    return [Binding(k.keys, k.action, k.word, show=False, id=k.id, priority=k.id in EVEN_WHILE_TYPING) for k in keys]
