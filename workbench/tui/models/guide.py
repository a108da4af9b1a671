"""What every pane shows and how to read its signs: the words of the help screen, in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.tui.keys import Key
from workbench.tui.models.filterguide import filter_lines
from workbench.tui.models.signs import SIGNS
from workbench.tui.session_panes import PANES
from workbench.views.lines import BLANK, Line, Span, line, wrap

Tables = Sequence[tuple[str, Sequence[Key]]]
"""Headings and their keys, from the focused pane outwards."""


class Guide(NamedTuple):
    """What a pane is for.

    Attributes:
        title: its name.
        text: what it shows and how to read it.
        signs: names of ``SIGNS`` that it uses.
    """

    title: str
    text: str
    signs: tuple[str, ...] = ()


_KEYS = 16
"""Columns for the names of keys."""

_SELECTION = ("selected", "related", "cursor")

GUIDES: Mapping[str, Guide] = {
    **{row.id: Guide(row.title, row.about, row.signs) for row in PANES},
    "events": Guide(
        "Events",
        "The stream event by event. Moving steps through it; the message beside it is as it was after that event. "
        "While the stream still arrives, who stands on the last event goes along.",
        ("cursor", "anomaly", "differs"),
    ),
    "left": Guide(
        "What is left",
        "What is left of the request that still fails in the same way: parameters, tools, messages, each with its "
        "size. Whole turns go first, then calls with their results, tools, schemas, texts. Moving marks the bytes.",
        ("cursor",),
    ),
    "smallest": Guide(
        "The smallest",
        "The smallest request so far, with its fault marked. What stays is byte for byte as it was. The contract "
        "judges first, then the target is asked, at most as often as the first lines say.",
        ("selected",),
    ),
    "whole": Guide("As it was", "The request before anything was taken away, with its fault marked.", ("selected",)),
    "mends": Guide(
        "Edits that mend it",
        "Small edits after which the request is accepted, the best first: what an earlier request had, then repairs. "
        "Enter makes a branch with the one under the cursor.",
        ("taken", "error"),
    ),
    "built": Guide(
        "Message",
        "What the events up to the cursor make, as the protocol says.",
        ("added", "call", "reasoning", "line-end"),
    ),
    "clients": Guide(
        "Clients",
        "What the usual SDKs build from the same events, where that is not the same. They are compared once the stream "
        "has ended.",
        ("agrees", "differs"),
    ),
    "changes": Guide(
        "Changes", "What this request says that the one before it in its conversation did not.", ("cursor",)
    ),
    "hunks": Guide("Bytes", "The same in bytes: removed from the one before, added in this one.", ("cursor", "form")),
    "mended": Guide(
        "Repair",
        "What the repair changes in the request. It was re-checked against the contract, not against the provider: the "
        "finding is gone with it, and nothing new is broken.",
        ("edit", "cursor"),
    ),
    "mended-bytes": Guide("Bytes", "The same in bytes: removed and added; every other byte stays.", ("cursor", "form")),
    "outline": Guide(
        "Request",
        "What can be edited: parameters, tools, the system prompt, messages and what they are made of. Enter edits "
        "what the cursor stands on. Every edit is a step of a branch, and can be undone; what was recorded stays.",
        ("error", "warning", "edit", "cursor"),
    ),
    "value": Guide("Value", "What the cursor stands on in the request, in full.", ("form",)),
    "verdict": Guide(
        "Verdict",
        "What the contract finds in the request as it is edited, the reason for its verdict first; then signed blocks "
        "that an edit before them unbound. Moving here moves the cursor of the request.",
        ("error", "warning", "cursor"),
    ),
    "chain": Guide(
        "Chain",
        "Calls with their results, then reasoning with what is owed, as edited.",
        ("closed", "sent", "reasoning"),
    ),
    "meaning": Guide("Meaning", "What is changed from the request as it was recorded.", ("edit", "cursor")),
    "bytes": Guide("Bytes", "The same in bytes: removed and added; every other byte stays.", ("cursor", "form")),
    "tree": Guide(
        "Tree",
        "What was made of the recorded request: each edit and each send below what it was made of, with its verdict or "
        "the status of its answer; a point where you stand, a star where you marked. Enter goes on from there.",
        ("branch", "taken", "error", "warning", "cursor"),
    ),
    "branch-meaning": Guide("Meaning", "What differs from the marked one, else from what it was made of.", ("edit",)),
    "branch-bytes": Guide("Bytes", "The same in bytes.", ("form",)),
    "before": Guide(
        "As it was", "The bytes of this side, laid out; what the target cannot say is marked.", ("lost", "cursor")
    ),
    "after": Guide("As it becomes", "The body that says the same in the protocol chosen above.", ("cursor", "form")),
    "losses": Guide(
        "Lost",
        "What the target protocol cannot say, and what was done instead; then the ids that had to be renamed, the same "
        "in the call and in its result. Moving here lights up what it was.",
        ("lost", "renamed", "cursor"),
    ),
    "tools": Guide(
        "Tools",
        "The tools that this request declares, each held against everything that is known of what providers take of "
        "a schema. Enter goes to the declaration.",
        ("taken", "changed", "error", "cursor"),
    ),
    "dialects": Guide(
        "Providers",
        "Each provider, and each of its modes, with its verdict on the tool at the left: accepted as it stands, "
        "accepted after a change, or refused; then the first reason.",
        ("taken", "changed", "error", "cursor"),
    ),
    "details": Guide(
        "Why",
        "What the provider refuses and what it takes without enforcing it, with the place in the schema and where that "
        "is known from; then the changes that make it acceptable, and the check that remains to be made locally. "
        "Enter goes to the bytes.",
        ("error", "ignored", "edit", "check", "cursor"),
    ),
    "declared": Guide(
        "Declared", "The schema as it was declared; what the provider does not take is marked.", ("lost",)
    ),
    "lowered": Guide(
        "What to declare",
        "The smallest change that the provider accepts. With the check that remains it says the same.",
    ),
    "calls": Guide(
        "Calls",
        "Every call of the history and of the answer, then the calls that stand in a text as the model's own markup, "
        "each with how far its arguments could be read.",
        ("taken", "edit", "error", "cursor"),
    ),
    "rungs": Guide(
        "Rungs",
        "The ladder from what the model wrote to what the tool may be given: read strictly, unwrapped, repaired, "
        "coerced as the schema says, validated; before and after, marked where they differ. A refusal is what the "
        "model is told in place of a result.",
        ("taken", "edit", "error", "cursor"),
    ),
    "points": Guide(
        "Breakpoints",
        "What a recorder holds at this moment, the oldest first: for how long, and how long its client still waits (? "
        "where nobody knows). c passes it on, e edits it first, a has a simulator answer, d drops it. Below, what the "
        "recording stops for: space arms a kind and disarms it. Of a request nothing is passed on before its last byte "
        "is judged; an answer is held from its first call on. What is not armed passes untouched.",
        ("held", "warning", "error", "cursor"),
    ),
    "why": Guide(
        "Why it is held",
        "The finding behind it, its rule (w shows the page) and its place; the client's timeout, and how it is known; "
        "how much has left already. Of a kind, what it stops for.",
        ("held", "warning", "error"),
    ),
    "held": Guide("Held", "The bytes that wait, decoded, with the place of the finding marked.", ("form",)),
    "facts": Guide(
        "Before it is sent",
        "What the target's contract says of exactly what would go out; signed blocks that an edit unbinds; what the "
        "other protocol cannot say, each with its place; what a measured profile of exactly this target and model "
        "corrects, with the fact, its samples and its date: space switches the correction under the cursor off and on, "
        "and the request beside it follows; then where it goes, as what, and with the key of which variable. Enter "
        "sends.",
        ("error", "warning", "lost", "cursor"),
    ),
    "going": Guide("Request", "The bytes as they go out; at a loss or a signed block, the request it is made of."),
    "beside": Guide(
        "Answers",
        "The recorded answer and the new one, item by item, the new one as it arrives. What differs in a text is "
        "marked; the last row says whether the bytes do.",
        ("same", "differing", "cursor"),
    ),
    "found": Guide(
        "Findings", "What the rules find in the new exchange, in the place of the recorded one.", ("error", "warning")
    ),
    "compared-turns": Guide(
        "Turns",
        "Every turn that was seen on both sides, by the numbers of its exchanges, with what became of it; and those "
        "that one side alone has seen. Left stands the place nearer to the client. n goes through all differences.",
        ("same", "differing", "warning", "cursor"),
    ),
    "what-happened": Guide(
        "What happened",
        "Each kind of change between the two sides, the first divergence first: what it did, where, from which byte "
        "on, and whether a reader of the protocol would notice (= it would not). Enter shows the bytes in the session.",
        ("same", "differing", "cursor"),
    ),
    "both-sides": Guide(
        "Side by side",
        "Everything in which the two differ: headers, what the answers say, ranges of bytes, events one by one. What "
        "differs is marked; what belongs to the change that is chosen is lit.",
        ("same", "differing", "cursor"),
    ),
    "raw": Guide("As it came", "Every event, or line, of the new answer as it came.", ("form",)),
    "steps": Guide(
        "Steps",
        "The conversation as it goes on: a call that is answered, a request that is sent, with its status and what the "
        "contract makes of it; the last line is the step that is next. Enter does it, r runs on until something has to "
        "be decided. No tool is run: a call gets the result that was recorded, an error, or what you write. What a "
        "measured profile of exactly this target and model corrects stands in the headline; P shows why, and switches.",
        ("taken", "error", "warning", "cursor"),
    ),
    "step": Guide(
        "A step",
        "Of a call its arguments, as they were read, and the result that it would get; of a request what is new in it.",
    ),
    "variants": Guide(
        "What if",
        "Each row is the request with one thing different, each column a target, each cell what came of it. Every "
        "outcome is kept as a branch. Simulators are asked at once, endpoints when you say so.",
        ("taken", "error", "warning", "cursor"),
    ),
    "outcome": Guide("Outcome", "The outcome under the cursor: what the target said, and what the rules find."),
    "probes": Guide(
        "Probes",
        "Each row is a probe, each column a model behind a target, each cell what was measured: the verdict, and how "
        "many samples passed. What an earlier run found says how old it is. An x marks the probes that a run takes. "
        "Before anything goes to a real endpoint it is said how many requests and tokens that will be.",
        ("passed", "partial", "failed", "unclear", "cursor"),
    ),
    "verdict-of": Guide(
        "Verdict",
        "Why the probe under the cursor came to its verdict: its samples, how sure that is, the requests that show it, "
        "and what the profile learned from them. Enter on the probe opens them as a session.",
        ("passed", "partial", "failed", "unclear"),
    ),
    "profile": Guide(
        "Profile",
        "What was measured of the chosen target now, beside what was measured the last time. Drift is a change of how "
        "often a probe passes that chance does not explain. workbench profile lists all of them.",
        ("edit",),
    ),
    "probe-steps": Guide(
        "Steps",
        "The requests of one sample of a probe. The last line is the one that is next: enter sends it, r sends all "
        "that are left. Its tools are never run: the probe answers the calls itself.",
        ("taken", "error", "edit", "cursor"),
    ),
    "reasoned": Guide(
        "Reasoning",
        "What was asked, what came, and what the rules find in it; at the end the verdict, its reason, and what was "
        "learned. A sample that was stepped through is no part of a profile.",
        ("passed", "partial", "failed", "unclear", "call", "reasoning"),
    ),
    "asked": Guide(
        "Pending request",
        "What is asked, as it would be sent. Enter edits what the cursor stands on; the probe goes on from what comes.",
        ("edit", "error", "warning", "cursor"),
    ),
    "came": Guide("What came", "The IR of the answer, or of the request as it was sent.", ("call", "reasoning")),
    "asked-bytes": Guide(
        "Bytes", "The same on the wire. Messages that the request before did not have are marked.", ("selected", "form")
    ),
    "chart": Guide(
        "Metrics",
        "A bar for each turn, or for each session, made of what its tokens were spent on; then what that costs at list "
        "price; then how often tool use went right and wrong, by provider, model, client or day. Tokens that no answer "
        "counted are estimated from the bytes, and marked with ~. Nothing is sent.",
        ("system", "overhead", "definitions", "history", "new", "output", "cached"),
    ),
    "measured": Guide(
        "What it was spent on",
        "The row under the cursor in numbers, and what a cache breakpoint would have saved.",
        ("system", "overhead", "definitions", "history", "new", "output"),
    ),
    "HomePane": Guide(
        "Sessions",
        "Sessions at hand: examples, recent ones, recordings, and those that known clients left, which are only read. "
        "Each with what was found and its first break in words.",
        ("error", "warning", "held", "unread", "cursor"),
    ),
}
"""Guides by the id of the pane, or the name of its class where it has none."""


def help_lines(guide: Guide | None, tables: Tables, width: int) -> list[Line]:
    """This pane and its signs, the keys from here outwards, the filter where there is one, then all the other signs.

    Args:
        guide: of the focused pane, if it has one.
        tables: what is in force.
        width: columns.
    """
    made: list[Line] = []
    if guide:
        made += [line(Span(guide.title, "role")), *wrap(guide.text, width, indent=2), BLANK]
        made += [_sign(name) for name in guide.signs] + [BLANK]
    for title, rows in tables:
        made.append(line(Span(f"keys: {title}", "role")))
        made += [row for key in rows for row in _key(key, width)]
        made.append(BLANK)
    if any(key.id == "session.filter" for _, rows in tables for key in rows):
        made += [*filter_lines(width), BLANK]
    rest = [name for name in SIGNS if not guide or name not in guide.signs]
    return [*made, line(Span("other signs" if guide else "signs", "role")), *map(_sign, rest)]


def _key(key: Key, width: int) -> list[Line]:
    first, *more = wrap(key.text, width - _KEYS)
    names = Span("  " + (" ".join(key.names) or "none"), "accent strong", _KEYS)
    return [(names, *first), *((Span(" " * _KEYS), *rest) for rest in more)]


def _sign(name: str) -> Line:
    sign, style, meaning = SIGNS[name]
    return line("  ", Span(sign, style, 12), meaning)
