"""Keys of the screens that judge, send, measure, export and compare; ``keys`` has the whole table."""

from __future__ import annotations

from workbench.tui.key import Key

SEND = (
    Key("send.pane", "tab,shift+tab", "pane", "pane", "what there is to know, and the request as it goes out", 7),
    Key("send.next-protocol", "l,right", "protocol(1)", "protocol", "the next protocol that the target speaks", 4),
    Key("send.previous-protocol", "h,left", "protocol(-1)", "previous", "the protocol before it"),
    Key("send.stream", "t", "stream", "stream", "ask for a stream, or for an answer in one piece", 5),
    Key("send.target", "T", "target", "target", "another target", 3),
    Key(
        "send.unbound", "u", "unbound", "drop unbound", "leave out the signed blocks whose signature no longer holds", 6
    ),
    Key("send.switch", "space", "switch", "correction", "switch the correction under the cursor off, and on again", 5),
    Key("send.write", "w", "write", "write", "write the body that goes out into a file", 8),
    Key("send.back", "q,escape,s", "back", "back", "back, without sending", 2),
)

COMPARE = (
    Key(
        "compare.next-difference", "n", "next(1)", "next difference", "the next difference, in this turn or another", 1
    ),
    Key("compare.previous-difference", "N,p", "next(-1)", "previous", "the difference before", 4),
    Key("compare.next-turn", "]", "turn(1)", "next turn", "the next turn, with a difference or without", 6),
    Key("compare.previous-turn", "[", "turn(-1)", "previous turn", "the turn before"),
    Key("compare.next-pane", "tab", "pane(1)", "pane", "the turns, what happened to one, both sides of it", 5),
    Key("compare.previous-pane", "shift+tab", "pane(-1)", "previous pane", "the pane before"),
    Key("compare.other", "o", "other", "other", "compare with another exchange, or with another file", 3),
    Key("compare.hops", "h", "hops", "places", "the places of this session; again: the next two", 7),
    Key("compare.back", "q,escape,D", "back", "back", "back to the session", 2),
)

MATRIX = (
    Key("matrix.pane", "tab,shift+tab", "pane", "pane", "contracts, what one says, the request as it gets it", 3),
    Key("matrix.next-refusal", "n", "refusal(1)", "next refusal", "next contract that refuses, or is suspicious", 1),
    Key("matrix.previous-refusal", "p", "refusal(-1)", "previous", "previous such contract", 4),
    Key("matrix.contract", "e", "contract", "contract", "the contract: what it asks for and refuses, with sources", 5),
    Key("matrix.back", "q,escape,m", "back", "back", "back to the session", 2),
)

LADDER = (
    Key("ladder.pane", "tab,shift+tab", "pane", "calls, rungs", "the other side: the calls, or the rungs of one", 3),
    Key("ladder.back", "q,escape,A", "back", "back", "back to the session", 2),
)

REPAIRS = (
    Key("repairs.next", "f,l,right", "repair(1)", "next repair", "the next repair of the finding", 2),
    Key("repairs.apply", "a", "apply", "apply", "make a branch with it, and edit on from there; enter too", 1),
    Key("repairs.previous", "h,left", "repair(-1)", "previous", "the repair before", 6),
    *(Key(f"repairs.number-{n}", str(n), f"choose({n})", f"repair {n}", f"repair number {n}") for n in range(1, 10)),
    Key("repairs.pane", "tab,shift+tab", "pane", "meaning, bytes", "the other side: the changes, or their bytes", 4),
    Key("repairs.write", "w", "write", "write", "write the repaired request into a file", 3),
    Key("repairs.back", "q,escape", "back", "back", "back to the session", 2),
)

MINIMIZE = (
    Key("minimize.branch", "b", "branch", "branch", "go on with the smallest request: edit, send, export it", 2),
    Key("minimize.apply", "a", "apply", "apply edit", "make a branch with the edit, the best where none is chosen", 3),
    Key("minimize.write", "w", "write", "write", "write the smallest request, or the edited one, into a file", 5),
    Key("minimize.next-pane", "tab", "pane(1)", "pane", "what is left, the smallest request, as it was, the edits", 6),
    Key("minimize.previous-pane", "shift+tab", "pane(-1)", "previous pane", "the pane before"),
    Key("minimize.leave", "escape", "leave", "stop", "stop and keep the smallest so far; once it is over, back", 4),
    Key("minimize.back", "q,M", "back", "back", "back to the session", 7),
)

