"""Keys of the screens that do something: a tuple of rows for each scope. ``keys`` has the scopes and the footer."""

from __future__ import annotations

from workbench.tui import session_panes
from workbench.tui.key import Key, search_keys

GLOBAL = (
    Key(
        "global.help",
        "?,f1",
        "help",
        "help",
        "explain this screen, its signs and keys, the filter and the glossary",
        3,
    ),
    Key("global.palette", ":,ctrl+p", "command_palette", "palette", "list all commands by name, and the themes"),
    Key("global.suspend", "ctrl+z", "suspend_process", "suspend", "suspend Workbench; the shell command fg resumes it"),
    Key("global.quit", "ctrl+q", "quit", "quit", "quit from anywhere"),
    Key("global.how-to-leave", "ctrl+c", "help_quit", "how to quit", "say which key quits"),
)

PANE = (
    Key("pane.down", "j,down", "move(1)", "down", "next line; the selection follows in every pane"),
    Key("pane.up", "k,up", "move(-1)", "up", "previous line"),
    Key("pane.page-down", "pagedown,ctrl+d", "page(1)", "page down", "scroll a page down"),
    Key("pane.page-up", "pageup,ctrl+u", "page(-1)", "page up", "scroll a page up"),
    Key("pane.first", "g,home", "end(-1)", "first", "first line"),
    Key("pane.last", "G,end", "end(1)", "last", "last line"),
    Key("pane.open", "enter", "enter", "open", "open the selected line: a part in full, or the bytes of a finding"),
)

WIRE = (
    Key("wire.next-value", "l,right", "token(1)", "next value", "next value on the line"),
    Key("wire.previous-value", "h,left", "token(-1)", "previous value", "previous value on the line"),
    Key("wire.way", "v", "way", "view", "switch the view: formatted, escaped as sent, or hex"),
    Key("wire.headers", "H", "headers", "headers", "show or hide the HTTP headers"),
    Key(
        "wire.opaque",
        "*",
        "opaque",
        "unfold",
        "show signatures, encrypted content and base64 in full; press again to fold",
    ),
)

OPAQUE = (
    Key(
        "bytes.opaque",
        "*",
        "opaque",
        "unfold",
        "show signatures, encrypted content and base64 in full; press again to fold",
    ),
)

COPY = (
    Key("copy.value", "v", "choose('value')", "value", "the selected value, decoded"),
    Key("copy.pointer", "p", "choose('pointer')", "pointer", "its JSON pointer"),
    Key("copy.place", "P", "choose('place')", "place", "exchange, side and pointer"),
    Key("copy.bytes", "b", "choose('bytes')", "bytes", "the bytes of the value as sent"),
    Key("copy.row", "h", "choose('row')", "header", "a header's name and value"),
    Key("copy.body", "B", "choose('body')", "body", "the whole body, content-decoded"),
    Key("copy.curl", "c", "choose('curl')", "cURL", "the request as a curl command; API keys become variables"),
    Key("copy.finding", "f", "choose('finding')", "finding", "the finding as text"),
    Key("copy.cancel", "escape,q,y", "dismiss(None)", "back", "copy nothing"),
)

