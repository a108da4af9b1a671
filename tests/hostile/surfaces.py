"""Everything that hostile traffic reaches: each function takes a session and uses it as a command or a screen would.

By hand, for hours and with other seeds: ``python -m tests.hostile.surfaces --seconds 3600 --seed 7``; a million bodies
in an hour with ``--only`` and the names of the cheap ones (``redacted,streamed,encoded``).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sqlite3
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.formats.unwrapping import wrapped
from tests.hostile.mutating import ODD, mutated_body, mutated_exchange, sessions
from workbench import contracts, protocols, rules
from workbench.cli import _shell
from workbench.convert.convert import convert
from workbench.convert.streaming import StreamConversion
from workbench.diff.comparison import compare_exchanges
from workbench.edits import elements, operations
from workbench.errors import WorkbenchError
from workbench.formats import exporters, importers
from workbench.formats.exporting import ExportRequest
from workbench.protocols.clients.differences import where_they_differ
from workbench.protocols.decode import DecodedExchange
from workbench.recorder.breakpoints.judge import BreakpointJudge
from workbench.recorder.breakpoints.kinds import parse
from workbench.rules.inspection import Inspector
from workbench.send import matrix
from workbench.send.target_names import resolve
from workbench.simulator import Simulator
from workbench.trials.minimize import MinimizeRun
from workbench.trials.minimize.driving import target_verdict
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.models.findings import finding_body, finding_line
from workbench.wire.exchange import Body, Exchange, Headers, HttpResponse
from workbench.wire.redaction import Redactor
from workbench.wire.session import MemorySession, store, text, writer
from workbench.wire.stream import read_stream

PACKAGE = str(Path(rules.__file__).parents[1])
Surface = Callable[[MemorySession, int, random.Random], None]
EXPECTED = (WorkbenchError, OSError, SystemExit)


class RuleFailed(Exception):
    """A family of rules broke."""


def raised(name: str, case: object, error: Exception) -> Any:
    """In the place of the finding that says that rules failed: says why."""
    raise RuleFailed(name) from error


def inspected(session: MemorySession, index: int, chance: random.Random) -> None:
    inspector = Inspector(session)
    for finding in inspector.run().findings:
        if finding.rule == rules.FAILED:
            raise RuleFailed(finding.message)
    inspector.detail(index)


def converted(session: MemorySession, index: int, chance: random.Random) -> None:
    decoded = DecodedExchange(index, session.exchange(index))
    for protocol in chance.sample(protocols.protocols(), 3):
        for side in ("request", "response"):
            with contextlib.suppress(*EXPECTED):
                convert(decoded, protocol, side=side)


def encoded(session: MemorySession, index: int, chance: random.Random) -> None:
    decoded = DecodedExchange(index, session.exchange(index))
    if not decoded.protocol:
        return
    adapter = protocols.get(decoded.protocol)
    for side in ("request", "response"):
        said, http = getattr(decoded, side), getattr(decoded.exchange, side)
        if said is None or http is None:
            continue
        other = sessions()[chance.randrange(17)].exchange(0)
        for original in (http.body.raw, getattr(other, side).body.raw if getattr(other, side) else b"{}"):
            with contextlib.suppress(*EXPECTED):
                getattr(adapter, f"encode_{side}")(said, original)
        if side == "request":
            adapter.params(said)
            with contextlib.suppress(*EXPECTED):
                adapter.path(said)


def streamed(session: MemorySession, index: int, chance: random.Random) -> None:
    exchange = session.exchange(index)
    if not exchange.response:
        return
    data, protocol = exchange.response.body.raw, DecodedExchange(index, exchange).protocol
    protocol = protocol if protocol and chance.random() < 0.9 else chance.choice(protocols.protocols())
    kind = exchange.response.headers.get("content-type") or ""
    decoder = protocols.get(protocol).stream_decoder()
    for event in read_stream(data, kind).events:
        decoder.feed(event)
        for part in decoder.growing:
            part.since(0)
            part.opening, part.is_over, part.is_tagged, part.parts  # noqa: B018
    decoder.result()
    decoder.about()
    passage = StreamConversion(protocol, chance.choice(protocols.protocols()))
    half = chance.randrange(len(data) + 1)
    with contextlib.suppress(*EXPECTED):
        passage.feed(data[:half])
        passage.feed(data[half:])
        passage.end()


def assembled(session: MemorySession, index: int, chance: random.Random) -> None:
    decoded = DecodedExchange(index, session.exchange(index))
    where_they_differ(decoded)


def in_every_contract(session: MemorySession, index: int, chance: random.Random) -> None:
    list(matrix.rows(Inspector(session), index, chance.sample(labels(), 3)))


@cache
def labels() -> Sequence[str]:
    return sorted({name for name in contracts.names()})


@cache
def simulator(label: str) -> Simulator:
    return Simulator(label)


def simulated(session: MemorySession, index: int, chance: random.Random) -> None:
    exchange = session.exchange(index)
    if not exchange.request:
        return
    decoded = DecodedExchange(index, exchange)
    speaking = [one for one in labels() if decoded.protocol in simulator(one).protocols]
    for label in chance.sample(speaking, min(2, len(speaking))):
        path = exchange.request.url.removeprefix("https://x.example")
        path = "/" + path.split("/", 3)[-1] if "://" in path else path
        if chance.random() < 0.02:
            simulator.cache_clear()
        try:
            simulator(label).send(
                "POST", path, (("content-type", "application/json"),), exchange.request.body.raw
            ).body()
        except WorkbenchError as error:
            raise RuleFailed(f"the simulator {label} raises {error}") from error


def exported(session: MemorySession, index: int, chance: random.Random) -> None:
    names = [name for name in exporters.names() if name != "pytest" or chance.random() < 0.1]
    for name in chance.sample(names, 3):
        which = chance.choice(((index,), tuple(range(len(session)))))
        asked = ExportRequest(session, which, None, None, None, chance.random() < 0.3, "x")
        with contextlib.suppress(*EXPECTED):
            asked.export(exporters.load(name))


def minimized(session: MemorySession, index: int, chance: random.Random) -> None:
    """Asks a simulator a few times, as ``minimize --budget`` does."""
    with contextlib.suppress(*EXPECTED):
        course = MinimizeRun(Inspector(session), index, resolve(f"sim:{chance.choice(labels())}"), budget=3)
        steps, reply = course.run(), None
        known = simulator(course.body_judge.contract)
        path = course.with_body(b"").url.removeprefix("https://x.example")
        for _ in range(60):
            try:
                wanted = steps.send(reply)
            except StopIteration:
                break
            reply = None
            if wanted is not None:
                answer = known.send("POST", path, (), wanted)
                told = HttpResponse(answer.status, Headers(tuple(answer.headers)), Body(answer.body()))
                reply = target_verdict(Exchange("a", course.with_body(wanted), told), course.outgoing.protocol)
        course.result()


EVERY = tuple(each for name in ("all", "filter:status:200 or (not tool:x)") for each in parse(name))


def held(session: MemorySession, index: int, chance: random.Random) -> None:
    """Judges the exchange as breakpoints do while it passes."""
    judge, exchange = BreakpointJudge(session), session.exchange(index)
    with contextlib.suppress(*EXPECTED):
        judge.request(exchange.id, EVERY, 0.0)
    if exchange.response:
        with contextlib.suppress(*EXPECTED):
            judge.response(exchange.id, exchange.response, EVERY, 0.0)
    with contextlib.suppress(*EXPECTED):
        judge.answer(exchange.id, chance.choice(labels()), 0.0)


def opened(session: MemorySession, index: int, chance: random.Random) -> None:
    """Draws every pane of the exchange, and selects everything in it."""
    inspector = Inspector(session)
    inspector.run()
    shown = ExchangeView(inspector.detail(index))
    selections = [shown.at_start(), *map(shown.at_finding, shown.row.findings)]
    selections += [shown.at_node(n) for n in range(len(shown.outline.nodes))]
    selections += [shown.at_byte(side, chance.randrange(4000)) for side in ("request", "response")]
    for view in shown.contents.values():
        view.nothing(80)
        for item in range(view.count()):
            view.head(item), view.body(item, 80), view.origin(item)
            if (selected := view.selection(item)) is not None:
                selections.append(selected)
    for selected in chance.sample(selections, min(12, len(selections))):
        lights = shown.lights(selected)
        for view in shown.contents.values():
            view.highlights(lights)
    for finding in shown.row.findings:
        finding_line(finding, is_open=True), finding_body(finding, 60)


def pasted(session: MemorySession, index: int, chance: random.Random) -> None:
    """Opens what people paste in place of a recording, torn in a few places."""
    exchange = session.exchange(index)
    made = [
        written_as(chance.choice(list(forms.values())), side.body.raw)
        for side, forms in ((exchange.request, wrapped.REQUESTS), (exchange.response, wrapped.ANSWERS))
        if side
    ]
    text = torn_text(chance.choice(("\n", "\n\n", " ", "```\n")).join(made), chance)
    data = text.encode("utf-8", "replace")
    with contextlib.suppress(*EXPECTED):
        found = importers.open_input("-", stdin=io.BytesIO(data), protocol=chance.choice((None, None, None, "text")))
        few = tuple(found.exchange(n) for n in range(min(3, len(found))))
        inspected(MemorySession("pasted", few), 0, chance)


def written_as(form: Callable[[Any], str], body: bytes) -> str:
    """A body as people paste it; what the form does not take is an HTTP message."""
    try:
        value = json.loads(body)
        return form(value)
    except Exception:  # the forms are those of sound bodies
        text = body.decode("utf-8", "replace")
        return f"HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n{text}"


TOKENS = ("'", '"', "\\", "\n", "```", "{", "}", "[", "]", "curl ", "HTTP/1.1 200 OK\n", "> ", "data: ", "\x00",
          "\u202e", "fetch(", "None", "<<EOF\n", "$'", "---\n", "event: x\n", "#", "//", "\ufeff",
          "\ud83d")  # fmt: skip


def torn_text(text: str, chance: random.Random) -> str:
    """A text with a few pieces gone, twice, moved, or strange."""
    for _ in range(chance.randrange(4)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 1, 1, 3, 20, 300)))
        piece = chance.choice(("", text[start:end] * 2, chance.choice(TOKENS), text[start:end][::-1]))
        text = text[:start] + piece + text[end:]
    return text


def compared(session: MemorySession, index: int, chance: random.Random) -> None:
    one = DecodedExchange(index, session.exchange(index))
    other = chance.choice(sessions())
    at = index if len(other) > index else 0
    for before, after in (
        (one, DecodedExchange(at, other.exchange(at))),
        (one, DecodedExchange(0, session.exchange(0))),
        (one, one),
    ):
        compare_exchanges(before, after)
        compare_exchanges(after, before)


def edited(session: MemorySession, index: int, chance: random.Random) -> None:
    decoded = DecodedExchange(index, session.exchange(index))
    if decoded.request is None:
        return
    found = list(elements.walk(elements.elements_of(decoded)))
    for element in chance.sample(found, min(3, len(found))):
        for do in (
            partial(operations.remove, decoded, element.pointer),
            partial(operations.duplicate, decoded, element.pointer),
            partial(operations.move, decoded, element.pointer, chance.choice((-1, 1))),
            partial(operations.set_value, decoded, element.pointer, b'{"a": 1}'),
            partial(operations.set_text, decoded, element.text_at or element.pointer, "x"),
            partial(operations.rename, decoded, element.pointer, "x"),
        ):
            with contextlib.suppress(*EXPECTED):
                do()


def redacted(session: MemorySession, index: int, chance: random.Random) -> None:
    """Replaces the secrets of a text that is torn in a few places, and finds none the second time."""
    exchange = session.exchange(index)
    once = Redactor(salt=b"x").exchange(exchange)
    for side in (once.request, once.response):
        if side and side.body.raw:
            body = torn_text(side.body.raw.decode("latin-1"), chance).encode("utf-8", "replace")
            made, marks = Redactor(salt=b"x").text(body)
            assert len(made) == len(body) and all(mark.end <= len(body) for mark in marks)


def reopened(session: MemorySession, index: int, chance: random.Random) -> None:
    """Opens a session file of either form with bytes or values changed."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "a"
        path.write_bytes(chance.choice(kept())(session, chance))
        with contextlib.suppress(*EXPECTED), contextlib.closing(store.open_session(path)) as found:
            found.summaries()
            for n in range(min(3, len(found))):
                DecodedExchange(n, found.exchange(n)).response  # noqa: B018
            found.refresh()
            store.fsck(path)


