"""Lines as Textual paints them. This is the only place that makes them, and it makes every text safe for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter
from textual.strip import Strip
from textual.style import Style as ContentStyle

from workbench import safetext
from workbench.glyphs import ascii_only
from workbench.views import Line, Span

StyleOf = Callable[[str], Style]
"""Style names, joined by spaces, to a style; "" is the base style."""

Safe = tuple[str, str]
"""Text that has passed the gate, and its style names."""


def strip(line: Line, width: int, style_of: StyleOf, under: str = "") -> Strip:
    """A line in exactly ``width`` columns; a cut one ends in an ellipsis.

    Args:
        line: what to paint.
        width: columns.
        style_of: the widget's styles.
        under: style names of the background of the whole line.
    """
    segments: list[Safe] = []
    used = 0
    for span in line:
        for piece in _safe(span, width - used):
            segments.append(piece)
            used += cell_len(piece[0])
        if used > width:
            segments, used = list(_crop(segments, width)), width
            break
    segments.append((" " * (width - used), ""))
    return Strip([Segment(text, style_of(f"{under} {names}".strip())) for text, names in segments if text], width)


def _safe(span: Span, room: int) -> Iterator[Safe]:
    """The span's pieces, up to the visible width."""
    most = 4 * room + 4
    pieces = [
        (piece.text, f"{span.style} form" if piece.is_form else span.style)
        for piece in safetext.pieces(span.text[:most], is_bytes=span.is_bytes)
    ]
    if len(span.text) > most:
        pieces.append(("…", span.style))
    if not span.width:
        yield from pieces
        return
    wanted, size = abs(span.width), sum(cell_len(text) for text, _ in pieces)
    padding = (" " * (wanted - size), "")
    if span.width < 0:
        yield padding
    yield from pieces if size <= wanted else _crop(pieces, wanted)
    if span.width > 0:
        yield padding


def _crop(pieces: list[Safe], width: int) -> Iterator[Safe]:
    """The pieces in exactly ``width`` columns, ending in an ellipsis."""
    room = width - 1
    for text, names in pieces:
        size = cell_len(text)
        if size > room:
            cropped = set_cell_size(text, max(0, room))
            yield cropped + (" " if cropped.endswith("…") else "…")[:width], names
            return
        yield text, names
        room -= size


def content(line: Line, style: StyleOf | None = None) -> Content:
    """A line for the few places that do not accept strips (titles, notifications); ``style``: of spans with names."""
    pieces = ((safetext.visible(span.text), span.style) for span in line)
    if style is None:
        return Content("".join(text for text, _ in pieces))
    return Content.assemble(
        *(Content.styled(text, ContentStyle.from_rich_style(style(names)) if names else "") for text, names in pieces)
    )


class AsciiFilter(LineFilter):
    """Last filter before a terminal that has only ASCII; also converts what Textual's own widgets draw."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Convert the text of the segments to ASCII."""
        return [segment._replace(text=ascii_only(segment.text)) for segment in segments]
