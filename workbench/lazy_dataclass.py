"""Dataclasses whose methods are made when they are first called.

``dataclasses.dataclass`` compiles six functions for a class, 0.5 ms; a short command imports 200 classes, and uses 80,
most of them to make a few instances. The class itself, with its slots, is made at once; what makes, compares, hashes
and shows instances is compiled one by one, once it was called more than a few times, and the rest is made by
``dataclasses`` at the first use of any of it. That module, which takes 3 ms to import, is imported no sooner.
"""

from __future__ import annotations

import reprlib
import sys
from _thread import RLock
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeAlias

_OPTIONS = {"frozen", "slots", "eq", "kw_only"}
_NO_FIELDS = ("ClassVar", "typing.ClassVar")
_AT_ONCE = ("InitVar", "dataclasses.InitVar", "KW_ONLY", "dataclasses.KW_ONLY")
_lock = RLock()

_waiting: dict[type, _LateMethods] = {}
"""Class → its methods that are made later."""

_MISSING: Any = object()


class _Field:
    """The options of a field, as ``dataclasses.field`` takes them, without the import of ``dataclasses``."""

    __slots__ = ("compare", "default", "default_factory", "hash", "init", "kw_only", "repr")

    def __init__(
        self,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        hash: bool | None = None,
        compare: bool = True,
        kw_only: Any = _MISSING,
    ) -> None:
        self.default, self.default_factory, self.kw_only = default, default_factory, kw_only
        self.init, self.repr, self.hash, self.compare = init, repr, hash, compare

    def of_dataclasses(self) -> Any:
        """The same field as ``dataclasses`` has it."""
        import dataclasses

        options = {name: getattr(self, name) for name in self.__slots__}
        return dataclasses.field(**{name: value for name, value in options.items() if value is not _MISSING})


def _with_fields_of_dataclasses(cls: type) -> type:
    """The class, with its fields as ``dataclasses`` has them."""
    for name, value in [*vars(cls).items()]:
        if type(value) is _Field:
            setattr(cls, name, value.of_dataclasses())
    return cls


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:

    def field(**options: Any) -> _Field:
        """Return what ``dataclasses.field`` returns, for ``dataclass`` of this module."""
        return _Field(**options)

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Decorate a class as ``dataclasses.dataclass`` does; its methods are made later."""

        def decorate(cls: type) -> type:
            kinds = vars(cls).get("__annotations__", {}).values()
            is_simple = all(isinstance(kind, str) and not kind.startswith(_AT_ONCE) for kind in kinds)
            if is_simple and not options.keys() - _OPTIONS:
                return _defer(cls, options)
            import dataclasses

            return dataclasses.dataclass(**options)(_with_fields_of_dataclasses(cls))

        return decorate(cls) if cls else decorate

    def replace(it: Any, /, **changes: Any) -> Any:
        """Return what ``dataclasses.replace`` returns, in half of the time and without making all methods."""
        kind = type(it)
        if kind not in _waiting:
            import dataclasses

            return dataclasses.replace(it, **changes)
        names, read = _fields_to_copy(kind)
        return kind(**{**dict(zip(names, read(it), strict=True)), **changes})


@cache
def field_names(cls: type) -> tuple[str, ...]:
    """Names of the fields that are arguments of a dataclass, in order."""
    fields = _waiting[cls].fields if cls in _waiting else None
    if fields is None:
        import dataclasses

        return tuple(field.name for field in dataclasses.fields(cls) if field.init)
    return tuple(name for name, field in fields.items() if field.init)


@cache
def _fields_to_copy(cls: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Names of the fields that are arguments of a dataclass, and a function that reads them of an instance."""
    names = field_names(cls)
    return names, _reader(names)


def _defer(cls: type, options: dict[str, bool]) -> type:
    """Return the class, with its slots if it is to have some, and with placeholders for what ``dataclasses`` adds."""
    later = _LateMethods(cls, options)
    members: dict[str, Any] = {name: _placeholder(later, name) for name in _methods(options)}
    if "__init__" not in vars(cls):
        members["__init__"] = _first_init(later, members["__init__"])
    for name in _FIRST.keys() & members.keys():
        members[name] = _first_calls(later, name, members[name])
    if options.get("frozen"):
        members |= _refusals(later)
    if options.get("frozen") and options.get("slots"):
        members |= {"__getstate__": __getstate__, "__setstate__": __setstate__}
    elif not options.get("frozen") and options.get("eq", True):
        members["__hash__"] = None  # as dataclasses does
    attributes = {name: _Attribute(name, later) for name in _ATTRIBUTES}
    if options.get("slots"):
        later.made = _with_slots(cls, {**members, **vars(cls), **attributes})
    else:
        later.cls = _copy(cls, vars(cls))
        _put_members(cls, {**members, **attributes})
    _waiting[later.made] = later
    return later.made


