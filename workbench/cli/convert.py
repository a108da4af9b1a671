"""Convert a request or a response to another protocol, and list the losses.

Converts one exchange: --exchange N, or else the first that can be converted. --side selects the request (the default,
if there is one) or the response. A stream becomes a stream of the target protocol. If the protocol is the same, the
body is unchanged, byte for byte; for another, a request that continues a response which only its provider holds
(previous_response_id) gets the turns before it, if the file has them. An existing OUT is only overwritten with --force,
FILE itself never.

JSON output is one object:
  {"path", "exchange", "side", "from", "protocol", "url_path", "content_type", "body", "body_base64",
   "ids": {new: old}, "losses": [{"pointer", "what", "instead"}], "history"}
"exchange" counts from zero. "history" lists the exchanges whose turns the provider held. "from" is the old protocol,
"protocol" the new one. "body" is the parsed body, or the text of a stream; "body_base64" its bytes if they are not
text, else null. "ids" are the ids that had to change; the old id is null if there was none. "pointer" is a place in the
old body.

Exit status: 0 even if something is lost; 2 if there is nothing to convert.
"""

from __future__ import annotations

import argparse
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _files, _output
from workbench.errors import LocalProtocolError, WireError
from workbench.views import column_text, id_line, loss_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.convert import Conversion
    from workbench.ir import JsonValue
    from workbench.protocols import DecodedExchange
    from workbench.wire.session import Session

NAME = "convert"
HELP = "convert a request or a response to another protocol"
SIDES = ("request", "response")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help=_files.FILE_HELP)
    parser.add_argument("--to", metavar="PROTOCOL", required=True, help="protocol to convert to")
    parser.add_argument("-o", "--output", metavar="OUT", help="write the exact bytes of the new body to this file")
    _files.add_force(parser)
    _files.add_exchange(parser)
    parser.add_argument("--side", choices=SIDES, help="side to convert (default: the request, if there is one)")
    parser.add_argument("--protocol", metavar="NAME", help="protocol of the input (default: detected)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(provider=None)


def run(args: argparse.Namespace) -> int:
    """Convert one side of one exchange."""
    from workbench import protocols
    from workbench.convert import convert

    protocols.get(args.to)
    _files.validate(args)
    if args.output is not None:
        _files.refuse_to_replace(Path(args.output), args.file, is_forced=args.force)
    session = _files.open_file(args.file, args)
    try:
        decoded, side = _exchange_and_side(session, args)
        others = len(session) - 1 if args.exchange is None else 0
        decoded, earlier = _with_held_history(decoded, session, args.to) if side == SIDES[0] else (decoded, ())
        conversion = convert(decoded, args.to, side=side)
    finally:
        session.close()
    if args.output is not None:
        Path(args.output).write_bytes(conversion.body)
    if args.format == "json":
        _output.emit_json(_as_json(args.file, decoded, side, conversion) | {"history": list(earlier)})
    else:
        _print(decoded, side, conversion, args.output, others, earlier)
    return 0


def _exchange_and_side(session: Session, args: argparse.Namespace) -> tuple[DecodedExchange, str]:
    """The exchange and side to convert. Raises UsageError, LocalProtocolError."""
    from workbench.protocols import DecodedExchange

    indices = range(len(session))
    if args.exchange is not None or not len(session):
        first = _files.exchange_index(session, args.exchange)
        indices = range(first, first + 1)
    for n in indices:
        decoded = DecodedExchange(n, session.exchange(n), args.protocol)
        for side in (args.side,) if args.side else SIDES:
            if getattr(decoded, side) is not None:
                return decoded, side
        if args.exchange is not None:
            return decoded, args.side or SIDES[0]
    what = args.side or "request or response"
    raise LocalProtocolError(f"no decodable {what} in {session.name}", hint="set the protocol with --protocol")


def _with_held_history(
    decoded: DecodedExchange, session: Session, target: str
) -> tuple[DecodedExchange, tuple[int, ...]]:
    """For another protocol, the request with the turns that the server held, and the exchanges that they are of."""
    from workbench.convert import with_held_history
    from workbench.protocols import DecodedExchange

    whole = with_held_history(decoded, session.exchange) if target != decoded.protocol else None
    if whole is None:
        return decoded, ()
    return DecodedExchange(decoded.index, whole.exchange, decoded.protocol), whole.earlier


def _as_json(path: str, decoded: DecodedExchange, side: str, conversion: Conversion) -> JsonValue:
    body, sealed = _readable(conversion)
    return {
        "path": path,
        "exchange": decoded.index,
        "side": side,
        "from": decoded.protocol,
        "protocol": conversion.protocol,
        "url_path": conversion.path or None,
        "content_type": conversion.content_type,
        "body": body,
        "body_base64": sealed,
        "ids": dict(conversion.ids),
        "losses": [loss._asdict() for loss in conversion.losses],
    }


def _readable(conversion: Conversion) -> tuple[JsonValue, str | None]:
    """(body, None), or (None, base64) if it is not text."""
    from workbench.wire import loads

    if conversion.content_type == "application/json":
        try:
            return loads(conversion.body), None
        except WireError:
            pass
    try:
        return conversion.body.decode(), None
    except UnicodeDecodeError:
        return None, b64encode(conversion.body).decode()


def _print(
    decoded: DecodedExchange,
    side: str,
    conversion: Conversion,
    output: str | None,
    others: int,
    earlier: Sequence[int],
) -> None:
    """Print a headline, losses and ids, then the body unless it was written to a file."""
    is_same = " (unchanged)" if decoded.protocol == conversion.protocol else ""
    _output.emit(
        f"{side} {decoded.index + 1}: {decoded.protocol} ({decoded.protocol_from}) -> {conversion.protocol}{is_same}"
    )
    if others:
        _output.emit(f"{_output.number(others, 'other exchange')} in the file: select one with --exchange N")
    if earlier:
        numbers = ", ".join(str(index + 1) for index in earlier)
        _output.emit(f"history: includes the turns of exchange {numbers}, which only the provider had stored")
    if conversion.path:
        _output.emit(f"path: {conversion.path}")
    if output is not None:
        _output.emit(f"written: {output} ({_output.number(len(conversion.body), 'byte')}, {conversion.content_type})")
    _output.emit(f"lost: {_output.number(len(conversion.losses), 'part') if conversion.losses else 'nothing'}")
    for loss in conversion.losses:
        _output.emit(f"  {loss_words(loss)}")
    if conversion.ids:
        _output.emit(f"renamed: {_output.number(len(conversion.ids), 'id')}")
    for new, old in conversion.ids.items():
        _output.emit(f"  {column_text(id_line(new, old))}")
    if output is None:
        _output.emit()
        _emit_body(conversion)


def _emit_body(conversion: Conversion) -> None:
    import json

    body, sealed = _readable(conversion)
    if isinstance(body, str):
        text = body
    elif sealed is not None:
        text = f"{len(conversion.body):,} bytes of binary data: write them with -o"
    else:
        text = json.dumps(body, ensure_ascii=False, indent=2)
    for line in text.split("\n"):
        _output.emit(line)
