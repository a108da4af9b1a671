"""Variants of a request (what-if): each has one difference and is sent to several targets.

In: an inspected request. Out: ``RequestVariant`` values, and the outcome of each at a target. A variant that cannot be
tried gives the reason. One file per family; a family module has ``VARIANTS``: functions from a ``VariedRequest`` to
``RequestVariant`` values.
It may import what ``trials`` may.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from workbench import plugins
from workbench.edits.variants import RequestVariant, VariedRequest
from workbench.errors import UnknownName
from workbench.rules import Inspector
from workbench.trials.whatif._outcome import VariantOutcome, run
from workbench.wire import HttpRequest

__all__ = [
    "UNCHANGED",
    "RequestVariant",
    "VariantOutcome",
    "VariedRequest",
    "run",
    "select",
    "variants",
]


UNCHANGED = "unchanged"
"""Name of the variant without a difference."""

Family = Callable[[VariedRequest], Iterable[RequestVariant]]

ORDER = ("suspects", "repair", "reasoning", "results", "tools", "protocols")
"""Families that come first, in this order."""


def variants(inspector: Inspector, index: int, request: HttpRequest | None = None) -> tuple[RequestVariant, ...]:
    """Every variant of a request, the unchanged one first.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        request: in place of the one that was sent; None for that one.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: the session cannot be read.
        LocalProtocolError: the exchange has no request to a model.
    """
    subject = VariedRequest.of(inspector, index, request)
    unchanged = RequestVariant(UNCHANGED, "the request unchanged", subject.http)
    return (unchanged, *(variant for make in _families() for variant in make(subject)))


def select(
    request_variants: Iterable[RequestVariant], names: Iterable[str], supported: Collection[str] = ()
) -> tuple[RequestVariant, ...]:
    """Variants by name, by family ("reasoning"), or all ("all").

    Args:
        spoken: protocols of the target: other adapters are skipped unless they are named; () for any.

    Raises:
        UsageError: there is no such variant.
    """
    every, selectors = tuple(request_variants), tuple(names)
    for name in selectors:
        if not any(_is_named(variant, name) for variant in every):
            raise UnknownName("variant", name, (variant.name for variant in every))
    return tuple(
        variant
        for variant in every
        if variant.name in selectors
        or (any(_is_named(variant, name) for name in selectors) and _may_be_tried(variant, supported))
    )


def _may_be_tried(variant: RequestVariant, supported: Collection[str]) -> bool:
    return not supported or not variant.protocol or variant.protocol in supported


def _is_named(variant: RequestVariant, name: str) -> bool:
    return name == "all" or variant.name == name or variant.name.partition("=")[0] == name


def _families() -> Iterator[Family]:
    names = plugins.names(__name__)
    for name in sorted(names, key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n)):
        yield from getattr(plugins.load(__name__, name), "VARIANTS", ())