CONTINUE = (
    Key("continue.run", "r", "run", "run on", "step after step, until something has to be decided", 2),
    Key("continue.edit", "e", "edit", "edit", "write the result, the request, or what the user says next", 3),
    Key("continue.editor", "E", "editor", "$EDITOR", "write it in your own editor"),
    Key("continue.offer", "o", "offer", "other result", "another result of those at hand: recorded, an error", 6),
    Key("continue.error", "x", "error", "error", "the tool failed: the result is an error, and back", 7),
    Key("continue.undo", "u", "undo", "step back", "the step before; what was sent stays a branch", 5),
    Key("continue.limits", "L", "limits", "limits", "how many requests and tokens, how often the same call", 8),
    Key("continue.corrections", "P", "corrections", "corrections", "what a measured profile corrects; on and off", 4),
    Key("continue.target", "T", "target", "target", "another target", 9),
    Key("continue.pane", "tab,shift+tab", "pane", "pane", "the steps, or all of one", 10),
    Key("continue.leave", "escape", "leave", "stop", "stop what goes on; else back"),
    Key("continue.back", "q", "back", "back", "back; what was sent stays a branch", 4),
)

CORRECTING = (
    Key("correcting.switch", "space", "switch", "switch", "switch the correction under the cursor off, and on again"),
    Key("correcting.close", "escape,q,P", "close", "close", "go on with those that are on"),
)

ANSWER = (
    Key(
        "answer.pane",
        "tab",
        "pane(1)",
        "pane",
        "the answers, what is found; the other answer where there is room for one",
        3,
    ),
    Key("answer.previous-pane", "shift+tab", "pane(-1)", "previous pane", "the pane before"),
    Key("answer.again", "s", "again", "send again", "send the same once more", 5),
    Key("answer.edit", "e", "edit", "edit", "edit the request further, from what was sent on", 6),
    Key("answer.branches", "B", "branches", "branches", "the tree of edits and sends that it belongs to", 7),
    Key("answer.export", "x", "export", "export", "export it: a test, curl, python, HAR, a report", 8),
    Key("answer.write", "w", "write", "write", "write the body of the answer into a file", 9),
    Key("answer.open", "o", "open", "open", "the new exchange in full: wire, IR, reasoning, closure"),
    Key("answer.leave", "escape", "leave", "stop", "break off what is on its way and keep what came; else back", 1),
    Key("answer.back", "q", "back", "back", "back; what is on its way is broken off and kept", 2),
)

WHAT_IF = (
    Key("what-if.next-target", "l,right", "column(1)", "target", "the next target", 3),
    Key("what-if.previous-target", "h,left", "column(-1)", "previous", "the target before it"),
    Key("what-if.add", "T", "target", "add target", "one more target: a simulator is asked at once", 4),
    Key("what-if.send", "s", "send", "send", "send the variant under the cursor to the target, or once more", 5),
    Key("what-if.send-all", "A", "send_all", "send all", "send to the target what it was not sent yet", 6),
    Key("what-if.pane", "tab,shift+tab", "pane", "pane", "the table, and the outcome under the cursor", 7),
    Key("what-if.leave", "escape", "leave", "stop", "stop what is on its way; else back"),
    Key("what-if.back", "q,V", "back", "back", "back; what was sent is kept as branches", 2),
)

EXPORT = (
    Key("export.write", "w", "write", "write", "write it; a test is run at once: red before, green after"),
    Key("export.scope", "a", "scope", "scope", "this exchange, the branch of its edits, the whole session", 3),
    Key("export.redact", "R", "redact", "redact", "stand-ins for private text; the findings stay the same", 5),
    Key("export.pane", "tab,shift+tab", "pane", "pane", "the forms, and what is written", 6),
    Key("export.back", "q,escape,x", "back", "back", "back to the session", 2),
)

