"""Compares two JSON values: every place where they differ, with its kind.

Takes time in proportion to the values: each node has a fingerprint, and only nodes that differ are entered.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

from workbench.diff.damage._lists import ItemGroup, group_items, item_text
from workbench.diff.damage._texts import is_joined, same_json, scalar_change, text_change, value_words
from workbench.diff.damage.kinds import DamageKind
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.provenance import escape

NOTHING: tuple[JsonValue, ...] = (None, "", [], {})

IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})
"""Members that link calls and results."""

_LONG = 8
"""Least length of a text that is recognised elsewhere by its content alone."""

_MOST_SEARCHED = 50_000
"""Nodes of added values that are searched for removed ones."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One change at one place.

    Attributes:
        was, at: pointer in the received and in the forwarded value; for a dropped value, its pointer if it were there.
        before, after: the values there; None for nothing.
        words: details; empty if there are none.
        is_same_meaning: a reader of the protocol notices nothing.
        places: number of places, if already counted.
        bytes: offset of the first byte that differs, in either text, if already known.
    """

    kind: DamageKind
    was: str
    at: str
    before: JsonValue = None
    after: JsonValue = None
    words: str = ""
    is_same_meaning: bool = False
    places: int = 1
    bytes: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """Name of the member concerned, without indices."""
        steps = [step for step in self.was.split("/") if step and not step.isdecimal()]
        return steps[-1] if steps else ""

    @property
    def shape(self) -> str:
        """The pointer without indices: equal for the same change at many places."""
        return re.sub(r"/\d+(?=/|$)", "/*", self.at if self.kind is not DamageKind.FIELD_DROPPED else self.was)


def value_changes(before: JsonValue, after: JsonValue, prints: Fingerprints | None = None) -> list[ValueChange]:
    """Every change between two values, roughly in the order of the second; [] if both have the same value and order.

    Args:
        prints: fingerprints of both values, if already made.
    """
    found = _ValueWalk(before, after, prints or Fingerprints(before, after)).found
    return _map_ids(_find_moves(_merge_texts(found)), before, after) if found else []


def meaning(value: JsonValue) -> int:
    """Fingerprint of a scalar: numbers by their value, in any spelling."""
    if isinstance(value, bool) or value is None:
        return hash(("constant", repr(value)))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return hash(("text", value)) if isinstance(value, str) else hash(("number", str(value)))


class Fingerprints:
    """Fingerprints of the nodes of values that stay alive: of their meaning, and of their meaning with key order."""

    def __init__(self, *values: JsonValue) -> None:
        self._values = values
        self._meanings: dict[int, int] = {}
        self._orders: dict[int, int] = {}
        for value in values:
            self._read(value)

    def key(self, value: JsonValue) -> int:
        """Fingerprint of a node, without the order of its keys."""
        return self._meanings[id(value)] if isinstance(value, dict | list) else meaning(value)

    def order(self, value: JsonValue) -> int:
        """The same with the order of keys."""
        return self._orders[id(value)] if isinstance(value, dict | list) else meaning(value)

    def _read(self, value: JsonValue) -> None:
        if isinstance(value, dict):
            for child in value.values():
                self._read(child)
            self._meanings[id(value)] = hash(("{", frozenset((k, self.key(v)) for k, v in value.items())))
            self._orders[id(value)] = hash(("{", tuple((k, self.order(v)) for k, v in value.items())))
        elif isinstance(value, list):
            for child in value:
                self._read(child)
            self._meanings[id(value)] = hash(("[", tuple(map(self.key, value))))
            self._orders[id(value)] = hash(("[", tuple(map(self.order, value))))


class _ValueWalk:
    """Walks both values together and collects changes."""

    def __init__(self, before: JsonValue, after: JsonValue, prints: Fingerprints) -> None:
        self.found: list[ValueChange] = []
        self._prints = prints
        self._enter("", "", before, after)

    def _enter(self, was: str, at: str, a: JsonValue, b: JsonValue) -> None:
        if self._prints.order(a) == self._prints.order(b):
            return
        add = partial(self._add, was=was, at=at, before=a, after=b)
        if isinstance(a, dict) and isinstance(b, dict):
            self._objects(was, at, a, b)
        elif isinstance(a, list) and isinstance(b, list):
            self._lists(was, at, a, b)
        elif isinstance(a, list) or isinstance(b, list):
            self._shapes(was, at, a, b)
        elif isinstance(a, dict) or isinstance(b, dict):
            is_same = (isinstance(a, str) and self._is_json_of(a, b)) or (isinstance(b, str) and self._is_json_of(b, a))
            how = "its JSON as a string" if isinstance(b, str) else "its parsed JSON"
            add(DamageKind.RESHAPED, words=f"{value_words(a)} became {how if is_same else value_words(b)}")
        else:
            kind, words = text_change(a, b) if isinstance(a, str) and isinstance(b, str) else scalar_change(a, b)
            add(kind, words=words, is_same_meaning=kind is DamageKind.ARGUMENTS_RESPELLED)

    def _is_json_of(self, text: str, value: JsonValue) -> bool:
        from workbench.wire import dumps

        return isinstance(value, dict) and same_json(text, dumps(value).decode("utf-8", "surrogatepass"))

    def _add(self, kind: DamageKind, **facts: JsonValue) -> None:
        self.found.append(ValueChange(kind, **facts))

    def _objects(self, was: str, at: str, a: dict[str, JsonValue], b: dict[str, JsonValue]) -> None:
        if [k for k in a if k in b] != [k for k in b if k in a]:
            self._add(DamageKind.KEY_ORDER, was=was, at=at, is_same_meaning=True)
        additions = {k: v for k, v in b.items() if k not in a}
        renamed = {}
        for name in (name for name in a if name not in b):
            new = next((k for k, v in additions.items() if self._is_renamed(name, a[name], k, v)), None)
            if new is not None:
                renamed[new] = name
                del additions[new]
            else:
                step = escape(name)
                self._drop(f"{was}/{step}", f"{at}/{step}", a[name])
        for name, value in b.items():
            step = escape(name)
            if name in a:
                self._enter(f"{was}/{step}", f"{at}/{step}", a[name], value)
            elif name in renamed:
                old = renamed[name]
                facts = {"before": a[old], "after": value, "words": f"{old} became {name}"}
                self._add(DamageKind.FIELD_RENAMED, was=f"{was}/{escape(old)}", at=f"{at}/{step}", **facts)
            else:
                self._add_field(f"{was}/{step}", f"{at}/{step}", value)

    def _is_renamed(self, old: str, value: JsonValue, new: str, other: JsonValue) -> bool:
        if value in NOTHING or self._prints.key(value) != self._prints.key(other):
            return False
        return _is_distinctive(value) or bool(_words(old) & _words(new))

    def _drop(self, was: str, at: str, value: JsonValue) -> None:
        kind = DamageKind.EMPTY_DROPPED if value in NOTHING or item_text(value) == "" else DamageKind.FIELD_DROPPED
        self._add(kind, was=was, at=at, before=value, is_same_meaning=value is None)

    def _add_field(self, was: str, at: str, value: JsonValue) -> None:
        self._add(DamageKind.FIELD_ADDED, was=was, at=at, after=value, is_same_meaning=value is None)

    def _lists(self, was: str, at: str, a: list[JsonValue], b: list[JsonValue]) -> None:
        keys = [self._prints.key(v) for v in a], [self._prints.key(v) for v in b]
        if keys[0] != keys[1] and len(a) == len(b) and Counter(keys[0]) == Counter(keys[1]):
            first = next(n for n in range(len(a)) if keys[0][n] != keys[1][n])
            self._add(DamageKind.ORDER_CHANGED, was=f"{was}/{first}", at=f"{at}/{first}", words=f"of {len(a):,} items")
            return
        for pair in group_items(a, b, self._prints.key):
            (i, j), (k, m) = pair
            if pair.is_pair:
                self._enter(f"{was}/{i}", f"{at}/{k}", a[i], b[k])
            elif k == m:
                self._drop(f"{was}/{i}", at, a[i])
            elif i == j:
                self._add_field(was, f"{at}/{k}", b[k])
            else:
                self._join_or_split(was, at, pair)

    def _join_or_split(self, was: str, at: str, pair: ItemGroup) -> None:
        (i, j), (k, m) = pair
        kind, count = (DamageKind.TEXTS_MERGED, j - i) if m - k == 1 else (DamageKind.TEXTS_SPLIT, m - k)
        words = f"{count} text parts became one" if kind is DamageKind.TEXTS_MERGED else f"one text part became {count}"
        self._add(kind, was=f"{was}/{i}", at=f"{at}/{k}", words=words)

    def _shapes(self, was: str, at: str, a: JsonValue, b: JsonValue) -> None:
        """Compare two values of which one is a list."""
        items, one, is_list_now = (b, a, True) if isinstance(b, list) else (a, b, False)
        add = partial(self._add, was=was, at=at, before=a, after=b)
        how = f"{value_words(a)} became {value_words(b)}"
        texts = [item_text(item) for item in items]
        if len(items) == 1 and self._prints.key(items[0]) == self._prints.key(one):
            add(DamageKind.CONTENT_SHAPE, words=how, is_same_meaning=True)
        elif isinstance(one, str) and items and all(text is not None for text in texts):
            parts = [text for text in texts if text is not None]
            if len(parts) == 1:
                add(DamageKind.CONTENT_SHAPE, words=how, is_same_meaning=_has_text_alone(items[0]))
                inner = _inner_text(items[0])
                old, new = (f"{was}{'' if is_list_now else inner}", f"{at}{inner if is_list_now else ''}")
                self._enter(old, new, *((one, parts[0]) if is_list_now else (parts[0], one)))
            elif is_joined(parts, one):
                kind = DamageKind.TEXTS_SPLIT if is_list_now else DamageKind.TEXTS_MERGED
                add(
                    kind,
                    words=f"{len(parts)} text parts became one"
                    if not is_list_now
                    else f"one text part became {len(parts)}",
                )
            else:
                add(DamageKind.CONTENT_SHAPE, words=f"{how}, and the text changed")
        else:
            add(DamageKind.VALUE_CHANGED if one in NOTHING or not items else DamageKind.RESHAPED, words=how)


def _has_text_alone(item: JsonValue) -> bool:
    return isinstance(item, str) or item.keys() <= {"type", "text"}


def _inner_text(item: JsonValue) -> str:
    return "/0" if isinstance(item, str) else "/0/text"


def _is_distinctive(value: JsonValue) -> bool:
    """True for a value that is unlikely to recur by chance."""
    if isinstance(value, str | dict | list):
        return len(value) > 0
    return value is not None and not isinstance(value, bool) and value not in (0, 1)


def _words(name: str) -> set[str]:
    """The words of a name, in any case style."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}", name)}


