"""Rows of the metrics table: calls, tokens and dollars of a session by provider, model, client and day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from workbench.rules import CountKey, Counts, Inspector, costs_of, count_exchanges, load_prices
from workbench.survey.rows import ExchangePlace, Row, plain_name
from workbench.survey.schema import METRICS

_COUNTED = ("exchanges", "calls", "parsed", "fitting", "text_calls", "prompt", "output", "cache_read")
_RETRIES = "retry."


def metric_rows(inspector: Inspector, places: Sequence[ExchangePlace]) -> Iterator[Row]:
    """The counts of an inspected session, for its first object. Raises SessionFormatError."""
    costs = costs_of(inspector, load_prices())
    sums: dict[CountKey, Counts] = defaultdict(Counts)
    for key, counts in count_exchanges(inspector, costs):
        sums[key] += counts
    again = {row.index for row in inspector.rows if any(f.rule.startswith(_RETRIES) for f in row.findings)}
    repeated = sum(turn.total for turn in costs.turns if turn.index in again)
    for number, (key, counts) in enumerate(sums.items()):
        yield {
            "t": METRICS,
            "object": places[0].object,
            "provider": key.provider,
            "model": plain_name(key.model),
            "client": plain_name(key.client),
            "day": key.day or None,
            **{name: getattr(counts, name) for name in _COUNTED},
            "refusals": counts.refused,
            "repeated": repeated if number == 0 else 0,
            "dollars": counts.dollars,
        }
