"""Texts of the help screen: the purpose of every pane, its signs and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from workbench.safetext import cells
from workbench.tui.keys import Key
from workbench.tui.models.glossary import filter_lines, glossary_lines
from workbench.tui.models.palette import CHANGE, LOOK, MOVE, PROGRAM, group
from workbench.tui.models.signs import SIGNS
from workbench.tui.session_panes import PANES
from workbench.views import BLANK, Line, Span, line, wrap

Tables = Sequence[tuple[str, Sequence[Key]]]
"""Headings and their keys, from the focused pane outwards."""


class Guide(NamedTuple):
    """Help on one pane.

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

_SIGN = 14
"""Columns for a sign and its word."""

LEAST_COLUMN = 50
"""Columns that a list of keys or signs needs; twice as many hold two lists."""

GAP = 2
"""Columns between two lists."""

_SELECTION = ("selected", "related", "cursor")

GUIDES: Mapping[str, Guide] = {
    **{row.id: Guide(row.title, row.about, row.signs) for row in PANES},
    **dict.fromkeys(
        ("PastedText", "MatchesPane"),
        Guide(
            "Error text",
            "Paste what a provider answered, or a part of it: the rules that know the text are listed below, the most "
            "likely first, each with what to look for in the request. Enter opens the page of a rule: why it matters, "
            "usual causes, and what to do. Nothing is sent anywhere.",
            ("cursor",),
        ),
    ),
    "story": Guide(
        "Story",
        "The conversations of the session from top to bottom. What a request repeats is left out; a tool result is "
        "below its call, with the time that the client needed for it. Failed attempts, side conversations and messages "
        "from before the recording are folded; space shows them, * shows everything. Enter opens the line in "
        "the panes of the session.",
        ("error", "warning", "group", "said", "call", "reasoning", "media", "line-end", "cursor"),
    ),
    "lanes": Guide(
        "Timeline",
        "The same session over time: a lane for each conversation, and for each hop. Solid parts are exchanges, "
        "dashed parts are tools that the client runs (a number counts parallel calls), ⋮ is a shortened pause. "
        "Left and right go through the exchanges of a lane, + and - change the scale.",
        ("error", "warning", "cursor"),
    ),
    "events": Guide(
        "Events",
        "The stream event by event. The Message pane shows the message after the event under the cursor. While the "
        "stream is arriving, the cursor on the last event follows the stream.",
        ("cursor", "anomaly", "differs"),
    ),
    "left": Guide(
        "Remaining parts",
        "What remains of the request that still fails in the same way: parameters, tools, messages, with their "
        "sizes. Whole turns are removed first, then calls with their results, tools, schemas, texts. Moving the "
        "cursor marks the bytes.",
        ("cursor",),
    ),
    "smallest": Guide(
        "Smallest request",
        "The smallest request so far, with its fault marked. What remains is unchanged, byte for byte. "
        "Candidates are checked with the contract first, then sent to the target; the first lines show the limit.",
        ("selected",),
    ),
    "whole": Guide(
        "Original",
        "The original request, with its fault marked.",
        ("selected",),
    ),
    "mends": Guide(
        "Fixes",
        "Small edits after which the request is accepted, best first: differences from an earlier accepted "
        "request, then repairs. Enter creates a branch with the fix under the cursor.",
        ("taken", "error"),
    ),
    "built": Guide(
        "Message",
        "The message that the events up to the cursor build, as the protocol defines it.",
        ("added", "call", "reasoning", "line-end"),
    ),
    "clients": Guide(
        "Clients",
        "What common SDKs build from the same events, if it differs. The results are compared when the stream ends.",
        ("agrees", "differs"),
    ),
    "changes": Guide(
        "Changes",
        "The new content of this request, compared with the previous one of its conversation.",
        ("cursor",),
    ),
    "hunks": Guide(
        "Bytes",
        "The same changes in bytes: removed from the previous request, added in this one.",
        ("cursor", "form"),
    ),
    "mended": Guide(
        "Repair",
        "What the repair changes in the request. It was verified against the contract only, not by the provider: "
        "the finding disappears, and no new one appears.",
        ("edit", "cursor"),
    ),
    "mended-bytes": Guide(
        "Bytes",
        "The changes from the recorded request, in bytes; all other bytes are unchanged.",
        ("cursor", "form"),
    ),
    "outline": Guide(
        "Request",
        "What can be edited: parameters, tools, the system prompt, messages and their parts. Enter edits the "
        "element under the cursor. Every edit is a step of a branch and can be undone; the recording is never "
        "modified.",
        ("error", "warning", "edit", "cursor"),
    ),
    "value": Guide(
        "Value",
        "The element under the cursor, in full.",
        ("form",),
    ),
    "verdict": Guide(
        "Verdict",
        "Findings of the contract in the edited request, the reason for the verdict first. Then the signed blocks "
        "that an earlier edit invalidated. Moving the cursor here also moves it in the request pane.",
        ("error", "warning", "cursor"),
    ),
    "chain": Guide(
        "Chain",
        "Tool calls with their results, then the reasoning ledger, of the edited request.",
        ("closed", "sent", "reasoning"),
    ),
    "meaning": Guide(
        "Meaning",
        "The changes from the recorded request.",
        ("edit", "cursor"),
    ),
    "bytes": Guide(
        "Bytes",
        "The same changes in bytes; all other bytes are unchanged.",
        ("cursor", "form"),
    ),
    "tree": Guide(
        "Tree",
        "All edits and sends of the recorded request, each below its parent, with its verdict or response status; "
        "● is the current node, * the marked one. Enter continues from the node under the cursor.",
        ("branch", "taken", "error", "warning", "cursor"),
    ),
    "branch-meaning": Guide(
        "Meaning",
        "Shows the changes since the marked node, or since the parent if no node is marked.",
        ("edit",),
    ),
    "branch-bytes": Guide(
        "Bytes",
        "The changes from the marked node, else from the parent, in bytes.",
        ("form",),
    ),
    "before": Guide(
        "Original",
        "The bytes of this side; what the target protocol cannot express is marked.",
        ("lost", "cursor"),
    ),
    "after": Guide(
        "Converted",
        "The same content, converted to the protocol chosen above.",
        ("cursor", "form"),
    ),
    "losses": Guide(
        "Losses",
        "Content that the target protocol cannot express, and its replacement; then renamed ids (a call and its "
        "result get the same new id). Moving the cursor highlights the original.",
        ("lost", "renamed", "cursor"),
    ),
    "tools": Guide(
        "Tools",
        "The tools declared in this request, each with the number of providers that accept its schema. Enter "
        "shows the declaration.",
        ("taken", "changed", "error", "cursor"),
    ),
    "dialects": Guide(
        "Providers",
        "Each provider, and each of its modes, with its verdict on the chosen tool: accepted, accepted after a "
        "change, or refused; then the first reason.",
        ("taken", "changed", "error", "cursor"),
    ),
    "details": Guide(
        "Why",
        "Keywords that the provider refuses, or accepts without enforcing them, with pointer and source; then the "
        "changes that make the schema acceptable, and the check that you still have to make locally. Enter shows "
        "the bytes.",
        ("error", "ignored", "edit", "check", "cursor"),
    ),
    "declared": Guide(
        "Declared",
        "The declared schema; what the provider does not accept is marked.",
        ("lost",),
    ),
    "lowered": Guide(
        "Accepted",
        "The schema after the smallest change that makes the provider accept it. Together with the remaining check, "
        "it accepts the same arguments as the original.",
    ),
    "calls": Guide(
        "Calls",
        "All tool calls of the history and of the response, then calls that the model wrote as markup in plain text. "
        "Each call has the steps needed to read its arguments.",
        ("taken", "edit", "error", "cursor"),
    ),
    "rungs": Guide(
        "Steps",
        "The steps from the model's text to the tool's arguments: parsed strictly, unwrapped, repaired, coerced "
        "to the schema, validated; before and after, with the differences marked. A refusal shows the error that "
        "the model gets instead of a result.",
        ("taken", "edit", "error", "cursor"),
    ),
    "points": Guide(
        "Breakpoints",
        "Exchanges that the recorder has paused, oldest first: for how long, and how long the client still waits "
        "(? = unknown). c forwards one, e edits it first, a lets a simulator respond, d drops it. Below, the "
        "kinds of breakpoints: space arms or disarms one. A request is forwarded only after its last byte is "
        "checked; a response is paused at its first tool call. Everything else passes unchanged.",
        ("held", "warning", "error", "cursor"),
    ),
    "why": Guide(
        "Reason for the pause",
        "The finding, its rule (w shows the page) and its pointer; the client's timeout, and how this timeout is "
        "known; the bytes that were already forwarded. For a kind of breakpoint: the traffic that it pauses.",
        ("held", "warning", "error"),
    ),
    "held": Guide(
        "Paused",
        "The paused bytes, decoded, with the fault marked.",
        ("form",),
    ),
    "facts": Guide(
        "Preview",
        "The verdict of the target's contract on the request as sent; signed blocks that an edit invalidated; "
        "losses of the conversion; corrections from a profile of exactly this target and model, with the measured "
        "fact, samples and date (space switches one on or off, and the request is updated); then URL, protocol "
        "and API key variable. Enter sends.",
        ("error", "warning", "lost", "cursor"),
    ),
    "going": Guide(
        "Request as sent",
        "The bytes as sent; for a loss or a signed block, the original request.",
    ),
    "beside": Guide(
        "Responses",
        "The recorded and the new response, item by item; the new response is shown while it arrives. Differences "
        "in a text are marked; the last row compares the bytes.",
        ("same", "differing", "cursor"),
    ),
    "found": Guide(
        "Findings",
        "The findings of the new exchange instead of those of the recorded one.",
        ("error", "warning"),
    ),
    "compared-turns": Guide(
        "Turns",
        "Turns seen on both sides, with their exchange numbers and differences; then turns seen on one side only. "
        "The hop nearer to the client is on the left. The key ] moves through all differences.",
        ("same", "differing", "warning", "cursor"),
    ),
    "what-happened": Guide(
        "Differences",
        "The kinds of change between the two hops, in order of their first occurrence: what changed, where, from "
        "which byte, and whether the meaning changed (= means: same meaning). Enter shows the bytes in the session.",
        ("same", "differing", "cursor"),
    ),
    "both-sides": Guide(
        "Side by side",
        "Everything that differs: headers, contents of the responses, byte ranges, events one by one. Differences "
        "are marked; those of the selected change are highlighted.",
        ("same", "differing", "cursor"),
    ),
    "raw": Guide(
        "Raw response",
        "Every event or line of the new response, as received.",
        ("form",),
    ),
    "steps": Guide(
        "Steps",
        "The conversation step by step: answered tool calls, sent requests with status and verdict; the last line "
        "is the next step. Enter runs it, r runs steps until a decision is "
        "needed. Tools are never run: a call gets the "
        "recorded result, an error, or what you write. The header shows corrections from a profile of exactly "
        "this target and model; P explains and switches them.",
        ("taken", "error", "warning", "cursor"),
    ),
    "step": Guide(
        "Step",
        "For a tool call: its parsed arguments, and the result that it would get. For a request: what is new in it.",
    ),
    "variants": Guide(
        "What if",
        "Each row is a variant of the request, each column a target, each cell the outcome. Every outcome is kept "
        "as a branch. Simulators run immediately, real endpoints only when you send.",
        ("taken", "error", "warning", "cursor"),
    ),
    "outcome": Guide(
        "Outcome",
        "The outcome under the cursor: the target's response, and the findings.",
    ),
    "probes": Guide(
        "Probes",
        "Each row is a probe, each column a model behind a target, each cell a verdict with the number of samples "
        "that passed. Results of an earlier run show their age. x marks the probes of the next run. Before "
        "anything is sent to a real endpoint, Workbench shows the number of requests and tokens.",
        ("passed", "partial", "failed", "unclear", "cursor"),
    ),
    "verdict-of": Guide(
        "Verdict",
        "The reason for the verdict of the probe under the cursor: samples, confidence, the requests behind it, "
        "and the facts for the profile. Enter on the probe opens the requests as a session.",
        ("passed", "partial", "failed", "unclear"),
    ),
    "profile": Guide(
        "Profile",
        "The facts measured now, next to those of the last run. Drift is a change in the pass rate of a probe that "
        "is too large to be chance. workbench profile lists all profiles.",
        ("edit",),
    ),
    "probe-steps": Guide(
        "Steps",
        "The requests of one sample of a probe. The last line is the next request: enter sends it, r sends all "
        "that remain. Tools are never run: the probe answers the calls itself.",
        ("taken", "error", "edit", "cursor"),
    ),
    "reasoned": Guide(
        "Notes",
        "The questions, the model's responses and the findings; at the end the verdict, its reason, and the facts "
        "learned. A sample that you ran step by step is not added to a profile.",
        ("passed", "partial", "failed", "unclear", "call", "reasoning"),
    ),
    "asked": Guide(
        "Pending request",
        "The request as it would be sent. Enter edits the value under the cursor; the probe continues with the "
        "response.",
        ("edit", "error", "warning", "cursor"),
    ),
    "came": Guide(
        "Decoded",
        "The IR of the response, or of the request as sent.",
        ("call", "reasoning"),
    ),
    "asked-bytes": Guide(
        "Bytes",
        "The same in bytes. Messages that are new since the previous request are marked.",
        ("selected", "form"),
    ),
    "chart": Guide(
        "Metrics",
        "A bar for each turn or session: what its tokens were used for; then their cost at list prices; then how "
        "often tool use succeeded and failed, by provider, model, client or day. ~ marks tokens estimated from "
        "the bytes because no response counted them. Nothing is sent.",
        ("system", "overhead", "definitions", "history", "new", "output", "cached"),
    ),
    "measured": Guide(
        "Tokens used for",
        "The row under the cursor in numbers, and what a cache breakpoint would have saved.",
        ("system", "overhead", "definitions", "history", "new", "output"),
    ),
    "HomePane": Guide(
        "Sessions",
        "Examples, recent sessions, recordings, and sessions of installed clients (read-only), each with its "
        "verdict and its first break.",
        ("error", "warning", "held", "unread", "cursor"),
    ),
}
"""Guides by the id of the pane; by the name of its class if it has no id."""


