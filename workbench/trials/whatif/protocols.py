"""The same request through another adapter, as a stream, and in one piece."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import protocols
from workbench.trials.whatif._subject import Subject, Variant


def other_way(subject: Subject) -> Iterable[Variant]:
    """A stream in place of an answer in one piece, or the other way round."""
    wants = not subject.request.stream
    name, title = ("stream=on", "a stream is asked for") if wants else ("stream=off", "no stream is asked for")
    yield Variant(name, title, subject.http, stream=wants)


def adapted(subject: Subject) -> Iterable[Variant]:
    """Through every other adapter: where the target speaks its protocol, it is tried."""
    for protocol in protocols.protocols():
        if protocol != subject.adapter.name:
            yield Variant(f"adapter={protocol}", f"said in {protocol}", subject.http, protocol)


VARIANTS = (other_way, adapted)
"""Whether a target speaks a protocol is not known here: of one that does not, the outcome says so."""