LAB = (
    Key("lab.run", "r", "run", "run", "run the marked probes against the target", 2),
    Key("lab.run-one", "o", "run_one", "run one", "run the probe under the cursor, or run it once more", 4),
    Key("lab.run-all", "A", "run_all", "run at all", "run the marked probes against every target", 8),
    Key(
        "lab.step", "s", "step", "step", "step through it: each request is shown, and may be changed, before it goes", 3
    ),
    Key("lab.mark", "space", "mark", "mark", "mark the probe to be run, and unmark it", 5),
    Key("lab.mark-all", "a", "mark_all", "mark all", "mark all; the seven that make a profile; none", 10),
    Key("lab.mark-due", "f", "mark_due", "mark stale", "mark what is stale or was never measured, and what is cheap"),
    Key("lab.samples", "n", "samples", "samples", "how many samples of each probe", 9),
    Key("lab.target", "T", "target", "add target", "one more target", 6),
    Key("lab.remove", "d,delete", "remove", "remove", "take the target out; what was measured of it is kept"),
    Key("lab.next-target", "l,right", "column(1)", "target", "the next target", 11),
    Key("lab.previous-target", "h,left", "column(-1)", "previous", "the target before it"),
    Key("lab.protocol", "p", "protocol", "protocol", "ask in the next protocol that the target speaks", 12),
    Key("lab.model", "m", "model", "model", "another model of the target", 13),
    Key("lab.dials", "D", "dials", "dials", "how the model of a simulator behaves: parallel=2 calls=hermes", 14),
    Key("lab.next-pane", "tab", "pane(1)", "pane", "the probes, the verdict, the profile", 7),
    Key("lab.previous-pane", "shift+tab", "pane(-1)", "previous pane", "the pane before"),
    Key("lab.leave", "escape", "leave", "stop", "stop and keep what was measured; else back"),
    Key("lab.back", "q", "back", "back", "back; what goes on is stopped, and what was measured kept", 2),
)

STEP = (
    Key("step.edit", "e", "edit", "edit", "change the value under the cursor before the request goes", 2),
    Key("step.editor", "E", "editor", "$EDITOR", "change it in the editor that EDITOR names", 6),
    Key("step.undo", "u", "undo", "undo", "as the probe has it; without a change back by a request", 4),
    Key("step.run", "r", "run", "run on", "send all that is left as the probe has it", 3),
    Key("step.again", "a", "again", "again", "from the beginning, as another sample", 9),
    Key("step.side", "v", "side", "other side", "of a request that was sent, its own bytes or its answer's", 8),
    Key("step.open", "o", "open", "open", "what was sent so far, as a session", 7),
    Key("step.next-pane", "tab", "pane(1)", "pane", "steps, reasoning, request or answer, bytes", 5),
    Key("step.previous-pane", "shift+tab", "pane(-1)", "previous pane", "the pane before"),
    Key("step.fold", "space", "fold", "fold", "show what a row is made of, or do not"),
    Key("step.leave", "escape", "leave", "stop", "stop what is on its way; else back"),
    Key("step.back", "q", "back", "back", "back to the lab", 2),
)

METRICS = (
    Key("metrics.tokens", "1", "view('tokens')", "tokens", "tokens, turn by turn or session by session", 2),
    Key("metrics.cost", "2", "view('cost')", "cost", "what they cost", 3),
    Key("metrics.rates", "3", "view('rates')", "rates", "how often tool use went right and wrong", 4),
    Key("metrics.group", "b", "group", "by", "rates by provider, model, client, day", 5),
    Key("metrics.next-view", "tab", "turn(1)", "view", "the next view", 6),
    Key("metrics.previous-view", "shift+tab", "turn(-1)", "previous view", "the view before"),
    Key("metrics.folder", "o", "folder", "folder", "of the sessions below another folder, or of a file", 7),
    Key("metrics.leave", "escape", "leave", "stop", "stop counting; else back"),
    Key("metrics.back", "q", "back", "back", "back", 1),
)