def help_lines(guide: Guide | None, tables: Tables, width: int) -> list[Line]:
    """This pane and its signs, the keys in groups, the filter if it applies here, other signs, the glossary.

    Args:
        guide: guide of the focused pane, if it has one.
        tables: headings and keys in force.
        width: columns.
    """
    lines: list[Line] = []
    if guide:
        lines += [line(Span(guide.title, "role")), *wrap(guide.text, width, indent=2), BLANK]
        lines += [*in_columns([_sign(name, _column(width)) for name in guide.signs], width), BLANK]
    for title, rows in _key_groups(tables):
        lines.append(line(Span(f"keys: {title}", "role")))
        lines += in_columns([_key(key, _column(width)) for key in rows], width)
        lines.append(BLANK)
    if any(key.id == "session.filter" for _, rows in tables for key in rows):
        lines += [*filter_lines(width), BLANK]
    rest = [name for name in SIGNS if not guide or name not in guide.signs]
    lines += [line(Span("other signs" if guide else "signs", "role"))]
    lines += [*in_columns([_sign(name, _column(width)) for name in rest], width), BLANK]
    return lines + glossary_lines(width)


def _key_groups(tables: Tables) -> Iterator[tuple[str, list[Key]]]:
    """The keys in force by what they do; those of the focused pane come first in each group."""
    found: dict[str, list[Key]] = {}
    for key in (key for _, rows in tables for key in rows):
        found.setdefault(group(key), []).append(key)
    yield from ((title, found[title]) for title in (MOVE, LOOK, CHANGE, PROGRAM) if title in found)


