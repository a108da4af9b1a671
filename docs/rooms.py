"""The drawing of the rooms, made from their imports: ``python docs/rooms.py`` writes ``rooms.svg`` beside this file.

A line leads from a room down to one that it imports. A line that other lines already imply is left out. MkDocs calls
``on_pre_build`` before each build (``hooks`` in ``mkdocs.yml``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PACKAGE = DOCS.parent / "workbench"
DRAWING = DOCS / "rooms.svg"
WIDTH, HEIGHT, GAP, STEP = 96, 28, 24, 72

Graph = Mapping[str, frozenset[str]]


def _nodes_of(path: Path) -> Iterable[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def imports(nodes_of: Callable[[Path], Iterable[ast.AST]] = _nodes_of) -> Graph:
    """Room → the rooms that its modules import directly, at any place in a module.

    Args:
        nodes_of: everything in a module; for a caller that has parsed it.
    """
    rooms = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    return {room: frozenset(_imported(room, nodes_of)) & frozenset(rooms) - {room} for room in rooms}


def _imported(room: str, nodes_of: Callable[[Path], Iterable[ast.AST]]) -> Iterator[str]:
    for path in (PACKAGE / room).rglob("*.py"):
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            yield from (name.split(".")[1] for name in names if name.startswith("workbench."))


def reach(graph: Graph, room: str) -> frozenset[str]:
    """Every room below a room. The graph has no cycle."""
    return graph[room].union(*(reach(graph, below) for below in graph[room]))


def floors(graph: Graph) -> list[list[str]]:
    """Rooms by floor, the lowest first: a room is one floor above the highest room that it imports."""
    height: dict[str, int] = {}

    def floor(room: str) -> int:
        if room not in height:
            height[room] = 1 + max((floor(below) for below in graph[room]), default=-1)
        return height[room]

    found: list[list[str]] = [[] for _ in range(1 + max(map(floor, graph)))]
    for room in graph:
        found[height[room]].append(room)
    return found


def lines(graph: Graph) -> list[tuple[str, str]]:
    """(room, room below it) without those that other lines imply."""
    return [
        (room, below)
        for room in graph
        for below in sorted(graph[room])
        if not any(below in reach(graph, other) for other in graph[room] - {below})
    ]


def svg(graph: Graph) -> str:
    """The drawing, the highest floor at the top."""
    rows = floors(graph)[::-1]
    width = max(map(len, rows)) * (WIDTH + GAP) + GAP
    place: dict[str, tuple[int, int]] = {}
    for y, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP) + GAP) // 2
        place.update({room: (left + x * (WIDTH + GAP), GAP + y * STEP) for x, room in enumerate(row)})
    size = f'viewBox="0 0 {width} {len(rows) * STEP}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="13">']
    parts.append(f'<rect width="{width}" height="{len(rows) * STEP}" fill="#ffffff"/>')
    for room, below in lines(graph):
        (x, y), (u, v) = place[room], place[below]
        ends = f'x1="{x + WIDTH // 2}" y1="{y + HEIGHT}" x2="{u + WIDTH // 2}" y2="{v}"'
        parts.append(f'<line {ends} stroke="#8899aa"/>')
    for room, (x, y) in place.items():
        parts.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#e8eef7" stroke="#335588"/>'
        )
        parts.append(f'<text x="{x + WIDTH // 2}" y="{y + 19}" text-anchor="middle" fill="#112233">{room}</text>')
    return "\n".join((*parts, "</svg>", ""))


def on_pre_build(config: Any = None) -> None:
    """Write the drawing if the imports have changed."""
    made = svg(imports())
    if not DRAWING.is_file() or DRAWING.read_text(encoding="utf-8") != made:
        DRAWING.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    on_pre_build()