@cache
def kept() -> Sequence[Callable[[MemorySession, random.Random], bytes]]:
    """What makes the bytes of a session file that is not whole."""
    return torn_lines, torn_pages, odd_row


def torn_lines(session: MemorySession, chance: random.Random) -> bytes:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        text.write(session.exchanges, Path(folder) / "a")
        lines = (Path(folder) / "a").read_bytes().splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = mutated_body(lines[at].strip(), chance) + b"\n" if chance.random() < 0.8 else lines[at][:-9]
    return b"".join(lines)


@cache
def recording(number: int) -> bytes:
    """A recording of valid traffic, with no file beside it."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        writer.write(sessions()[number].exchanges, Path(folder) / "a")
        data = bytearray((Path(folder) / "a").read_bytes())
    data[18:20] = b"\1\1"  # no longer WAL: a copy without side files
    return bytes(data)


def torn_pages(session: MemorySession, chance: random.Random) -> bytes:
    data = bytearray(recording(chance.randrange(17)))
    for _ in range(chance.choice((1, 1, 4, 40))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data[: chance.randrange(len(data)) if chance.random() < 0.1 else len(data)])


def odd_row(session: MemorySession, chance: random.Random) -> bytes:
    """A value of another kind in a column, as far as the schema lets it in."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(recording(chance.randrange(17)))
        db.execute("PRAGMA ignore_check_constraints = ON")
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice(tables)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        value = chance.choice((*VALUES, json.dumps(chance.choice(ODD)), json.dumps({"headers": chance.choice(ODD)})))
        with contextlib.suppress(sqlite3.Error):
            db.execute(f"UPDATE OR REPLACE {table} SET {chance.choice(columns)} = ?", (value,))
        return db.serialize()