def _merge_texts(value_changes: list[ValueChange]) -> list[ValueChange]:
    """Join removed texts and the text that grew by them to one merge, even if other items were between them."""
    removals = [
        (c, text) for c in value_changes if c.kind is DamageKind.FIELD_DROPPED and (text := _sole_text(c.before))
    ]
    replacements: dict[int, ValueChange | None] = {}
    for change in value_changes if removals else ():
        if change.kind is not DamageKind.VALUE_CHANGED or not isinstance(change.before, str):
            continue
        inside = [
            (c, text)
            for c, text in removals
            if id(c) not in replacements and isinstance(change.after, str) and text in change.after
        ]
        if inside and is_joined([change.before, *(text for _, text in inside)], str(change.after)):
            replacements.update({id(c): None for c, _ in inside})
            replacements[id(change)] = replace(
                change, kind=DamageKind.TEXTS_MERGED, words=f"{len(inside) + 1} text parts became one"
            )
    return [c for change in value_changes if (c := replacements.get(id(change), change)) is not None]


def _sole_text(value: JsonValue) -> str:
    """Text of a message or block with nothing else in it; empty otherwise."""
    inner = value.get("content") if isinstance(value, dict) and "role" in value else value
    texts = [item_text(item) for item in (inner if isinstance(inner, list) else [inner])]
    return "".join(text for text in texts if text is not None) if None not in texts else ""


