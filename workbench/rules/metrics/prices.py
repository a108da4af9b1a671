"""Prices of models: from a dated file that ships, or from the user's own in its place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from workbench.config import resources, safeyaml
from workbench.errors import ProfileError
from workbench.globs import matches_glob
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass

_NUMBERS = ("input", "output", "cache_read", "cache_write")
_KEYS = frozenset((*_NUMBERS, "model", "source", "note"))


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens. ``cache_read`` and ``cache_write`` are ``input`` where nothing else is said.

    Attributes:
        model: pattern of the names it is for.
        source: where it is from.
    """

    model: str
    input: float
    output: float
    cache_read: float
    cache_write: float
    source: str = ""

    def of(self, input: int, output: int, cache_read: int = 0, cache_write: int = 0) -> float:
        """Price of these tokens, in dollars."""
        rates = (self.input, self.output, self.cache_read, self.cache_write)
        return sum(n * rate for n, rate in zip((input, output, cache_read, cache_write), rates, strict=True)) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """A list of prices. ``date``: as of when."""

    date: str
    models: tuple[Price, ...]
    where: str = ""

    def of(self, model: str | None) -> Price | None:
        """The price of a model, None where it is not listed."""
        name = (model or "").lower()
        bare = name.rpartition("/")[2].rpartition(":")[0] or name.rpartition("/")[2]
        return next((p for p in self.models if any(matches_glob(n, p.model) for n in (name, bare))), None)


@cache
def load_prices() -> Prices:
    """The user's prices, else those that ship. Raises ProfileError where the file is not well-formed, OSError."""
    own = resources.own_prices()
    path = own if own.is_file() else resources.price_list()
    return read(path.read_bytes(), str(path))


def read(text: bytes, where: str) -> Prices:
    """Prices as YAML. Raises ProfileError: what is wrong, and at which entry."""
    document = safeyaml.load(text, name=where)
    if not isinstance(document, dict) or not isinstance(document.get("models"), list):
        raise ProfileError(
            "not a list of prices",
            where=where,
            hint="the file needs the keys date and models (a list of entries)",
        )
    prices = tuple(_price(entry, f"{where}, entry {n}") for n, entry in enumerate(document["models"], 1))
    return Prices(str(document.get("date") or ""), prices, where)


def _price(entry: JsonValue, where: str) -> Price:
    if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
        raise ProfileError("not a price", where=where, hint="a price needs the keys model, input and output")
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise ProfileError(f"an unknown key {unknown[0]!r:.40}", where=where, hint=f"known: {', '.join(sorted(_KEYS))}")
    rates = {name: _rate(entry, name, where) for name in _NUMBERS}
    if rates["input"] is None or rates["output"] is None:
        raise ProfileError("no price for input or output", where=where, hint="both are needed")
    return Price(
        model=entry["model"].lower(),
        input=rates["input"],
        output=rates["output"],
        cache_read=_else(rates["cache_read"], rates["input"]),
        cache_write=_else(rates["cache_write"], rates["input"]),
        source=str(entry.get("source") or ""),
    )


def _rate(entry: Mapping[str, JsonValue], name: str, where: str) -> float | None:
    value = entry.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise ProfileError(
            f"{name} is not a price: {value!r:.40}", where=where, hint="give the price in US dollars per million tokens"
        )
    return float(value)


def _else(rate: float | None, other: float) -> float:
    return other if rate is None else rate