VALUES = (None, -1, 0, 2**62, 1.5, 9e999, "", "x", "[]", "{}", "9" * 5000, b"", b"\xff\xfe", b"(\xb5/\xfd", b"[1]")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def imported(session: MemorySession, index: int, chance: random.Random) -> None:
    path = chance.choice(files())
    data = mutated_file(path.read_bytes()[:200_000], chance)
    for _, name in importers.candidates(data[:65536]):
        with contextlib.suppress(*EXPECTED):
            made = importers.load(name).read(data, path.name)
            for n in range(min(3, len(made))):
                DecodedExchange(n, made.exchange(n)).response  # noqa: B018


@cache
def files() -> Sequence[Path]:
    """The files of the tests, and the recordings of others where they lie beside the project."""
    root = Path(__file__).resolve().parents[2]
    found = [*(root / "tests" / "data").rglob("*"), *(root.parent / "shared" / "recordings").rglob("*")]
    return sorted(path for path in found if path.is_file() and path.stat().st_size < 200_000)


def mutated_file(data: bytes, chance: random.Random) -> bytes:
    """A file with a value of another kind, or, where it is no JSON, with a line torn, gone, twice or elsewhere."""
    if data[:1] in (b"{", b"[") and chance.random() < 0.8:
        return mutated_body(data, chance)
    with contextlib.suppress(UnicodeDecodeError):
        lines = data.decode().splitlines(keepends=True) or [""]
        at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(5)
        if kind == 0:
            lines[at] = torn_text(lines[at], chance)
        elif kind == 1:
            lines[at] = chance.choice(("", lines[to], lines[at] * 2, " " + lines[at], lines[at].lstrip()))
        elif kind == 2:
            lines[at], lines[to] = lines[to], lines[at]
        elif kind == 3:
            key, colon, _ = lines[at].partition(":")
            lines[at] = f"{key}{colon} {chance.choice(YAML)}\n"
        else:
            return torn_text(data.decode(), chance).encode("utf-8", "replace")
        return "".join(lines).encode("utf-8", "replace")
    return mutated_body(data, chance)


