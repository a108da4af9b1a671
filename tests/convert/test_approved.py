"""Every loss in words, and every body that is written: bodies of each protocol, converted into each other one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from zlib import crc32

from tests.convert import odd
from tests.convert.test_fit import REQUESTS
from workbench import protocols
from workbench.convert import convert
from workbench.convert.convert import read_body
from workbench.convert.fit import fit_request, fit_response
from workbench.convert.normal import normal_request, normal_response
from workbench.convert.streaming import StreamConversion
from workbench.errors import WorkbenchError
from workbench.ir import ModelRequest, ModelResponse
from workbench.protocols import Capabilities

LOSSLESS = ("utf-8", "surrogatepass")
DATA = Path(__file__).resolve().parents[1] / "data"
FOLDERS = {
    "anthropic": "anthropic-messages",
    "bedrock_converse": "bedrock-converse",
    "bedrock_invoke": "bedrock-invoke",
    "cohere": "cohere-v2",
    "gemini_interactions": "gemini-interactions",
    "gemini": "gemini",
    "ollama": "ollama",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
}


def bodies() -> Iterator[tuple[str, str, str, bytes]]:
    """(name, protocol, side, body)."""
    for name, (protocol, body, _, _) in REQUESTS.items():
        yield name, protocol, "request", json.dumps(body).encode()
    for name, (protocol, side, body) in odd.BODIES.items():
        yield name, protocol, side, json.dumps(body).encode()
    for folder, protocol in FOLDERS.items():
        for path in sorted((DATA / folder).glob("*.re*")):
            yield path.name, protocol, path.name.split(".")[1], path.read_bytes()


def test_losses_and_bodies(approved: Callable[[str, Iterable[str]], None]) -> None:
    sentences, written = Counter[str](), list[str]()
    for name, protocol, side, body in bodies():
        marks = []
        for target in protocols.protocols():
            if target == protocol:
                continue
            try:
                made = convert(body, target, protocol=protocol, side=side)
            except WorkbenchError as error:
                sentences[f"{type(error).__name__}: {error}"] += 1
                continue
            sentences.update(f"{loss.what} → {loss.instead}" for loss in made.losses)
            whole = repr((made.body, made.losses, sorted(made.ids.items())))
            marks.append(f"{target} {len(made.losses)} {crc32(whole.encode(*LOSSLESS)):08x}")
        written.append(f"{protocol} {side}, {name}: {', '.join(marks)}")
    approved("losses", (f"{count:4} {line}" for line, count in sorted(sentences.items())))
    approved("conversions", written)


def test_streams_in_pieces(approved: Callable[[str, Iterable[str]], None]) -> None:
    """What of a stream leaves with each piece that comes, and what is lost at its end."""
    written = []
    for name, protocol, side, body in bodies():
        if side != "response" or ".response.json" in name or "stream" not in name:
            continue
        marks = []
        for target in protocols.protocols():
            conversion = StreamConversion(protocol, target)
            left = [conversion.feed(body[at : at + 61]) for at in range(0, len(body), 61)]
            whole = repr((left, conversion.end(), conversion.losses, sorted(conversion.ids.items())))
            marks.append(f"{target} {sum(map(bool, left))} {crc32(whole.encode()):08x}")
        written.append(f"{protocol}, {name}: {', '.join(marks)}")
    approved("streams", written)


def others(value: object, every: frozenset[str]) -> Iterator[object]:
    """What a target could have in the place of one of its capabilities."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, frozenset):
        yield from (new for new in (frozenset[str](), every) if new != value)
    elif isinstance(value, int):
        yield value // 2 or 1024


def test_targets_that_take_more_or_less(approved: Callable[[str, Iterable[str]], None]) -> None:
    """Each capability of a target changed by itself: how many losses there are then, and those nobody else has."""
    read = [(name, read_body(protocols.get(source), json.dumps(body).encode(), side), json.dumps(body).encode())
            for name, (source, side, body) in odd.BODIES.items() if name not in odd.UNREADABLE]  # fmt: skip
    normals = [
        (normal_request(made, protocols.get(made.protocol)), fit_request, body)
        if isinstance(made, ModelRequest)
        else (normal_response(made), fit_response, body)
        for _, made, body in read
    ]
    targets = [protocols.get(name).capabilities for name in protocols.protocols()]
    known, rows = set[str](), list[str]()

    def fitted(group: str, changes: dict[str, object], name: str) -> None:
        said, whole = Counter[str](), 0
        for n, (normal, fit, body) in enumerate(normals):
            target = targets[n % len(targets)]
            record = replace(getattr(target, group), **changes)
            made = fit(normal, replace(target, **{group: record}), body)  # type: ignore[operator]
            said.update(f"{loss.what} → {loss.instead}" for loss in made.losses)
            whole = crc32(repr((made.losses, made.normal, sorted(made.ids.items()))).encode(*LOSSLESS), whole)
        rows.append(f"{name}: {said.total()} losses {whole:08x}")
        rows.extend(f"    {line}" for line in sorted(said.keys() - known) if changes)
        known.update(said)

    fitted("tools", {}, "as they are")
    for group, field in (
        (record.name, f) for record in fields(Capabilities) for f in fields(getattr(Capabilities(), record.name))
    ):
        held = [getattr(getattr(target, group), field.name) for target in targets]
        every = frozenset[str]().union(*(value for value in held if isinstance(value, frozenset)))
        for new in dict.fromkeys(new for value in held for new in others(value, every)):
            word = sorted(new) if isinstance(new, frozenset) else new
            fitted(
                group,
                {field.name: new},
                f"{group}.{field.name} {word if word != sorted(every) or not every else 'all'}",
            )
    approved("capabilities", rows)


def test_odd_streams_in_pieces(approved: Callable[[str, Iterable[str]], None]) -> None:
    """Each odd answer as a stream of its protocol: whole, broken off, and with a proof for reasoning that needs one."""
    rows = []
    for name, (source, _, body) in odd.ANSWERS.items():
        adapter = protocols.get(source)
        answer = read_body(adapter, json.dumps(body).encode(), "response")
        assert isinstance(answer, ModelResponse)
        fit = fit_response(normal_response(answer), adapter.capabilities).normal
        stream = adapter.write_stream(replace(fit, is_stream=True, protocol=source))
        marks = []
        for target in protocols.protocols():
            for cut in (len(stream), len(stream) * 2 // 3):
                conversion = StreamConversion(
                    source,
                    target,
                    prove=(lambda part: f"proof of {part.text}") if "thinking" in name else None,
                    sign_call=lambda call: f"sign of {call.name}",
                    choose_id=(lambda old: f"own_{old}") if "call" in name else None,
                    name="named" if "count" in name else "",
                )
                left = [conversion.feed(stream[at : min(at + 47, cut)]) for at in range(0, cut, 47)]
                whole = (left, conversion.end(), conversion.losses, sorted(conversion.ids.items(), key=repr))
                marks.append(f"{len(conversion.losses)} {crc32(repr(whole).encode(*LOSSLESS)):08x}")
        rows.append(f"{source}, {name}: {', '.join(marks)}")
    approved("odd_streams", rows)