def _find_moves(value_changes: list[ValueChange]) -> list[ValueChange]:
    """Replace a removal and an addition of the same value by a move.

    The name has to be the same, or the value long enough.
    """
    removals = [c for c in value_changes if c.kind is DamageKind.FIELD_DROPPED]
    additions = [c for c in value_changes if c.kind is DamageKind.FIELD_ADDED and c.after not in NOTHING]
    if not removals or not additions:
        return value_changes
    prints = Fingerprints([c.before for c in removals], [c.after for c in additions])
    places: dict[int, list[tuple[ValueChange, str]]] = {}
    for change in additions:
        for pointer, value in _nodes(change.at, change.after):
            places.setdefault(prints.key(value), []).append((change, pointer))
    moves: dict[int, ValueChange] = {}
    sources: set[int] = set()
    for change in removals:
        for was, value in _nodes(change.was, change.before):
            target = next((p for p in places.get(prints.key(value), ()) if id(p[0]) not in sources), None)
            if target and _is_moved(was, target[1], value):
                is_sibling = was.rpartition("/")[0] == target[1].rpartition("/")[0]
                in_list = is_sibling and was.rpartition("/")[2].isdecimal()
                kind = DamageKind.ORDER_CHANGED if in_list else DamageKind.FIELD_MOVED
                moves[id(change)] = ValueChange(kind, was, target[1], value, value, f"from {was} to {target[1]}")
                sources.add(id(target[0]))
                break
    return [moves.get(id(c), c) for c in value_changes if id(c) not in sources]