YAML = ("null", "[]", "{}", "7", "-1.5", "true", "''", "!!binary aGk=", "!x {a: b}", "&a [1]", "|\n    x", "2026-01-01",
        "1e999", "[[[]]]", "{null: null}", ".nan", "'\\ud83d'")  # fmt: skip


_LINES = """
check
check --format json
check --format sarif
check --format junit
check --fix -o {out} --force
show --as wire
show --as ir
show --as closure
show --as reasoning
show --as events
show --as ir --format json
show --as events --format json
show --as textcalls
convert --to {protocol}
convert --to {protocol} --side response --format json
matrix
matrix --what-if
send --target sim:{contract} --out {out}
send --target sim:{contract} --stream
metrics
metrics --format json
schema
compare {before}
bisect
fsck
minimize --target sim:{contract} --budget 3
export --as html
export --as md --redact
export --as session --redact -o {out} --force
continue --target sim:{contract}
"""
COMMANDS = [line.split() for line in _LINES.strip().splitlines()]


def commanded(session: MemorySession, index: int, chance: random.Random) -> None:
    if chance.random() < 0.75:
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path, before = Path(folder) / "a.jsonl", Path(folder) / "b.jsonl"
        text.write(session.exchanges, path)
        text.write(chance.choice(sessions()).exchanges, before)
        words = chance.choice(COMMANDS)
        filled = {
            "out": str(Path(folder) / "out.jsonl"),
            "before": str(before),
            "protocol": chance.choice(protocols.protocols()),
            "contract": chance.choice(labels()),
        }
        first, *more = (word.format(**filled) for word in words)
        out, err = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
        with out, err, contextlib.suppress(*EXPECTED):
            _shell._run_command([first, str(path), *more])