HELP = (
    Key("help.glossary", "t", "glossary", "glossary", "go to the glossary: the terms of the program"),
    Key("help.search", "/", "search", "search", "search the help"),
    Key("help.next-match", "n", "match(1)", "next match", "next match of the search"),
    Key("help.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("help.close", "escape,q,?,f1", "close", "back", "go back"),
)

HOME = (
    Key("home.open", "o", "ask_path", "open file", "open a file by its path; tab completes the path", 2),
    Key("home.import", "i", "import", "import", "convert any supported file to a session file", 6),
    Key("home.record", "r", "record", "record", "record a client's traffic through a proxy on this machine", 3),
    Key("home.stop", "S", "stop", "stop", "stop the recording under the cursor, or the only one running"),
    Key("home.error", "e", "error_text", "error text", "paste an error message: find the rule behind it", 4),
    Key("home.lab", "l,L", "lab", "probe lab", "measure what a model behind an endpoint can do with tools", 7),
    Key(
        "home.metrics",
        "m,$",
        "metrics",
        "metrics",
        "show tokens, cost and tool-use rates of these sessions or of a folder",
        8,
    ),
    Key("home.tour", "t", "app.tour", "tour", "take a guided tour: ten steps, from a break to a test", 5),
    Key("home.clients", "c", "clients", "clients", "show or hide the sessions of installed clients", 9),
    Key("home.search", "/", "search", "search", "search the list", 10),
    Key("home.next-match", "n", "match(1)", "next match", "next match of the search"),
    Key("home.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("home.quit", "q", "leave", "quit", "quit: press it twice", 5),
)

SESSION = (
    Key("session.next-break", "]", "next(1)", "next break", "next break (error or warning) of the session", 1),
    Key("session.previous-break", "[", "next(-1)", "previous break", "previous break", 10),
    Key("session.next-match", "n", "match(1)", "next match", "next match of the search, in this pane and the others"),
    Key("session.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("session.next-warning", "w", "warning(1)", "next warning", "next warning of the session", 9),
    Key("session.previous-warning", "W", "warning(-1)", "previous warning", "previous warning"),
    Key("session.next-pane", "tab", "pane(1)", "pane", "next pane", 7),
    Key("session.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    *session_panes.keys(),
    Key("session.side", "r", "side", "request/response", "show the request or the response in the Wire pane", 7),
    Key("session.next-exchange", "J", "exchange(1)", "next exchange", "next exchange, from any pane"),
    Key("session.previous-exchange", "K", "exchange(-1)", "previous exchange", "previous exchange, from any pane"),
    Key("session.story", "S", "story", "story", "show the whole session from top to bottom, with a timeline", 8),
    Key("session.diff", "d", "diff", "diff", "compare this request with the previous one of its conversation", 10),
    Key(
        "session.compare",
        "D",
        "compare",
        "compare",
        "compare two exchanges, two hops, or another file, side by side",
        12,
    ),
    Key("session.repairs", "f", "repairs", "repairs", "show the repairs of the finding and what each one changes", 5),
    Key("session.origin", "o", "origin", "origin", "go to where the fault began, or to the same turn at the other hop"),
    Key("session.follow", "F", "follow", "follow", "follow new exchanges (press again to stop)"),
    Key("session.breaks", "P", "breaks", "breakpoints", "show breakpoints: paused exchanges and what pauses them", 21),
    Key("session.inspect", "I", "inspect", "resume", "resume the inspection"),
    Key(
        "session.stream",
        "t",
        "stream",
        "stream",
        "show the response event by event, and what common SDKs build from it",
        11,
    ),
    Key(
        "session.convert",
        "c",
        "convert",
        "convert",
        "convert this side to another protocol: shows what would be lost",
        13,
    ),
    Key("session.tools", "T", "tools", "tools", "show which providers accept these tool schemas", 14),
    Key(
        "session.passages",
        "R",
        "passages",
        "tool results",
        "compare what tool servers (MCP) returned with what the model received",
        15,
    ),
    Key("session.matrix", "m", "matrix", "matrix", "show which providers accept this request", 16),
    Key(
        "session.arguments",
        "A",
        "arguments",
        "arguments",
        "show how the arguments of each call are read, also of calls in text",
        15,
    ),
    Key("session.edit", "e", "edit", "edit", "edit this request; the recording is never modified", 6),
    Key(
        "session.branch",
        "b",
        "branch",
        "recorded/branch",
        "switch between the recorded request and its branch, for all keys",
        16,
    ),
    Key("session.branches", "B", "branches", "branches", "show the tree of edits and sends of this exchange"),
    Key("session.send", "s", "send", "send", "send this request, as recorded or as edited, to any target", 7),
    Key(
        "session.continue",
        "C",
        "continue",
        "continue",
        "continue the conversation: answer pending calls and send, step by step",
    ),
    Key("session.export", "x", "export", "export", "export: pytest, cURL, HAR, report and more", 18),
    Key("session.what-if", "V", "what_if", "what if", "what if: send variants to several targets", 17),
    Key("session.minimize", "M", "minimize", "minimise", "minimise: smallest failing request, smallest fix", 18),
    Key(
        "session.lab",
        "L",
        "lab",
        "probe lab",
        "probe models; the simulator of this exchange's contract is the first target",
        19,
    ),
    Key(
        "session.metrics", "$", "metrics", "metrics", "show tokens and cost per turn, and how often tool use failed", 20
    ),
    Key("session.copy", "y", "copy", "copy", "copy a value, a pointer, bytes, or the request as cURL", 12),
    Key("session.zoom", "z", "zoom", "zoom", "show only the focused pane; press again to restore", 8),
    Key("session.filter", "&", "filter", "filter", "filter the exchanges: tool:bash status:4xx text~word", 9),
    Key(
        "session.mark",
        "space",
        "mark",
        "mark",
        "mark the selection or, in Exchanges, the exchange; press again to unmark",
    ),
    Key("session.next-mark", "'", "next_mark", "next mark", "next mark or note"),
    Key("session.note", "a", "note", "note", "write or edit a note on the selection"),
    Key("session.search", "/", "search", "search", "search all panes, the focused one first", 6),
    Key("session.jump", "#", "jump", "go to", "go to an exchange, a message, an event, a byte, a pointer or an id"),
    Key(
        "session.leave",
        "escape",
        "leave",
        "back",
        "end the search, zoom or inspection; else go to the findings, then back",
    ),
    Key("session.back", "q", "back", "back", "go back to the previous screen, else to Home", 4),
)

REPAIRS = (
    Key("repairs.next", "f,l,right", "repair(1)", "next", "show the next repair of the finding", 2),
    Key("repairs.apply", "a", "apply", "apply", "apply the repair as a branch and edit it; enter does the same", 1),
    Key("repairs.previous", "h,left", "repair(-1)", "previous", "show the previous repair", 6),
    *(Key(f"repairs.number-{n}", str(n), f"choose({n})", f"repair {n}", f"show repair {n}") for n in range(1, 10)),
    Key("repairs.pane", "tab,shift+tab", "pane", "changes/bytes", "switch between the changes and their bytes", 4),
    Key("repairs.write", "w", "write", "write", "write the repaired request to a file", 3),
    *search_keys("repairs"),
    Key("repairs.back", "q", "back", "back", "go back to the session", 2),
)

EDIT = (
    Key("edit.write", "e", "write", "edit", "edit the value here, as text or JSON; enter does the same", 1),
    Key("edit.editor", "E", "editor", "$EDITOR", "edit the value in $EDITOR", 6),
    Key("edit.json", "v", "write_json", "as JSON", "edit the value here as JSON", 14),
    Key(
        "edit.raw",
        "R",
        "raw",
        "raw bytes",
        "edit raw bytes (may be invalid JSON); on the first line: the whole body",
        12,
    ),
    Key("edit.add", "a", "add", "add", "add a message, text, tool result, tool or parameter", 5),
    Key("edit.remove", "d,delete", "remove", "remove", "remove the element", 7),
    Key("edit.duplicate", "c", "duplicate", "duplicate", "duplicate the element", 13),
    Key("edit.down", "J,alt+down", "shift(1)", "move down", "move the element down in its list", 10),
    Key("edit.up", "K,alt+up", "shift(-1)", "move up", "move the element up in its list", 11),
    Key("edit.rename", "r", "rename", "rename", "rename the parameter"),
    Key("edit.fold", "space", "fold", "fold", "expand or collapse the row"),
    Key("edit.repairs", "f", "repairs", "repairs", "show repairs for the current findings; a applies one", 3),
    Key("edit.undo", "u", "undo", "undo", "undo the last step", 4),
    Key("edit.redo", "U,ctrl+r", "redo", "redo", "redo the last undone step", 15),
    Key("edit.contract", "m", "contract", "contract", "choose another contract to check the request with", 9),
    Key("edit.send", "s", "send", "send", "send the edited request", 2),
    Key("edit.export", "x", "export", "export", "export the edited request: pytest, cURL, report and more", 15),
    Key("edit.branches", "B", "branches", "branches", "show the tree of edits and sends of this exchange", 8),
    Key("edit.next-pane", "tab", "pane(1)", "pane", "next pane: request, value, verdict, chain, changes", 8),
    Key("edit.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("edit.outline", "1", "show('outline')", "request", "show what can be edited"),
    Key("edit.value", "2", "show('value')", "value", "show the value under the cursor in full"),
    Key("edit.verdict", "3", "show('verdict')", "verdict", "show the verdict of the contract"),
    Key("edit.chain", "4", "show('chain')", "chain", "show tool calls with results, reasoning and signatures"),
    Key("edit.meaning", "5", "show('meaning')", "meaning", "show the semantic diff against the recorded request"),
    Key("edit.bytes", "6", "show('bytes')", "bytes", "show the changes from the recorded request, in bytes"),
    Key("edit.back", "q,escape", "back", "back", "go back; all edits are kept", 2),
)

BRANCHES = (
    Key(
        "branches.mark",
        "space",
        "mark",
        "mark",
        "mark this node to compare other nodes with it instead of with their parents",
        4,
    ),
    Key("branches.name", "a,r", "name", "name", "name the branch; an empty name removes it", 6),
    Key("branches.fold", "o", "fold", "fold", "show the requests of a what-if one by one or as one row", 8),
    Key("branches.undo", "u", "undo", "undo", "go to the parent", 5),
    Key(
        "branches.pane",
        "tab,shift+tab",
        "pane",
        "pane",
        "next pane: tree, changes in meaning, changes in bytes",
        7,
    ),
    Key("branches.send", "s", "send", "send", "send the request under the cursor", 3),
    *search_keys("branches", 9),
    Key("branches.back", "q,B", "back", "back", "go back", 2),
)

SEND = (
    Key("send.pane", "tab,shift+tab", "pane", "pane", "switch between the checks and the request as sent", 7),
    Key("send.next-protocol", "l,right", "protocol(1)", "protocol", "use the next protocol of the target", 4),
    Key("send.previous-protocol", "h,left", "protocol(-1)", "previous", "use the previous protocol of the target"),
    Key("send.stream", "t", "stream", "stream", "ask for a streamed or for a single response", 5),
    Key("send.target", "T", "target", "target", "choose another target", 3),
    Key("send.unbound", "u", "unbound", "drop unbound", "drop the signed blocks whose signature is no longer valid", 6),
    Key("send.switch", "space", "switch", "correction", "switch the correction under the cursor on or off", 5),
    Key("send.write", "w", "write", "write", "write the request body to a file", 8),
    Key("send.back", "q,escape,s", "back", "back", "go back without sending", 2),
)

ANSWER = (
    Key(
        "answer.pane",
        "tab",
        "pane(1)",
        "pane",
        "next pane: responses, findings; without findings: the other response",
        3,
    ),
    Key("answer.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("answer.again", "s", "again", "send again", "send the same request again", 5),
    Key("answer.edit", "e", "edit", "edit", "edit the sent request further", 6),
    Key("answer.branches", "B", "branches", "branches", "show the tree of edits and sends of this exchange", 7),
    Key("answer.export", "x", "export", "export", "export: pytest, cURL, Python, HAR, report and more", 8),
    Key("answer.write", "w", "write", "write", "write the response body to a file", 9),
    Key("answer.open", "o", "open", "open", "open the new exchange: wire, IR, reasoning, closure"),
    Key(
        "answer.leave",
        "escape",
        "leave",
        "cancel",
        "cancel the request and keep the received part; go back when done",
        1,
    ),
    Key("answer.back", "q", "back", "back", "go back; a running request is cancelled and kept", 2),
)

CONTINUE = (
    Key("continue.run", "r", "run", "run", "run step after step until a decision is needed", 2),
    Key("continue.edit", "e", "edit", "edit", "edit the tool result, the request, or the next user message", 3),
    Key("continue.editor", "E", "editor", "$EDITOR", "edit the step in $EDITOR"),
    Key("continue.offer", "o", "offer", "other result", "use another available result: recorded, or an error", 6),
    Key(
        "continue.error", "x", "error", "error", "mark the result as an error: the tool failed; press again to undo", 7
    ),
    Key("continue.undo", "u", "undo", "step back", "go one step back; sent requests stay as branches", 5),
    Key("continue.limits", "L", "limits", "limits", "set limits: requests, tokens, repeats of one call", 8),
    Key(
        "continue.corrections",
        "P",
        "corrections",
        "corrections",
        "show or hide the corrections of the capability profile",
        4,
    ),
    Key("continue.target", "T", "target", "target", "choose another target", 9),
    Key("continue.pane", "tab,shift+tab", "pane", "pane", "switch between the steps and the details of one", 10),
    Key("continue.leave", "escape", "leave", "cancel", "cancel the running step; else go back"),
    Key("continue.back", "q", "back", "back", "go back; sent requests stay as branches", 4),
)

CORRECTING = (
    Key("correcting.switch", "space", "switch", "switch", "switch the correction under the cursor on or off"),
    Key("correcting.close", "escape,q,P", "close", "back", "go back; the enabled corrections are applied"),
)

WHAT_IF = (
    Key("what-if.next-target", "l,right", "column(1)", "next target", "next target", 3),
    Key("what-if.previous-target", "h,left", "column(-1)", "previous", "previous target"),
    Key("what-if.add", "T", "target", "add target", "add a target; a simulator is run immediately", 4),
    Key(
        "what-if.send", "s", "send", "send", "send the variant under the cursor to the target; press again to repeat", 5
    ),
    Key("what-if.send-all", "A", "send_all", "send all", "send all unsent variants to the target", 6),
    Key("what-if.pane", "tab,shift+tab", "pane", "pane", "next pane: variants, outcome, response", 7),
    Key("what-if.leave", "escape", "leave", "cancel", "cancel the running request; else go back"),
    Key("what-if.back", "q,V", "back", "back", "go back; sent variants stay as branches", 2),
)

EXPORT = (
    Key(
        "export.write",
        "w",
        "write",
        "write",
        "write the export; a test is run: it must fail first and pass with the fix",
    ),
    Key("export.scope", "a", "scope", "scope", "switch the scope: this exchange, its branch, the whole session", 3),
    Key("export.redact", "R", "redact", "redact", "replace private text with stand-ins; the findings stay the same", 5),
    Key(
        "export.repairs",
        "f",
        "repairs",
        "repairs",
        "go back to the repairs of the finding: a test needs a fix",
        4,
    ),
    Key("export.pane", "tab,shift+tab", "pane", "pane", "switch between the formats and the preview", 6),
    *search_keys("export")[:-1],
    Key(
        "export.leave", "escape", "leave", "cancel", "cancel a running export; otherwise end the search, or go back", 1
    ),
    Key("export.back", "q,x", "back", "back", "go back to the session", 2),
)

MINIMIZE = (
    Key("minimize.branch", "b", "branch", "branch", "make a branch of the smallest request: edit, send or export it"),
    Key("minimize.apply", "a", "apply", "apply fix", "make a branch with the chosen fix, else with the best one", 3),
    Key("minimize.write", "w", "write", "write", "write the smallest or the fixed request to a file", 5),
    Key(
        "minimize.next-pane",
        "tab",
        "pane(1)",
        "pane",
        "next pane: remaining parts, smallest request, original, fixes",
        6,
    ),
    Key("minimize.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("minimize.leave", "escape", "leave", "cancel", "cancel and keep the smallest request so far; else go back", 4),
    Key("minimize.back", "q,M", "back", "back", "go back to the session", 7),
)

LAB = (
    Key("lab.run", "r", "run", "run", "run the marked probes against the target", 2),
    Key("lab.run-one", "o", "run_one", "run one", "run the probe under the cursor, or run it again", 4),
    Key("lab.run-all", "A", "run_all", "run on all", "run the marked probes against all targets", 8),
    Key("lab.step", "s", "step", "step", "step through the probe: see and edit each request before it is sent", 3),
    Key("lab.mark", "space", "mark", "mark", "mark or unmark the probe", 5),
    Key(
        "lab.mark-all",
        "a",
        "mark_all",
        "mark all",
        "mark all probes; press again for the seven of a profile, then for none",
        10,
    ),
    Key("lab.mark-due", "f", "mark_due", "mark stale", "mark the stale, unmeasured and cheap probes"),
    Key("lab.samples", "n", "samples", "samples", "set the number of samples per probe", 9),
    Key("lab.target", "T", "target", "add target", "add a target", 6),
    Key("lab.remove", "d,delete", "remove", "remove", "remove the target; its measurements are kept"),
    Key("lab.next-target", "l,right", "column(1)", "target", "next target", 11),
    Key("lab.previous-target", "h,left", "column(-1)", "previous", "previous target"),
    Key("lab.protocol", "p", "protocol", "protocol", "use the next protocol of the target", 12),
    Key("lab.model", "m", "model", "model", "choose another model of the target", 13),
    Key("lab.dials", "D", "dials", "dials", "set how the simulator's model behaves: parallel=2 calls=hermes", 14),
    Key("lab.next-pane", "tab", "pane(1)", "pane", "next pane: probes, verdict, profile", 7),
    Key("lab.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("lab.leave", "escape", "leave", "cancel", "cancel and keep the measurements; else go back"),
    Key("lab.back", "q", "back", "back", "go back; a running measurement is cancelled, results are kept", 2),
)

STEP = (
    Key("step.edit", "e", "edit", "edit", "edit the value under the cursor before the request is sent", 2),
    Key("step.editor", "E", "editor", "$EDITOR", "edit the value in $EDITOR", 6),
    Key("step.undo", "u", "undo", "undo", "undo your changes; without changes: go back one request", 4),
    Key("step.run", "r", "run", "run", "send all remaining requests unchanged", 3),
    Key("step.again", "a", "again", "restart", "restart the probe as another sample", 9),
    Key("step.side", "v", "side", "request/response", "show the bytes of a sent request or of its response", 8),
    Key("step.open", "o", "open", "open", "open the sent requests as a session", 7),
    Key("step.next-pane", "tab", "pane(1)", "pane", "next pane: steps, notes, request or response, bytes", 5),
    Key("step.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("step.fold", "space", "fold", "fold", "expand or collapse the row"),
    Key("step.leave", "escape", "leave", "cancel", "cancel the running requests; else go back"),
    Key("step.back", "q", "back", "back", "go back to the lab", 2),
)

BREAKS = (
    Key("breaks.continue", "c", "continue", "continue", "forward the paused exchange unchanged", 1),
    Key(
        "breaks.edit",
        "e",
        "edit",
        "edit",
        "edit the paused message; s in the editor forwards it, and keeps it as a branch",
        2,
    ),
    Key("breaks.editor", "E", "editor", "$EDITOR", "edit the paused bytes in $EDITOR and forward them"),
    Key("breaks.answer", "a", "answer", "answer", "let the simulator of a contract respond instead of the upstream", 3),
    Key("breaks.drop", "d", "drop", "drop", "close the client's connection; asks first", 4),
    Key("breaks.arm", "space", "arm", "arm", "arm or disarm the breakpoint under the cursor; enter does the same", 5),
    Key("breaks.filter", "&", "filter", "filter", "break on exchanges that match a filter: tool:bash, text~word", 8),
    Key("breaks.show", "o", "show", "show", "show the exchange in the session: wire, IR, reasoning, closure", 7),
    Key("breaks.page", "w", "page", "rule", "show the page of the rule: what it checks and who refuses it", 9),
    Key("breaks.pane", "tab,shift+tab", "pane", "pane", "next pane: list, reason, bytes", 10),
    Key("breaks.back", "q,escape,P", "back", "back", "go back; paused exchanges stay paused", 6),
)

BREAKS_HELD = frozenset(f"breaks.{name}" for name in ("continue", "edit", "editor", "answer", "drop", "show", "page"))
"""Ids of the keys that act on a paused exchange."""
