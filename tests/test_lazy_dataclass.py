"""Classes whose methods are made late behave as those of ``dataclasses``."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any, ClassVar

import pytest

from workbench import lazy_dataclass

MAKERS = (lazy_dataclass.dataclass, dataclasses.dataclass)


def make(dataclass: Any) -> tuple[type, type, type]:
    """Three classes that use all there is."""

    @dataclass(frozen=True, slots=True)
    class Point:
        count: ClassVar[int] = 7
        x: int
        y: int = 3
        names: list[str] = field(default_factory=list, compare=False)
        note: str = field(default="", repr=False, hash=False)

    @dataclass(slots=True, kw_only=True)
    class Options:
        a: int = 1
        b: list[int] = field(default_factory=lambda: [1])
        total: int = field(init=False)

        def __post_init__(self) -> None:
            self.total = self.a + sum(self.b)

    @dataclass(frozen=True, slots=True)
    class Child(Point):
        z: int = 9

    return Point, Options, Child


@pytest.mark.parametrize("dataclass", MAKERS)
def test_instances_are_made_compared_and_hashed(dataclass: Any) -> None:
    point, options, child = make(dataclass)
    assert (point(1).y, point(1).names, point(x=1, y=2).y, point.count) == (3, [], 2, 7)
    assert point(1).names is not point(1).names
    assert point(1, names=["a"]) == point(1) != point(1, note="b")
    assert hash(point(1, note="a")) == hash(point(1))
    assert hash(point(1)) != hash(point(2))
    assert point(1).__eq__(child(1)) is NotImplemented
    made = options(a=2)
    assert (made.total, made.b, made == options(a=2)) == (3, [1], True)
    assert (child(1, 2).z, child(1, z=4).z, child(1) == child(1, z=4)) == (9, 4, False)
    with pytest.raises(TypeError):
        hash(made)


@pytest.mark.parametrize("dataclass", MAKERS)
def test_wrong_arguments_and_changes_of_what_is_frozen_are_refused(dataclass: Any) -> None:
    point, options, _ = make(dataclass)
    for call in (lambda: point(), lambda: point(1, z=1), lambda: options(1), lambda: options(total=1)):
        with pytest.raises(TypeError, match="argument"):
            call()
    with pytest.raises(dataclasses.FrozenInstanceError):
        point(1).x = 2


@pytest.mark.parametrize("dataclass", MAKERS)
def test_everything_else_is_that_of_dataclasses(dataclass: Any) -> None:
    point, options, child = make(dataclass)
    first = point(1, note="n")
    assert dataclasses.replace(first, y=5) == point(1, 5, note="n")
    assert repr(first).endswith("Point(x=1, y=3, names=[])")
    assert dataclasses.asdict(options()) == {"a": 1, "b": [1], "total": 2}
    assert [f.name for f in dataclasses.fields(child)] == ["x", "y", "names", "note", "z"]
    assert copy.copy(first) == copy.deepcopy(first) == first
    assert point.__init__.__qualname__.endswith("Point.__init__")


@pytest.mark.parametrize("dataclass", MAKERS)
def test_a_copy_with_other_values_and_the_names_of_fields_are_those_of_dataclasses(dataclass: Any) -> None:
    point, options, child = make(dataclass)
    first = point(1, note="n", names=["a"])
    assert lazy_dataclass.replace(first, y=5) == point(1, 5, note="n", names=["a"])
    assert lazy_dataclass.replace(first, y=5).names is first.names
    assert lazy_dataclass.replace(child(1, z=2), x=3) == child(3, z=2)
    assert lazy_dataclass.replace(options(a=2), b=[3]).total == 5
    with pytest.raises(TypeError):
        lazy_dataclass.replace(first, z=1)
    assert lazy_dataclass.field_names(options) == ("a", "b")
    assert lazy_dataclass.field_names(child) == ("x", "y", "names", "note", "z")


@pytest.mark.parametrize("dataclass", MAKERS)
def test_an_instance_that_holds_itself_is_shown(dataclass: Any) -> None:
    _, options, _ = make(dataclass)
    made = options(a=2)
    made.b.append(made)
    assert repr(made).endswith("Options(a=2, b=[1, ...], total=3)")


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Pickled:
    x: int


def test_an_instance_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1)


@pytest.mark.parametrize("dataclass", MAKERS)
def test_methods_are_the_same_after_the_fields_were_asked_for(dataclass: Any) -> None:
    point, options, child = make(dataclass)
    assert [len(dataclasses.fields(cls)) for cls in (point, options, child)] == [4, 3, 5]
    made = dataclasses.replace(point(1), y=2)
    assert (made.x, made.y, made.names, made == point(1, 2), hash(made) == hash(point(1, 2))) == (1, 2, [], True, True)
    assert point(1).names is not point(1).names
    assert (options(a=2).total, options().b, child(1, z=4).z) == (3, [1], 4)
    with pytest.raises(TypeError):
        point()