def _is_moved(was: str, at: str, value: JsonValue) -> bool:
    if was == at:
        return False
    old, new = (next((s for s in reversed(p.split("/")) if not s.isdecimal()), "") for p in (was, at))
    if isinstance(value, str | dict | list):
        return len(value) >= _LONG or (bool(value) and old == new) or (isinstance(value, dict) and len(value) > 1)
    return old == new and value is not None and not isinstance(value, bool)


def _nodes(pointer: str, value: JsonValue) -> list[tuple[str, JsonValue]]:
    """A value and all nodes in it with their pointers, the outermost first."""
    found, at = [(pointer, value)], 0
    while at < len(found) < _MOST_SEARCHED:
        here, node = found[at]
        if isinstance(node, dict):
            found += ((f"{here}/{escape(k)}", v) for k, v in node.items())
        elif isinstance(node, list):
            found += ((f"{here}/{n}", v) for n, v in enumerate(node))
        at += 1
    return found


def _map_ids(value_changes: list[ValueChange], before: JsonValue, after: JsonValue) -> list[ValueChange]:
    """Mark ids that were renamed consistently everywhere: the chain is whole."""
    pairs = Counter((c.before, c.after) for c in value_changes if _is_id(c))
    if not pairs:
        return value_changes
    olds, news = _ids(before), _ids(after)
    to = Counter(new for _, new in pairs)
    whole = {
        (old, new)
        for (old, new), times in pairs.items()
        if to[new] == 1 and olds[old] == news[new] == times and not news[old] and not olds[new]
    }
    words = "renamed everywhere"
    return [
        replace(c, kind=DamageKind.IDS_MAPPED, words=words, is_same_meaning=True)
        if _is_id(c) and (c.before, c.after) in whole
        else c
        for c in value_changes
    ]


def _is_id(change: ValueChange) -> bool:
    if change.at.rpartition("/")[2] not in IDS or not isinstance(change.before, str):
        return False
    return isinstance(change.after, str) and change.before != "" != change.after


def _ids(value: JsonValue) -> Counter[str]:
    found: Counter[str] = Counter()
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            found.update(v for k, v in node.items() if k in IDS and isinstance(v, str))
            stack.extend(v for v in node.values() if isinstance(v, dict | list))
        elif isinstance(node, list):
            stack.extend(v for v in node if isinstance(v, dict | list))
    return found
