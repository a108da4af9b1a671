"""What becomes of every recording: file × exchanges × result. ``python -m tests.recordings_table`` prints all of it.

A row says how many exchanges of a file are decoded, how many bodies come out byte for byte when nobody touched them,
and how many of a sample of leaves are where they are said to be and can be changed there and nowhere else.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.protocols import laws
from workbench import protocols
from workbench.errors import UnreadableInput, WorkbenchError
from workbench.formats.importers import open_input
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.known_messages import KnownMessages
from workbench.wire.exchange import Exchange
from workbench.wire.frames import seen_frames
from workbench.wire.session import Session
from workbench.wire.stream import Framing, is_sealed

SAMPLE = 2
"""Leaves of a body that are checked; a file has up to a hundred bodies."""

MOST = 12
"""Exchanges of one file whose bodies are written again: a long transcript repeats its history in each of hundreds."""

LARGE = 100_000
"""Bytes of a body beyond which one leaf is enough: each edit reads it three times."""

SAME_NAME = {
    "realtime-websocket": ("openai-realtime", "gemini-live"),
    "xai-grpc-sdk": ("xai-grpc",),
    "transcript-atif": ("openai-chat",),
    "transcript-gemini-cli": ("gemini",),
    "transcript-inspect": ("openai-chat", "anthropic-messages"),
    "transcript-pi": ("openai-responses", "anthropic-messages"),
}
"""Protocol as the index of the recordings names it → what it is called here."""


@dataclass
class Score:
    """So many of so many."""

    done: int = 0
    of: int = 0

    def add(self, is_done: bool) -> None:
        self.of += 1
        self.done += is_done

    def __str__(self) -> str:
        return f"{self.done}/{self.of}" if self.of else "-"


@dataclass
class Row:
    """One file."""

    name: str
    protocol: str
    """As the index says."""
    exchanges: int = 0
    found: Counter[str] = field(default_factory=Counter)
    decoded: Score = field(default_factory=Score)
    requests: Score = field(default_factory=Score)
    responses: Score = field(default_factory=Score)
    leaves: Score = field(default_factory=Score)
    frames: int = 0
    problems: list[str] = field(default_factory=list)
    unread: str = ""

    @property
    def is_whole(self) -> bool:
        """Nothing of the file is left undone."""
        scores = (self.decoded, self.requests, self.responses, self.leaves)
        return not self.unread and not self.problems and all(score.done == score.of for score in scores)

    def expected(self) -> set[str]:
        """Names its protocols may have here."""
        return {name for part in self.protocol.split("+") for name in SAME_NAME.get(part, (part,))}

    def line(self) -> str:
        result = self.unread or " ".join(
            (
                f"{self.exchanges:>3} exchanges",
                f"decoded {self.decoded!s:>5}",
                f"requests {self.requests!s:>5}",
                f"answers {self.responses!s:>5}",
                f"leaves {self.leaves!s:>5}",
                f"· {', '.join(self.found) or 'no model exchange'}",
                f"· {self.frames} frames listed" if self.frames else "",
                f"· {'; '.join(self.problems[:3])}" if self.problems else "",
            )
        )
        return f"{'✓' if self.is_whole else '✗'} {self.name}\n    {result.rstrip()}"


def listed(folder: Path) -> list[tuple[str, str]]:
    """(file, protocol) of the index."""
    with (folder / "index.tsv").open(encoding="utf-8") as lines:
        return [(row["file"], row["protocol"]) for row in csv.DictReader(lines, delimiter="\t")]


def row_of(folder: Path, name: str, protocol: str) -> Row:
    """Open a file and try everything."""
    row = Row(name, protocol)
    try:
        session = open_input(str(folder / name))
    except UnreadableInput as error:
        row.unread = f"no importer reads it: {error.what}"
        return row
    try:
        fill(row, session)
    finally:
        session.close()
    return row


def fill(row: Row, session: Session) -> None:
    """The results of an open session."""
    row.exchanges = len(session)
    step = max(1, len(session) // MOST)
    known = KnownMessages()
    for index in range(len(session)):
        _exchange(row, index, session.exchange(index), known, is_sample=index % step == 0)


def _exchange(row: Row, index: int, exchange: Exchange, known: KnownMessages, *, is_sample: bool) -> None:
    decoded = DecodedExchange(index, exchange, known=known)
    row.frames += sum(1 for _ in seen_frames(exchange))
    if is_sample:
        unnamed = replace(exchange, request=exchange.request and replace(exchange.request, url=""))
        bare = DecodedExchange(index, unnamed, known=known)
        if bare.protocol != decoded.protocol:
            row.problems.append(f"exchange {index + 1}: without its URL it is taken for {bare.protocol}")
    if decoded.protocol is None:
        return
    row.found[decoded.protocol] += 1
    if decoded.protocol not in protocols.protocols():
        row.frames += len(decoded.events)
        return
    row.decoded.add(not decoded.problems)
    row.problems += (f"exchange {index + 1}: {p.message}" for p in decoded.problems)
    if not is_sample:
        return
    adapter = protocols.get(decoded.protocol)
    for side, score in ((REQUEST, row.requests), (RESPONSE, row.responses)):
        said = decoded.request if side == REQUEST else decoded.response
        body = decoded.request_text if side == REQUEST else decoded.response_text
        if said is None:
            continue
        try:
            encode = adapter.encode_request if side == REQUEST else adapter.encode_response
            score.add(encode(said, body) == body)  # type: ignore[arg-type]
        except WorkbenchError as error:
            score.add(False)
            row.problems.append(f"exchange {index + 1}, {side}: {error}")
        for problem in _leaves(row, decoded, side, body):
            row.problems.append(f"exchange {index + 1}, {side}: {problem}")


def _leaves(row: Row, decoded: DecodedExchange, side: str, body: bytes) -> Iterator[str]:
    """Check a sample of the leaves of one body; what is wrong with them, in words."""
    if side == RESPONSE and decoded.response and not decoded.response.messages:
        return
    subject = laws.Subject(body, side, decoded.protocol or "")
    found = [(m, leaf) for m, leaf in subject.leaves() if not laws.is_structure(leaf)]
    size = 1 if len(body) > LARGE else SAMPLE
    for message, leaf in found[:: max(1, len(found) // size)][:size]:
        try:
            if side == RESPONSE and subject.said.is_stream and subject.said.itemized:
                _check_repeated(subject, message, leaf)
            elif side == RESPONSE and subject.decoded.framing is Framing.AWS:
                _check_counted(subject, message, leaf)
            else:
                assert laws.same(subject.value(message, leaf), leaf.value), "its place says something else"
                laws.check_edit(subject, message, leaf, laws.other(leaf.value))
            row.leaves.add(True)
        except (AssertionError, WorkbenchError, LookupError) as error:
            row.leaves.add(False)
            yield f"{leaf.pointer} ({leaf.name}): {str(error).splitlines()[0] if str(error) else 'not changed alone'}"


def _check_counted(subject: laws.Subject, message: laws.Message, leaf: laws.Leaf) -> None:
    """A leaf of a stream whose frames count their bytes: with it the frames of its pieces change, and no other."""
    events = subject.decoded.events
    place = subject.decoded.place_of(RESPONSE, message, leaf.part, leaf.name)
    assert place.spans, "it has no place"
    if not any(is_sealed(events[n]) for n in place.events):
        assert laws.same(subject.value(message, leaf), leaf.value), "its place says something else"
    new = laws.other(leaf.value)
    changed = laws.Subject(
        subject.encode(subject.with_leaf(message, leaf, new), subject.body), RESPONSE, subject.protocol
    )
    (again,) = [found for _, found in changed.leaves() if laws.alike(found, leaf)]
    assert laws.same(again.value, new), "the change did not come out"
    assert not changed.decoded.problems, "the frames are wrong"
    for a, b in zip(events, changed.decoded.events, strict=True):
        is_same = subject.body[a.start : a.end] == changed.body[b.start : b.end]
        assert is_same or a.number in place.events, "another frame changed"


def _check_repeated(subject: laws.Subject, message: laws.Message, leaf: laws.Leaf) -> None:
    """A leaf of a stream that says everything several times: all of it changes together."""
    assert laws.same(subject.value(message, leaf), leaf.value), "its place says something else"
    wanted = subject.with_leaf(message, leaf, laws.other(leaf.value))
    changed = laws.Subject(subject.encode(wanted, subject.body), RESPONSE, subject.protocol)
    again = [found for _, found in changed.leaves() if laws.alike(found, leaf)]
    assert [found.value for found in again] == [laws.other(leaf.value)], "the change did not come out"
    assert len(changed.decoded.events) == len(subject.decoded.events)
    assert subject.encode(subject.said, changed.body), "it cannot be undone"


def summary(rows: Iterable[Row]) -> str:
    """All of it in a few lines."""
    rows = list(rows)
    totals = {
        name: Score(sum(getattr(r, name).done for r in rows), sum(getattr(r, name).of for r in rows))
        for name in ("decoded", "requests", "responses", "leaves")
    }
    unread = [row for row in rows if row.unread]
    found = sum((row.found for row in rows), Counter[str]())
    scores = (
        f"recordings: {sum(r.is_whole for r in rows)} of {len(rows)} files whole, {len(unread)} not read yet",
        f"decoded {totals['decoded']} exchanges",
        f"byte for byte {totals['requests']} requests and {totals['responses']} answers",
        f"{totals['leaves']} leaves in place",
        f"{sum(row.frames for row in rows)} frames of protocols without adapter listed",
    )
    return " · ".join(scores) + "\n  " + ", ".join(f"{name} {n}" for name, n in sorted(found.items()))


def main() -> int:
    """Print the table."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "recordings"
    rows = []
    for name, protocol in listed(folder):
        rows.append(row_of(folder, name, protocol))
        print(rows[-1].line(), flush=True)
    print(summary(rows))
    return 0 if all(row.is_whole or row.unread for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
