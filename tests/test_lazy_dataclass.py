"""Classes whose methods are made late behave as those of ``dataclasses``."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from workbench import lazy_dataclass

MAKERS = (
    lazy_dataclass,
    dataclasses,
    SimpleNamespace(dataclass=lazy_dataclass.dataclass, field=dataclasses.field),
)


def make(maker: Any) -> tuple[type, type, type]:
    """Three classes that use all there is."""
    dataclass, field = maker.dataclass, maker.field

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


@pytest.mark.parametrize("maker", MAKERS)
def test_instances_are_made_compared_and_hashed(maker: Any) -> None:
    point, options, child = make(maker)
    assert (point(1).y, point(1).names, point(x=1, y=2).y, point.count) == (3, [], 2, 7)
    assert point(1).names is not point(1).names
    assert point(1, names=["a"]) == point(1) != point(1, note="b")
    assert hash(point(1, note="a")) == hash(point(1))
    assert hash(point(1)) != hash(point(2))
    assert len({hash(point(1, note=str(n))) for n in range(200)}) == 1
    assert all(point(n) == point(n) != point(n + 1) for n in range(200))
    assert point(1).__eq__(child(1)) is NotImplemented
    made = options(a=2)
    assert (made.total, made.b, made == options(a=2)) == (3, [1], True)
    assert (child(1, 2).z, child(1, z=4).z, child(1) == child(1, z=4)) == (9, 4, False)
    with pytest.raises(TypeError):
        hash(made)


@pytest.mark.parametrize("maker", MAKERS)
def test_wrong_arguments_and_changes_of_what_is_frozen_are_refused(maker: Any) -> None:
    point, options, _ = make(maker)
    for call in (lambda: point(), lambda: point(1, z=1), lambda: options(1), lambda: options(total=1)):
        with pytest.raises(TypeError, match="argument"):
            call()
    with pytest.raises(dataclasses.FrozenInstanceError):
        point(1).x = 2


@pytest.mark.parametrize("maker", MAKERS)
def test_everything_else_is_that_of_dataclasses(maker: Any) -> None:
    point, options, child = make(maker)
    first = point(1, note="n")
    assert dataclasses.replace(first, y=5) == point(1, 5, note="n")
    assert repr(first).endswith("Point(x=1, y=3, names=[])")
    assert dataclasses.asdict(options()) == {"a": 1, "b": [1], "total": 2}
    assert [f.name for f in dataclasses.fields(child)] == ["x", "y", "names", "note", "z"]
    assert copy.copy(first) == copy.deepcopy(first) == first
    assert point.__init__.__qualname__.endswith("Point.__init__")


@pytest.mark.parametrize("maker", MAKERS)
def test_a_copy_with_other_values_and_the_names_of_fields_are_those_of_dataclasses(maker: Any) -> None:
    point, options, child = make(maker)
    first = point(1, note="n", names=["a"])
    assert lazy_dataclass.replace(first, y=5) == point(1, 5, note="n", names=["a"])
    assert lazy_dataclass.replace(first, y=5).names is first.names
    assert lazy_dataclass.replace(child(1, z=2), x=3) == child(3, z=2)
    assert lazy_dataclass.replace(options(a=2), b=[3]).total == 5
    with pytest.raises(TypeError):
        lazy_dataclass.replace(first, z=1)
    assert lazy_dataclass.field_names(options) == ("a", "b")
    assert lazy_dataclass.field_names(child) == ("x", "y", "names", "note", "z")


@pytest.mark.parametrize("maker", MAKERS)
def test_an_instance_that_holds_itself_is_shown(maker: Any) -> None:
    _, options, _ = make(maker)
    made = options(a=2)
    made.b.append(made)
    assert repr(made).endswith("Options(a=2, b=[1, ...], total=3)")


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Pickled:
    x: int


def test_an_instance_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1)


@pytest.mark.parametrize("maker", MAKERS)
def test_methods_are_the_same_after_the_fields_were_asked_for(maker: Any) -> None:
    point, options, child = make(maker)
    assert [len(dataclasses.fields(cls)) for cls in (point, options, child)] == [4, 3, 5]
    made = dataclasses.replace(point(1), y=2)
    assert (made.x, made.y, made.names, made == point(1, 2), hash(made) == hash(point(1, 2))) == (1, 2, [], True, True)
    assert point(1).names is not point(1).names
    assert (options(a=2).total, options().b, child(1, z=4).z) == (3, [1], 4)
    with pytest.raises(TypeError):
        point()


@pytest.mark.parametrize("maker", MAKERS)
def test_a_class_without_slots_keeps_what_it_derives(maker: Any) -> None:
    @maker.dataclass(frozen=True)
    class Loose:
        x: int
        y: int = 3
        names: list[str] = maker.field(default_factory=list, compare=False)

        @cached_property
        def total(self) -> int:
            return self.x + self.y

    @maker.dataclass(frozen=True)
    class Heir(Loose):
        z: int = 9

    made = [Loose(n) for n in range(20)]
    assert [each.total for each in made] == [n + 3 for n in range(20)]
    assert (Loose.y, hasattr(Loose, "names"), "total" in vars(made[0])) == (3, False, True)
    assert Loose(1, names=["a"]) == Loose(1) != Loose(2)
    assert hash(Loose(1)) == hash(Loose(1))
    assert (Heir(1).z, Heir(1, z=2) == Heir(1)) == (9, False)
    assert repr(Heir(1)).endswith("Heir(x=1, y=3, names=[], z=9)")
    assert (copy.copy(made[3]), dataclasses.asdict(Loose(1))) == (Loose(3), {"x": 1, "y": 3, "names": []})
    with pytest.raises(dataclasses.FrozenInstanceError):
        made[0].x = 2
    with pytest.raises(TypeError, match="argument"):
        Loose()


@pytest.mark.parametrize("maker", MAKERS)
def test_a_class_without_slots_that_may_change_is_compared_and_not_hashed(maker: Any) -> None:
    @maker.dataclass
    class Open:
        x: int = 1

    one = Open()
    one.x = 2
    assert (one, Open.x, Open.__hash__) == (Open(2), 1, None)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_class_compared_by_identity_is_hashed_by_it(maker: Any) -> None:
    @maker.dataclass(frozen=True, eq=False)
    class Alone:
        x: int = 1

    one = Alone()
    assert one == one != Alone()
    assert {one: 1}[one] == 1


@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_instance_refuses_every_name_and_an_heir_takes_those_that_are_no_field(slots: bool) -> None:
    @lazy_dataclass.dataclass(frozen=True, slots=slots)
    class Base:
        x: int = 1

    class Heir(Base):
        pass

    for name in ("x", "y"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(Base(), name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(Base(), name)
    heir: Any = Heir()
    heir.y = 2
    assert heir.y == 2
    del heir.y
    with pytest.raises(dataclasses.FrozenInstanceError):
        heir.x = 2
