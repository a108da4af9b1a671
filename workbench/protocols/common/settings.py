"""Settings that a server repeats as a client set them: which of them it did not apply.

A protocol has the places in ``settings.yaml`` of its package, each with its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from math import isclose
from sys import float_info
from typing import Any

from workbench.config import resources
from workbench.globs import matches_glob
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.wire import value_at

Value = Mapping[str, JsonValue]

_PRECISION = 1e-6
"""Relative error of a number that a server keeps in single precision (0.6 is 0.6000000238418579 there)."""


class LostSetting(NamedTuple):
    """A setting that the server has another value for.

    Attributes:
        place: JSON pointer, as it was set.
        other: the place where the server has it, if that has another name; else empty.
        current: the server's value.
    """

    place: str
    other: str
    current: JsonValue

    @property
    def words(self) -> str:
        """Its path, and that of the other place."""
        path = self.place[1:].replace("/", ".")
        return f"{path} (the session has {self.other[1:].replace('/', '.')})" if self.other else path


@dataclass(frozen=True, slots=True)
class RepeatedSettings:
    """Places that a server repeats, JSON pointers.

    Attributes:
        repeated: the server's state has there what was set, if the server applies it.
        other_names: place → its place in the other version of the API.
        renamed: value as a text in one version of the API → ``type`` of the object that it is in the other.
        switched: ends of the names of those that null switches off; any other that is null gets its default.
        hosts: place → globs of the only hosts that are known to repeat it.
        is_of_answer: each response repeats those of its request; else a session does.
    """

    repeated: tuple[str, ...] = ()
    other_names: Mapping[str, str] = NOTHING
    renamed: Mapping[str, str] = NOTHING
    switched: tuple[str, ...] = ()
    hosts: Mapping[str, tuple[str, ...]] = NOTHING
    is_of_answer: bool = False

    def is_repeated_by(self, host: str, place: str) -> bool:
        """A server at this host repeats what is set at a place."""
        return place not in self.hosts or any(matches_glob(host, glob) for glob in self.hosts[place])

    def losses(self, update: Value, state: Value) -> Iterator[LostSetting]:
        """Settings of an update that the state after it lacks or has with another value, on whatever host.

        A state without a member says nothing, unless it has it in the place of the other version.
        """
        for place, other in self.other_names.items():
            for own, beta in ((place, other), (other, place)):
                if _at(state, own) is _ABSENT and self._is_lost(own, _at(update, own), _at(state, beta)):
                    yield LostSetting(own, beta, _json_of(_at(state, beta)))
        for place in self.repeated:
            if self._is_lost(place, _at(update, place), _at(state, place)):
                yield LostSetting(place, "", _json_of(_at(state, place)))

    def _is_lost(self, place: str, setting: object, current: object) -> bool:
        if setting is None and self.switched and place.endswith(self.switched):
            return current is not None and current is not _ABSENT
        if isinstance(setting, Mapping) is not isinstance(current, Mapping):
            setting, current = self._type_of(setting), self._type_of(current)
        return setting is not _ABSENT and _differ(setting, current)

    def _type_of(self, value: object) -> object:
        """The type of a value that is a text in one version and an object in the other; any other value as it is."""
        if isinstance(value, Mapping) and self.renamed:
            return value.get("type", _ABSENT)
        return self.renamed.get(value, value) if isinstance(value, str) else value


@cache
def repeated_settings(protocol: str) -> RepeatedSettings:
    """The table of a protocol; an empty one if its package has none."""
    text = resources.protocol_file(protocol, "settings.yaml")
    if text is None:
        return RepeatedSettings()
    from workbench.config import safeyaml  # with its parser: most protocols have no table

    data: Any = safeyaml.load(text, name="settings.yaml")
    rows = data.get("repeated", ())
    return RepeatedSettings(
        tuple(row["at"] for row in rows),
        data.get("other-names", NOTHING),
        data.get("renamed", NOTHING),
        tuple(data.get("switched", ())),
        {row["at"]: tuple(hosts) for row in rows if (hosts := row.get("hosts", data.get("hosts")))},
        data.get("stands-in") == "response",
    )


_ABSENT = object()


def _json_of(value: object) -> JsonValue:
    return None if value is _ABSENT else value


_at = partial(value_at, default=_ABSENT)


def _differ(setting: object, current: object) -> bool:
    """The server has another value; an object may have more members than was set, and nothing says less."""
    if current is _ABSENT or setting is None:
        return False
    if isinstance(setting, Mapping) and isinstance(current, Mapping):
        return any(name in current and _differ(value, current[name]) for name, value in setting.items())
    if isinstance(setting, list) and isinstance(current, list):
        return sorted(map(str, setting)) != sorted(map(str, current))
    if type(setting) in (int, float) and type(current) in (int, float):
        return not _is_close(setting, current)  # type: ignore[arg-type]
    return setting != current and (current is None or type(setting) is type(current))


def _is_close(setting: float, current: float) -> bool:
    """Equal in single precision; of integers that no float holds, equal."""
    is_large = max(abs(setting), abs(current)) > float_info.max
    return setting == current if is_large else isclose(setting, current, rel_tol=_PRECISION)
