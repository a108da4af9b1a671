"""Print one view of a file.

  wire        request and response as sent, bodies content-decoded
  ir          messages and their parts, with pointers
  arguments   how the arguments of each tool call were read: parsed, repaired, coerced, validated or refused
  closure     each tool call, its result, and what is wrong between them
  reasoning   the reasoning ledger of each request
  events      the events of a stream, what each adds to the message, and what the usual SDKs build from them
  story       the whole session from top to bottom: each conversation once, tool results below their calls
  textcalls   tool calls written as text in the response: format, typed arguments, and faults, with places
  mcp         what tool servers (MCP) returned next to what the model received, with the parts that never reached it

The view textcalls finds text that is meant as a tool call, in any format; with --parser FORMAT, the parser of one
format reads all texts instead. FORMAT is one of
  claude-xml cline-xml deepseek-v3 deepseek-v31 dsml functools gemma glm groq harmony hermes json-fence kimi kimi-k3
  llama-json minimax minimax-m3 mistral pythonic qwen3-coder react tool-code

JSON output is one object: {"path", "as", "about", "exchanges": [VIEW, …]}, one VIEW for each exchange:
  "about"     notes in the session file: "story", "source", "made" (constructed or recorded)
  every view  "index" (from zero), "protocol", "provider", "conversation"
  wire        "request", "response": {"line", "headers": [[name, value]], "body", "body_base64", "bytes", "encoding"};
              "digests" of the recorded bytes, null if it was not recorded: {"request", "response": {"in",
              "out": SHA-256 of the body as received and as sent on, "bytes_in", "bytes_out", "equal"}}
  ir          "request", "response": {"model", "messages": [{"role", "pointer", "parts"}], …}
  arguments   "calls": [{"side", "pointer", "tool", "id", "steps": [{"rung", "before", "after", "note"}]}]
  closure     "lines": [{"id", "name", "state", "note", "call", "results"}]
  reasoning   "entries": [{"turn", "pointer", "carrier", "received_in", "owed", "sent", "why", …}], "came_in"
  events      "frames": [{"number", "direction", "type", "bytes", "value", "text"}] of a WebSocket or gRPC call;
              "events": [{"number", "event", "data", "bytes", "at", "terminated", "did", "anomalies"}], "clients":
              [{"names", "written_after", "agree", "event", "differences", "raises", "notes"}]
              "at" is seconds since the request; "did" is what an event changes in the message, in words; "clients"
              groups the SDKs that build the same message from the stream, "event" is where a group differs from ours
  textcalls   "parser", "texts": [{"pointer", "carrier", "pieces": [{"kind", "start", "end", "text"}]}]
              "kind" is call, marker (a control marker outside any call) or prose; a call also has "format", "name",
              "id", "arguments", "raw", "in_reasoning" and "problems": [{"problem", "start", "end"}]; places count
              characters of the text
  story       instead of "exchanges" "items": [{"kind", "depth", "exchange", "side", "pointer", "label", "text", "note",
              "seconds", "at", "severity", "failed"}], in reading order; an item belongs to the last one before it that
              has a smaller depth; "kind" is conversation, earlier, history, message, reasoning, text, call, result,
              attempts, error, finding, part, others or other
  mcp         instead of "exchanges" "results": [{"server", "tool", "exchange": of the tools/call, "seconds", "sent",
              "received", "told": {"exchange", "pointer", "id", "result"}, "stated", "lost"}]; "stated" is false where
              the two were matched by tool name and arguments; "lost": [{"kind", "pointer", "bytes", "characters"}] are
              the parts of "received" that the model was not told: "kind" is structured, part, cut or shadowed
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli import _files, _output, _streams

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.wire.session import Session

NAME = "show"
HELP = "print one view of a file: wire, ir, arguments, closure, reasoning, events, story, mcp or textcalls"
VIEWS = ("wire", "ir", "arguments", "closure", "reasoning", "events", "story", "mcp", "textcalls")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--as", dest="view", choices=VIEWS, default="ir")
    parser.add_argument("--parser", metavar="FORMAT", help="with --as textcalls: read all texts in this format")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    _files.add_exchange(parser)
    _files.add_provider(parser)


def run(args: argparse.Namespace) -> int:
    """Print the view of one exchange, or of all exchanges."""
    from workbench.cli._show import json_format, text_format

    _files.validate(args)
    _validate_parser(args)
    session = _files.open_file(args.file, args)
    if args.view == "textcalls" and _files.is_text(session):
        args.protocol = _files.MODEL_TEXT  # who asks for the calls in a text says that it is a model's
    try:
        inspector = _files.inspector(session, args, is_lazy=args.format == "text")
        indices = range(len(session))
        if args.exchange is not None:
            indices = range(
                _files.exchange_index(session, args.exchange), _files.exchange_index(session, args.exchange) + 1
            )
        if args.view == "story":
            _print_story(args, session, inspector, indices)
            return 0
        if args.view == "mcp":
            _print_passages(args, session, inspector, indices)
            return 0
        if args.format == "json":
            views = [json_format.view(args.view, inspector.detail(n), args.parser) for n in indices]
            _output.emit_json({"path": args.file, "as": args.view, "about": dict(session.about), "exchanges": views})
            return 0
        for line in _output.about_lines(session.about):
            _output.emit(line)
        for n in indices:
            if _streams.is_muted():
                break
            for line in text_format.view(args.view, inspector.detail(n), args.parser):
                _output.emit(line)
            _output.emit()
        for line in session.damage:
            _output.complain(line, 0)
        return 0
    finally:
        session.close()


def _print_story(args: argparse.Namespace, session: Session, inspector: Inspector, indices: range) -> None:
    """Print the story of a session, or what belongs to one exchange of it."""
    from workbench.cli._show import as_story

    story = as_story.read(inspector)
    if args.format == "json":
        items = as_story.as_json(story, indices)
        _output.emit_json({"path": args.file, "as": args.view, "about": dict(session.about), "items": items})
        return
    for line in (*_output.about_lines(session.about), *as_story.as_text(story, indices)):
        _output.emit(line)
    for line in session.damage:
        _output.complain(line, 0)


def _print_passages(args: argparse.Namespace, session: Session, inspector: Inspector, indices: range) -> None:
    """Print what tool servers returned next to what the model received."""
    from workbench.cli._show import as_mcp

    found = as_mcp.passages(inspector, indices)
    if args.format == "json":
        results = as_mcp.as_json(found)
        _output.emit_json({"path": args.file, "as": args.view, "about": dict(session.about), "results": results})
        return
    for line in (*_output.about_lines(session.about), *as_mcp.as_text(found)):
        _output.emit(line)
    for line in session.damage:
        _output.complain(line, 0)


def _validate_parser(args: argparse.Namespace) -> None:
    """Raise UsageError for an unknown ``--parser``, or one without the view that uses it."""
    if args.parser:
        from workbench.errors import UsageError
        from workbench.toolcalls import formats

        if args.view != "textcalls":
            raise UsageError("--parser needs --as textcalls")
        formats.get(args.parser)