def _put_members(cls: type, members: Mapping[str, Any]) -> None:
    """Give a class the members that it does not have itself, and the defaults of its fields in place of the fields."""
    own = dict(vars(cls))
    for name, value in members.items():
        if name not in own:
            setattr(cls, name, value)
    for name, value in own.items():
        if _is_declared(value):
            default = _as_field(value).default
            if default is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default)


_OURS = ("__doc__", "__setattr__", "__delattr__")
_ATTRIBUTES = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")


class _LateMethods:
    """The methods of a class that are made when they are first called.

    Attributes:
        cls: the class as it is written.
        made: the class with its slots and its placeholders.
    """

    __slots__ = ("__dict__", "cls", "is_complete", "made", "options")

    def __init__(self, cls: type, options: Mapping[str, bool]) -> None:
        self.cls, self.options, self.is_complete, self.made = cls, options, False, cls

    @cached_property
    def fields(self) -> Fields | None:
        """Name → field; None for a class that inherits some, or has one that is no argument and has a value."""
        return _own_fields(self.cls)

    @cached_property
    def steps(self) -> Sequence[_Step]:
        """The steps that set the arguments of a new instance; empty if it takes more than that."""
        fields = self.fields or {}
        is_all = all(field.init for field in fields.values())
        rows = (
            (name, _setter(self.made, name), field.default, field.default_factory) for name, field in fields.items()
        )
        return tuple(rows) if is_all else ()

    @cached_property
    def read_compared(self) -> Callable[[Any], tuple[Any, ...]]:
        """Reads the fields by which instances are compared."""
        return _reader([name for name, field in (self.fields or {}).items() if field.compare])

    @cached_property
    def read_hashed(self) -> Callable[[Any], tuple[Any, ...]]:
        """Reads the fields of which the hash of an instance is made."""
        return _reader(_hashed_names(self.fields or {}))

    @cached_property
    def by_place(self) -> Sequence[str]:
        """Fields whose values are given by place."""
        return [name for name, field in (self.fields or {}).items() if not _is_by_name(field, self.options)]

    def make(self, name: str) -> None:
        """Put one method into the class; all of them, by ``dataclasses``, if it cannot be written here."""
        if name not in _WRITERS or self.fields is None:
            self.complete()
            return
        text, names = _WRITERS[name](self.made, self.fields, self.options)
        space = dict(names)
        exec(text, space)  # noqa: S102  # names of fields alone are in it, as in ``dataclasses``
        method = space[name]
        method.__qualname__ = f"{self.made.__qualname__}.{name}"
        setattr(self.made, name, method)

    def complete(self) -> None:
        """Put what ``dataclasses`` makes into the class."""
        with _lock:
            if self.is_complete:
                return
            cls, is_own = self.cls, self.fields is not None
            before = dict(vars(cls))
            cls.__doc__ = cls.__doc__ or cls.__name__  # dataclasses makes one of the signature, for half of the time
            import dataclasses

            dataclasses.dataclass(**{**self.options, "slots": False})(_with_fields_of_dataclasses(cls))
            fields = vars(cls)["__dataclass_fields__"]
            for name, value in vars(cls).items():
                is_ours = name in fields or name in _OURS or (is_own and name in _WRITERS)
                if not is_ours and before.get(name, _lock) is not value:
                    setattr(self.made, name, value)
            self.is_complete = True


def _own_fields(cls: type) -> Fields | None:
    """Name → field; None for a class that inherits some, or has one that is no argument and has a value."""
    members = vars(cls)
    kinds = members.get("__annotations__", {}).items()
    fields = {name: _as_field(members.get(name, _MISSING)) for name, kind in kinds if _is_field(kind)}
    has_constants = any(not field.init and field.default is not _MISSING for field in fields.values())
    is_heir = any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:])
    return None if has_constants or is_heir else fields


def _is_by_name(field: _Field, options: Mapping[str, bool]) -> bool:
    return bool(options.get("kw_only") if field.kw_only is _MISSING else field.kw_only)


def _is_field(kind: str) -> bool:
    return not kind.startswith(_NO_FIELDS)


