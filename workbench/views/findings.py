"""Findings in words, for every list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.contracts import Finding


def origin_words(finding: Finding, *, in_full: bool = False) -> str:
    """``in exchange 3 · hop gateway · request · /messages/1: …``, ``here: …``; empty if no origin is known.

    Args:
        in_full: name side and pointer even if they are those of the finding.
    """
    origin = finding.origin
    if origin is None:
        return ""
    place = "here" if origin.exchange == finding.exchange else f"in exchange {origin.exchange + 1}"
    hop = f"hop {origin.hop}" if origin.hop else ""
    is_same = not in_full and (origin.exchange, origin.side, origin.pointer) == (
        finding.exchange,
        finding.side,
        finding.pointer,
    )
    there = () if is_same else (origin.side, origin.pointer)
    return " · ".join(s for s in (place, hop, *there) if s) + f": {origin.words}"
