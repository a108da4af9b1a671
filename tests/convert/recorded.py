"""Real traffic, converted into every protocol."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.convert import laws
from workbench.convert import convert, roundtrip_differences
from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.protocols import Adapter
from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*/*/*") if path.is_file())


def problems(path: Path, writers: list[Adapter]) -> Iterator[str]:
    """What a conversion of a file meant and did not say, for every exchange, side and protocol."""
    try:
        session = open_input(str(path))
    except WorkbenchError:
        return
    try:
        for n in range(len(session)):
            decoded = DecodedExchange(n, session.exchange(n))
            for side in (REQUEST, RESPONSE):
                if getattr(decoded, side) is not None:
                    yield from _side(path, decoded, side, writers)
    finally:
        session.close()


def _side(path: Path, decoded: DecodedExchange, side: str, writers: list[Adapter]) -> Iterator[str]:
    body = decoded.request_text if side == REQUEST else decoded.response_text
    for adapter in writers:
        made = convert(decoded, adapter.name, side=side)
        if adapter.name == decoded.protocol:
            same = made.body == body and not made.losses
            wrong: list[object] = [] if same else ["the same protocol, but other bytes"]
        else:
            wrong = [*roundtrip_differences(made)]
            if side == REQUEST:
                wrong += [*laws.unaccounted(body, made)]
        yield from (f"{path.name} {decoded.index} {side} -> {adapter.name}: {line!s:.600}" for line in wrong)