def _as_field(value: Any) -> _Field:
    """The field that a class attribute declares."""
    if type(value) is _Field:
        return value
    if not _is_declared(value):
        return _Field(value)
    dataclasses: Any = sys.modules["dataclasses"]
    options = {name: getattr(value, name) for name in _Field.__slots__}
    return _Field(**{name: each for name, each in options.items() if each is not dataclasses.MISSING})


def _is_declared(value: Any) -> bool:
    """It was made by ``field``, of this module or of ``dataclasses``."""
    if type(value) is _Field:
        return True
    dataclasses = sys.modules.get("dataclasses")
    return dataclasses is not None and isinstance(value, dataclasses.Field)


def _setter(cls: Any, name: str) -> Callable[[Any, Any], None]:
    """A function that sets a field of a new instance, frozen or not."""
    member = getattr(cls, name, None)
    if isinstance(member, MemberDescriptorType):
        return member.__set__
    return lambda it, value: object.__setattr__(it, name, value)


def _hashed_names(fields: Fields) -> list[str]:
    return [name for name, field in fields.items() if (field.compare if field.hash is None else field.hash)]


def _reader(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that reads attributes of an object."""
    return attrgetter(*names) if len(names) > 1 else lambda it: tuple([getattr(it, name) for name in names])


Fields: TypeAlias = Mapping[str, _Field]
Source: TypeAlias = tuple[str, Mapping[str, Any]]
"""A function: its text, and the values of the names in it."""


def _write_init(cls: type, fields: Fields, options: Mapping[str, bool]) -> Source:
    names: dict[str, Any] = {"_MISSING": _MISSING}
    arguments: dict[bool, list[str]] = {False: ["self"], True: []}  # by whether they are given by name alone
    lines: list[str] = []
    for name, field in fields.items():
        names |= {f"_default_{name}": field.default, f"_make_{name}": field.default_factory}
        value, argument = name, name
        if field.default_factory is not _MISSING:
            argument = f"{name}=_MISSING"
            value = f"_make_{name}() if {name} is _MISSING else {name}" if field.init else f"_make_{name}()"
        elif field.default is not _MISSING:
            argument = f"{name}=_default_{name}"
        elif not field.init:
            continue
        if field.init:
            arguments[_is_by_name(field, options)].append(argument)
        names[f"_put_{name}"] = _setter(cls, name)  # that of a slot is a third faster than ``object.__setattr__``
        lines.append(f"_put_{name}(self, {value})" if options.get("frozen") else f"self.{name} = {value}")
    lines += ["self.__post_init__()"] * hasattr(cls, "__post_init__")
    every = [*arguments[False], *(["*"] if arguments[True] else []), *arguments[True]]
    return f"def __init__({', '.join(every)}):\n " + "\n ".join(lines or ["pass"]), names


def _write_eq(cls: type, fields: Fields, options: Mapping[str, bool]) -> Source:
    compared = [name for name, field in fields.items() if field.compare]
    one, other = ("".join(f"{who}.{name}, " for name in compared) for who in ("self", "other"))
    lines = f" if other.__class__ is self.__class__:\n  return ({one}) == ({other})\n return NotImplemented"
    return f"def __eq__(self, other):\n{lines}", {}


def _write_hash(cls: type, fields: Fields, options: Mapping[str, bool]) -> Source:
    values = "".join(f"self.{name}, " for name in _hashed_names(fields))
    return f"def __hash__(self):\n return hash(({values}))", {}


def _write_repr(cls: type, fields: Fields, options: Mapping[str, bool]) -> Source:
    fields_text = ", ".join(f"{name}={{self.{name}!r}}" for name, field in fields.items() if field.repr)
    source = f"@_once\ndef __repr__(self):\n return f'{{self.__class__.__qualname__}}({fields_text})'"
    return source, {"_once": reprlib.recursive_repr()}


_WRITERS = {"__init__": _write_init, "__repr__": _write_repr, "__eq__": _write_eq, "__hash__": _write_hash}


def _methods(options: dict[str, bool]) -> Iterator[str]:
    """Names of the methods that ``dataclasses`` adds."""
    yield from ("__init__", "__repr__")
    if options.get("eq", True):
        yield "__eq__"
        if options.get("frozen"):
            yield "__hash__"


def _refusals(later: _LateMethods) -> dict[str, Callable[..., None]]:
    """The methods that keep instances of a frozen class as they are; an heir that is not frozen may add attributes."""

    def above(it: Any, name: str, what: str) -> Any:
        import dataclasses

        cls: Any = later.made
        if type(it) is cls or any(name == field.name for field in dataclasses.fields(cls)):
            raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
        return super(cls, it)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        above(self, name, "assign to").__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        above(self, name, "delete").__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def __getstate__(self: Any) -> list[Any]:
    return [getattr(self, name) for name, _ in _setters(self.__class__)]


def __setstate__(self: Any, state: list[Any]) -> None:
    for (_, put), value in zip(_setters(self.__class__), state, strict=True):
        put(self, value)


@cache
def _setters(cls: Any) -> tuple[tuple[str, Callable[[Any, Any], None]], ...]:
    """Name of each field of a class with slots, and what sets it."""
    import dataclasses

    return tuple((field.name, getattr(cls, field.name).__set__) for field in dataclasses.fields(cls))


def _with_slots(cls: type, members: Mapping[str, Any]) -> type:
    """A copy of the class with other members, that has slots for its fields, as ``dataclasses`` makes it."""
    kinds = vars(cls).get("__annotations__", {})
    fields = [name for name, kind in kinds.items() if _is_field(kind)]
    inherited = {slot for base in cls.__mro__[1:-1] for slot in _slots(base)}
    content = {k: v for k, v in members.items() if k not in fields}
    return _copy(cls, {**content, "__slots__": tuple(name for name in fields if name not in inherited)})


def _copy(cls: type, members: Mapping[str, Any]) -> type:
    """A class of the same name and bases with these members."""
    content = {name: value for name, value in members.items() if name not in ("__dict__", "__weakref__")}
    copy = type(cls)(cls.__name__, cls.__bases__, content)
    copy.__qualname__ = cls.__qualname__
    return copy


def _slots(base: type) -> tuple[str, ...]:
    slots = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _placeholder(later: _LateMethods, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        later.make(name)
        return getattr(later.made, name)(self, *args, **options)

    return method


_FEW = 8
"""Instances of a class that are made without a function of their own: to compile one takes as long as 20 of them."""


def _first_init(later: _LateMethods, compiled: Callable[..., None]) -> Callable[..., None]:
    """An ``__init__`` for the first instances of a class; ``compiled`` makes later ones, and those that do not fit."""
    left = _FEW

    def __init__(self: Any, *args: Any, **given: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0 or not _fill(self, later, args, given):
            compiled(self, *args, **given)
        elif hasattr(later.made, "__post_init__"):
            self.__post_init__()

    __init__.__qualname__ = f"{later.cls.__qualname__}.__init__"
    return __init__


_Step: TypeAlias = tuple[str, Callable[[Any, Any], None], Any, Any]
"""A field: its name, what sets it, its default, and what makes its default."""


def _fill(it: Any, later: _LateMethods, args: Sequence[Any], given: dict[str, Any]) -> bool:
    """Set the fields of an instance. False if the arguments do not fit."""
    values = {**given, **dict(zip(later.by_place, args, strict=False))} if args else given
    if len(values) != len(args) + len(given):
        return False
    left = len(values)
    for name, put, default, make in later.steps:
        if name in values:
            put(it, values[name])
            left -= 1
        elif default is not _MISSING:
            put(it, default)
        elif make is not _MISSING:
            put(it, make())
        else:
            return False
    return not left and bool(later.steps)


def _is_equal(later: _LateMethods, it: Any, other: Any) -> Any:
    return later.read_compared(it) == later.read_compared(other) if other.__class__ is it.__class__ else NotImplemented


def _hash_of(later: _LateMethods, it: Any) -> int:
    return hash(later.read_hashed(it))


_FIRST: Mapping[str, Callable[..., Any]] = {"__eq__": _is_equal, "__hash__": _hash_of}
"""Methods that compute without a function of their own what the compiled ones do."""

_FEW_COMPARISONS = 64
"""Instances of a class that are compared, or hashed, sooner than the function for it is compiled."""


def _first_calls(later: _LateMethods, name: str, compiled: Callable[..., Any]) -> Callable[..., Any]:
    """A method for the first calls; ``compiled`` is called for later ones."""
    left, compute = _FEW_COMPARISONS, _FIRST[name]

    def method(self: Any, *args: Any) -> Any:
        nonlocal left
        left -= 1
        return compiled(self, *args) if left < 0 or later.fields is None else compute(later, self, *args)

    method.__name__, method.__qualname__ = name, f"{later.cls.__qualname__}.{name}"
    return method


class _Attribute:
    """An attribute of a class that is there once somebody looks for it."""

    def __init__(self, name: str, later: _LateMethods) -> None:
        self._name, self._later = name, later

    def __get__(self, instance: object, owner: type) -> Any:
        self._later.complete()
        return getattr(owner, self._name)