SURFACES: Sequence[Surface] = (
    inspected, converted, encoded, streamed, assembled, in_every_contract, simulated, exported, compared, edited,
    imported, commanded, minimized, held, opened, pasted,
    redacted, reopened,
)  # fmt: skip


def cause(error: BaseException) -> str:
    """What went wrong where, without what it stumbled over."""
    if isinstance(error, RuleFailed) and not error.__cause__:
        return str(error)[:300]
    error = error.__cause__ or error if isinstance(error, RuleFailed) else error
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(PACKAGE)]
    where = f"{frames[-1].filename.removeprefix(PACKAGE)}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} {where}"


def tried(
    chance: random.Random, only: Sequence[Surface] = (), spent: dict[str, float] | None = None
) -> Iterator[tuple[str, str, MemorySession]]:
    """One mutated session through everything: (surface, cause, session) of each failure.

    Args:
        only: these surfaces; empty for the rules and four others.
        spent: CPU seconds of each surface are added to it.
    """
    session = chance.choice(sessions())
    index = chance.randrange(len(session))
    window = session.exchanges[max(0, index - 3) : index + 2]
    at = min(index, 3)
    exchanges = list(window)
    exchanges[at] = mutated_exchange(exchanges[at], chance)
    made = MemorySession("mutated", tuple(exchanges))
    for surface in only or (inspected, *chance.sample(SURFACES[1:], 4)):
        began = time.process_time()
        try:
            surface(made, at, chance)
        except EXPECTED:
            pass
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            yield surface.__name__, cause(error), made
        finally:
            if spent is not None:
                spent[surface.__name__] += time.process_time() - began
                spent[f"{surface.__name__} inputs"] += 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="")
    parser.add_argument("--only", default="", help="names of surfaces, with commas")
    args = parser.parse_args()
    rules._failure = raised
    only = [surface for surface in SURFACES if surface.__name__ in args.only.split(",")]
    spent: dict[str, float] = defaultdict(float)
    seen: Counter[str] = Counter()
    until, count = time.process_time() + args.seconds, 0
    while time.process_time() < until:
        began = time.process_time()
        seed = args.seed * 1_000_000 + count
        for surface, why, made in tried(random.Random(seed), only, spent):
            if not seen[why]:
                print(f"{seed} {surface}: {why}", flush=True)
                if args.keep:
                    text.write(made.exchanges, Path(args.keep) / f"{seed}.jsonl")
            seen[why] += 1
        if time.process_time() - began > 2:
            print(f"{seed} slow: {time.process_time() - began:.1f}", flush=True)
        count += 1
        if count % 20_000 == 0:
            print(count, "sessions so far", flush=True)
    for surface in SURFACES:
        if inputs := int(spent[f"{surface.__name__} inputs"]):
            print(f"{surface.__name__}: {inputs}, {spent[surface.__name__] / inputs * 1000:.2f} ms each")
    print(count, "sessions,", sum(seen.values()), "failures,", len(seen), "causes")


if __name__ == "__main__":
    main()
