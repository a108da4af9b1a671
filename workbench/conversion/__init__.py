"""Conversion: a request or an answer of one protocol as another's, with a report of what could not be carried.

Three steps, each a function of its own: any protocol's IR is brought into normal form (``normal``), the normal form is
cut down to what the target can carry, which gives the losses and the map of ids (``fit``), and the target's adapter
writes what is left (``convert``). Nothing is lost without a line, and nothing is invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from workbench.ir import JsonValue, ModelRequest, ModelResponse


class Loss(NamedTuple):
    """One thing that the target cannot say.

    Attributes:
        pointer: where it stands in the body it was read from.
        what: what cannot be said, for people.
        instead: what was done ("left out", "moved into a user message behind the result" …).
    """

    pointer: str
    what: str
    instead: str


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion gives.

    Attributes:
        protocol: the target.
        body: a new body; of the same protocol the original, byte for byte.
        content_type: of the body.
        path: of a request, below the base URL.
        ids: id in the new body → id in the old one (None where there was none), for those that differ.
        losses: in the order of the old body.
        meant: the normal form that was written: decoding ``body`` gives it back.
    """

    protocol: str
    body: bytes
    content_type: str
    path: str
    ids: Mapping[str, str | None]
    losses: tuple[Loss, ...]
    meant: ModelRequest | ModelResponse | None = None


__all__ = ["Converted", "JsonValue", "Loss"]
