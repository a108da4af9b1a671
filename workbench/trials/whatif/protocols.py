"""The same request through another adapter, or with streaming switched."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import protocols
from workbench.edits.variants import RequestVariant, VariedRequest


def stream_toggled(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Request a stream instead of a whole response, or the other way round."""
    wants = not subject.request.stream
    name, title = ("stream=on", "with streaming") if wants else ("stream=off", "without streaming")
    yield RequestVariant(name, title, subject.http, stream=wants)


def other_adapters(subject: VariedRequest) -> Iterable[RequestVariant]:
    """The request in every other protocol; it is tried if the target supports that protocol."""
    for protocol in protocols.protocols():
        if protocol != subject.adapter.name:
            yield RequestVariant(f"adapter={protocol}", f"sent as {protocol}", subject.http, protocol)


VARIANTS = (stream_toggled, other_adapters)
"""The target's protocols are not known here: if it does not speak one, the outcome says so."""
