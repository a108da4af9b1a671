"""Every key of the app in one table: bindings, footer, help, palette and ``workbench keys`` are made from it.

A user's own keys are laid over it by ``keymap``; nothing else may ask for the keys of a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.tui import session_panes
from workbench.tui.key import Key, readable
from workbench.tui.livekeys import BREAKS, BREAKS_HELD
from workbench.tui.workkeys import (  # fmt: skip
    ANSWER,
    COMPARE,
    CONTINUE,
    CORRECTING,
    EXPORT,
    LAB,
    LADDER,
    MATRIX,
    METRICS,
    MINIMIZE,
    REPAIRS,
    SEND,
    STEP,
    WHAT_IF,
)

if TYPE_CHECKING:
    from textual.binding import BindingType

__all__ = [
    "ANSWER",
    "BREAKS",
    "BREAKS_HELD",
    "COMPARE",
    "CONTINUE",
    "CORRECTING",
    "EXPORT",
    "LAB",
    "LADDER",
    "MATRIX",
    "METRICS",
    "MINIMIZE",
    "REPAIRS",
    "SEND",
    "STEP",
    "WHAT_IF",
    "Key",
    "readable",
]
"""Rows that stand in other files; all others are here."""

GLOBAL = (
    Key("global.help", "?,f1", "help", "help", "how to read this screen and this pane, and their keys", 3),
    Key("global.palette", ":,ctrl+p", "command_palette", "palette", "every command by name; themes too"),
    Key("global.suspend", "ctrl+z", "suspend_process", "suspend", "back to the shell for a while; fg returns"),
    Key("global.quit", "ctrl+q", "quit", "quit", "leave the program from anywhere"),
    Key("global.how-to-leave", "ctrl+c", "help_quit", "how to leave", "say how to leave the program"),
)

PANE = (
    Key("pane.down", "j,down", "move(1)", "down", "next line; the selection follows in every pane"),
    Key("pane.up", "k,up", "move(-1)", "up", "previous line"),
    Key("pane.page-down", "pagedown,ctrl+d", "page(1)", "page down", "a page down"),
    Key("pane.page-up", "pageup,ctrl+u", "page(-1)", "page up", "a page up"),
    Key("pane.first", "g,home", "end(-1)", "first", "first line"),
    Key("pane.last", "G,end", "end(1)", "last", "last line"),
    Key("pane.open", "enter", "enter", "open", "open it: a part in full, the bytes of a finding"),
)

WIRE = (
    Key("wire.next-value", "l,right", "token(1)", "next value", "next value on the line"),
    Key("wire.previous-value", "h,left", "token(-1)", "previous value", "previous value on the line"),
    Key("wire.way", "v", "way", "view", "the bytes laid out, escaped as they were sent, or in hex"),
    Key("wire.headers", "H", "headers", "headers", "show or hide the HTTP headers"),
)

SESSION = (
    Key("session.next-break", "n", "next(1)", "next break", "next break across exchanges: an error, else a warning", 1),
    Key("session.previous-break", "p", "next(-1)", "previous", "previous break", 2),
    Key("session.previous-match", "N", "match(-1)", "previous match", "previous match while searching; n is the next"),
    Key("session.next-warning", "w", "warning(1)", "next warning", "next warning, across exchanges", 9),
    Key("session.previous-warning", "W", "warning(-1)", "previous warning", "previous warning"),
    Key("session.next-pane", "tab", "pane(1)", "pane", "next pane", 5),
    Key("session.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    *session_panes.keys(),
    Key("session.side", "r", "side", "other side", "the other side on the wire: request or response", 7),
    Key("session.next-exchange", "]", "exchange(1)", "next exchange", "next exchange, from any pane"),
    Key("session.previous-exchange", "[", "exchange(-1)", "previous exchange", "previous exchange, from any pane"),
    Key("session.diff", "d", "diff", "diff", "this request beside the one before it in its conversation", 10),
    Key("session.compare", "D", "compare", "compare", "two exchanges, two places, or another file, side by side", 12),
    Key("session.repairs", "f", "repairs", "repairs", "the repairs of the finding, and what each of them changes", 5),
    Key("session.origin", "o", "origin", "origin", "where the finding began; else this turn at its other place (hop)"),
    Key("session.follow", "F", "follow", "follow", "go along with the newest exchange, until you move; again: stay"),
    Key("session.breaks", "P", "breaks", "breakpoints", "what is held, and what a live session is held for", 21),
    Key("session.inspect", "I", "inspect", "inspect on", "go on with an inspection that esc has stopped"),
    Key("session.stream", "t", "stream", "stream", "the answer event by event, and what the usual SDKs build", 11),
    Key("session.convert", "c", "convert", "convert", "this side as any other protocol, and what would be lost", 13),
    Key("session.tools", "T", "tools", "tools", "what each provider takes of the tools declared in this request", 14),
    Key("session.matrix", "m", "matrix", "matrix", "what every contract makes of this request", 16),
    Key(
        "session.arguments",
        "A",
        "arguments",
        "arguments",
        "how the arguments of a call are read; calls in text, too",
        15,
    ),
    Key("session.edit", "e", "edit", "edit", "edit this request; what was recorded stays as it is", 6),
    Key(
        "session.branch",
        "b",
        "branch",
        "recorded/branch",
        "work on the branch of this request, or on what was recorded; every key does",
        16,
    ),
    Key("session.branches", "B", "branches", "branches", "the tree of edits and sends of this exchange"),
    Key("session.send", "s", "send", "send", "send this request to any target, as it is or as it was edited", 7),
    Key("session.continue", "C", "continue", "continue", "answer pending calls, send, and go on, step by step"),
    Key("session.export", "x", "export", "export", "a test of this request, or it in any other form; a report", 18),
    Key("session.what-if", "V", "what_if", "what if", "send it with one thing different, to several targets", 17),
    Key("session.minimize", "M", "minimize", "minimise", "the smallest request that fails so, the smallest edit", 18),
    Key(
        "session.lab",
        "L",
        "lab",
        "probe lab",
        "probe models; the simulator of this exchange's contract comes first",
        19,
    ),
    Key(
        "session.metrics", "$", "metrics", "metrics", "tokens and cost turn by turn; how often tool use went wrong", 20
    ),
    Key("session.copy", "y", "copy", "copy", "copy a value, a pointer, bytes, the request as cURL", 12),
    Key("session.zoom", "z", "zoom", "zoom", "the focused pane alone, and back", 8),
    Key("session.filter", "&", "filter", "filter", "show only some exchanges: tool:bash status:4xx text~word", 9),
    Key("session.mark", "space", "mark", "mark", "mark the selected place, in the timeline the exchange; and unmark"),
    Key("session.next-mark", "'", "next_mark", "next mark", "next mark or note"),
    Key("session.note", "a", "note", "note", "write, read and edit a note on the selected place"),
    Key("session.search", "/", "search", "search", "search in the focused pane", 6),
    Key("session.leave", "escape", "leave", "back", "end search or zoom, stop inspecting, to the findings, then back"),
    Key("session.back", "q", "back", "back", "back to where the session was opened, else to Home", 4),
)

DIFF = (
    Key("diff.pane", "tab,shift+tab", "pane", "meaning, bytes", "the other side: the changes, or their bytes", 4),
    Key("diff.next-exchange", "]", "exchange(1)", "next request", "the next request against the one before it", 5),
    Key("diff.previous-exchange", "[", "exchange(-1)", "previous request", "the request before against its own", 6),
    Key("diff.back", "q,escape,d", "back", "back", "back to the session", 2),
)

EDIT = (
    Key("edit.write", "e", "write", "edit", "edit it here: its text, or its JSON; enter too", 1),
    Key("edit.editor", "E", "editor", "$EDITOR", "edit it in the editor that EDITOR names", 6),
    Key("edit.json", "v", "write_json", "as JSON", "edit it here as the JSON that it is", 14),
    Key("edit.raw", "R", "raw", "raw bytes", "edit its bytes, even to what is no JSON; the body on line one", 12),
    Key("edit.add", "a", "add", "add", "add a message, a text, the result of a call, a tool, a parameter", 5),
    Key("edit.remove", "d,delete", "remove", "remove", "remove it", 7),
    Key("edit.duplicate", "c", "duplicate", "duplicate", "the same once more, right behind", 13),
    Key("edit.down", "J,alt+down", "shift(1)", "move down", "move it down within its list", 10),
    Key("edit.up", "K,alt+up", "shift(-1)", "move up", "move it up within its list", 11),
    Key("edit.rename", "r", "rename", "rename", "give a parameter another name"),
    Key("edit.fold", "space", "fold", "fold", "show what it is made of, or do not"),
    Key("edit.repairs", "f", "repairs", "repairs", "the repairs of what is wrong now; a applies one", 3),
    Key("edit.undo", "u", "undo", "undo", "back to what it was before the last step", 4),
    Key("edit.redo", "U,ctrl+r", "redo", "redo", "the step that was undone last", 15),
    Key("edit.contract", "m", "contract", "contract", "judge it by another contract", 9),
    Key("edit.send", "s", "send", "send", "send it as it is now", 2),
    Key("edit.export", "x", "export", "export", "export it as it is now: a test, curl, a report", 15),
    Key("edit.branches", "B", "branches", "branches", "the tree of edits and sends of this exchange", 8),
    Key("edit.next-pane", "tab", "pane(1)", "pane", "request, value, verdict, chain, what is changed", 8),
    Key("edit.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("edit.outline", "1", "show('outline')", "request", "what can be edited"),
    Key("edit.value", "2", "show('value')", "value", "the value under the cursor, in full"),
    Key("edit.verdict", "3", "show('verdict')", "verdict", "what the contract makes of it"),
    Key("edit.chain", "4", "show('chain')", "chain", "calls with their results, reasoning, signatures"),
    Key("edit.meaning", "5", "show('meaning')", "meaning", "what is changed from the recorded request, in meaning"),
    Key("edit.bytes", "6", "show('bytes')", "bytes", "what is changed from the recorded request, in bytes"),
    Key("edit.back", "q,escape", "back", "back", "back; everything is kept, and found again here", 2),
)

BRANCHES = (
    Key("branches.mark", "space", "mark", "mark", "compare with this one; without a mark with what it was made of", 3),
    Key("branches.name", "a,r", "name", "name", "give it a name, or take its name away", 4),
    Key("branches.fold", "o", "fold", "fold", "show the requests of a what-if one by one, or as one row", 6),
    Key("branches.undo", "u", "undo", "undo", "stand at what the place you stand at was made of", 5),
    Key("branches.pane", "tab,shift+tab", "pane", "pane", "the tree, what is changed in meaning, in bytes", 7),
    Key("branches.send", "s", "send", "send", "send the request under the cursor", 8),
    Key("branches.back", "q,escape,B", "back", "back", "back", 2),
)

CONVERSION = (
    Key("conversion.next-protocol", "l,right", "target(1)", "protocol", "the same as the next protocol", 3),
    Key("conversion.previous-protocol", "h,left", "target(-1)", "previous", "the same as the protocol before it"),
    Key("conversion.side", "r", "side", "other side", "the other side: the request or the answer", 4),
    Key("conversion.next-pane", "tab", "pane(1)", "pane", "what it was, what it becomes, what is lost", 6),
    Key("conversion.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("conversion.next-exchange", "]", "exchange(1)", "next exchange", "the next exchange", 8),
    Key("conversion.previous-exchange", "[", "exchange(-1)", "previous exchange", "the exchange before", 9),
    Key("conversion.write", "w", "write", "write", "write what it becomes into a file", 5),
    Key("conversion.back", "q,escape,c", "back", "back", "back to the session", 2),
)

TOOLS = (
    Key(
        "tools.next-pane",
        "tab",
        "pane(1)",
        "pane",
        "tools, providers, why, the schema declared, the schema accepted",
        3,
    ),
    Key("tools.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("tools.back", "q,escape,T", "back", "back", "back to the session", 2),
)

STREAM = (
    Key("stream.next-mark", "n", "mark(1)", "next mark", "next event that is anomalous, or where clients depart", 1),
    Key("stream.previous-mark", "p", "mark(-1)", "previous", "previous such event", 2),
    Key("stream.previous-match", "N", "match(-1)", "previous match", "previous match while searching; n is the next"),
    Key("stream.next-pane", "tab", "pane(1)", "pane", "events, message, clients", 5),
    Key("stream.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("stream.search", "/", "search", "search", "search in the events and what they did", 6),
    Key("stream.zoom", "z", "zoom", "zoom", "the focused pane alone, and back", 7),
    Key("stream.leave", "escape", "leave", "leave", "leave the search or the zoom, or go back"),
    Key("stream.back", "q,t", "back", "back", "back to the session; enter goes to the bytes of the event", 4),
)


HOME = (
    Key("home.open", "o", "ask_path", "open", "open a file by its path; tab completes it", 2),
    Key("home.import", "i", "import", "import", "turn any readable file into a session file of ours", 6),
    Key("home.record", "r", "record", "record", "record a client's traffic through a proxy on this machine", 3),
    Key("home.stop", "S", "stop", "stop", "stop the recording under the cursor, or the only one that runs"),
    Key("home.error", "e", "error_text", "error text", "paste an error text: which rule it is, what to look for", 4),
    Key("home.lab", "l,L", "lab", "probe lab", "find out what a model behind an endpoint can really do", 5),
    Key(
        "home.metrics",
        "m,$",
        "metrics",
        "metrics",
        "tokens, cost and how tool use went, of these sessions or a folder",
        8,
    ),
    Key("home.clients", "c", "clients", "clients", "sessions in the folders of known clients: off, and on again", 9),
    Key("home.search", "/", "search", "search", "search in the list", 7),
    Key("home.next-match", "n", "match(1)", "next match", "next match of the search"),
    Key("home.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("home.quit", "q", "leave", "quit", "leave the program: press it twice", 5),
)

HELP = (
    Key("help.search", "/", "search", "search", "search in the help"),
    Key("help.next-match", "n", "match(1)", "next match", "next match of the search"),
    Key("help.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("help.close", "escape,q,?,f1", "close", "close", "close the help"),
)


class Scope(NamedTuple):
    """Keys that are in force in one place.

    Attributes:
        title: that place, in words.
        keys: its rows.
        over: the scopes that are in force at the same time: no key may stand in two of them.
    """

    title: str
    keys: tuple[Key, ...]
    over: tuple[str, ...] = ()


COPY = (
    Key("copy.value", "v", "choose('value')", "value", "what stands there, decoded"),
    Key("copy.pointer", "p", "choose('pointer')", "pointer", "its JSON pointer"),
    Key("copy.place", "P", "choose('place')", "place", "exchange, side and pointer"),
    Key("copy.bytes", "b", "choose('bytes')", "bytes", "its bytes as they were sent"),
    Key("copy.row", "h", "choose('row')", "header", "the row: a header's name and value"),
    Key("copy.body", "B", "choose('body')", "body", "the whole body, decoded from its content coding"),
    Key("copy.curl", "c", "choose('curl')", "cURL", "the request as a curl command; keys are variables"),
    Key("copy.finding", "f", "choose('finding')", "finding", "the finding as text"),
    Key("copy.cancel", "escape,q,y", "dismiss(None)", "cancel", "copy nothing"),
)


_WITH_PANES = (
    "home",
    "session",
    "diff",
    "repairs",
    "edit",
    "branches",
    "conversion",
    "tools",
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
    "breaks",
)

SCOPES: dict[str, Scope] = {
    "global": Scope("everywhere", GLOBAL),
    "home": Scope("home", HOME, ("global",)),
    "session": Scope("session", SESSION, ("global",)),
    "stream": Scope("stream", STREAM, ("global",)),
    "diff": Scope("diff", DIFF, ("global",)),
    "compare": Scope("comparing", COMPARE, ("global",)),
    "repairs": Scope("repairs", REPAIRS, ("global",)),
    "edit": Scope("edit", EDIT, ("global",)),
    "branches": Scope("branches", BRANCHES, ("global",)),
    "conversion": Scope("conversion", CONVERSION, ("global",)),
    "tools": Scope("tools", TOOLS, ("global",)),
    "matrix": Scope("matrix", MATRIX, ("global",)),
    "ladder": Scope("arguments", LADDER, ("global",)),
    "what-if": Scope("what if", WHAT_IF, ("global",)),
    "export": Scope("exporting", EXPORT, ("global",)),
    "send": Scope("before sending", SEND, ("global",)),
    "minimize": Scope("minimising", MINIMIZE, ("global",)),
    "continue": Scope("continuing", CONTINUE, ("global",)),
    "correcting": Scope("corrections", CORRECTING, ("global",)),
    "lab": Scope("the probe lab", LAB, ("global",)),
    "step": Scope("stepping through a probe", STEP, ("global",)),
    "metrics": Scope("metrics", METRICS, ("global",)),
    "breaks": Scope("breakpoints", BREAKS, ("global",)),
    "answer": Scope("the answer", ANSWER, ("global",)),
    "help": Scope("help", HELP),
    "pane": Scope("every list", PANE, ("global", *_WITH_PANES)),
    "wire": Scope("wire", WIRE, ("global", "session", "pane")),
    "copy": Scope("the copy menu", COPY, ("global", "pane")),
}
"""Every table of keys. A new screen or pane adds its own."""


def table() -> dict[str, Key]:
    """Every row by its id."""
    return {key.id: key for scope in SCOPES.values() for key in scope.keys}


def _reworded(id: str, word: str, text: str, rank: int) -> Key:
    return table()[id]._replace(word=word, text=text, rank=rank)


PASS_ON = _reworded("edit.send", "pass on", "pass it on in the place of what is held", 1)
EDIT_HELD = tuple(PASS_ON if key.id == PASS_ON.id else key for key in EDIT)
SEARCH = (  # what the footer shows instead while a search is active
    _reworded("session.next-break", "next match", "next match, while a search is active", 1),
    _reworded("session.previous-match", "previous match", "previous match", 4),
    _reworded("session.leave", "end search", "end the search: then n goes through the breaks again", 2),
)
_SWITCH = table()["session.branch"]._replace(rank=3)
WITH_BRANCH = tuple(_SWITCH if key.id == _SWITCH.id else key for key in SESSION)
"""Keys of the session screen where something was made of the request that is shown."""
OPEN_CHANGE = _reworded("pane.open", "its bytes", "the bytes of the change, in the session", 1)
OPEN_LOSS = _reworded("pane.open", "its bytes", "the bytes of the loss, in the session", 1)
OPEN_DECLARATION = _reworded("pane.open", "its bytes", "the bytes of the declaration, in the session", 1)
OPEN_FAULT = _reworded("pane.open", "its bytes", "the bytes of the fault, in the session", 6)
OPEN_CALL = _reworded("pane.open", "its bytes", "the bytes of the call, in the session", 1)
OPEN_SEND = _reworded("pane.open", "send", "send it", 1)
OPEN_ANSWER = _reworded("pane.open", "open", "the new exchange in full: wire, IR, reasoning, closure", 4)
OPEN_MEND = _reworded("pane.open", "go on with it", "a branch of what is under the cursor, to edit it further", 1)
OPEN_STEP = _reworded("pane.open", "do it", "do the pending step", 1)
OPEN_NODE = _reworded("pane.open", "continue", "stand there: edit and send from there on", 1)
OPEN_FORM = _reworded("pane.open", "write", "write it in the form under the cursor", 1)
OPEN_CELL = _reworded("pane.open", "show", "the exchange of the outcome, beside the original", 1)
OPEN_EVIDENCE = _reworded("pane.open", "evidence", "the exchanges behind the verdict, as a session", 1)
OPEN_ASK = _reworded("pane.open", "send", "send the pending request", 1)
OPEN_POINT = _reworded("pane.open", "read, arm", "the bytes of what is held; arm the kind under the cursor", 11)
OPEN_TURN = _reworded("pane.open", "open", "the exchange of the turn; the turns of the session", 1)
OPEN_EXAMPLE = _reworded("pane.open", "open", "open the session under the cursor", 1)

EVEN_WHILE_TYPING = frozenset({"global.suspend", "global.quit"})
"""Ids of keys that work in a line of input too: none of them may be a printable character."""


def first_name(key: Key) -> str:
    """The first key of a row as Textual names it."""
    from textual.keys import _character_to_key

    name = key.keys.partition(",")[0]
    return _character_to_key(name) if len(name) == 1 else name


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """The table as Textual's bindings; their ids allow remapping."""
    from textual.binding import Binding

    return [Binding(k.keys, k.action, k.word, show=False, id=k.id, priority=k.id in EVEN_WHILE_TYPING) for k in keys]