def _column(width: int) -> int:
    """Width of a column, without the gap to the next one."""
    return width // max(1, width // LEAST_COLUMN) - GAP


def in_columns(blocks: Sequence[Sequence[Line]], width: int) -> list[Line]:
    """Blocks of lines in as many columns as there is room for, read from top to bottom; no block is divided."""
    height = -(-sum(map(len, blocks)) // max(1, width // LEAST_COLUMN))
    columns: list[list[Line]] = [[]]
    for block in blocks:
        if len(columns[-1]) + len(block) > height and columns[-1] and len(columns) < width // LEAST_COLUMN:
            columns.append([])
        columns[-1] += block
    room = _column(width) + GAP
    return [_beside(row, room) for row in zip_longest(*columns, fillvalue=BLANK)]


def _beside(row: Sequence[Line], room: int) -> Line:
    padded = [(*part, Span(" " * max(0, room - _cells(part)))) for part in row[:-1]]
    return line(*(span for part in padded for span in part), *row[-1])


def _cells(part: Line) -> int:
    return sum(max(abs(span.width), cells(span.text)) for span in part)


def _key(key: Key, width: int) -> list[Line]:
    first, *more = wrap(key.text, width - _KEYS)
    names = Span("  " + (" ".join(key.names) or "none"), "accent strong", _KEYS)
    return [(names, *first), *((Span(" " * _KEYS), *rest) for rest in more)]


def _sign(name: str, width: int) -> list[Line]:
    sign, style, meaning = SIGNS[name]
    first, *more = wrap(meaning, width - _SIGN)
    return [line("  ", Span(sign, style, _SIGN - 2), *first), *((Span(" " * _SIGN), *rest) for rest in more)]
