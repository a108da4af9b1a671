"""Keys of the screens that show a session in another way: a tuple of rows for each scope."""

from __future__ import annotations

from workbench.tui.key import Key, search_keys

BYTE_SEARCH = (
    Key("bytesearch.again", "/", "again", "search", "search all exchanges for a different text", 3),
    Key(
        "bytesearch.leave",
        "escape",
        "leave",
        "cancel",
        "cancel the search and keep the matches so far; else go back",
        1,
    ),
    Key("bytesearch.back", "q", "back", "back", "go back to the session", 2),
)

STORY = (
    Key("story.next-break", "]", "break(1)", "next break", "next break (error or warning) of the session", 2),
    Key("story.previous-break", "[", "break(-1)", "previous break", "previous break", 8),
    Key("story.fold", "space", "fold", "fold", "show or hide the lines that belong to this line", 3),
    Key("story.fold-all", "*", "fold_all", "unfold all", "show everything; press again to fold it", 7),
    Key("story.pane", "tab,shift+tab", "pane", "timeline", "switch between the story and the timeline", 4),
    Key("story.search", "/", "search", "search", "search the whole story, folded parts too", 5),
    Key("story.next-match", "n", "match(1)", "next match", "next match of the search"),
    Key("story.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("story.zoom", "z", "zoom", "zoom", "show only the focused pane; press again to restore", 9),
    Key("story.leave", "escape", "leave", "cancel", "end the search, the reading or the zoom; else go back", 1),
    Key("story.back", "q,S", "back", "back", "go back to the session", 6),
)

LANES = (
    Key("lanes.next", "l,right", "bar(1)", "next exchange", "next exchange in the same lane (one conversation or hop)"),
    Key(
        "lanes.previous",
        "h,left",
        "bar(-1)",
        "previous exchange",
        "previous exchange in the same lane (one conversation or hop)",
    ),
    Key("lanes.closer", "+,equals_sign", "zoom_time(1)", "closer", "zoom in on the time around the exchange"),
    Key("lanes.wider", "-", "zoom_time(-1)", "wider", "zoom out: show more time"),
)

STREAM = (
    Key(
        "stream.next-mark",
        "]",
        "mark(1)",
        "next anomaly",
        "next anomaly, or next event that clients read differently",
        1,
    ),
    Key(
        "stream.previous-mark",
        "[",
        "mark(-1)",
        "previous",
        ("previous anomaly, or previous event that clients read differently"),
        2,
    ),
    Key("stream.next-match", "n", "match(1)", "next match", "next match of the search"),
    Key("stream.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
    Key("stream.next-pane", "tab", "pane(1)", "pane", "next pane: events, message, clients", 5),
    Key("stream.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("stream.search", "/", "search", "search", "search the events and what they changed", 6),
    Key("stream.zoom", "z", "zoom", "zoom", "show only the focused pane; press again to restore", 7),
    Key("stream.leave", "escape", "leave", "back", "end the search or the zoom; else go back"),
    Key("stream.back", "q,t", "back", "back", "go back to the session; enter shows the bytes of the event", 4),
)

DIFF = (
    Key("diff.pane", "tab,shift+tab", "pane", "changes/bytes", "switch between the changes and their bytes", 4),
    Key("diff.next-exchange", "J", "exchange(1)", "next request", "compare the next request with the one before it", 5),
    Key(
        "diff.previous-exchange",
        "K",
        "exchange(-1)",
        "previous request",
        "compare the previous request with the one before it",
        6,
    ),
    *search_keys("diff"),
    Key("diff.back", "q,d", "back", "back", "go back to the session", 2),
)

COMPARE = (
    Key(
        "compare.next-difference", "]", "next(1)", "next difference", "next difference, in this turn or a later one", 1
    ),
    Key("compare.previous-difference", "[", "next(-1)", "previous", "previous difference", 4),
    Key("compare.next-turn", "J", "turn(1)", "next turn", "next turn, with or without a difference", 6),
    Key("compare.previous-turn", "K", "turn(-1)", "previous turn", "previous turn"),
    Key("compare.next-pane", "tab", "pane(1)", "pane", "next pane: turns, differences, side by side", 5),
    Key("compare.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("compare.other", "o", "other", "other", "compare with another exchange or another file", 3),
    Key("compare.hops", "h", "hops", "hops", "compare the hops of this session; press again for the next pair", 7),
    *search_keys("compare"),
    Key("compare.back", "q,D", "back", "back", "go back to the session", 2),
)

CONVERSION = (
    Key("conversion.next-protocol", "l,right", "target(1)", "protocol", "convert to the next protocol", 3),
    Key("conversion.previous-protocol", "h,left", "target(-1)", "previous", "convert to the previous protocol"),
    Key("conversion.side", "r", "side", "request/response", "convert the request or the response", 4),
    Key("conversion.next-pane", "tab", "pane(1)", "pane", "next pane: original, converted, losses", 3),
    Key("conversion.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    Key("conversion.next-exchange", "J", "exchange(1)", "next exchange", "next exchange", 8),
    Key("conversion.previous-exchange", "K", "exchange(-1)", "previous exchange", "previous exchange", 9),
    Key("conversion.write", "w", "write", "write", "write the converted body to a file", 5),
    *search_keys("conversion"),
    Key("conversion.back", "q,c", "back", "back", "go back to the session", 2),
)

TOOLS = (
    Key(
        "tools.next-pane",
        "tab",
        "pane(1)",
        "pane",
        "next pane: tools, providers, reasons, declared and accepted schema",
        3,
    ),
    Key("tools.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    *search_keys("tools"),
    Key("tools.back", "q,T", "back", "back", "go back to the session", 2),
)

MATRIX = (
    Key("matrix.pane", "tab,shift+tab", "pane", "pane", "next pane: contracts, findings, request", 3),
    Key(
        "matrix.next-refusal",
        "]",
        "refusal(1)",
        "next refusal",
        "next contract that refuses the request or finds it suspicious",
        1,
    ),
    Key(
        "matrix.previous-refusal",
        "[",
        "refusal(-1)",
        "previous",
        ("previous contract that refuses the request or finds it suspicious"),
        4,
    ),
    Key(
        "matrix.contract",
        "e",
        "contract",
        "contract",
        "show the contract: what the provider requires and refuses, with sources",
        5,
    ),
    *search_keys("matrix"),
    Key("matrix.back", "q,m", "back", "back", "go back to the session", 2),
)

LADDER = (
    Key("ladder.pane", "tab,shift+tab", "pane", "pane", "next pane: calls, steps, schema, bytes", 3),
    *search_keys("ladder"),
    Key("ladder.back", "q,A", "back", "back", "go back to the session", 2),
)

PASSAGES = (
    Key(
        "passages.next-pane",
        "tab",
        "pane(1)",
        "pane",
        "next pane: results, path, server's response, what the model received",
        3,
    ),
    Key("passages.previous-pane", "shift+tab", "pane(-1)", "previous pane", "previous pane"),
    *search_keys("passages"),
    Key("passages.back", "q,R", "back", "back", "go back to the session", 2),
)

SURVEY = (
    Key("survey.group", "b", "group", "group by", "group by provider, client, model or protocol", 2),
    Key("survey.filter", "/", "filter", "filter", "show only the findings of a filter, for example rule=closure.*", 3),
    Key("survey.back", "q,escape", "back", "back", "from places to groups; else go back", 4),
)
METRICS = (
    Key("metrics.tokens", "1", "view('tokens')", "tokens", "show tokens per turn or per session", 2),
    Key("metrics.cost", "2", "view('cost')", "cost", "show the cost of the tokens", 3),
    Key("metrics.rates", "3", "view('rates')", "rates", "show how often tool use succeeded and failed", 4),
    Key("metrics.group", "b", "group", "group by", "group the rates by provider, model, client or day", 5),
    Key("metrics.next-view", "tab", "turn(1)", "view", "next view", 6),
    Key("metrics.previous-view", "shift+tab", "turn(-1)", "previous view", "previous view"),
    Key("metrics.folder", "o", "folder", "folder", "choose another folder of sessions, or a file", 7),
    Key("metrics.leave", "escape", "leave", "cancel", "cancel counting; else go back"),
    Key("metrics.back", "q", "back", "back", "go back", 1),
)
